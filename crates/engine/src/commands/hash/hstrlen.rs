//! HSTRLEN: the length of a field's value in bytes, 0 when there is no such field.
//!
//! ```transcript
//! > HSET h f hello n -12
//! (integer) 2
//! > HSTRLEN h f
//! (integer) 5
//! > HSTRLEN h n
//! (integer) 3
//! > HSTRLEN h nofield
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hstrlen", 3, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 field:s")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("3.2.0", "O(1)", "Returns the length of the value of a field.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let value = cx.ks.read_as::<Hash>(cx.args[1])?.and_then(|hash| hash.get(cx.args[2], now));
    cx.reply.len(value.map_or(0, |value| value.byte_len()));
    Ok(())
}
