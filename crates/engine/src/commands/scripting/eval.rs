//! EVAL: runs a Lua script. It runs alone, sees one time, and is all the server does meanwhile.
//!
//! ```transcript
//! > EVAL "return {KEYS[1],ARGV[1],3.99,false,'x'}" 1 k v
//! 1) "k"
//! 2) "v"
//! 3) (integer) 3
//! 4) (nil)
//! 5) "x"
//! > EVAL "return redis.call('SET',KEYS[1],ARGV[1])" 1 k v
//! OK
//! > EVAL "return 1" -1
//! (error) ERR Number of keys can't be negative
//! ```

use crate::client::DebugMode;
use crate::cx::{Cx, Origin};
use crate::error::{CmdError, NO_SCRIPT, Res};
use crate::script::{self, Code, Debugger, Subject, cache};
use crate::stats::Limited;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// Flags that all scripting commands share.
pub(super) const FLAGS: Flags = Flags::NOSCRIPT
    .union(Flags::SKIP_MONITOR)
    .union(Flags::NO_MANDATORY_KEYS)
    .union(Flags::STALE)
    .union(Flags::SCRIPT);

/// The table's row.
pub const SPEC: Spec = Spec::new("eval", -3, Group::Scripting, FLAGS.union(Flags::MAY_REPLICATE), run).args("script:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("2.6.0", "Depends on the script", "Runs a Lua script.");

fn run(cx: &mut Cx<'_>) -> Res {
    eval(cx, false)
}

/// The client's wish to debug what it runs, if it has one.
fn debug_mode(cx: &Cx<'_>) -> Option<DebugMode> {
    cx.sv.client(cx.client)?.debug.filter(|_| cx.origin == Origin::Client)
}

/// The number of keys, checked against the arguments that follow.
fn numkeys(cx: &Cx<'_>, not_integer: CmdError) -> Res<usize> {
    let n = crate::util::parse_i64(cx.args[2]).ok_or(not_integer)?;
    if n > cx.argc() as i64 - 3 {
        return Err(CmdError::new("ERR Number of keys can't be greater than number of args"));
    }
    usize::try_from(n).map_err(|_| CmdError::new("ERR Number of keys can't be negative"))
}

/// EVAL and EVAL_RO.
pub(super) fn eval(cx: &mut Cx<'_>, read_only: bool) -> Res {
    match debug_mode(cx) {
        None => eval_watched(cx, read_only, None),
        Some(mode) => script::debug(cx, mode, |cx, debugger| eval_watched(cx, read_only, Some(debugger))),
    }
}

fn eval_watched(cx: &mut Cx<'_>, read_only: bool, debugger: Option<&mut Debugger>) -> Res {
    let numkeys = numkeys(cx, crate::error::NOT_INTEGER)?;
    let body = cx.args[1];
    let sha = cache::sha_of(body);
    let room = cx.sv.scripts.room(&cx.sv.config);
    let script = match cx.sv.scripts.cache.load(sha, body, false, room) {
        Ok(script) => script,
        Err(error) => return Err(not_loaded(cx, body, error)),
    };
    let (chunk, traits) = (script.chunk.clone(), script.traits());
    cx.sv.stats.evicted_scripts += std::mem::take(&mut cx.sv.scripts.cache.evicted);
    let subject = Subject::Script { sha, code: Code::Chunk(chunk) };
    match debugger {
        None => script::run(cx, subject, traits, read_only, numkeys),
        Some(debugger) => script::run_debugged(cx, subject, traits, read_only, numkeys, debugger),
    }
}

/// Counts a script that was refused because of its size.
#[cold]
pub(super) fn not_loaded(cx: &mut Cx<'_>, body: &[u8], error: CmdError) -> CmdError {
    if body.len() as u64 > cx.sv.config.script_max_size {
        cx.sv.stats.limited(Limited::Size);
    } else if error.code() == b"OOM" {
        cx.sv.stats.limited(Limited::TotalMemory);
    }
    error
}

/// EVALSHA and EVALSHA_RO.
pub(super) fn evalsha(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let sha = cx.sv.scripts.cache.parse_hex(cx.args[1]).ok_or(NO_SCRIPT)?;
    if debug_mode(cx).is_some() {
        return Err(CmdError::new("ERR Please use EVAL instead of EVALSHA for debugging"));
    }
    let numkeys = numkeys(cx, crate::error::NOT_INTEGER)?;
    let Some((code, traits)) = cx.sv.scripts.find(&sha) else {
        cx.sv.scripts.tracker.missed(&sha);
        return Err(NO_SCRIPT);
    };
    script::run(cx, Subject::Script { sha, code }, traits, read_only, numkeys)
}

/// FCALL and FCALL_RO.
pub(super) fn fcall(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let name = cx.args[1];
    let Some(function) = cx.sv.scripts.libraries.function(name) else {
        return Err(CmdError::new("ERR Function not found"));
    };
    let (traits, name) = (function.traits(), function.name.clone());
    let numkeys = numkeys(cx, CmdError::new("ERR Bad number of keys provided"))?;
    script::run(cx, Subject::Function { name }, traits, read_only, numkeys)
}
