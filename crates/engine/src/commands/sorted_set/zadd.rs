//! ZADD: adds members with scores, or changes their scores.
//!
//! `NX` only adds, `XX` only changes, `GT` and `LT` change a score only upwards or downwards (and still add). The answer is
//! the number of new members, with `CH` also of those whose score changed; with `INCR` it is the new score of the one
//! member, null when a condition was not met.
//!
//! ```transcript
//! > ZADD z 1 a 2.5 b
//! (integer) 2
//! > ZADD z 3 a 1 c
//! (integer) 1
//! > ZADD z CH 4 a 1 c
//! (integer) 1
//! > ZADD z XX GT 1 a 9 d
//! (integer) 0
//! > ZADD z INCR 1.5 b
//! "4"
//! # resp3
//! (double) 4
//! > ZADD z NX INCR 1 b
//! (nil)
//! > ZRANGE z 0 -1
//! 1) "c"
//! 2) "a"
//! 3) "b"
//! > ZADD z NX XX 1 a
//! (error) ERR XX and NX options at the same time are not compatible
//! > ZADD z GT LT 1 a
//! (error) ERR GT, LT, and/or NX options at the same time are not compatible
//! > ZADD z INCR 1 a 2 b
//! (error) ERR INCR option supports a single increment-element pair
//! > ZADD z x a
//! (error) ERR value is not a valid float
//! ```

use crate::commands::zset_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zadd", -4, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 condition:o?^3.0.2(nx:t'NX' xx:t'XX') comparison:o?^6.2.0(gt:t'GT' lt:t'LT') change:t'CH'?^3.0.2 increment:t'INCR'?^3.0.2 data:b*(score:d member:s)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("1.2.0", "O(log N) for each member", "Adds members with scores to a sorted set, or changes their scores.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_util::add(cx, false)
}
