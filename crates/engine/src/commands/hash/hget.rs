//! HGET: the value of a field.
//!
//! ```transcript
//! > HSET h f v n 12
//! (integer) 2
//! > HGET h f
//! "v"
//! > HGET h n
//! "12"
//! > HGET h nofield
//! (nil)
//! > HGET nokey f
//! (nil)
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hget", 3, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 field:s")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(1)", "Returns the value of a field of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    match cx.ks.read_as::<Hash>(cx.args[1])?.and_then(|hash| hash.get(cx.args[2], now)) {
        Some(value) => item(&mut cx.reply, value),
        None => cx.reply.null(),
    }
    Ok(())
}
