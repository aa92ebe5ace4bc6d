//! SET: gives a key a string value, with conditions and a deadline.
//!
//! ```transcript
//! > SET k v
//! OK
//! > SET k w NX
//! (nil)
//! > SET k w XX GET
//! "v"
//! ```

use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_STORE, KeySpec, Spec};
use crate::value::Value;

/// The table's row.
pub const SPEC: Spec = Spec::new("set", -3, Group::String, Flags::WRITE.union(Flags::DENYOOM), run)
    .keys(&[KeySpec::one(1, KEY_STORE)])
    .doc("1.0.0", "O(1)", "Sets the string value of a key, whatever type it held.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc() != 3 {
        return Err(SYNTAX);
    }
    let mut guard = cx.ks.write(cx.args[1]);
    guard.overwrite(Value::from_bytes(cx.args[2]));
    guard.changed(Event::string("set"), 1);
    drop(guard);
    cx.reply.ok();
    Ok(())
}
