//! SISMEMBER: whether a member is in a set.
//!
//! ```transcript
//! > SADD s a
//! (integer) 1
//! > SISMEMBER s a
//! (integer) 1
//! > SISMEMBER s b
//! (integer) 0
//! > SISMEMBER nokey a
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("sismember", 3, Group::Set, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.0.0", "O(1)", "Tells whether a member is in a set.");

fn run(cx: &mut Cx<'_>) -> Res {
    let found = cx.ks.read_as::<Set>(cx.args[1])?.is_some_and(|set| set.contains(cx.args[2]));
    cx.reply.int(i64::from(found));
    Ok(())
}
