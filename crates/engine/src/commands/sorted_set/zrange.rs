//! ZRANGE: members in a range of ranks, scores or members.
//!
//! `BYSCORE` and `BYLEX` say what the bounds are (else ranks, negative from the end), `REV` gives the highest first (and
//! expects the upper bound first, except of ranks), `LIMIT offset count` takes a part of a range by score or member.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZRANGE z 0 -1
//! 1) "a"
//! 2) "b"
//! 3) "c"
//! > ZRANGE z 0 1 REV
//! 1) "c"
//! 2) "b"
//! > ZRANGE z (1 +inf BYSCORE LIMIT 1 10 WITHSCORES
//! 1) "c"
//! 2) "3"
//! # resp3
//! 1) 1) "c"
//!    2) (double) 3
//! > ZRANGE z [c [a BYLEX REV LIMIT 0 2
//! 1) "c"
//! 2) "b"
//! > ZRANGE z 5 10
//! (empty array)
//! > ZRANGE z 0 1 LIMIT 0 1
//! (error) ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX
//! > ZRANGE z - + BYLEX WITHSCORES
//! (error) ERR syntax error, WITHSCORES not supported in combination with BYLEX
//! ```

use crate::commands::zset_range::{self, Form};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrange", -4, Group::SortedSet, Flags::READONLY, run).args("key:k@0 start:s stop:s sortby:o?^6.2.0(byscore:t'BYSCORE' bylex:t'BYLEX') rev:t'REV'?^6.2.0 limit:b'LIMIT'?^6.2.0(offset:i count:i) withscores:t'WITHSCORES'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.2.0", "O(log N + M), M the members returned", "Returns members in a range of ranks, scores or members.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply(cx, Form { by: None, reverse: None })
}
