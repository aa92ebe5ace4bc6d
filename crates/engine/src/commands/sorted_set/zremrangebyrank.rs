//! ZREMRANGEBYRANK: removes the members in a range of ranks.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZREMRANGEBYRANK z 0 -2
//! (integer) 2
//! > ZRANGE z 0 -1
//! 1) "c"
//! ```

use crate::commands::zset_range::{self, By};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zremrangebyrank", 4, Group::SortedSet, Flags::WRITE, run).args("key:k@0 start:i stop:i")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("2.0.0", "O(log N + M), M the members removed", "Removes the members in a range of ranks.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::remove(cx, By::Rank)
}
