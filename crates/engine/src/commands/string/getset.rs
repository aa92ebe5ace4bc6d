//! GETSET: sets a string and answers the old one.
//!
//! ```transcript
//! > GETSET k v
//! (nil)
//! > GETSET k w
//! "v"
//! ```

use crate::commands::string_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("getset", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 value:s")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("1.0.0", "O(1)", "Sets the string value of a key and returns the old one.");

fn run(cx: &mut Cx<'_>) -> Res {
    let args = cx.args;
    super::get::answer(cx, args[1])?;
    let mut guard = cx.ks.write(args[1]);
    string_util::store(&mut guard, args[2], None, false);
    drop(guard);
    cx.propagate_as(&[b"SET", args[1], args[2]]);
    Ok(())
}
