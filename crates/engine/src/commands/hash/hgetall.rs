//! HGETALL: all fields with their values.
//!
//! A small hash gives them in the order in which they were added.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HGETALL h
//! 1) "f"
//! 2) "1"
//! 3) "g"
//! 4) "2"
//! # resp3
//! 1# "f" => "1"
//! 2# "g" => "2"
//! > HGETALL nokey
//! (empty array)
//! # resp3
//! (empty hash)
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hgetall", 2, Group::Hash, Flags::READONLY, run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(n), n the size of the hash", "Returns all fields and values of a hash.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let Some(hash) = cx.ks.read_as::<Hash>(cx.args[1])? else {
        cx.reply.map(0);
        return Ok(());
    };
    cx.reply.map(hash.live_len(now));
    hash.iter(now).for_each(|(name, value)| {
        item(&mut cx.reply, name);
        item(&mut cx.reply, value);
    });
    Ok(())
}
