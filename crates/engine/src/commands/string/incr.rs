//! INCR: adds one to an integer.
//!
//! ```transcript
//! > INCR n
//! (integer) 1
//! > SET s x
//! OK
//! > INCR s
//! (error) ERR value is not an integer or out of range
//! > SET n 9223372036854775807
//! OK
//! > INCR n
//! (error) ERR increment or decrement would overflow
//! ```

use crate::cx::Cx;
use crate::error::{NOT_INTEGER, OVERFLOW, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::value::Value;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("incr", 2, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("1.0.0", "O(1)", "Adds one to the integer at a key; a missing key counts as 0.");

fn run(cx: &mut Cx<'_>) -> Res {
    add(cx, 1)
}

/// Adds `by` to the integer at argument 1: INCR, DECR, INCRBY, DECRBY.
pub(super) fn add(cx: &mut Cx<'_>, by: i64) -> Res {
    let mut guard = cx.ks.write(cx.args[1]);
    let old = match guard.value() {
        None => 0,
        Some(Value::Int(n)) => *n,
        Some(value) => crate::util::parse_i64(&value.as_str()?).ok_or(NOT_INTEGER)?,
    };
    let new = old.checked_add(by).ok_or(OVERFLOW)?;
    guard.set(Value::Int(new));
    guard.changed(Event::string("incrby"), 1);
    drop(guard);
    cx.reply.int(new);
    Ok(())
}
