//! LPUSHX: adds elements at the left end of a list that exists.
//!
//! ```transcript
//! > LPUSHX l a
//! (integer) 0
//! > EXISTS l
//! (integer) 0
//! > RPUSH l a
//! (integer) 1
//! > LPUSHX l b c
//! (integer) 3
//! > LRANGE l 0 -1
//! 1) "c"
//! 2) "b"
//! 3) "a"
//! ```

use crate::commands::list_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::End;

/// The table's row.
pub const SPEC: Spec = Spec::new("lpushx", -3, Group::List, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 element:s*")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("2.2.0", "O(1) for each element", "Adds elements at the left end of a list if it exists.");

fn run(cx: &mut Cx<'_>) -> Res {
    list_util::push(cx, End::Left, true)
}
