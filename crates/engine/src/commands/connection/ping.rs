//! PING: answers, so that a client knows the connection works.
//!
//! ```transcript
//! > PING
//! PONG
//! > PING hello
//! "hello"
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("ping", -1, Group::Connection, Flags::FAST.union(Flags::SUBSCRIBED), run).args("message:s?").tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
        .doc("1.0.0", "O(1)", "Answers PONG, or what it is given.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 2 {
        return Err(CmdError::arity("ping"));
    }
    let subscribed = !cx.reply.resp3() && cx.me().is_ok_and(|client| client.subscribed() > 0);
    if subscribed {
        cx.reply.array(2);
        cx.reply.bulk(b"pong");
        cx.reply.bulk(cx.args.get(1).copied().unwrap_or(b""));
    } else if let Some(text) = cx.args.get(1) {
        cx.reply.bulk(text);
    } else {
        cx.reply.simple("PONG");
    }
    Ok(())
}
