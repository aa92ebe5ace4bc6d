//! ZRANGEBYLEX: members in a range of members, from the lowest up.
//!
//! The older form of `ZRANGE … BYLEX`.
//!
//! ```transcript
//! > ZADD z 0 a 0 b 0 c
//! (integer) 3
//! > ZRANGEBYLEX z - [b
//! 1) "a"
//! 2) "b"
//! > ZRANGEBYLEX z (a + LIMIT 1 5
//! 1) "c"
//! ```

use crate::commands::zset_range::{self, By, Form};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrangebylex", -4, Group::SortedSet, Flags::READONLY, run).args("key:k@0 min:s max:s limit:b'LIMIT'?(offset:i count:i)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.9", "O(log N + M), M the members returned", "Returns members in a range of members, from the lowest up.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply(cx, Form { by: Some(By::Lex), reverse: Some(false) })
}
