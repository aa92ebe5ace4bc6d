//! HEXISTS: whether a field is there.
//!
//! ```transcript
//! > HSET h f 1
//! (integer) 1
//! > HEXISTS h f
//! (integer) 1
//! > HEXISTS h g
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hexists", 3, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 field:s")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("2.0.0", "O(1)", "Tells whether a field exists in a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let found = cx.ks.read_as::<Hash>(cx.args[1])?.is_some_and(|hash| hash.contains(cx.args[2], now));
    cx.reply.int(i64::from(found));
    Ok(())
}
