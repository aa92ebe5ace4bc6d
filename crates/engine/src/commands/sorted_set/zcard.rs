//! ZCARD: the number of members.
//!
//! ```transcript
//! > ZADD z 1 a 2 b
//! (integer) 2
//! > ZCARD z
//! (integer) 2
//! > ZCARD nokey
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::ZSet;

/// The table's row.
pub const SPEC: Spec = Spec::new("zcard", 2, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.2.0", "O(1)", "Returns the number of members.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.read_as::<ZSet>(cx.args[1])?.map_or(0, ZSet::len);
    cx.reply.len(len);
    Ok(())
}
