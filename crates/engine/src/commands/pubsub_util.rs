//! What the commands of publish/subscribe share.

use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::{self, Kind};
use crate::reply::Reply;
use crate::spec::Flags;

/// Flags of the subscribing commands.
pub(super) const FLAGS: Flags =
    Flags::PUBSUB.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE).union(Flags::SUBSCRIBED);

const SUBSCRIBE: [&str; 3] = ["subscribe", "psubscribe", "ssubscribe"];
const UNSUBSCRIBE: [&str; 3] = ["unsubscribe", "punsubscribe", "sunsubscribe"];

/// SUBSCRIBE and its relatives: one message per name, each a push in RESP3. In a transaction they stand in EXEC's array as
/// they are, so several names give more values than commands, as in Redis.
pub(super) fn subscribe(cx: &mut Cx<'_>, kind: Kind) -> Res {
    for name in &cx.args[1..] {
        cx.sv.pubsub.subscribe(kind, cx.client, name);
        let count = total(cx, kind);
        announce(&mut cx.reply, SUBSCRIBE[kind as usize], Some(name), count);
    }
    pubsub::sync_counts(cx.sv, cx.client);
    Ok(())
}

/// UNSUBSCRIBE and its relatives.
pub(super) fn unsubscribe(cx: &mut Cx<'_>, kind: Kind) -> Res {
    let word = UNSUBSCRIBE[kind as usize];
    let names: Vec<Vec<u8>> = if cx.argc() > 1 {
        cx.args[1..].iter().map(|name| name.to_vec()).collect()
    } else {
        cx.sv.pubsub.of_client(kind, cx.client)
    };
    if names.is_empty() {
        let count = total(cx, kind);
        announce(&mut cx.reply, word, None, count);
    }
    for name in names {
        cx.sv.pubsub.unsubscribe(kind, cx.client, &name);
        let count = total(cx, kind);
        announce(&mut cx.reply, word, Some(&name), count);
    }
    pubsub::sync_counts(cx.sv, cx.client);
    Ok(())
}

/// Channels and patterns are counted together, shard channels apart.
fn total(cx: &Cx<'_>, kind: Kind) -> usize {
    match kind {
        Kind::Shard => cx.sv.pubsub.count(Kind::Shard, cx.client),
        _ => cx.sv.pubsub.count(Kind::Channel, cx.client) + cx.sv.pubsub.count(Kind::Pattern, cx.client),
    }
}

fn announce(reply: &mut Reply<'_>, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word.as_bytes());
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.len(count);
}
