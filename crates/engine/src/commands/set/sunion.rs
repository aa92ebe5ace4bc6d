//! SUNION: the members that any of several sets has.
//!
//! ```transcript
//! > SADD a 1 2
//! (integer) 2
//! > SADD b 2 3
//! (integer) 2
//! > SUNION a b nokey
//! 1) "1"
//! 2) "2"
//! 3) "3"
//! # resp3
//! 1~ "1"
//! 2~ "2"
//! 3~ "3"
//! ```

use crate::commands::set_algebra::{Op, reply_union_or_diff};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sunion", -2, Group::Set, Flags::READONLY, run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KEY_READ)])
    .doc("1.0.0", "O(n), n the number of all members", "Returns the members that any of several sets has.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let keys = &cx.args[1..];
    reply_union_or_diff(cx, keys, Op::Union)
}
