//! SCARD: the number of members.
//!
//! ```transcript
//! > SADD s a b
//! (integer) 2
//! > SCARD s
//! (integer) 2
//! > SCARD nokey
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("scard", 2, Group::Set, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.0.0", "O(1)", "Returns the number of members of a set.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.read_as::<Set>(cx.args[1])?.map_or(0, Set::len);
    cx.reply.len(len);
    Ok(())
}
