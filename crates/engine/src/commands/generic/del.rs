//! DEL: deletes keys and answers how many were there.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > DEL a b c
//! (integer) 2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_REMOVE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("del", -2, Group::Generic, Flags::WRITE, run).args("key:k@0*")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::rest(1, KEY_REMOVE)])
    .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
    .doc("1.0.0", "O(N) for N keys", "Deletes keys and returns how many were there.");

/// DEL and UNLINK: values whose freeing could take long are always freed elsewhere.
pub(super) fn run(cx: &mut Cx<'_>) -> Res {
    let mut deleted = 0;
    for key in &cx.args[1..] {
        deleted += i64::from(cx.ks.delete(key));
    }
    cx.reply.int(deleted);
    Ok(())
}
