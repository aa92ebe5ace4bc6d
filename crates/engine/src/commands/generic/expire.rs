//! EXPIRE: gives a key a time to live in seconds.
//!
//! NX sets it only when there is no deadline, XX only when there is one, GT only when the new one is later, LT only
//! when it is earlier; a key without deadline counts as one that never ends. A deadline that has passed deletes the key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > EXPIRE k 100
//! (integer) 1
//! > TTL k
//! ~\(integer\) (99|100)
//! > EXPIRE k 50 GT
//! (integer) 0
//! > EXPIRE k 50 XX LT
//! (integer) 1
//! > EXPIRE k 50 NX XX
//! (error) ERR NX and XX, GT or LT options at the same time are not compatible
//! > EXPIRE k 9223372036854775807
//! (error) ERR invalid expire time in 'expire' command
//! > EXPIRE k -1
//! (integer) 1
//! > EXISTS k
//! (integer) 0
//! > EXPIRE nokey 100
//! (integer) 0
//! ```

use crate::commands::generic_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("expire", -3, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 seconds:i condition:o?^7.0.0(nx:t'NX' xx:t'XX' gt:t'GT' lt:t'LT')")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("1.0.0", "O(1)", "Sets the time to live of a key in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    generic_util::expire(cx, cx.ks.now, 1000)
}
