//! RENAME: gives a key another name, overwriting what is there. The deadline goes along.
//!
//! ```transcript
//! > SET a 1
//! OK
//! > RENAME a b
//! OK
//! > GET b
//! "1"
//! > RENAME nokey b
//! (error) ERR no such key
//! ```

use crate::cx::Cx;
use crate::error::{NO_SUCH_KEY, Res};
use crate::notify::Event;
use crate::spec::{Cat, Flags, Group, KEY_STORE, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("rename", 3, Group::Generic, Flags::WRITE, run).args("key:k@0 newkey:k@1")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_STORE)])
    .doc("1.0.0", "O(1)", "Renames a key, overwriting the destination.");

fn run(cx: &mut Cx<'_>) -> Res {
    rename(cx, true)?;
    cx.reply.ok();
    Ok(())
}

/// Renames the key at argument 1 to argument 2; false when the destination exists and may not be overwritten.
pub(super) fn rename(cx: &mut Cx<'_>, overwrite: bool) -> Res<bool> {
    let (from, to) = (cx.args[1], cx.args[2]);
    if !cx.ks.exists(from) {
        return Err(NO_SUCH_KEY);
    }
    if from == to {
        return Ok(overwrite);
    }
    if !overwrite && cx.ks.exists(to) {
        return Ok(false);
    }
    let db = cx.ks.cur;
    if !cx.ks.relocate((db, from), (db, to)) {
        return Err(NO_SUCH_KEY);
    }
    cx.ks.changed(db, from, Event::generic("rename_from"), 1);
    cx.ks.changed(db, to, Event::generic("rename_to"), 0);
    Ok(true)
}
