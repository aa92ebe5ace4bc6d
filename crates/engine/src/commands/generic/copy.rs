//! COPY: copies a value, with its deadline, to another key, if wanted in another database.
//!
//! ```transcript
//! > SET a 1
//! OK
//! > COPY a b
//! (integer) 1
//! > COPY a b
//! (integer) 0
//! > COPY a b REPLACE
//! (integer) 1
//! > COPY a a DB 1
//! (integer) 1
//! > COPY a a
//! (error) ERR source and destination objects are the same
//! > COPY a b DB 9999
//! (error) ERR DB index is out of range
//! > COPY nokey b REPLACE
//! (integer) 0
//! ```

use crate::commands::generic_util::database;
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::keyspace::NO_EXPIRY;
use crate::notify::Event;
use crate::spec::{Cat, Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("copy", -3, Group::Generic, Flags::WRITE.union(Flags::DENYOOM), run).args("source:k@0 destination:k@1 destination-db:i'DB'? replace:t'REPLACE'?")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ), KeySpec::one(2, KEY_STORE)])
    .doc("6.2.0", "O(N) for N elements", "Copies the value of a key to another key.");

/// Source and destination are the same.
pub(super) const SAME: CmdError = CmdError::new("ERR source and destination objects are the same");

fn run(cx: &mut Cx<'_>) -> Res {
    let (from, to) = (cx.args[1], cx.args[2]);
    let source = cx.ks.cur;
    let (mut target, mut replace) = (source, false);
    let mut i = 3;
    while i < cx.argc() {
        if cx.is(i, "REPLACE") {
            replace = true;
        } else if cx.is(i, "DB") && i + 1 < cx.argc() {
            target = database(cx, cx.args[i + 1])?;
            i += 1;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    if source == target && from == to {
        return Err(SAME);
    }
    let there = cx.ks.read(from).is_some();
    cx.ks.cur = target;
    let taken = there && !replace && cx.ks.exists(to);
    cx.ks.cur = source;
    let copied = !taken && copy(cx, from, to, target);
    cx.reply.int(i64::from(copied));
    Ok(())
}

fn copy(cx: &mut Cx<'_>, from: &[u8], to: &[u8], target: usize) -> bool {
    let source = cx.ks.cur;
    let Some(entry) = cx.ks.view(from) else { return false };
    let (value, deadline) = (entry.value.clone(), Some(entry.expire).filter(|at| *at != NO_EXPIRY));
    cx.ks.cur = target;
    let mut guard = cx.ks.write(to);
    guard.remove();
    guard.set(value);
    guard.set_deadline(deadline);
    guard.changed(Event::generic("copy_to"), 1);
    drop(guard);
    cx.ks.cur = source;
    true
}
