//! HMGET: the values of several fields, nil where a field or the whole hash is absent.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HMGET h f x g
//! 1) "1"
//! 2) (nil)
//! 3) "2"
//! > HMGET nokey f
//! 1) (nil)
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hmget", -3, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 field:s*")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.0.0", "O(n), n the number of fields", "Returns the values of fields of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let hash = cx.ks.read_as::<Hash>(cx.args[1])?;
    cx.reply.array(cx.args.len() - 2);
    for field in &cx.args[2..] {
        match hash.and_then(|hash| hash.get(field, now)) {
            Some(value) => item(&mut cx.reply, value),
            None => cx.reply.null(),
        }
    }
    Ok(())
}
