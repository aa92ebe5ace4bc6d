//! ZINTERCARD: the size of the intersection of sorted sets.
//!
//! `LIMIT` ends the count early; 0 is no limit.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZINTERCARD 2 a b
//! (integer) 1
//! > ZINTERCARD 2 a a LIMIT 1
//! (integer) 1
//! > ZINTERCARD 1 a LIMIT -1
//! (error) ERR LIMIT can't be negative
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zintercard", -3, Group::SortedSet, Flags::READONLY.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* limit:i'LIMIT'?")
    .keys(&[KeySpec::counted(1, KEY_READ)])
    .doc("7.0.0", "O(N K), N the smallest input, K the inputs", "Returns the size of the intersection of sorted sets.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 1, Op::Inter, Output::Count)
}
