//! ZLEXCOUNT: the number of members in a range of members.
//!
//! For sets whose scores are all equal. Bounds: `[` with and `(` without the bound itself, `-` and `+` for the ends.
//!
//! ```transcript
//! > ZADD z 0 a 0 b 0 c
//! (integer) 3
//! > ZLEXCOUNT z - +
//! (integer) 3
//! > ZLEXCOUNT z [b (c
//! (integer) 1
//! > ZLEXCOUNT z b c
//! (error) ERR min or max not valid string range item
//! ```

use crate::commands::zset_range::{self, By};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zlexcount", 4, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 min:s max:s")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.9", "O(log N)", "Counts the members in a range of members of equal score.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::count(cx, By::Lex)
}
