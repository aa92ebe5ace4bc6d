//! Publish/subscribe: who listens to which channel.

use crate::client::ClientId;
use crate::propagate::Published;
use crate::reply::Reply;
use crate::state::ServerState;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SUBSCRIBE
    Channel,
    /// PSUBSCRIBE
    Pattern,
    /// SSUBSCRIBE
    Shard,
}

/// Subscriptions of all clients, by kind.
#[derive(Default)]
pub struct PubSub {
    by_name: [BTreeMap<Vec<u8>, Vec<ClientId>>; 3],
    by_client: BTreeMap<ClientId, [BTreeSet<Vec<u8>>; 3]>,
    /// Bytes that the subscriptions of each client take.
    bytes: BTreeMap<ClientId, usize>,
}

/// Bytes that a subscription takes beside its name: its places in the tables.
const SUBSCRIPTION: usize = 96;

impl PubSub {
    /// Adds a subscription; false when the client had it.
    pub fn subscribe(&mut self, kind: Kind, client: ClientId, name: &[u8]) -> bool {
        if !self.by_client.entry(client).or_default()[kind as usize].insert(name.to_vec()) {
            return false;
        }
        self.by_name[kind as usize].entry(name.to_vec()).or_default().push(client);
        *self.bytes.entry(client).or_default() += 2 * name.len() + SUBSCRIPTION;
        true
    }

    /// Removes a subscription; false when the client did not have it.
    pub fn unsubscribe(&mut self, kind: Kind, client: ClientId, name: &[u8]) -> bool {
        let Some(sets) = self.by_client.get_mut(&client) else { return false };
        if !sets[kind as usize].remove(name) {
            return false;
        }
        if sets.iter().all(BTreeSet::is_empty) {
            self.by_client.remove(&client);
            self.bytes.remove(&client);
        } else if let Some(bytes) = self.bytes.get_mut(&client) {
            *bytes = bytes.saturating_sub(2 * name.len() + SUBSCRIPTION);
        }
        let names = &mut self.by_name[kind as usize];
        if let Some(clients) = names.get_mut(name) {
            clients.retain(|c| *c != client);
            if clients.is_empty() {
                names.remove(name);
            }
        }
        true
    }

    /// What a client subscribed to.
    pub fn of_client(&self, kind: Kind, client: ClientId) -> Vec<Vec<u8>> {
        self.by_client
            .get(&client)
            .map_or_else(Vec::new, |sets| sets[kind as usize].iter().cloned().collect())
    }

    /// Number of a client's subscriptions.
    pub fn count(&self, kind: Kind, client: ClientId) -> usize {
        self.by_client.get(&client).map_or(0, |sets| sets[kind as usize].len())
    }

    /// Names that somebody subscribed to.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = (&Vec<u8>, usize)> {
        self.by_name[kind as usize].iter().map(|(name, clients)| (name, clients.len()))
    }

    /// Number of subscribers of one name.
    pub fn subscribers(&self, kind: Kind, name: &[u8]) -> usize {
        self.by_name[kind as usize].get(name).map_or(0, Vec::len)
    }

    /// Number of names.
    pub fn len(&self, kind: Kind) -> usize {
        self.by_name[kind as usize].len()
    }

    /// Number of clients that a message on `channel` reaches, counted as PUBLISH answers it.
    pub fn receivers(&self, channel: &[u8], sharded: bool) -> usize {
        if sharded {
            return self.subscribers(Kind::Shard, channel);
        }
        let patterns = &self.by_name[Kind::Pattern as usize];
        let by_pattern: usize = patterns
            .iter()
            .filter(|(pattern, _)| totality_ds::glob::matches(pattern, channel, false))
            .map(|(_, clients)| clients.len())
            .sum();
        self.subscribers(Kind::Channel, channel) + by_pattern
    }

    fn each_receiver(&self, message: &Published, mut f: impl FnMut(ClientId, Option<&[u8]>)) {
        let kind = if message.sharded { Kind::Shard } else { Kind::Channel };
        for client in self.by_name[kind as usize].get(&message.channel).into_iter().flatten() {
            f(*client, None);
        }
        if message.sharded {
            return;
        }
        for (pattern, clients) in &self.by_name[Kind::Pattern as usize] {
            if totality_ds::glob::matches(pattern, &message.channel, false) {
                clients.iter().for_each(|client| f(*client, Some(pattern)));
            }
        }
    }
}

/// Sends a message to its subscribers.
pub fn deliver(sv: &mut ServerState, message: &Published) {
    let mut out: Vec<(ClientId, Vec<u8>)> = Vec::new();
    let clients = &sv.clients;
    sv.pubsub.each_receiver(message, |id, pattern| {
        let Some(client) = clients.get(id) else { return };
        let mut bytes = Vec::with_capacity(message.message.len() + message.channel.len() + 48);
        let mut reply = Reply::resp(&mut bytes, client.proto);
        match pattern {
            None => {
                reply.push(3);
                reply.bulk(if message.sharded { b"smessage" } else { b"message" });
            }
            Some(pattern) => {
                reply.push(4);
                reply.bulk(b"pmessage");
                reply.bulk(pattern);
            }
        }
        reply.bulk(&message.channel);
        reply.bulk(&message.message);
        out.push((id, bytes));
    });
    for (id, bytes) in out {
        sv.send(id, bytes);
    }
}

/// Brings the counts in the client's own record up to date.
pub fn sync_counts(sv: &mut ServerState, id: ClientId) {
    let counts = [Kind::Channel, Kind::Pattern, Kind::Shard].map(|kind| sv.pubsub.count(kind, id));
    let bytes = sv.pubsub.bytes.get(&id).copied().unwrap_or(0);
    if let Some(client) = sv.clients.get_mut(id) {
        client.subscriptions = counts;
        client.subscription_bytes = bytes;
    }
}

/// Forgets all subscriptions of a client.
pub fn forget(sv: &mut ServerState, id: ClientId) {
    for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
        for name in sv.pubsub.of_client(kind, id) {
            sv.pubsub.unsubscribe(kind, id, &name);
        }
    }
    sync_counts(sv, id);
}
