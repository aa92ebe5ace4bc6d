//! EXEC: runs the queued commands of a transaction as one unit.
//!
//! A command that fails does not take back the others, as in Redis, unless `transaction-rollback` is `yes`: then the first
//! that fails takes all back, and the reply is one error with its cause. No other client's command runs between them,
//! and time stands still.
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
use crate::client::Queued;
use crate::cx::{Cx, Origin};
use crate::error::{CmdError, EXEC_ABORT, Res};
use crate::execute::{self, Call};
use crate::script::Reason;
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
    cx.me()?.exec = (multi.queue.len(), multi.bytes);
    let all = cx.sv.config.transaction_rollback && !cx.ks.obeys;
    let result = if all { all_or_nothing(cx, &multi.queue) } else { run_all(cx, &multi.queue) };
    if let Ok(client) = cx.me() {
        client.exec = (0, 0);
    }
    result
}

fn run_all(cx: &mut Cx<'_>, queue: &[Queued]) -> Res {
    cx.sv.depth += 1;
    cx.reply.array(queue.len());
    for queued in queue {
        run_one(cx, queued);
    }
    cx.sv.depth -= 1;
    Ok(())
}

/// `transaction-rollback yes`: the first command that fails takes back what those before it did.
fn all_or_nothing(cx: &mut Cx<'_>, queue: &[Queued]) -> Res {
    let selected = cx.sv.client(cx.client).map_or(0, |client| client.db);
    let start = cx.reply.checkpoint();
    cx.sv.depth += 1;
    cx.ks.open_scope();
    cx.reply.array(queue.len());
    let mut cause = None;
    for queued in queue {
        let before = cx.reply.checkpoint();
        if queued.command.spec.flags.contains(Flags::NO_ROLLBACK) {
            cause = Some(execute::not_in_scope(queued.command).into_bytes());
        } else {
            run_one(cx, queued);
            cause = cx.reply.error_since(before);
        }
        if cause.is_none() && cx.ks.undo.is_over() {
            let max = cx.sv.config.script_rollback_max_bytes;
            cause = Some(format!("UNDO more than {max} bytes are needed to take it back").into_bytes());
        }
        if cause.is_some() {
            break;
        }
    }
    cx.sv.depth -= 1;
    let Some(cause) = cause else {
        cx.ks.commit_scope();
        return Ok(());
    };
    cx.ks.take_back();
    cx.sv.stats.rollbacks.count(Reason::Transaction);
    if let Ok(client) = cx.me() {
        client.db = selected;
    }
    cx.reply.rewind(start);
    Err(CmdError::owned([b"EXECABORT Transaction discarded because of: ", cause.as_slice()].concat()))
}

fn run_one(cx: &mut Cx<'_>, queued: &Queued) {
    let argv: SmallVec<[&[u8]; 8]> = queued.argv.iter().map(|arg| &**arg).collect();
    cx.ks.cur = cx.sv.client(cx.client).map_or(0, |client| client.db);
    if let Err(error) = execute::permit_queued(cx.ks, cx.sv, cx.client, queued) {
        cx.sv.stats.count_error(error.code());
        return cx.reply.reborrow().error(error.text());
    }
    let call = Call { id: cx.client, argv: &argv, command: queued.command, origin: Origin::Exec };
    execute::call(cx.ks, cx.sv, call, cx.reply.reborrow(), cx.ticker);
}
