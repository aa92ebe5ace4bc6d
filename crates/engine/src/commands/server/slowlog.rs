//! SLOWLOG: commands that took longer than `slowlog-log-slower-than`.
//!
//! ```transcript
//! > SLOWLOG RESET
//! OK
//! > SLOWLOG LEN
//! (integer) 0
//! > SLOWLOG GET -2
//! (error) ERR count should be greater than or equal to -1
//! ```

use crate::cx::Cx;
use crate::commands::syntax_of_subcommand;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Handler, Spec};
use crate::stats::Log;

const FLAGS: Flags = Flags::ADMIN.union(Flags::LOADING).union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("slowlog", -2, Group::Server, Flags::empty(), crate::commands::container)
    .doc("2.2.12", "Depends on the subcommand", "Slow commands.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, FLAGS, run).doc("2.2.12", "O(N) for N entries", summary)
}

const SUBS: &[Spec] = &[
    sub("get", -2, "The newest entries.", get).args("count:i?").tips(&["request_policy:all_nodes", "nondeterministic_output"]),
    crate::commands::help_row(Group::Server, "6.2.0"),
    sub("len", 2, "Number of entries.", len).tips(&["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"]),
    sub("reset", 2, "Drops all entries.", reset).tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]).no_rollback(),
];

fn get(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 3 {
        return Err(syntax_of_subcommand(cx.args));
    }
    let count = cx.args.get(2).map_or(Ok(10), |arg| count_arg(arg))?;
    show(cx, Log::Slow, count);
    Ok(())
}

/// Number of entries: -1 for all.
pub(super) fn count_arg(arg: &[u8]) -> Res<usize> {
    match crate::util::parse_i64(arg) {
        Some(-1) => Ok(usize::MAX),
        Some(n) if n >= 0 => Ok(n as usize),
        _ => Err(CmdError::new("ERR count should be greater than or equal to -1")),
    }
}

/// Replies with the newest entries of a log.
pub(super) fn show(cx: &mut Cx<'_>, which: Log, count: usize) {
    let log = &cx.sv.stats.logs[which as usize].entries;
    let count = count.min(log.len());
    cx.reply.array(count);
    for entry in log.iter().take(count) {
        cx.reply.array(6);
        cx.reply.int(entry.id as i64);
        cx.reply.int(entry.time);
        cx.reply.int(entry.value as i64);
        cx.reply.array(entry.argv.len());
        for arg in &entry.argv {
            cx.reply.bulk(arg);
        }
        cx.reply.bulk(entry.addr.as_bytes());
        cx.reply.bulk(&entry.name);
    }
}

fn len(cx: &mut Cx<'_>) -> Res {
    cx.reply.len(cx.sv.stats.logs[Log::Slow as usize].entries.len());
    Ok(())
}

fn reset(cx: &mut Cx<'_>) -> Res {
    cx.sv.stats.logs[Log::Slow as usize].entries.clear();
    cx.reply.ok();
    Ok(())
}
