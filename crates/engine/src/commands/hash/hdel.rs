//! HDEL: removes fields and tells how many were there. The key goes with its last field.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HDEL h f x f
//! (integer) 1
//! > HDEL h g
//! (integer) 1
//! > HLEN h
//! (integer) 0
//! > HDEL h g
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hdel", -3, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 field:s*")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("2.0.0", "O(n), n the number of fields", "Removes fields of a hash, and the hash when none is left.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let mut guard = cx.ks.write(cx.args[1]);
    let mut removed = 0;
    if let Some(hash) = guard.get::<Hash>()? {
        for field in &cx.args[2..] {
            if hash.remove(field, now).is_some() {
                removed += 1;
                if hash.is_empty() {
                    break;
                }
            }
        }
    }
    if removed > 0 {
        guard.changed(Event::hash("hdel"), removed);
        guard.delete_if_empty();
    }
    drop(guard);
    cx.reply.int(removed as i64);
    Ok(())
}
