//! ZUNIONSTORE: puts the union of sorted sets into a key.
//!
//! The target is replaced, or deleted when nothing is left; it may be among the inputs.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZUNIONSTORE t 2 a b WEIGHTS 2 1
//! (integer) 3
//! > ZRANGE t 0 -1 WITHSCORES
//! 1) "x"
//! 2) "2"
//! 3) "y"
//! 4) "14"
//! 5) "z"
//! 6) "20"
//! # resp3
//! 1) 1) "x"
//!    2) (double) 2
//! 2) 1) "y"
//!    2) (double) 14
//! 3) 1) "z"
//!    2) (double) 20
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zunionstore", -4, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS), run).args("destination:k@0 numkeys:i key:k@1* weight:i'WEIGHTS'?* aggregate:o'AGGREGATE'?(sum:t'SUM' min:t'MIN' max:t'MAX')")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::counted(2, KEY_READ)])
    .doc("2.0.0", "O(N + M log M), N the members of all inputs, M the result", "Stores the union of sorted sets in a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 2, Op::Union, Output::Store("zunionstore"))
}
