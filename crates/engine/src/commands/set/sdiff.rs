//! SDIFF: the members of the first set that no other has.
//!
//! ```transcript
//! > SADD a 1 2 3
//! (integer) 3
//! > SADD b 2
//! (integer) 1
//! > SDIFF a b nokey
//! 1) "1"
//! 2) "3"
//! # resp3
//! 1~ "1"
//! 2~ "3"
//! > SDIFF nokey a
//! (empty array)
//! # resp3
//! (empty set)
//! ```

use crate::commands::set_algebra::{Op, reply_union_or_diff};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sdiff", -2, Group::Set, Flags::READONLY, run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KEY_READ)])
    .doc("1.0.0", "O(n), n the number of all members", "Returns the members of the first set that no other has.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let keys = &cx.args[1..];
    reply_union_or_diff(cx, keys, Op::Diff)
}
