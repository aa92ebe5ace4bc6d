//! The stream as a replica follows it: the client that runs the primary's commands, and which bytes count as executed.

use super::{LinkState, Replication, become_replica};
use crate::client::{ClientId, ConnInfo, ReplyMode};
use crate::keyspace::Keyspace;
use crate::state::{LogLevel, ServerState};

/// The server starts as a replica. It goes on where the snapshot that it loaded was made, if there was one.
pub fn restore(ks: &mut Keyspace, sv: &mut ServerState, host: &str, port: u16) {
    let restored = sv.repl.restored.take().filter(|(_, _, db)| *db < ks.dbs().len());
    let fresh = restored.is_none();
    if let Some((id, offset, db)) = restored {
        sv.repl.id = id;
        sv.repl.jump(offset);
        become_replica(ks, sv, host, port);
        // Opening the backlog forgot it.
        sv.repl.selected = Some(db);
    } else {
        become_replica(ks, sv, host, port);
    }
    if let Some(upstream) = sv.repl.upstream_mut() {
        upstream.fresh = fresh;
    }
}

/// The stream flows on a connection: makes the client that runs its commands.
pub fn attach(sv: &mut ServerState, conn: ConnInfo) -> ClientId {
    let now = sv.stamp;
    let user = sv.acl.default_user().clone();
    let db = sv.repl.selected.unwrap_or(0);
    let id = sv.clients.add(conn, user, true, (now / 1000) as i64);
    if let Some(client) = sv.clients.get_mut(id) {
        // It may do everything, is told nothing, and is not thrown out for its size.
        client.primary = true;
        client.restricted = false;
        client.reply_mode = ReplyMode::Off;
        client.no_evict = true;
        client.db = db;
    }
    let offset = sv.repl.offset;
    if let Some(upstream) = sv.repl.upstream_mut() {
        upstream.client = Some(id);
        upstream.db = db;
        upstream.link = LinkState::Connected;
        upstream.fresh = false;
        upstream.read_offset = offset;
        upstream.last_io = (now / 1_000_000) as i64;
        upstream.down_since = 0;
        upstream.unit.clear();
    }
    id
}

/// Bytes of the stream were executed or, of a transaction, queued. A transaction counts when all of it was executed: a
/// link that is cut in the middle of it goes on before it.
pub fn applied(sv: &mut ServerState, client: ClientId, bytes: &[u8]) {
    let Some((open, db)) = sv.clients.get(client).map(|client| (client.multi.is_some(), client.db)) else {
        return;
    };
    let Some(upstream) = sv.repl.upstream_mut().filter(|upstream| upstream.client == Some(client)) else {
        return;
    };
    if open || !upstream.unit.is_empty() {
        upstream.unit.extend_from_slice(bytes);
        if open {
            return;
        }
        let unit = std::mem::take(&mut upstream.unit);
        sv.repl.feed(&unit);
    } else {
        sv.repl.feed(bytes);
    }
    sv.repl.selected = Some(db);
    if let Some(upstream) = sv.repl.upstream_mut() {
        upstream.db = db;
    }
}

/// The primary's turn is over. `waiting` bytes were received and not
/// executed; something came at `came`, in seconds since the Unix epoch.
pub fn after_turn(sv: &mut ServerState, waiting: u64, came: Option<i64>) {
    let offset = sv.repl.offset;
    if let Some(upstream) = sv.repl.upstream_mut() {
        upstream.read_offset = offset + upstream.unit.len() as u64 + waiting;
        upstream.last_io = came.unwrap_or(upstream.last_io);
    }
}

/// A client is gone; when it was the primary's, the link is to be made anew.
pub(crate) fn detach(sv: &mut ServerState, client: ClientId) {
    let (offset, now) = (sv.repl.offset, (sv.stamp / 1_000_000) as i64);
    let Some(upstream) = sv.repl.upstream_mut().filter(|upstream| upstream.client == Some(client)) else {
        return;
    };
    upstream.client = None;
    upstream.link = LinkState::Connect;
    upstream.down_since = now;
    upstream.read_offset = offset;
    upstream.unit.clear();
    sv.log(LogLevel::Notice, "Caching the disconnected primary state.");
}

impl Replication {
    /// True when this client runs the primary's commands.
    pub fn is_followed(&self, client: ClientId) -> bool {
        self.upstream().is_some_and(|upstream| upstream.client == Some(client))
    }
}
