//! RPOP: takes elements from the right end of a list.
//!
//! With a count the answer is an array, from the end inwards. A list without elements is deleted.
//!
//! ```transcript
//! > RPUSH l a b c d
//! (integer) 4
//! > RPOP l
//! "d"
//! > RPOP l 2
//! 1) "c"
//! 2) "b"
//! > RPOP l 10
//! 1) "a"
//! > RPOP l 1
//! (nil)
//! ```

use crate::commands::list_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::types::End;

/// The table's row.
pub const SPEC: Spec = Spec::new("rpop", -2, Group::List, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 count:i?^6.2.0")
    .keys(&[KeySpec::one(1, KEY_TAKE)])
    .doc("1.0.0", "O(N) for N elements returned", "Takes and returns elements of the right end of a list.");

fn run(cx: &mut Cx<'_>) -> Res {
    list_util::pop(cx, End::Right)
}
