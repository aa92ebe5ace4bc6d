//! GETDEL: answers a string and deletes its key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > GETDEL k
//! "v"
//! > GETDEL k
//! (nil)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("getdel", 2, Group::String, Flags::WRITE.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_TAKE)])
    .doc("6.2.0", "O(1)", "Returns the string value of a key and deletes the key.");

fn run(cx: &mut Cx<'_>) -> Res {
    let key = cx.args[1];
    if super::get::answer(cx, key)? && cx.ks.delete(key) {
        cx.propagate_as(&[b"DEL", key]);
    }
    Ok(())
}
