//! PERSIST: removes the deadline of a key.
//!
//! ```transcript
//! > SET k v EX 100
//! OK
//! > PERSIST k
//! (integer) 1
//! > TTL k
//! (integer) -1
//! > PERSIST k
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Cat, Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("persist", 2, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("2.2.0", "O(1)", "Removes the deadline of a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut guard = cx.ks.write(cx.args[1]);
    let had = guard.set_deadline(None);
    if had {
        guard.changed(Event::generic("persist"), 1);
    }
    drop(guard);
    cx.reply.int(i64::from(had));
    Ok(())
}
