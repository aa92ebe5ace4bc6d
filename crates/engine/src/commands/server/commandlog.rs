//! COMMANDLOG: commands that took long, had a large request or a large reply.
//!
//! The log `slow` is that of SLOWLOG. What counts as long or large, and how many entries are kept, say the parameters
//! `commandlog-*`.
//!
//! ```transcript
//! # since 8.1
//! > COMMANDLOG RESET slow
//! OK
//! > COMMANDLOG LEN large-reply
//! (integer) 0
//! > COMMANDLOG GET -2 slow
//! (error) ERR count should be greater than or equal to -1
//! > COMMANDLOG LEN fast
//! (error) ERR type should be one of the following: slow, large-request, large-reply
//! ```

use super::slowlog::{count_arg, show};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Handler, Spec};
use crate::stats::Log;

const BASE: Flags = Flags::LOADING.union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("commandlog", -2, Group::Server, Flags::empty(), crate::commands::container)
    .doc("8.1.0", "Depends on the subcommand", "Commands that took long or were large.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, BASE.union(flags), run).doc("8.1.0", "O(N) for N entries", summary)
}

const SUBS: &[Spec] = &[
    sub("get", 4, Flags::ADMIN, "The newest entries of a log.", get).args("count:i type:o(slow:t'SLOW' large-request:t'LARGE-REQUEST' large-reply:t'LARGE-REPLY')")
        .tips(&["request_policy:all_nodes", "nondeterministic_output"]),
    crate::commands::help_row(Group::Server, "8.1.0"),
    sub("len", 3, Flags::ADMIN, "Number of entries of a log.", len).args("type:o(slow:t'SLOW' large-request:t'LARGE-REQUEST' large-reply:t'LARGE-REPLY')")
        .tips(&["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"]),
    sub("reset", 3, Flags::ADMIN, "Drops the entries of a log.", reset).no_rollback().args("type:o(slow:t'SLOW' large-request:t'LARGE-REQUEST' large-reply:t'LARGE-REPLY')")
        .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
];

fn which(arg: &[u8]) -> Res<Log> {
    let found = Log::ALL.iter().find(|(name, _)| arg.eq_ignore_ascii_case(name.as_bytes()));
    found
        .map(|(_, log)| *log)
        .ok_or(CmdError::new("ERR type should be one of the following: slow, large-request, large-reply"))
}

fn get(cx: &mut Cx<'_>) -> Res {
    let count = count_arg(cx.args[2])?;
    show(cx, which(cx.args[3])?, count);
    Ok(())
}

fn len(cx: &mut Cx<'_>) -> Res {
    let log = which(cx.args[2])?;
    cx.reply.len(cx.sv.stats.logs[log as usize].entries.len());
    Ok(())
}

fn reset(cx: &mut Cx<'_>) -> Res {
    let log = which(cx.args[2])?;
    cx.sv.stats.logs[log as usize].entries.clear();
    cx.reply.ok();
    Ok(())
}
