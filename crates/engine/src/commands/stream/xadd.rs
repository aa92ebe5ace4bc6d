//! XADD: appends a message to a stream.
//!
//! The id is given, or made from the time (`*`), or only its sequence number is made (`ms-*`). It is greater than all
//! ids before, those of deleted messages included. MAXLEN and MINID trim old messages in the same step; with `~` only
//! as far as whole blocks can go.
//!
//! ```transcript
//! > XADD s 1-1 name Ada
//! "1-1"
//! > XADD s 1-* name Bob
//! "1-2"
//! > XADD s 1-1 name Eve
//! (error) ERR The ID specified in XADD is equal or smaller than the target stream top item
//! > XADD s 0-0 name Eve
//! (error) ERR The ID specified in XADD must be greater than 0-0
//! > XADD s MAXLEN 2 2 name Cid age 7
//! "2-0"
//! > XRANGE s - +
//! 1) 1) "1-2"
//!    2) 1) "name"
//!       2) "Bob"
//! 2) 1) "2-0"
//!    2) 1) "name"
//!       2) "Cid"
//!       3) "age"
//!       4) "7"
//! > XADD other NOMKSTREAM * a b
//! (nil)
//! > XADD s * a b c
//! (error) ERR wrong number of arguments for 'xadd' command
//! > XADD s LIMIT 1 * a b
//! (error) ERR syntax error, LIMIT cannot be used without specifying a trimming strategy
//! ```

use crate::commands::stream_util::{NewId, TrimOptions, id_text, propagate_replaced};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::Stream;
use totality_ds::StreamId;
use totality_ds::listpack::MAX_BYTES;
use totality_ds::stream::{BlockLimits, StreamError};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("xadd", -5, Group::Stream, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 nomkstream:t'NOMKSTREAM'?^6.2.0 trim:b?(strategy:o(maxlen:t'MAXLEN' minid:t'MINID'^6.2.0) operator:o?(equal:t'=' approximately:t'~') threshold:s count:i'LIMIT'?^6.2.0) id-selector:o(auto-id:t'*' id:s) data:b*(field:s value:s)")
        .keys(&[KeySpec::one(1, KEY_UPDATE)])
        .tips(&["nondeterministic_output"])
        .doc("5.0.0", "O(1), O(N) for N trimmed messages", "Appends a message to a stream.");

const NOT_GREATER: CmdError =
    CmdError::new("ERR The ID specified in XADD is equal or smaller than the target stream top item");
const TOO_LARGE: CmdError = CmdError::new("ERR Elements are too large to be stored");

fn run(cx: &mut Cx<'_>) -> Res {
    let (mut options, id_at) = TrimOptions::read(cx, true)?;
    // An option's own value may have been the last argument.
    let new = cx.args.get(id_at).map(|arg| NewId::read(arg)).transpose()?;
    options.finish(cx, true)?;
    let pairs = cx.args.get(id_at + 1..).unwrap_or_default();
    let Some(new) = new.filter(|_| pairs.len() >= 2 && pairs.len().is_multiple_of(2)) else {
        return Err(CmdError::arity("xadd"));
    };
    if new == NewId::Given(StreamId::MIN) {
        return Err(CmdError::new("ERR The ID specified in XADD must be greater than 0-0"));
    }

    let limits = BlockLimits {
        bytes: cx.sv.config.stream_node_max_bytes as usize,
        entries: cx.sv.config.stream_node_max_entries,
    };
    let now = cx.ks.now;
    let mut guard = cx.ks.write(cx.args[1]);
    if guard.get::<Stream>()?.is_none() {
        if options.no_create {
            cx.reply.null();
            return Ok(());
        }
        if pairs.iter().map(|arg| arg.len() + 32).sum::<usize>() > MAX_BYTES {
            // Otherwise an empty stream would stay behind.
            return Err(TOO_LARGE);
        }
    }
    let stream = guard.get_or_create(Stream::new)?;
    let log = stream.log_mut();
    if log.last_id == StreamId::MAX {
        return Err(CmdError::new(
            "ERR The stream has exhausted the last possible ID, unable to add more items",
        ));
    }
    let id = new.after(log.last_id, now).ok_or(NOT_GREATER)?;
    let fields = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    log.append(id, fields, limits).map_err(|error| match error {
        StreamError::NotGreater => NOT_GREATER,
        _ => TOO_LARGE,
    })?;
    let text = id_text(id);
    cx.reply.bulk(&text);
    let trimmed = options.trim.map_or(0, |trim| trim.apply(log));
    let rewrite = options.trim.and_then(|trim| trim.rewrite(log));
    guard.changed(Event::stream("xadd"), 1);
    if trimmed > 0 {
        guard.event(Event::stream("xtrim"));
    }
    guard.signal();
    drop(guard);
    let given = matches!(new, NewId::Given(_));
    let id = if given { cx.args[id_at] } else { &text };
    match rewrite {
        Some((at, threshold)) => {
            propagate_replaced(cx, &[(id_at, id), (at, b"="), (at + 1, &threshold)]);
        }
        None if !given => propagate_replaced(cx, &[(id_at, id)]),
        None => {}
    }
    Ok(())
}
