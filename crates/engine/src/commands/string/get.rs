//! GET: the string at a key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > GET k
//! "v"
//! > GET nokey
//! (nil)
//! > RPUSH l a
//! (integer) 1
//! > GET l
//! (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("get", 2, Group::String, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(1)", "Returns the string value of a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    answer(cx, cx.args[1]).map(|_| ())
}

/// Answers the string at `key` or null. True when the key exists.
#[inline]
pub(super) fn answer(cx: &mut Cx<'_>, key: &[u8]) -> Res<bool> {
    match cx.ks.read_str(key)? {
        Some(value) => {
            cx.reply.bulk(&value);
            Ok(true)
        }
        None => {
            cx.reply.null();
            Ok(false)
        }
    }
}
