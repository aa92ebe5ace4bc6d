//! INCRBYFLOAT: adds a floating point number to the number at a key.
//!
//! The deadline stays. Replicas see the sum as SET, so that arithmetic that differs cannot separate them.
//!
//! ```transcript
//! > SET n 10.50
//! OK
//! > INCRBYFLOAT n 0.1
//! "10.6"
//! > INCRBYFLOAT n -5
//! "5.6"
//! > SET n 5.0e3
//! OK
//! > INCRBYFLOAT n 2.0e2
//! "5200"
//! > INCRBYFLOAT n x
//! (error) ERR value is not a valid float
//! > INCRBYFLOAT n inf
//! (error) ERR increment would produce NaN or Infinity
//! ```

use crate::cx::Cx;
use crate::error::{NAN_OR_INF, NOT_FLOAT, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::value::Value;
use totality_ds::Bytes;
use totality_ds::num::F80;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("incrbyfloat", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 increment:d")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("2.6.0", "O(1)", "Adds a floating point number to the number at a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    let key = cx.args[1];
    let mut guard = cx.ks.write(key);
    let old = match guard.value() {
        None => F80::ZERO,
        Some(value) => F80::parse(&value.as_str()?).ok_or(NOT_FLOAT)?,
    };
    let by = F80::parse(cx.args[2]).ok_or(NOT_FLOAT)?;
    let sum = old.plus(by).filter(|sum| sum.is_finite()).ok_or(NAN_OR_INF)?;
    let mut text = Vec::with_capacity(40);
    sum.push(&mut text);
    // Not an integer even where it looks like one: Redis keeps the digits.
    guard.set(Value::Str(Bytes::from(&text[..])));
    guard.changed(Event::string("incrbyfloat"), 1);
    drop(guard);
    cx.propagate_as(&[b"SET", key, &text, b"KEEPTTL"]);
    cx.reply.bulk(&text);
    Ok(())
}
