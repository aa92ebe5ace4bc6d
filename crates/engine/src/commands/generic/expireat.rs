//! EXPIREAT: sets the deadline of a key in seconds since the Unix epoch.
//!
//! NX sets it only when there is no deadline, XX only when there is one, GT only when the new one is later, LT only
//! when it is earlier; a key without deadline counts as one that never ends. A deadline that has passed deletes the key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > EXPIREAT k 33177117420
//! (integer) 1
//! > EXPIRETIME k
//! (integer) 33177117420
//! > EXPIREAT k 1
//! (integer) 1
//! > EXISTS k
//! (integer) 0
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("expireat", -3, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 unix-time-seconds:u condition:o?^7.0.0(nx:t'NX' xx:t'XX' gt:t'GT' lt:t'LT')")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("1.2.0", "O(1)", "Sets the deadline of a key in seconds since the Unix epoch.");

fn run(cx: &mut Cx<'_>) -> Res {
    generic_util::expire(cx, 0, 1000)
}
