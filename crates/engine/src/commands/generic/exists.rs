//! EXISTS: how many of the keys exist; one that is named twice counts twice.
//!
//! ```transcript
//! > SET a 1
//! OK
//! > EXISTS a nokey a
//! (integer) 2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("exists", -2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0*")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::rest(1, KEY_PEEK)])
    .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
    .doc("1.0.0", "O(N) for N keys", "Counts the keys that exist.");

fn run(cx: &mut Cx<'_>) -> Res {
    let count = cx.args[1..].iter().filter(|key| cx.ks.glance(key).is_some()).count();
    cx.reply.len(count);
    Ok(())
}
