//! ZCOUNT: the number of members whose scores are in a range.
//!
//! `(` before a bound leaves the bound itself out.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZCOUNT z -inf +inf
//! (integer) 3
//! > ZCOUNT z (1 3
//! (integer) 2
//! > ZCOUNT z x 3
//! (error) ERR min or max is not a float
//! ```

use crate::commands::zset_range::{self, By};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zcount", 4, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 min:d max:d")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(log N)", "Counts the members in a range of scores.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::count(cx, By::Score)
}
