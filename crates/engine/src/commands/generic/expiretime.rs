//! EXPIRETIME: the deadline of a key in seconds since the Unix epoch; -1 when it has none, -2 when the key is absent.
//!
//! ```transcript
//! > SET k v EXAT 33177117420
//! OK
//! > EXPIRETIME k
//! (integer) 33177117420
//! > EXPIRETIME nokey
//! (integer) -2
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("expiretime", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("7.0.0", "O(1)", "Returns the deadline of a key in seconds since the Unix epoch.");

fn run(cx: &mut Cx<'_>) -> Res {
    generic_util::deadline(cx, generic_util::seconds)
}
