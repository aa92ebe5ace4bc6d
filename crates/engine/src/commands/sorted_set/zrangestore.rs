//! ZRANGESTORE: puts a range of a sorted set into another key.
//!
//! Takes the options of ZRANGE except WITHSCORES. The target is replaced, or deleted when the range is empty.
//!
//! ```transcript
//! > ZADD z 1 a 2 b 3 c
//! (integer) 3
//! > ZRANGESTORE t z 1 -1
//! (integer) 2
//! > ZRANGE t 0 -1
//! 1) "b"
//! 2) "c"
//! > ZRANGESTORE t z 10 20 BYSCORE
//! (integer) 0
//! > EXISTS t
//! (integer) 0
//! ```

use crate::commands::zset_range;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zrangestore", -5, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM), run).args("dst:k@0 src:k@1 min:s max:s sortby:o?(byscore:t'BYSCORE' bylex:t'BYLEX') rev:t'REV'? limit:b'LIMIT'?(offset:i count:i)")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::one(2, KEY_READ)])
    .doc("6.2.0", "O(log N + M), M the members stored", "Stores a range of a sorted set in another key.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_range::reply_stored(cx)
}
