//! TTL: the time to live of a key in seconds; -1 when it has none, -2 when the key is absent.
//!
//! ```transcript
//! > SET k v
//! OK
//! > TTL k
//! (integer) -1
//! > EXPIRE k 100
//! (integer) 1
//! > TTL k
//! ~\(integer\) (99|100)
//! > TTL nokey
//! (integer) -2
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("ttl", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .tips(&["nondeterministic_output"])
    .doc("1.0.0", "O(1)", "Returns the time to live of a key in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    generic_util::deadline(cx, |at| generic_util::seconds((at - now).max(0)))
}
