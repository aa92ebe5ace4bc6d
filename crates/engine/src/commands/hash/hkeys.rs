//! HKEYS: the names of all fields.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HKEYS h
//! 1) "f"
//! 2) "g"
//! > HKEYS nokey
//! (empty array)
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hkeys", 2, Group::Hash, Flags::READONLY, run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(n), n the size of the hash", "Returns the names of all fields of a hash.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let Some(hash) = cx.ks.read_as::<Hash>(cx.args[1])? else {
        cx.reply.array(0);
        return Ok(());
    };
    cx.reply.array(hash.live_len(now));
    hash.iter(now).for_each(|(name, _)| item(&mut cx.reply, name));
    Ok(())
}
