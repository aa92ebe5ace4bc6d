//! SCRIPT: the cache of scripts.
//!
//! ```transcript
//! > SCRIPT LOAD "return 1"
//! "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
//! > SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db x
//! 1) (integer) 1
//! 2) (integer) 0
//! > SCRIPT FLUSH
//! OK
//! > SCRIPT FLUSH NOW
//! (error) ERR SCRIPT FLUSH only support SYNC|ASYNC option
//! ```
//!
//! SCRIPT LIST, STATS and RUNNING are Totality's own. A script's name and version come from its leading comment
//! (`--- @script name`, `--- @version v`, or `-- name: …`). STATS counts by script, also across SCRIPT FLUSH, and by
//! function; `SCRIPT STATS RESET` and `SCRIPT STATS sha1|name RESET` begin anew. RUNNING is answered while a script
//! runs past `busy-reply-threshold`.
//!
//! ```transcript
//! # since 8.4
//! > SCRIPT RUNNING
//! (nil)
//! > SCRIPT LOAD "--- @script demo.add\n--- @version 1.0\nreturn {1, tonumber(ARGV[1]) + 1}"
//! "edd7b2be616880c1b74a5a6f407c1ccb51e22849"
//! > EVALSHA edd7b2be616880c1b74a5a6f407c1ccb51e22849 0 41
//! 1) (integer) 1
//! 2) (integer) 42
//! > SCRIPT LIST nosuch*
//! (empty array)
//! > SCRIPT STATS nosuch
//! (error) ERR No such script is tracked
//! ```
//!
//! SCRIPT DEBUG begins the sessions of `redis-cli --ldb`: with YES the client's next EVAL runs step by step on a copy of
//! the data set, which is thrown away, with SYNC on the data set itself while all others wait. When the script ends, the
//! connection does too.
//!
//! ```transcript
//! > SCRIPT DEBUG NO
//! OK
//! > SCRIPT DEBUG MAYBE
//! (error) ERR Use SCRIPT DEBUG YES/SYNC/NO
//! # not multi: replies wait there, which is a pipeline
//! # not script: not allowed there
//! ```

