//! HGETDEL: the values of fields, which are removed. The key goes with its last field.
//!
//! ```transcript
//! # since 8.0
//! > HSET h f 1 g 2
//! (integer) 2
//! > HGETDEL h FIELDS 2 f x
//! 1) "1"
//! 2) (nil)
//! > HGETDEL h FIELDS 1 g
//! 1) "2"
//! > HLEN h
//! (integer) 0
//! ```

use crate::commands::collection::item;
use crate::commands::hash_ttl_util::{NUM_FIELDS, plain_fields};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hgetdel", -5, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 fields:b'FIELDS'(numfields:i@0 field:s*)")
    .keys(&[KeySpec::one(1, KEY_TAKE)])
    .doc("8.0.0", "O(n), n the number of fields", "Returns the values of fields of a hash and removes them.");

fn run(cx: &mut Cx<'_>) -> Res {
    let fields = plain_fields(cx, NUM_FIELDS)?;
    let now = cx.ks.now;
    let mut guard = cx.ks.write(cx.args[1]);
    let mut hash = guard.get::<Hash>()?;
    cx.reply.array(fields.len());
    let mut removed = 0;
    for field in fields {
        let value = hash.as_ref().and_then(|hash| hash.get(field, now));
        match value {
            None => cx.reply.null(),
            Some(value) => {
                item(&mut cx.reply, value);
                removed += u64::from(hash.as_mut().is_some_and(|hash| hash.remove(field, now).is_some()));
            }
        }
    }
    if removed > 0 {
        guard.changed(Event::hash("hdel"), removed);
        guard.delete_if_empty();
    }
    Ok(())
}
