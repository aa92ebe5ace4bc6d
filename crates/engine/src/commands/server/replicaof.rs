//! REPLICAOF: makes the server a replica of another, or with `NO ONE` a primary again.
//!
//! A replica gets the primary's data set in place of its own, unless it can go on from what it has of the same stream, and
//! then every change. Its clients may read; what they may not is said by READONLY. When it becomes a primary it keeps its
//! data, and other replicas of the old primary can go on from it.
//!
//! ```transcript
//! > REPLICAOF NO ONE
//! OK
//! > REPLICAOF localhost 70000
//! (error) ERR Invalid master port
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::replication::{self, FailoverState, Request};
use crate::spec::{Flags, Group, Spec};
use crate::state::LogLevel;

/// Flags of REPLICAOF and SLAVEOF.
pub(super) const FLAGS: Flags = Flags::ADMIN
    .union(Flags::NOSCRIPT)
    .union(Flags::STALE)
    .union(Flags::NO_ROLLBACK)
    .union(Flags::NO_ASYNC_LOADING);

/// The table's row.
pub const SPEC: Spec =
    Spec::new("replicaof", 3, Group::Server, FLAGS, run).args("args:o(host-port:b(host:s port:i) no-one:b(no:t'NO' one:t'ONE'))").doc("5.0.0", "O(1)", "Makes the server a replica.");

pub(super) fn run(cx: &mut Cx<'_>) -> Res {
    if cx.sv.config.cluster_enabled {
        return Err(CmdError::new("ERR REPLICAOF not allowed in cluster mode."));
    }
    if cx.sv.repl.failover.state != FailoverState::None {
        return Err(CmdError::new("ERR REPLICAOF not allowed while failing over."));
    }
    if cx.is(1, "no") && cx.is(2, "one") {
        if !cx.sv.repl.is_primary() {
            replication::become_primary(cx.ks, cx.sv);
            cx.ticker.replicate(cx.ks, cx.sv, Request::Relink).map_err(CmdError::owned)?;
            let text = format!("PRIMARY MODE enabled (user request from '{}')", by(cx));
            cx.sv.log(LogLevel::Notice, text);
        }
        cx.reply.ok();
        return Ok(());
    }
    if cx.me()?.replica {
        return Err(CmdError::new("ERR Command is not valid when client is a replica."));
    }
    const BAD: CmdError = CmdError::new("ERR Invalid master port");
    let port = cx.int(2).map_err(|_| BAD)?;
    let port = u16::try_from(port).map_err(|_| BAD)?;
    let host = String::from_utf8_lossy(cx.args[1]).into_owned();
    let same = |u: &replication::Upstream| u.host.eq_ignore_ascii_case(&host) && u.port == port;
    if cx.sv.repl.upstream().is_some_and(same) {
        cx.sv.log(
            LogLevel::Notice,
            "REPLICAOF would result into synchronization with the primary we are already connected with. No operation performed.",
        );
        cx.reply.simple("OK Already connected to specified master");
        return Ok(());
    }
    if !cx.sv.repl.available {
        return Err(CmdError::new("ERR This server cannot be a replica: it has no connections"));
    }
    replication::become_replica(cx.ks, cx.sv, &host, port);
    cx.ticker.replicate(cx.ks, cx.sv, Request::Relink).map_err(CmdError::owned)?;
    let text = format!("REPLICAOF {host}:{port} enabled (user request from '{}')", by(cx));
    cx.sv.log(LogLevel::Notice, text);
    cx.reply.ok();
    Ok(())
}

/// Who asked, as the log shows it.
fn by(cx: &Cx<'_>) -> String {
    cx.sv.client(cx.client).map_or_else(String::new, |client| {
        format!("id={} addr={} laddr={} name={}", client.id.id, client.conn.addr, client.conn.laddr, String::from_utf8_lossy(&client.name))
    })
}
