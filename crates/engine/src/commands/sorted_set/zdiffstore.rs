//! ZDIFFSTORE: puts the difference of sorted sets into a key.
//!
//! The target is replaced, or deleted when nothing is left.
//!
//! ```transcript
//! > ZADD a 1 x 2 y
//! (integer) 2
//! > ZADD b 10 y 20 z
//! (integer) 2
//! > ZDIFFSTORE t 2 b a
//! (integer) 1
//! > ZRANGE t 0 -1
//! 1) "z"
//! ```

use crate::commands::zset_combine::{self, Op, Output};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zdiffstore", -4, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS), run).args("destination:k@0 numkeys:i key:k@1*")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::counted(2, KEY_READ)])
    .doc("6.2.0", "O(N K + M log M), N the first input, K the inputs, M the result", "Stores the difference of sorted sets in a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_combine::run(cx, 2, Op::Diff, Output::Store("zdiffstore"))
}
