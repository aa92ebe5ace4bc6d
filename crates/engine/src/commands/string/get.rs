//! GET: the string at a key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > GET k
//! "v"
//! > GET nokey
//! (nil)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("get", 2, Group::String, Flags::READONLY.union(Flags::FAST), run)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(1)", "Returns the string value of a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.ks.read_str(cx.args[1])? {
        Some(value) => cx.reply.bulk(&value),
        None => cx.reply.null(),
    }
    Ok(())
}
