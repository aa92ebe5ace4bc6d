//! KEYS: the names of all keys that match a pattern. It walks the whole database: SCAN does it in steps.
//!
//! ```transcript
//! > MSET one 1 two 2
//! OK
//! > KEYS t*
//! 1) "two"
//! > KEYS nothing
//! (empty array)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("keys", 2, Group::Generic, Flags::READONLY, run).args("pattern:p")
    .cats(Cat::KEYSPACE.union(Cat::DANGEROUS))
    .tips(&["request_policy:all_shards", "nondeterministic_output_order"])
    .doc("1.0.0", "O(N) for N keys of the database", "Returns the names of the keys that match a pattern.");

fn run(cx: &mut Cx<'_>) -> Res {
    let pattern = cx.args[1];
    let all = pattern == b"*";
    let list = cx.reply.array_deferred();
    let mut count = 0;
    for entry in cx.ks.db().dict().iter() {
        if !cx.ks.is_past(entry.expire) && (all || totality_ds::glob::matches(pattern, &entry.key, false)) {
            cx.reply.bulk(&entry.key);
            count += 1;
        }
    }
    cx.reply.end(list, count);
    Ok(())
}
