//! ZINTER: the intersection of sorted sets.
//!
//! Takes the options of ZUNION.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZINTER 2 a b WITHSCORES
//! 1) "y"
//! 2) "12"
//! # resp3
//! 1) 1) "y"
//!    2) (double) 12
//! > ZINTER 2 a nokey
//! (empty array)
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zinter", -3, Group::SortedSet, Flags::READONLY.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* weight:i'WEIGHTS'?* aggregate:o'AGGREGATE'?(sum:t'SUM' min:t'MIN' max:t'MAX') withscores:t'WITHSCORES'?")
    .keys(&[KeySpec::counted(1, KEY_READ)])
    .doc("6.2.0", "O(N K + M log M), N the smallest input, K the inputs, M the result", "Returns the intersection of sorted sets.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 1, Op::Inter, Output::Reply)
}
