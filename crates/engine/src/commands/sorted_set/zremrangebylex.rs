//! ZREMRANGEBYLEX: removes the members in a range of members.
//!
//! ```transcript
//! > ZADD z 0 a 0 b 0 c
//! (integer) 3
//! > ZREMRANGEBYLEX z [b +
//! (integer) 2
//! > ZRANGE z 0 -1
//! 1) "a"
//! ```

use crate::commands::zset_range::{self, By};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zremrangebylex", 4, Group::SortedSet, Flags::WRITE, run).args("key:k@0 min:s max:s")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("2.8.9", "O(log N + M), M the members removed", "Removes the members in a range of members.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::remove(cx, By::Lex)
}
