//! ZREVRANGEBYSCORE: members in a range of scores, from the highest down.
//!
//! The older form of `ZRANGE … BYSCORE REV`; the upper bound comes first.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZREVRANGEBYSCORE z +inf 2
//! 1) "c"
//! 2) "b"
//! ```

use crate::commands::zset_range::{self, By, Form};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrevrangebyscore", -4, Group::SortedSet, Flags::READONLY, run).args("key:k@0 max:d min:d withscores:t'WITHSCORES'? limit:b'LIMIT'?(offset:i count:i)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.2.0", "O(log N + M), M the members returned", "Returns members in a range of scores, from the highest down.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply(cx, Form { by: Some(By::Score), reverse: Some(true) })
}
