//! SHUTDOWN: ends the server. Nothing is kept on disk yet, so NOSAVE and SAVE only differ in what they promise: SAVE is
//! refused.
//!
//! No transcript: it ends the server.

use crate::cx::Cx;
use crate::engine::Outgoing;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "shutdown",
    -1,
    Group::Server,
    Flags::ADMIN
        .union(Flags::NOSCRIPT)
        .union(Flags::LOADING)
        .union(Flags::STALE)
        .union(Flags::NO_MULTI)
        .union(Flags::ALLOW_BUSY),
    run,
).args("abort-selector:o?(save-selector-block:b(save-selector:o?(nosave:t'NOSAVE' save:t'SAVE') now:t'NOW'?^7.0.0 force:t'FORCE'?^7.0.0 safe:t'SAFE'?^9.0.0 failover:t'FAILOVER'?^9.0.0) abort:t'ABORT'^7.0.0)")
.doc("1.0.0", "O(1)", "Ends the server.")
.no_rollback();

fn run(cx: &mut Cx<'_>) -> Res {
    let (mut save, mut abort) = (None, false);
    for i in 1..cx.argc() {
        if cx.is(i, "NOSAVE") && save.is_none() {
            save = Some(false);
        } else if cx.is(i, "SAVE") && save.is_none() {
            save = Some(true);
        } else if cx.is(i, "ABORT") {
            abort = true;
        } else if !cx.is(i, "NOW") && !cx.is(i, "FORCE") {
            return Err(SYNTAX);
        }
    }
    if abort {
        if cx.argc() > 2 {
            return Err(SYNTAX);
        }
        return Err(CmdError::new("ERR No shutdown in progress."));
    }
    if save == Some(true) {
        return Err(CmdError::new("ERR Errors trying to SHUTDOWN. Check logs."));
    }
    cx.sv.outgoing.push_back(Outgoing::Shutdown { save });
    // A script that is in the way ends with the server, whatever it wrote.
    if let Some(run) = &mut cx.sv.running {
        run.kill = true;
    }
    // No reply: the connection ends with the server.
    cx.me()?.close = true;
    Ok(())
}