use crate::client::DebugMode;
use crate::commands::script_info;
use crate::cx::Cx;
use crate::error::{CmdError, NO_SCRIPT, Res};
use crate::script;
use crate::script::cache::{self, hex, parse_hex};
use crate::spec::{Flags, Group, Handler, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("script", -2, Group::Scripting, Flags::empty(), crate::commands::container)
    .doc("2.6.0", "Depends on the subcommand", "The cache of scripts.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Scripting, Flags::NOSCRIPT.union(flags), run).doc(since, "O(N)", summary)
}

const SUBS: &[Spec] = &[
    sub("debug", 3, Flags::empty(), "3.2.0", "Whether the client's next scripts are debugged.", debug).args("mode:o(yes:t'YES' sync:t'SYNC' no:t'NO')"),
    sub("exists", -3, Flags::STALE, "2.6.0", "Which scripts are in the cache.", exists).args("sha1:s*").tips(&["request_policy:all_shards", "response_policy:agg_logical_and"]),
    sub("explain", -4, Flags::STALE.union(Flags::SKIP_MONITOR).union(Flags::SKIP_SLOWLOG), "7.2.4", "Tries a script and takes back what it did.", crate::commands::script_explain::explain)
        .keys(&[KeySpec::counted(3, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .args("script:s numkeys:i key:k@0?* arg:s?*"),
    sub("flush", -2, Flags::STALE, "2.6.0", "Empties the cache.", flush).args("flush-type:o?^6.2.0(async:t'ASYNC' sync:t'SYNC')").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]).no_rollback(),
    crate::commands::help_row(Group::Scripting, "5.0.0"),
    sub("kill", 2, Flags::ALLOW_BUSY, "2.6.0", "Stops the script that runs, if it wrote nothing.", kill).tips(&["request_policy:all_shards", "response_policy:one_succeeded"]),
    sub("list", -2, Flags::STALE, "8.4.0", "The scripts of the cache.", list).args("pattern:s?"),
    sub("load", 3, Flags::STALE, "2.6.0", "Puts a script into the cache.", load).args("script:s").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
    sub("running", 2, Flags::STALE.union(Flags::LOADING).union(Flags::ALLOW_BUSY), "8.4.0", "What runs now.", script_info::running),
    sub("show", 3, Flags::STALE, "8.0.0", "The text of a script.", show).args("sha1:s"),
    sub("stats", -2, Flags::STALE, "8.4.0", "What ran: counters of each script and function.", script_info::stats).args("subject:s? reset:t'RESET'?").no_rollback(),
];

fn load(cx: &mut Cx<'_>) -> Res {
    let body = cx.args[2];
    let sha = cache::sha_of(body);
    let room = cx.sv.scripts.room(&cx.sv.config);
    if let Err(error) = cx.sv.scripts.cache.load(sha, body, true, room) {
        return Err(super::eval::not_loaded(cx, body, error));
    }
    cx.reply.bulk(&hex(&sha));
    Ok(())
}

/// `SCRIPT LIST [pattern]`
fn list(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 3 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    script_info::list(cx)
}

fn exists(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(cx.argc() - 2);
    for sha in &cx.args[2..] {
        let there = parse_hex(sha).is_some_and(|sha| cx.sv.scripts.cache.contains(&sha));
        cx.reply.int(i64::from(there));
    }
    Ok(())
}

/// `[SYNC|ASYNC]`, checked; both free at once here.
pub(super) fn flush_mode(cx: &Cx<'_>, error: CmdError) -> Res {
    match cx.argc() {
        2 => Ok(()),
        3 if cx.is(2, "SYNC") || cx.is(2, "ASYNC") => Ok(()),
        _ => Err(error),
    }
}

fn flush(cx: &mut Cx<'_>) -> Res {
    flush_mode(cx, CmdError::new("ERR SCRIPT FLUSH only support SYNC|ASYNC option"))?;
    cx.sv.scripts.flush();
    cx.reply.ok();
    Ok(())
}

/// `SCRIPT DEBUG YES|SYNC|NO`
fn debug(cx: &mut Cx<'_>) -> Res {
    if cx.reply.written().is_some_and(|bytes| bytes > 0) {
        return Err(CmdError::new("ERR SCRIPT DEBUG must be called outside a pipeline"));
    }
    let mode = match () {
        () if cx.is(2, "NO") => None,
        () if cx.is(2, "YES") => Some(DebugMode::Copy),
        () if cx.is(2, "SYNC") => Some(DebugMode::Sync),
        () => return Err(CmdError::new("ERR Use SCRIPT DEBUG YES/SYNC/NO")),
    };
    if let Some(mode) = mode {
        cx.ticker.may_debug(mode == DebugMode::Copy).map_err(script::no_debugging)?;
    }
    if let Some(client) = cx.sv.clients.get_mut(cx.client) {
        client.debug = mode;
    }
    cx.reply.ok();
    Ok(())
}

fn show(cx: &mut Cx<'_>) -> Res {
    let script = parse_hex(cx.args[2]).and_then(|sha| cx.sv.scripts.cache.get(&sha)).ok_or(NO_SCRIPT)?;
    cx.reply.bulk(&script.body);
    Ok(())
}

/// SCRIPT KILL and FUNCTION KILL: the run stops at its next look at the clock.
pub(super) fn stop(cx: &mut Cx<'_>, function: bool) -> Res {
    let Some(run) = cx.sv.running.as_mut() else {
        return Err(CmdError::new("NOTBUSY No scripts in execution right now."));
    };
    if run.wrote && !run.rollback {
        return Err(CmdError::new(
            "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
        ));
    }
    if run.function != function {
        return Err(run.busy());
    }
    run.kill = true;
    cx.reply.ok();
    Ok(())
}

fn kill(cx: &mut Cx<'_>) -> Res {
    stop(cx, false)
}
