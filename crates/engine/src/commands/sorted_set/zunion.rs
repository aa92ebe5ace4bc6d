//! ZUNION: the union of sorted sets.
//!
//! `WEIGHTS` multiplies the scores of each input, `AGGREGATE` says how the scores of a member are joined. Plain sets take
//! part with score 1.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZUNION 2 a b WITHSCORES
//! 1) "x"
//! 2) "1"
//! 3) "y"
//! 4) "12"
//! 5) "z"
//! 6) "20"
//! # resp3
//! 1) 1) "x"
//!    2) (double) 1
//! 2) 1) "y"
//!    2) (double) 12
//! 3) 1) "z"
//!    2) (double) 20
//! > ZUNION 2 a b WEIGHTS 100 1 AGGREGATE MIN
//! 1) "y"
//! 2) "z"
//! 3) "x"
//! > ZUNION 0 a
//! (error) ERR at least 1 input key is needed for 'zunion' command
//! > ZUNION 3 a b
//! (error) ERR syntax error
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zunion", -3, Group::SortedSet, Flags::READONLY.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* weight:i'WEIGHTS'?* aggregate:o'AGGREGATE'?(sum:t'SUM' min:t'MIN' max:t'MAX') withscores:t'WITHSCORES'?")
    .keys(&[KeySpec::counted(1, KEY_READ)])
    .doc("6.2.0", "O(N + M log M), N the members of all inputs, M the result", "Returns the union of sorted sets.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 1, Op::Union, Output::Reply)
}
