//! APPEND: adds bytes at the end of a string.
//!
//! ```transcript
//! > APPEND k Hello
//! (integer) 5
//! > APPEND k " World"
//! (integer) 11
//! > GET k
//! "Hello World"
//! ```

use crate::commands::string_util::max_len;
use crate::cx::Cx;
use crate::error::{Res, STRING_TOO_BIG};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::value::Value;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("append", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 value:s")
        .keys(&[KeySpec::one(1, KEY_INSERT)])
        .doc("2.0.0", "O(1), amortised", "Appends bytes to a string; a missing key counts as empty.");

fn run(cx: &mut Cx<'_>) -> Res {
    let more = cx.args[2];
    let limit = max_len(cx);
    let mut guard = cx.ks.write(cx.args[1]);
    let len = match guard.value() {
        None => {
            guard.set(Value::from_bytes(more));
            more.len()
        }
        Some(value) => {
            let len = value.str_len()? + more.len();
            if len as u64 > limit {
                return Err(STRING_TOO_BIG);
            }
            guard.edit(|bytes| bytes.push_slice(more))?;
            len
        }
    };
    guard.changed(Event::string("append"), 1);
    drop(guard);
    cx.reply.len(len);
    Ok(())
}
