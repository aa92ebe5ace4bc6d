//! SREM: removes members from a set and tells how many were there. The key goes with its last member.
//!
//! ```transcript
//! > SADD s a b c
//! (integer) 3
//! > SREM s a x
//! (integer) 1
//! > SREM s b c
//! (integer) 2
//! > SCARD s
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("srem", -3, Group::Set, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 member:s*")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("1.0.0", "O(n), n the number of members", "Removes members from a set, and the set when none is left.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut guard = cx.ks.write(cx.args[1]);
    let mut removed = 0;
    if let Some(set) = guard.get::<Set>()? {
        for member in &cx.args[2..] {
            if set.remove(member) {
                removed += 1;
                if set.is_empty() {
                    break;
                }
            }
        }
    }
    if removed > 0 {
        guard.changed(Event::set("srem"), removed);
        guard.delete_if_empty();
    }
    drop(guard);
    cx.reply.int(removed as i64);
    Ok(())
}
