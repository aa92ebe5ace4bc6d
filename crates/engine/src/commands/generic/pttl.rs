//! PTTL: the time to live of a key in milliseconds; -1 when it has none, -2 when the key is absent.
//!
//! ```transcript
//! > SET k v PX 100000
//! OK
//! > PTTL k
//! ~\(integer\) (99\d\d\d|100000)
//! > PTTL nokey
//! (integer) -2
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("pttl", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .tips(&["nondeterministic_output"])
    .doc("2.6.0", "O(1)", "Returns the time to live of a key in milliseconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    generic_util::deadline(cx, |at| (at - now).max(0))
}
