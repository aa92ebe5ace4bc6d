//! XDEL: deletes messages. The stream stays, even when it is empty.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XDEL s 1-1 1-2
//! (integer) 1
//! > EXISTS s
//! (integer) 1
//! > XDEL s x
//! (error) ERR Invalid stream ID specified as stream command argument
//! > XDEL nokey x
//! (integer) 0
//! ```

use crate::commands::stream_util::id_args;
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xdel", -3, Group::Stream, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 id:s*")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("5.0.0", "O(log N) for each message", "Deletes messages of a stream.");

fn run(cx: &mut Cx<'_>) -> Res {
    let ids = id_args(cx, 2);
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(stream) = guard.get::<Stream>()? else {
        cx.reply.int(0);
        return Ok(());
    };
    let ids = ids?;
    let deleted = ids.into_iter().filter(|id| stream.log_mut().delete(*id)).count();
    if deleted > 0 {
        guard.changed(Event::stream("xdel"), deleted as u64);
    }
    cx.reply.len(deleted);
    Ok(())
}
