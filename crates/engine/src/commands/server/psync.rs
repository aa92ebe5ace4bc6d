//! PSYNC: a replica asks for the stream from an offset on. When that is still in the backlog it gets what it missed,
//! else a snapshot of the data set and the stream behind it. `FAILOVER` as the third argument makes this server take
//! over from its primary first.
//!
//! No transcript: what follows on the connection is no reply.

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::replication::sync;
use crate::spec::{Flags, Group, Spec};

/// Flags of PSYNC and SYNC.
pub(super) const FLAGS: Flags =
    Flags::ADMIN
    .union(Flags::NOSCRIPT)
    .union(Flags::NO_MULTI)
    .union(Flags::NO_ROLLBACK)
    .union(Flags::NO_ASYNC_LOADING);

/// The table's row.
pub const SPEC: Spec = Spec::new("psync", -3, Group::Server, FLAGS, run)
    .args("replicationid:s offset:i")
    .doc("2.8.0", "", "An internal command used in replication.")
    .system();

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.me()?.replica {
        return Ok(());
    }
    if cx.argc() > 3 && cx.is(3, "FAILOVER") {
        sync::take_over(cx)?;
    }
    sync::check(cx)?;
    let offset = match cx.int(2) {
        Ok(offset) => offset,
        Err(error) => {
            let name = sync::name(cx.sv, cx.client);
            let text = format!("Replica {name} asks for synchronization but with a wrong offset");
            cx.sv.log(crate::state::LogLevel::Warning, text);
            return Err(error);
        }
    };
    if !cx.sv.repl.available {
        return Err(CmdError::new("ERR This server cannot have replicas: it has no connections"));
    }
    if sync::go_on(cx, offset) {
        return Ok(());
    }
    if cx.args[1] != b"?" {
        cx.sv.stats.syncs.2 += 1;
    }
    if !sync::on_two_connections(cx) {
        sync::full(cx, false);
    }
    Ok(())
}
