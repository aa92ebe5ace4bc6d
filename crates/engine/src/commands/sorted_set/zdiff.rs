//! ZDIFF: the members of the first sorted set that no other has.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZDIFF 2 a b WITHSCORES
//! 1) "x"
//! 2) "1"
//! # resp3
//! 1) 1) "x"
//!    2) (double) 1
//! > ZDIFF 2 a a
//! (empty array)
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zdiff", -3, Group::SortedSet, Flags::READONLY.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* withscores:t'WITHSCORES'?")
    .keys(&[KeySpec::counted(1, KEY_READ)])
    .doc("6.2.0", "O(N K + M log M), N the first input, K the inputs, M the result", "Returns the members of the first sorted set that no other has.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 1, Op::Diff, Output::Reply)
}
