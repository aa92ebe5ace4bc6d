//! EXEC: runs the queued commands of a transaction as one unit.
//!
//! A command that fails does not take back the others, as in Redis. No other client's command runs between them, and
//! time stands still.
//!
//! ```transcript
//! > MULTI
//! OK
//! > INCR n
//! QUEUED
//! > LPOP n
//! QUEUED
//! > EXEC
//! 1) (integer) 1
//! 2) (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use super::multi::FLAGS;
use crate::cx::{Cx, Origin};
use crate::error::{CmdError, EXEC_ABORT, Res};
use crate::execute::{self, Call};
use crate::spec::{Cat, Flags, Group, Spec};
use smallvec::SmallVec;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("exec", 1, Group::Transactions, FLAGS.difference(Flags::ALLOW_BUSY).union(Flags::SKIP_SLOWLOG).union(Flags::NO_PROPAGATE), run)
        .cats(Cat::TRANSACTION)
        .doc("1.2.0", "Depends on the queued commands", "Runs the queued commands of a transaction.");

fn run(cx: &mut Cx<'_>) -> Res {
    let Some(multi) = cx.me()?.multi.take() else {
        return Err(CmdError::new("ERR EXEC without MULTI"));
    };
    let broken = cx.ks.is_watch_broken(cx.client);
    cx.ks.watch.unwatch(cx.client);
    if multi.abort {
        return Err(EXEC_ABORT);
    }
    if broken {
        cx.reply.null_array();
        return Ok(());
    }
    cx.sv.depth += 1;
    cx.reply.array(multi.queue.len());
    for queued in &multi.queue {
        let argv: SmallVec<[&[u8]; 8]> = queued.argv.iter().map(|arg| &**arg).collect();
        cx.ks.cur = cx.sv.client(cx.client).map_or(0, |client| client.db);
        if let Err(error) = execute::permit_queued(cx.ks, cx.sv, cx.client, queued) {
            cx.sv.stats.count_error(error.code());
            cx.reply.reborrow().error(error.text());
            continue;
        }
        let call = Call { id: cx.client, argv: &argv, command: queued.command, origin: Origin::Exec };
        execute::call(cx.ks, cx.sv, call, cx.reply.reborrow(), cx.ticker);
    }
    cx.sv.depth -= 1;
    Ok(())
}
