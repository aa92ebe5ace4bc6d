//! Full syncs over two connections, as Valkey makes them (`dual-channel-replication-enabled`), on the primary's side.
//!
//! A replica asks for the stream on one connection (the main one), is told `+DUALCHANNELSYNC`, and asks on a second one
//! for the snapshot only. With the snapshot's beginning it learns the place in the stream and this connection's id
//! (`$ENDOFF`); with both it asks for the stream again on the main one, which it gets at once: what is written while the
//! snapshot is made waits with the replica and no longer here. From `$ENDOFF` until the main connection has come, an
//! [`Anchor`] keeps the stream from the snapshot's beginning on.

use crate::client::ClientId;
use crate::state::{LogLevel, ServerState};

/// Seconds for which the stream is kept for a replica that has its snapshot and did not ask for the stream yet.
pub const GRACE: i64 = 60;

/// A place from which on the stream is kept for a replica whose main connection is yet to come.
#[derive(Debug, Clone)]
pub struct Anchor {
    /// The connection that gets the snapshot.
    pub client: ClientId,
    /// Bytes of the stream before the place.
    pub next: u64,
    /// Unix time in seconds at which that connection went, after it had got the whole snapshot.
    pub left_at: Option<i64>,
    /// For the soft limit of what waits; milliseconds of the owner's clock.
    pub over_soft_since_ms: u64,
}

/// What comes before all texts about it in the log.
pub(crate) fn text(rest: &str) -> String {
    format!("Dual channel replication: {rest}")
}

/// A snapshot for this connection begins here: the line that says so.
pub fn begin(sv: &mut ServerState, client: ClientId) -> String {
    let (offset, id) = (sv.repl.offset, client.id);
    let name = sv.repl.replica(client).map_or(String::new(), |replica| replica.name(sv));
    let db = sv.repl.position().map_or(0, |position| position.db);
    let line = format!("$ENDOFF:{offset} {} {db} {id}\r\n", sv.repl.id);
    let told = format!("Sending to replica {name} RDB end offset {offset} and client-id {id}");
    sv.log(LogLevel::Notice, text(&told));
    let tail = match sv.repl.backlog.as_ref().is_none_or(|backlog| backlog.is_empty()) {
        true => "no repl-backlog to track",
        false => "tracking repl-backlog tail",
    };
    let waits = format!("Add rdb replica {name} to waiting psync, with cid {id}, {tail} ");
    sv.log(LogLevel::Debug, text(&waits));
    sv.repl.anchors.push(Anchor { client, next: offset, left_at: None, over_soft_since_ms: 0 });
    line
}

/// The main connection names the other: is there such a one?
pub(crate) fn is_known(sv: &ServerState, id: i64) -> bool {
    sv.repl.anchors.iter().any(|anchor| i64::try_from(anchor.client.id) == Ok(id))
}

/// The main connection gets the stream, which keeps it from now on.
pub(crate) fn claim(sv: &mut ServerState, id: Option<i64>) -> bool {
    let found =
        id.and_then(|id| sv.repl.anchors.iter().position(|anchor| i64::try_from(anchor.client.id) == Ok(id)));
    let Some(at) = found else { return false };
    let anchor = sv.repl.anchors.remove(at);
    let told = format!("Remove psync waiting replica with cid {}", anchor.client.id);
    sv.log(LogLevel::Debug, text(&told));
    true
}

/// The connection for the snapshot is gone; `whole`: it had got all of it.
pub(crate) fn left(sv: &mut ServerState, client: ClientId, whole: bool) {
    let now = (sv.stamp / 1_000_000) as i64;
    if whole {
        if let Some(anchor) = sv.repl.anchors.iter_mut().find(|anchor| anchor.client == client) {
            anchor.left_at = Some(now);
            let grace = sv.repl.grace;
            let told = format!("Postpone RDB client id={} free for {grace} seconds", client.id);
            sv.log(LogLevel::Verbose, text(&told));
        }
        return;
    }
    sv.repl.anchors.retain(|anchor| anchor.client != client);
}

/// Once a second: lets go of what nobody came for.
pub fn expire(sv: &mut ServerState) {
    let (now, grace) = ((sv.stamp / 1_000_000) as i64, sv.repl.grace);
    let late = |anchor: &Anchor| anchor.left_at.is_some_and(|at| now - at > grace);
    let gone: Vec<(u64, i64)> = sv
        .repl
        .anchors
        .iter()
        .filter(|anchor| late(anchor))
        .map(|anchor| (anchor.client.id, now - anchor.left_at.unwrap_or(now)))
        .collect();
    if gone.is_empty() {
        return;
    }
    sv.repl.anchors.retain(|anchor| !late(anchor));
    sv.repl.trim();
    for (id, seconds) in gone {
        let told = format!(
            "Replica main channel failed to establish PSYNC within the grace period ({seconds} seconds). Freeing RDB client {id}."
        );
        sv.log(LogLevel::Notice, text(&told));
    }
}
