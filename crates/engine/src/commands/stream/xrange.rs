//! XRANGE: messages with ids in an interval, ascending.
//!
//! `-` and `+` are the least and the greatest id; an id without a sequence number stands for the whole millisecond;
//! `(` before an id leaves it out. COUNT 0 gives null, a negative COUNT does too.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XADD s 1-2 a 2
//! "1-2"
//! > XADD s 2-0 b 3
//! "2-0"
//! > XRANGE s 1 1
//! 1) 1) "1-1"
//!    2) 1) "a"
//!       2) "1"
//! 2) 1) "1-2"
//!    2) 1) "a"
//!       2) "2"
//! > XRANGE s (1-1 + COUNT 1
//! 1) 1) "1-2"
//!    2) 1) "a"
//!       2) "2"
//! > XRANGE nokey - +
//! (empty array)
//! > XRANGE s - + COUNT 0
//! (nil)
//! > XRANGE s - + LIMIT 1
//! (error) ERR syntax error
//! > XRANGE s x +
//! (error) ERR Invalid stream ID specified as stream command argument
//! > XRANGE s (18446744073709551615-18446744073709551615 +
//! (error) ERR invalid start ID for the interval
//! ```

use crate::commands::stream_util::{end_arg, reply_entries, start_arg};
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xrange", -4, Group::Stream, Flags::READONLY, run).args("key:k@0 start:s end:s count:i'COUNT'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("5.0.0", "O(log N + M), M the messages returned", "Messages with ids in an interval.");

fn run(cx: &mut Cx<'_>) -> Res {
    range(cx, false)
}

/// XRANGE and, with `rev`, XREVRANGE.
pub(super) fn range(cx: &mut Cx<'_>, rev: bool) -> Res {
    let (start, end) = if rev { (cx.args[3], cx.args[2]) } else { (cx.args[2], cx.args[3]) };
    let (start, end) = (start_arg(start)?, end_arg(end)?);
    let mut count = None;
    let mut i = 4;
    while i < cx.argc() {
        if !cx.is(i, "COUNT") || i + 1 >= cx.argc() {
            return Err(SYNTAX);
        }
        count = Some(cx.int(i + 1)?.max(0) as u64);
        i += 2;
    }
    let Some(stream) = cx.ks.read_as::<Stream>(cx.args[1])? else {
        cx.reply.array(0);
        return Ok(());
    };
    if count == Some(0) {
        cx.reply.null_array();
        return Ok(());
    }
    let (entries, count) = (stream.log().entries(), count.unwrap_or(0));
    if start > end {
        cx.reply.array(0);
    } else if rev {
        reply_entries(&mut cx.reply, entries.range_rev(start, end), count);
    } else {
        reply_entries(&mut cx.reply, entries.range(start, end), count);
    }
    Ok(())
}
