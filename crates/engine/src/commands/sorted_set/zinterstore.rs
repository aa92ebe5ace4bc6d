//! ZINTERSTORE: puts the intersection of sorted sets into a key.
//!
//! The target is replaced, or deleted when nothing is left.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZINTERSTORE t 2 a b
//! (integer) 1
//! > ZSCORE t y
//! "12"
//! # resp3
//! (double) 12
//! > ZINTERSTORE t 2 a nokey
//! (integer) 0
//! > EXISTS t
//! (integer) 0
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zinterstore", -4, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS), run).args("destination:k@0 numkeys:i key:k@1* weight:i'WEIGHTS'?* aggregate:o'AGGREGATE'?(sum:t'SUM' min:t'MIN' max:t'MAX')")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::counted(2, KEY_READ)])
    .doc("2.0.0", "O(N K + M log M), N the smallest input, K the inputs, M the result", "Stores the intersection of sorted sets in a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 2, Op::Inter, Output::Store("zinterstore"))
}
