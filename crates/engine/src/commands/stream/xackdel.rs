//! XACKDEL: acknowledges messages and deletes them, and says of each what became of it: 1 both, 2 acknowledged but kept,
//! because another group still needs it, -1 not pending.
//!
//! KEEPREF, the default, leaves what other groups know of pending messages as it is; DELREF removes that too; ACKED
//! deletes only what every group has read and acknowledged.
//!
//! ```transcript
//! # since 8.2
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XREADGROUP GROUP g ann COUNT 1 STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//! > XACKDEL s g ACKED IDS 2 1-1 9-9
//! 1) (integer) 1
//! 2) (integer) -1
//! > XLEN s
//! (integer) 0
//! > XACKDEL s nogroup IDS 1 1-1
//! 1) (integer) -1
//! ```

use crate::commands::stream_util::{References, Removed, delete_args};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xackdel", -6, Group::Stream, Flags::WRITE.union(Flags::FAST), run)
    .args("key:k@0 group:s condition:o?(keepref:t'KEEPREF' delref:t'DELREF' acked:t'ACKED') ids:b'IDS'(numids:i id:s*)")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("8.2.0", "O(1) for each message, and O(G) for G groups", "Acknowledges messages and deletes them.");

fn run(cx: &mut Cx<'_>) -> Res {
    let name = cx.args[2];
    let (references, ids) = delete_args(cx, 3)?;
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(stream) = guard.get::<Stream>()?.filter(|stream| stream.group(name).is_some()) else {
        cx.reply.array(ids.len());
        ids.iter().for_each(|_| cx.reply.int(-1));
        return Ok(());
    };
    let (mut taken, mut removed) = (0, Removed::default());
    let mut answers = Vec::with_capacity(ids.len());
    for id in ids {
        if stream.with_group(name, |group, _| group.acknowledge(id)) != Some(true) {
            answers.push(-1);
            continue;
        }
        taken += 1;
        removed.acknowledge(name, id);
        if references == References::Acked && stream.is_needed(id) {
            answers.push(2);
            continue;
        }
        if stream.log_mut().delete(id) {
            removed.delete(id);
        }
        if references == References::Delete {
            stream.forget_pending(id, |group| removed.acknowledge(group, id));
        }
        answers.push(1);
    }
    guard.changed_quietly(taken);
    if removed.deleted() > 0 {
        guard.changed(Event::stream("xdel"), removed.deleted());
    }
    drop(guard);
    removed.propagate(cx, cx.args[1]);
    cx.reply.array(answers.len());
    answers.into_iter().for_each(|answer| cx.reply.int(answer));
    Ok(())
}
