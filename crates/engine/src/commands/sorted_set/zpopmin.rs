//! ZPOPMIN: takes the members with the lowest scores.
//!
//! In RESP3 members and scores are nested only when a count is given, as in Redis.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZPOPMIN z
//! 1) "a"
//! 2) "1"
//! # resp3
//! 1) "a"
//! 2) (double) 1
//! > ZPOPMIN z 5
//! 1) "b"
//! 2) "2"
//! 3) "c"
//! 4) "3"
//! # resp3
//! 1) 1) "b"
//!    2) (double) 2
//! 2) 1) "c"
//!    2) (double) 3
//! > ZPOPMIN z
//! (empty array)
//! > ZPOPMIN z -1
//! (error) ERR value is out of range, must be positive
//! ```

use crate::commands::zset_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zpopmin", -2, Group::SortedSet, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 count:i?")
    .keys(&[KeySpec::one(1, KEY_TAKE)])
    .doc("5.0.0", "O(M log N), M the members taken", "Takes and returns the members with the lowest scores.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_util::pop(cx, false)
}
