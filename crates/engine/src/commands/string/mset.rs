//! MSET: sets several strings at once.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > MGET a b
//! 1) "1"
//! 2) "2"
//! > MSET a 1 b
//! (error) ERR wrong number of arguments for 'mset' command
//! ```

use crate::commands::string_util;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("mset", -3, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("data:b*(key:k@0 value:s)")
    .keys(&[KeySpec::range(1, -1, 2, KEY_STORE)])
    .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
    .doc("1.0.1", "O(N) for N keys", "Sets the string values of keys.");

fn run(cx: &mut Cx<'_>) -> Res {
    check_pairs(cx)?;
    set_pairs(cx);
    cx.reply.ok();
    Ok(())
}

/// Refuses a key without a value.
pub(super) fn check_pairs(cx: &Cx<'_>) -> Res {
    if cx.args.len().is_multiple_of(2) { Err(CmdError::arity(&cx.command.full_name)) } else { Ok(()) }
}

/// Sets the pairs from argument 1 on.
pub(super) fn set_pairs(cx: &mut Cx<'_>) {
    for pair in cx.args[1..].chunks_exact(2) {
        let mut guard = cx.ks.write(pair[0]);
        string_util::store(&mut guard, pair[1], None, false);
    }
}
