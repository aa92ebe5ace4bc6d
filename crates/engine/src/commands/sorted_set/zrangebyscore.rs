//! ZRANGEBYSCORE: members in a range of scores, from the lowest up.
//!
//! The older form of `ZRANGE … BYSCORE`.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZRANGEBYSCORE z -inf (3
//! 1) "a"
//! 2) "b"
//! > ZRANGEBYSCORE z 1 3 LIMIT 1 1
//! 1) "b"
//! ```

use crate::commands::zset_range::{self, By, Form};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrangebyscore", -4, Group::SortedSet, Flags::READONLY, run).args("key:k@0 min:d max:d withscores:t'WITHSCORES'?^2.0.0 limit:b'LIMIT'?(offset:i count:i)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.5", "O(log N + M), M the members returned", "Returns members in a range of scores, from the lowest up.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply(cx, Form { by: Some(By::Score), reverse: Some(false) })
}
