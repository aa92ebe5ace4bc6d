//! SINTER: the members that all of several sets have.
//!
//! ```transcript
//! > SADD a 1 2 3
//! (integer) 3
//! > SADD b 2 3 4
//! (integer) 3
//! > SINTER a b
//! 1) "2"
//! 2) "3"
//! # resp3
//! 1~ "2"
//! 2~ "3"
//! > SINTER a nokey
//! (empty array)
//! # resp3
//! (empty set)
//! ```

use crate::commands::set_algebra::reply_inter;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sinter", -2, Group::Set, Flags::READONLY, run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KEY_READ)])
    .doc("1.0.0", "O(n*m), n the size of the smallest set, m the number of sets", "Returns the members that all of several sets have.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let keys = &cx.args[1..];
    reply_inter(cx, keys)
}
