//! DELIFEQ: deletes a key when its string is a given one. Valkey's form of `DELEX key IFEQ value`.
//!
//! ```transcript
//! # since 9.0
//! > SET k token
//! OK
//! > DELIFEQ k other
//! (integer) 0
//! > DELIFEQ k token
//! (integer) 1
//! > DELIFEQ k token
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_REMOVE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("delifeq", 3, Group::String, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 value:s")
    .keys(&[KeySpec::one(1, KEY_REMOVE)])
    .doc("9.0.0", "O(1)", "Deletes a key when its string is a given one.");

fn run(cx: &mut Cx<'_>) -> Res {
    let key = cx.args[1];
    let equal = match cx.ks.peek(key) {
        None => false,
        Some(entry) => *entry.value.as_str()? == *cx.args[2],
    };
    let deleted = equal && cx.ks.delete(key);
    if deleted {
        cx.propagate_as(&[b"DEL", key]);
    }
    cx.reply.int(i64::from(deleted));
    Ok(())
}
