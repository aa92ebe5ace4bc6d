//! TOUCH: marks keys as used now and answers how many exist.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > TOUCH a b c
//! (integer) 2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("touch", -2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0*")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::rest(1, KEY_PEEK)])
    .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
    .doc("3.2.1", "O(N) for N keys", "Marks keys as used now and counts those that exist.");

fn run(cx: &mut Cx<'_>) -> Res {
    // The one command that touches keys whatever CLIENT NO-TOUCH says.
    let no_touch = std::mem::take(&mut cx.ks.no_touch);
    let count = cx.args[1..].iter().filter(|key| cx.ks.read(key).is_some()).count();
    cx.ks.no_touch = no_touch;
    cx.reply.len(count);
    Ok(())
}
