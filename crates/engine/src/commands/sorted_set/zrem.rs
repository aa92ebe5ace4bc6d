//! ZREM: removes members.
//!
//! A set without members is deleted.
//!
//! ```transcript
//! > ZADD z 1 a 2 b
//! (integer) 2
//! > ZREM z a x
//! (integer) 1
//! > ZREM z b
//! (integer) 1
//! > EXISTS z
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::ZSet;

/// The table's row.
pub const SPEC: Spec = Spec::new("zrem", -3, Group::SortedSet, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 member:s*")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("1.2.0", "O(M log N), M the members removed", "Removes members.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut guard = cx.ks.write(cx.args[1]);
    let mut removed = 0;
    if let Some(set) = guard.get::<ZSet>()? {
        removed = cx.args[2..].iter().filter(|member| set.remove(member).is_some()).count();
    }
    if removed > 0 {
        guard.changed(Event::zset("zrem"), removed as u64);
        guard.delete_if_empty();
    }
    drop(guard);
    cx.reply.len(removed);
    Ok(())
}
