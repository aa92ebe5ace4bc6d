//! HTTL: the time to live of fields in seconds; -1 for a field without one, -2 for no such field.
//!
//! ```transcript
//! # since 7.4
//! > HSET h f 1 g 2
//! (integer) 2
//! > HEXPIRE h 100 FIELDS 1 f
//! 1) (integer) 1
//! > HTTL h FIELDS 3 f g x
//! 1) (integer) 100
//! 2) (integer) -1
//! 3) (integer) -2
//! ```

use crate::commands::hash_ttl_util::{reply_deadlines, seconds};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("httl", -5, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 fields:b'FIELDS'(numfields:i@0 field:s*)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("7.4.0", "O(n), n the number of fields", "Returns the time to live of fields of a hash in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    reply_deadlines(cx, |at, now| seconds((at - now).max(0)))
}
