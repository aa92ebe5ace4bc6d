//! ZREVRANK: the number of members after a member.
//!
//! `WITHSCORE` adds its score.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZREVRANK z c
//! (integer) 0
//! > ZREVRANK z x
//! (nil)
//! # since 7.2
//! > ZREVRANK z x WITHSCORE
//! (nil)
//! ```

use crate::commands::zset_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrevrank", -3, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s withscore:t'WITHSCORE'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(log N)", "Returns how many members are after a member.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_util::rank(cx, true)
}
