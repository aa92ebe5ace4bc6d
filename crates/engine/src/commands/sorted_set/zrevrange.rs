//! ZREVRANGE: members in a range of ranks, from the highest down.
//!
//! The older form of `ZRANGE … REV`.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZREVRANGE z 0 1
//! 1) "c"
//! 2) "b"
//! > ZREVRANGE z -1 -1 WITHSCORES
//! 1) "a"
//! 2) "1"
//! # resp3
//! 1) 1) "a"
//!    2) (double) 1
//! ```

use crate::commands::zset_range::{self, By, Form};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrevrange", -4, Group::SortedSet, Flags::READONLY, run).args("key:k@0 start:i stop:i withscores:t'WITHSCORES'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.2.0", "O(log N + M), M the members returned", "Returns members in a range of ranks, from the highest down.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply(cx, Form { by: Some(By::Rank), reverse: Some(true) })
}
