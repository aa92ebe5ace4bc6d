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

use crate::cx::Cx;
use crate::error::{CmdError, NO_SCRIPT, Res};
use crate::script::{self, Subject, Traits, cache};
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
    let numkeys = numkeys(cx, crate::error::NOT_INTEGER)?;
    let body = cx.args[1];
    let sha = cache::sha_of(body);
    let max = cx.sv.config.script_cache_max_entries as usize;
    let script = cx.sv.scripts.cache.load(sha, body, false, max)?;
    let chunk = script.chunk.clone();
    let traits = Traits { flags: script.flags, deadline_ms: script.deadline_ms };
    cx.sv.stats.evicted_scripts += std::mem::take(&mut cx.sv.scripts.cache.evicted);
    script::run(cx, Subject::Script { sha, chunk }, traits, read_only, numkeys)
}

/// EVALSHA and EVALSHA_RO.
pub(super) fn evalsha(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let sha = cache::parse_hex(cx.args[1]).ok_or(NO_SCRIPT)?;
    let numkeys = numkeys(cx, crate::error::NOT_INTEGER)?;
    let script = cx.sv.scripts.cache.get(&sha).ok_or(NO_SCRIPT)?;
    let chunk = script.chunk.clone();
    let traits = Traits { flags: script.flags, deadline_ms: script.deadline_ms };
    script::run(cx, Subject::Script { sha, chunk }, traits, read_only, numkeys)
}

/// FCALL and FCALL_RO.
pub(super) fn fcall(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let name = cx.args[1];
    let Some(function) = cx.sv.scripts.libraries.function(name) else {
        return Err(CmdError::new("ERR Function not found"));
    };
    let traits = Traits { flags: function.flags, deadline_ms: function.deadline_ms };
    let numkeys = numkeys(cx, CmdError::new("ERR Bad number of keys provided"))?;
    script::run(cx, Subject::Function { name: name.to_vec() }, traits, read_only, numkeys)
}
