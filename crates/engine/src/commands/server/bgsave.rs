//! BGSAVE: writes a snapshot of the data set, as it is now, while clients go on.
//!
//! No process is forked: the data set is walked in slices, and what is about to change is written first.
//!
//! ```transcript
//! # not embedded: no files are kept unless a directory is given
//! # not resp2: a save may be under way
//! # not resp3: a save may be under way
//! # not multi: a save may be under way
//! # not script: it is not allowed in a script
//! # not oracle: a save may be under way
//! > BGSAVE
//! Background saving started
//! ```

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res, SYNTAX};
use crate::persistence::{Job, Request};
use crate::spec::{Flags, Group, Spec};
use crate::state::LogLevel;

/// The table's row.
pub const SPEC: Spec = Spec::new("bgsave", -1, Group::Server, Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_ASYNC_LOADING), run).args("operation:o?(schedule:t'SCHEDULE'^3.2.2 cancel:t'CANCEL'^8.1.0)")
    .doc("1.0.0", "O(1)", "Writes a snapshot of the data set in the background.");

fn run(cx: &mut Cx<'_>) -> Res {
    let schedule = cx.argc() == 2 && cx.is(1, "SCHEDULE");
    if cx.argc() == 2 && cx.is(1, "CANCEL") {
        return cancel(cx);
    }
    if cx.argc() > 1 && !schedule {
        return Err(SYNTAX);
    }
    let transaction = cx.origin == Origin::Exec;
    match cx.sv.persist.job {
        Some((Job::Snapshot | Job::Sync, _)) => {
            return Err(CmdError::new("ERR Background save already in progress"));
        }
        Some(_) if !schedule && !transaction => {
            return Err(CmdError::new(
                "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.",
            ));
        }
        None if !transaction => {
            cx.ticker.persist(cx.ks, cx.sv, Request::BackgroundSave).map_err(CmdError::owned)?;
            cx.reply.simple("Background saving started");
        }
        _ => {
            cx.sv.persist.save_scheduled = true;
            let why = if schedule { "due to user request" } else { "to run after transaction execution" };
            cx.sv.log(LogLevel::Notice, format!("Background saving scheduled {why}"));
            cx.reply.simple("Background saving scheduled");
        }
    }
    Ok(())
}

fn cancel(cx: &mut Cx<'_>) -> Res {
    if matches!(cx.sv.persist.job, Some((Job::Snapshot, _))) {
        cx.sv.log(LogLevel::Notice, "Background saving will be aborted due to user request");
        cx.ticker.persist(cx.ks, cx.sv, Request::CancelSave).map_err(CmdError::owned)?;
        cx.reply.simple("Background saving cancelled");
    } else if std::mem::take(&mut cx.sv.persist.save_scheduled) {
        cx.sv.log(LogLevel::Notice, "Scheduled background saving will be cancelled due to user request");
        cx.reply.simple("Scheduled background saving cancelled");
    } else {
        return Err(CmdError::new("ERR Background saving is currently not in progress or scheduled"));
    }
    Ok(())
}
