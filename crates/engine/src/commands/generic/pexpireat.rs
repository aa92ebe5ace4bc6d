//! PEXPIREAT: sets the deadline of a key in milliseconds since the Unix epoch.
//!
//! NX sets it only when there is no deadline, XX only when there is one, GT only when the new one is later, LT only
//! when it is earlier; a key without deadline counts as one that never ends. A deadline that has passed deletes the key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > PEXPIREAT k 33177117420000
//! (integer) 1
//! > PEXPIRETIME k
//! (integer) 33177117420000
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("pexpireat", -3, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 unix-time-milliseconds:u condition:o?^7.0.0(nx:t'NX' xx:t'XX' gt:t'GT' lt:t'LT')")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("2.6.0", "O(1)", "Sets the deadline of a key in milliseconds since the Unix epoch.");

fn run(cx: &mut Cx<'_>) -> Res {
    generic_util::expire(cx, 0, 1)
}
