//! SHUTDOWN: ends the server. Where there are save points, or SAVE is asked for, a snapshot is written first; the
//! append-only file is written to its end in any case. When that fails the server goes on, unless FORCE is given.
//!
//! ```transcript
//! > SHUTDOWN ABORT
//! (error) ERR No shutdown in progress.
//! ```

use crate::cx::Cx;
use crate::engine::Outgoing;
use crate::error::{CmdError, Res, SYNTAX};
use crate::persistence::Request;
use crate::replication::stop;
use crate::spec::{Flags, Group, Spec};
use crate::state::LogLevel;

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
    let (mut save, mut abort, mut force, mut now) = (None, false, false, false);
    for i in 1..cx.argc() {
        if cx.is(i, "NOSAVE") && save.is_none() {
            save = Some(false);
        } else if cx.is(i, "SAVE") && save.is_none() {
            save = Some(true);
        } else if cx.is(i, "ABORT") {
            abort = true;
        } else if cx.is(i, "FORCE") {
            force = true;
        } else if cx.is(i, "NOW") {
            now = true;
        } else {
            return Err(SYNTAX);
        }
    }
    if abort {
        if cx.argc() > 2 {
            return Err(SYNTAX);
        }
        if cx.sv.repl.stopping.is_none() {
            return Err(CmdError::new("ERR No shutdown in progress."));
        }
        stop::give_up(cx.ks, cx.sv);
        cx.sv.log(LogLevel::Notice, "Shutdown manually aborted.");
        cx.reply.ok();
        return Ok(());
    }
    // While a script runs only an end without saving is possible.
    if let Some(run) = cx.sv.running.as_ref().filter(|_| save != Some(false)) {
        return Err(run.busy());
    }
    if let Some(loading) = &mut cx.sv.persist.loading {
        // Half a data set must not take the place of the whole one on the disk.
        loading.stop = true;
        cx.sv.outgoing.push_back(Outgoing::Shutdown { save: Some(false) });
        cx.me()?.close = true;
        return Ok(());
    }
    if !now && cx.sv.running.is_none() && cx.sv.config.shutdown_timeout > 0 && stop::lags(cx.sv) {
        return wait(cx, save, force);
    }
    stop::note_lagging(cx.sv);
    if cx.sv.persist.available {
        // While a script runs the owner cannot be asked: it writes when the script has ended.
        if cx.sv.running.is_none() {
            let request = Request::Shutdown { save, force };
            cx.ticker.persist(cx.ks, cx.sv, request).map_err(CmdError::owned)?;
            save = Some(false);
        }
    } else if save == Some(true) {
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

/// Lets the client wait until replicas have what was written.
fn wait(cx: &mut Cx<'_>, save: Option<bool>, force: bool) -> Res {
    if cx.sv.repl.stopping.is_none() {
        stop::begin(cx.ks, cx.sv, save, force);
    }
    let id = cx.client;
    if let Some(stopping) = &mut cx.sv.repl.stopping {
        stopping.clients.push(id);
    }
    cx.me()?.blocked = true;
    Ok(())
}
