//! XACK: acknowledges messages, which are no longer pending then.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XREADGROUP GROUP g ann STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//! > XACK s g 1-1 2-1
//! (integer) 1
//! > XACK s g 1-1
//! (integer) 0
//! > XACK nokey g x
//! (integer) 0
//! > XACK s g x
//! (error) ERR Invalid stream ID specified as stream command argument
//! ```

use crate::commands::stream_util::id_args;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xack", -4, Group::Stream, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 group:s id:s*")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("5.0.0", "O(log N) for each message", "Acknowledges messages of a consumer group.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (key, name) = (cx.args[1], cx.args[2]);
    let there = cx.ks.read_as::<Stream>(key)?.is_some_and(|stream| stream.group(name).is_some());
    if !there {
        cx.reply.int(0);
        return Ok(());
    }
    let ids = id_args(cx, 3)?;
    let mut guard = cx.ks.write(key);
    let taken = guard.get::<Stream>()?.and_then(|stream| {
        stream.with_group(name, |group, _| ids.into_iter().filter(|id| group.acknowledge(*id)).count())
    });
    let taken = taken.unwrap_or(0);
    guard.changed_quietly(taken as u64);
    cx.reply.len(taken);
    Ok(())
}
