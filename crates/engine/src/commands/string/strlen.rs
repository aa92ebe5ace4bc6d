//! STRLEN: length of a string in bytes.
//!
//! ```transcript
//! > SET k Hello
//! OK
//! > STRLEN k
//! (integer) 5
//! > STRLEN nokey
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("strlen", 2, Group::String, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("2.2.0", "O(1)", "Returns the length of a string in bytes.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = match cx.ks.read(cx.args[1]) {
        Some(value) => value.str_len()?,
        None => 0,
    };
    cx.reply.len(len);
    Ok(())
}
