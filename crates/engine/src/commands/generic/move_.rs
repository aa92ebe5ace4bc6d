//! MOVE: moves a key, with its deadline, to another database unless it exists there.
//!
//! ```transcript
//! > SET a 1
//! OK
//! > MOVE a 1
//! (integer) 1
//! > EXISTS a
//! (integer) 0
//! > MOVE a 0
//! (error) ERR source and destination objects are the same
//! > MOVE a 9999
//! (error) ERR DB index is out of range
//! ```

use crate::commands::generic_util::database;
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Cat, Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("move", 3, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 db:i")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("1.0.0", "O(1)", "Moves a key to another database.");

fn run(cx: &mut Cx<'_>) -> Res {
    let key = cx.args[1];
    let source = cx.ks.cur;
    let target = database(cx, cx.args[2])?;
    if source == target {
        return Err(super::copy::SAME);
    }
    let moved = cx.ks.exists(key) && {
        cx.ks.cur = target;
        let taken = cx.ks.exists(key);
        cx.ks.cur = source;
        !taken && put(cx, key, target)
    };
    cx.reply.int(i64::from(moved));
    Ok(())
}

fn put(cx: &mut Cx<'_>, key: &[u8], target: usize) -> bool {
    let source = cx.ks.cur;
    if !cx.ks.relocate((source, key), (target, key)) {
        return false;
    }
    cx.ks.changed(source, key, Event::generic("move_from"), 1);
    cx.ks.changed(target, key, Event::generic("move_to"), 0);
    true
}
