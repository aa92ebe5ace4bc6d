//! XTRIM: deletes the oldest messages, down to a length or up to an id.
//!
//! With `~` only whole blocks go, at most LIMIT messages (100 blocks' worth where it is not given, 0 for no limit).
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XADD s 2-1 a 2
//! "2-1"
//! > XADD s 3-1 a 3
//! "3-1"
//! > XTRIM s MAXLEN ~ 1
//! (integer) 0
//! > XTRIM s MAXLEN 2
//! (integer) 1
//! > XTRIM s MINID = 3
//! (integer) 1
//! > XTRIM s MAXLEN 1 LIMIT 10
//! (error) ERR syntax error, LIMIT cannot be used without the special ~ option
//! > XTRIM s LIMIT 0
//! (error) ERR syntax error, XTRIM must be called with a trimming strategy
//! > XTRIM s MAXLEN -1
//! (error) ERR The MAXLEN argument must be >= 0.
//! > XTRIM s MAXLEN 1 MINID 3
//! (error) ERR syntax error, MAXLEN and MINID options at the same time are not compatible
//! ```

use crate::commands::stream_util::{TrimOptions, propagate_replaced};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xtrim", -4, Group::Stream, Flags::WRITE, run).args("key:k@0 trim:b(strategy:o(maxlen:t'MAXLEN' minid:t'MINID'^6.2.0) operator:o?(equal:t'=' approximately:t'~') threshold:s count:i'LIMIT'?^6.2.0)")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .tips(&["nondeterministic_output"])
    .doc("5.0.0", "O(N) for N messages deleted", "Deletes the oldest messages of a stream.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (mut options, _) = TrimOptions::read(cx, false)?;
    options.finish(cx, false)?;
    let mut guard = cx.ks.write(cx.args[1]);
    let (Some(stream), Some(trim)) = (guard.get::<Stream>()?, options.trim) else {
        cx.reply.int(0);
        return Ok(());
    };
    let deleted = trim.apply(stream.log_mut());
    let rewrite = trim.rewrite(stream.log());
    if deleted > 0 {
        guard.changed(Event::stream("xtrim"), deleted);
    }
    drop(guard);
    cx.reply.int(deleted as i64);
    if let Some((at, threshold)) = rewrite.filter(|_| deleted > 0) {
        propagate_replaced(cx, &[(at, b"="), (at + 1, &threshold)]);
    }
    Ok(())
}
