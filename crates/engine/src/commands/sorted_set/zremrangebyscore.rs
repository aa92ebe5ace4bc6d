//! ZREMRANGEBYSCORE: removes the members in a range of scores.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZREMRANGEBYSCORE z -inf (3
//! (integer) 2
//! > ZREMRANGEBYSCORE z x 3
//! (error) ERR min or max is not a float
//! ```

use crate::commands::zset_range::{self, By};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zremrangebyscore", 4, Group::SortedSet, Flags::WRITE, run).args("key:k@0 min:d max:d")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("1.2.0", "O(log N + M), M the members removed", "Removes the members in a range of scores.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::remove(cx, By::Score)
}
