//! XDELEX: deletes messages and says of each what became of it: 1 deleted, -1 not there, 2 kept, because a group still
//! needs it.
//!
//! KEEPREF, the default, leaves what groups know of pending messages as it is; DELREF removes that too; ACKED deletes
//! only what every group has read and acknowledged.
//!
//! ```transcript
//! # since 8.2
//! > XADD s 1-1 a 1
//! "1-1"
//! > XADD s 1-2 a 1
//! "1-2"
//! > XDELEX s IDS 2 1-1 9-9
//! 1) (integer) 1
//! 2) (integer) -1
//! > XGROUP CREATE s g 0
//! OK
//! > XDELEX s ACKED IDS 1 1-2
//! 1) (integer) 2
//! > XDELEX s IDS 2 1-2
//! (error) ERR The `numids` parameter must match the number of arguments
//! > XDELEX nokey IDS 1 1-1
//! 1) (integer) -1
//! ```

use crate::commands::stream_util::{References, Removed, delete_args};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xdelex", -5, Group::Stream, Flags::WRITE.union(Flags::FAST), run)
    .args("key:k@0 condition:o?(keepref:t'KEEPREF' delref:t'DELREF' acked:t'ACKED') ids:b'IDS'(numids:i id:s*)")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("8.2.0", "O(1) for each message, and O(G) for G groups", "Deletes messages as groups allow.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (references, ids) = delete_args(cx, 2)?;
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(stream) = guard.get::<Stream>()? else {
        cx.reply.array(ids.len());
        ids.iter().for_each(|_| cx.reply.int(-1));
        return Ok(());
    };
    let mut removed = Removed::default();
    let mut answers = Vec::with_capacity(ids.len());
    for id in ids {
        answers.push(if stream.get(id).is_none() {
            -1
        } else if references == References::Acked && stream.is_needed(id) {
            2
        } else {
            stream.log_mut().delete(id);
            if references == References::Delete {
                stream.forget_pending(id, |group| removed.acknowledge(group, id));
            }
            removed.delete(id);
            1
        });
    }
    if removed.deleted() > 0 {
        guard.changed(Event::stream("xdel"), removed.deleted());
    }
    drop(guard);
    removed.propagate(cx, cx.args[1]);
    cx.reply.array(answers.len());
    answers.into_iter().for_each(|answer| cx.reply.int(answer));
    Ok(())
}
