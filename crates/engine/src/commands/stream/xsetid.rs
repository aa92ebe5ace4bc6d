//! XSETID: sets the id that was given last, and the counters of a stream. What a rewritten append-only file needs.
//!
//! ```transcript
//! > XADD s 5-0 a 1
//! "5-0"
//! > XSETID s 9-0 ENTRIESADDED 3 MAXDELETEDID 4-0
//! OK
//! > XADD s 9-0 a 2
//! (error) ERR The ID specified in XADD is equal or smaller than the target stream top item
//! > XSETID s 4-0
//! (error) ERR The ID specified in XSETID is smaller than the target stream top item
//! > XSETID s 9-0 ENTRIESADDED 0 MAXDELETEDID 0-0
//! (error) ERR The entries_added specified in XSETID is smaller than the target stream length
//! > XSETID s 3-0 ENTRIESADDED 1 MAXDELETEDID 8-0
//! (error) ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id
//! > XSETID nokey 1-1
//! (error) ERR no such key
//! ```

use crate::commands::stream_util::id_arg;
use crate::cx::Cx;
use crate::error::{CmdError, NO_SUCH_KEY, Res, SYNTAX};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::Stream;
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("xsetid", -3, Group::Stream, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 last-id:s entries-added:i'ENTRIESADDED'?^7.0.0 max-deleted-id:s'MAXDELETEDID'?^7.0.0")
        .keys(&[KeySpec::one(1, KEY_UPDATE)])
        .doc("5.0.0", "O(1)", "Sets the last id and the counters of a stream.");

fn run(cx: &mut Cx<'_>) -> Res {
    let id = id_arg(cx.args[2])?;
    let (mut added, mut max_deleted) = (None, StreamId::MIN);
    let mut i = 3;
    while i < cx.argc() {
        let more = i + 1 < cx.argc();
        if more && cx.is(i, "ENTRIESADDED") {
            let n = cx.int(i + 1)?;
            added = Some(u64::try_from(n).map_err(|_| CmdError::new("ERR entries_added must be positive"))?);
        } else if more && cx.is(i, "MAXDELETEDID") {
            max_deleted = id_arg(cx.args[i + 1])?;
            if id < max_deleted {
                return Err(CmdError::new(
                    "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
                ));
            }
        } else {
            return Err(SYNTAX);
        }
        i += 2;
    }
    let mut guard = cx.ks.write(cx.args[1]);
    let log = guard.get::<Stream>()?.ok_or(NO_SUCH_KEY)?.log_mut();
    if id < log.max_deleted {
        return Err(CmdError::new(
            "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id",
        ));
    }
    if log.entries().last_id().is_some_and(|last| id < last) {
        return Err(CmdError::new("ERR The ID specified in XSETID is smaller than the target stream top item"));
    }
    if added.is_some_and(|n| n < log.entries().len()) {
        return Err(CmdError::new(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    log.last_id = id;
    log.entries_added = added.unwrap_or(log.entries_added);
    if max_deleted != StreamId::MIN {
        log.max_deleted = max_deleted;
    }
    guard.changed_quietly(1);
    guard.event(Event::stream("xsetid"));
    cx.reply.ok();
    Ok(())
}
