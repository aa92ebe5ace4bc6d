//! PEXPIRETIME: the deadline of a key in milliseconds since the Unix epoch; -1 when it has none, -2 when the key is absent.
//!
//! ```transcript
//! > SET k v PXAT 33177117420000
//! OK
//! > PEXPIRETIME k
//! (integer) 33177117420000
//! > SET k v
//! OK
//! > PEXPIRETIME k
//! (integer) -1
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("pexpiretime", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("7.0.0", "O(1)", "Returns the deadline of a key in milliseconds since the Unix epoch.");

fn run(cx: &mut Cx<'_>) -> Res {
    generic_util::deadline(cx, |at| at)
}
