//! ZRANK: the number of members before a member.
//!
//! `WITHSCORE` adds its score.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZRANK z c
//! (integer) 2
//! > ZRANK z x
//! (nil)
//! # since 7.2
//! > ZRANK z b WITHSCORE
//! 1) (integer) 1
//! 2) "2"
//! # resp3
//! 1) (integer) 1
//! 2) (double) 2
//! ```

use crate::commands::zset_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrank", -3, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s withscore:t'WITHSCORE'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(log N)", "Returns how many members are before a member.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_util::rank(cx, false)
}
