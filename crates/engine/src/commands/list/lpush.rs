//! LPUSH: adds elements at the left end of a list.
//!
//! One after the other, so that the last argument ends up first. The list is created when the key is absent.
//!
//! ```transcript
//! > LPUSH l a b c
//! (integer) 3
//! > LRANGE l 0 -1
//! 1) "c"
//! 2) "b"
//! 3) "a"
//! > SET s x
//! OK
//! > LPUSH s a
//! (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use crate::commands::list_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::End;

/// The table's row.
pub const SPEC: Spec = Spec::new("lpush", -3, Group::List, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 element:s*")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("1.0.0", "O(1) for each element", "Adds elements at the left end of a list, which is created when absent.");

fn run(cx: &mut Cx<'_>) -> Res {
    list_util::push(cx, End::Left, false)
}
