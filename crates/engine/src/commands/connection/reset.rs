//! RESET: brings the connection to the state in which it began: transaction, watched keys, subscriptions, MONITOR,
//! database, protocol version, name and authentication.
//!
//! ```transcript
//! > RESET
//! RESET
//! ```

use crate::client::ReplyMode;
use crate::cx::Cx;
use crate::error::Res;
use crate::reply::Proto;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "reset",
    1,
    Group::Connection,
    Flags::FAST
        .union(Flags::LOADING)
        .union(Flags::STALE)
        .union(Flags::NO_AUTH)
        .union(Flags::NOSCRIPT)
        .union(Flags::ALLOW_BUSY)
        .union(Flags::SUBSCRIBED)
        .union(Flags::IMMEDIATE),
    run,
)
.doc("6.2.0", "O(1)", "Resets the connection.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (user, open) = (cx.sv.acl.default_user().clone(), cx.sv.acl.is_open());
    cx.ks.watch.unwatch(cx.client);
    crate::pubsub::forget(cx.sv, cx.client);
    crate::tracking::disable(cx.ks, cx.sv, cx.client);
    let id = cx.client;
    cx.sv.monitors.retain(|c| *c != id);
    let client = cx.me()?;
    client.multi = None;
    client.db = 0;
    client.proto = Proto::Resp2;
    client.name.clear();
    client.monitor = false;
    // CLIENT REPLY SKIP before it takes its reply, too.
    if client.reply_mode == ReplyMode::Off {
        client.reply_mode = ReplyMode::On;
    }
    client.reads_replicas = false;
    client.no_evict = false;
    client.no_touch = false;
    client.import_source = false;
    client.authenticated = open;
    client.set_user(user);
    cx.ks.cur = 0;
    cx.reply.set_proto(Proto::Resp2);
    cx.reply.simple("RESET");
    Ok(())
}
