//! Client-side caching: which clients read which keys, and telling them when a key changed.
//!
//! Reads and changes are noted in their order among the effects of a unit ([`Track`]) and acted upon when it ends: a
//! client that reads a key after the same unit changed it is not told. What a client changes itself it is told after the
//! reply. In broadcasting mode a client says by prefixes what it wants to hear of, and nothing is remembered per key.

use crate::client::{Client, ClientId};
use crate::commands::Command;
use crate::keyspace::Keyspace;
use crate::propagate::Track;
use crate::reply::Reply;
use crate::spec::Flags;
use crate::state::ServerState;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use totality_ds::{Bytes, Dict, Keyed};

/// Channel of invalidations for clients of RESP2, to which others redirect them.
const CHANNEL: &[u8] = b"__redis__:invalidate";
/// Keys that are forgotten per command while the table is over `tracking-table-max-keys`; more the longer that lasts.
const EFFORT: u64 = 100;
/// Bytes that a prefix takes for each client that wants it; the text is shared.
const PREFIX: usize = 24;

/// What CLIENT TRACKING chose for one client.
#[derive(Debug, Clone, Default)]
pub struct ClientTracking {
    /// Who gets the messages in the client's place.
    pub redirect: Option<ClientId>,
    /// Broadcasting mode.
    pub bcast: bool,
    /// Only what CLIENT CACHING YES precedes is remembered.
    pub optin: bool,
    /// All but what CLIENT CACHING NO precedes is remembered.
    pub optout: bool,
    /// Changes that the client makes itself are not told.
    pub noloop: bool,
    /// CLIENT CACHING was given for the next command.
    pub caching: bool,
    /// The client to which messages are redirected is gone.
    pub broken: bool,
    /// Prefixes of keys that it hears of in broadcasting mode.
    pub prefixes: BTreeSet<Arc<[u8]>>,
}

impl ClientTracking {
    /// Bytes that the prefixes take. O(1).
    pub fn memory(&self) -> usize {
        self.prefixes.len() * PREFIX
    }
}

/// A key that clients have read.
struct Tracked {
    key: Bytes,
    /// In the order of their numbers.
    clients: SmallVec<[ClientId; 2]>,
}

impl Keyed for Tracked {
    fn key(&self) -> &[u8] {
        &self.key
    }
}

/// Tables of all clients.
pub struct Tracking {
    keys: Dict<Tracked>,
    items: usize,
    /// Heap bytes of names and lists.
    heap: usize,
    prefixes: BTreeMap<Arc<[u8]>, BTreeSet<ClientId>>,
    /// Bytes of their texts.
    prefix_bytes: usize,
    /// Lengths of the prefixes, with how many have each.
    lengths: BTreeMap<usize, usize>,
    clients: BTreeSet<ClientId>,
    /// Commands in a row that found the table too large.
    rounds_over: u64,
}

impl Tracking {
    /// Nobody tracks anything; `seed` keys the table.
    pub fn new(seed: [u8; 16]) -> Self {
        Tracking {
            keys: Dict::new(seed),
            items: 0,
            heap: 0,
            prefixes: BTreeMap::new(),
            prefix_bytes: 0,
            lengths: BTreeMap::new(),
            clients: BTreeSet::new(),
            rounds_over: 0,
        }
    }

    /// Number of clients that track.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Number of keys that are remembered.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Number of pairs of a key and a client.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Number of different prefixes.
    pub fn prefixes(&self) -> usize {
        self.prefixes.len()
    }

    /// Bytes that the tables take. O(1).
    pub fn memory(&self) -> usize {
        self.keys.mem_bytes() + self.heap + self.prefix_bytes
    }

    fn remember(&mut self, client: ClientId, key: &[u8]) {
        let hash = self.keys.hash(key);
        let Some(pos) = self.keys.find(hash, key) else {
            let key = Bytes::from(key);
            self.heap += key.heap_bytes();
            self.items += 1;
            self.keys.insert_new(hash, Tracked { key, clients: SmallVec::from_slice(&[client]) });
            return;
        };
        let clients = &mut self.keys.get_mut(pos).clients;
        if let Err(at) = clients.binary_search_by_key(&client.id, |c| c.id) {
            let before = spilled(clients);
            clients.insert(at, client);
            self.heap += spilled(clients) - before;
            self.items += 1;
        }
    }

    /// Forgets a key; gives who read it.
    fn forget(&mut self, key: &[u8]) -> SmallVec<[ClientId; 2]> {
        let Some(gone) = self.keys.remove_key(key) else { return SmallVec::new() };
        self.items -= gone.clients.len();
        self.heap -= gone.key.heap_bytes() + spilled(&gone.clients);
        gone.clients
    }

    /// Forgets all keys; gives the table to be freed elsewhere.
    fn forget_all(&mut self) -> Box<dyn std::any::Any + Send> {
        (self.items, self.heap) = (0, 0);
        Box::new(self.keys.take())
    }

    /// Adds a client to those who want a prefix; gives the prefix as it is shared.
    fn add_prefix(&mut self, client: ClientId, prefix: Arc<[u8]>) -> Arc<[u8]> {
        if let Some((shared, _)) = self.prefixes.get_key_value(&prefix) {
            let shared = shared.clone();
            self.prefixes.entry(shared.clone()).or_default().insert(client);
            return shared;
        }
        *self.lengths.entry(prefix.len()).or_default() += 1;
        self.prefix_bytes += prefix.len() + size_of::<BTreeSet<ClientId>>();
        self.prefixes.insert(prefix.clone(), BTreeSet::from([client]));
        prefix
    }

    fn remove_prefix(&mut self, client: ClientId, prefix: &[u8]) {
        let Some(clients) = self.prefixes.get_mut(prefix) else { return };
        clients.remove(&client);
        if !clients.is_empty() {
            return;
        }
        self.prefixes.remove(prefix);
        self.prefix_bytes -= prefix.len() + size_of::<BTreeSet<ClientId>>();
        if let Some(count) = self.lengths.get_mut(&prefix.len()) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&prefix.len());
            }
        }
    }
}

/// Bytes of a list that is too long to stand in its entry.
fn spilled(clients: &SmallVec<[ClientId; 2]>) -> usize {
    if clients.spilled() { clients.capacity() * size_of::<ClientId>() } else { 0 }
}

/// Lets a client track, as `options` say. Prefixes that it had stay.
pub fn enable(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId, options: ClientTracking) {
    let Some(client) = sv.clients.get_mut(id) else { return };
    let old = client.tracking.take().map(|old| *old).unwrap_or_default();
    let ClientTracking { prefixes: mut wanted, redirect, bcast, optin, optout, noloop, .. } = options;
    let (prefixes, caching) = (old.prefixes, old.caching);
    let mut now = ClientTracking { redirect, bcast, optin, optout, noloop, prefixes, caching, broken: false };
    if now.bcast {
        if wanted.is_empty() {
            wanted.insert(Arc::from(&b""[..]));
        }
        now.prefixes.extend(wanted.into_iter().map(|prefix| sv.tracking.add_prefix(id, prefix)));
    }
    client.tracking = Some(Box::new(now));
    sv.tracking.clients.insert(id);
    ks.effects.tracking = true;
}

/// Ends a client's tracking. What it read is forgotten when the keys change.
pub fn disable(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) {
    let Some(old) = sv.clients.get_mut(id).and_then(|client| client.tracking.take()) else { return };
    for prefix in &old.prefixes {
        sv.tracking.remove_prefix(id, prefix);
    }
    sv.tracking.clients.remove(&id);
    ks.effects.tracking = sv.tracking.clients() > 0;
    if !ks.effects.tracking {
        ks.garbage.push_other(sv.tracking.forget_all());
    }
}

/// After a command that reads: notes its keys when the client wants to hear of their changes. Of a script, what it calls
/// counts, for the client that runs it.
#[cold]
pub(crate) fn note_reads(
    ks: &mut Keyspace,
    sv: &ServerState,
    id: ClientId,
    command: &Command,
    argv: &[&[u8]],
) {
    let flags = command.spec.flags;
    if !flags.contains(Flags::READONLY) || flags.intersects(Flags::SCRIPT.union(Flags::PUBSUB)) {
        return;
    }
    let Some(tracking) = sv.clients.get(id).and_then(|client| client.tracking.as_ref()) else { return };
    let wanted = match (tracking.optin, tracking.optout) {
        (true, _) => tracking.caching,
        (_, true) => !tracking.caching,
        _ => true,
    };
    if !wanted || tracking.bcast {
        return;
    }
    for (at, _) in crate::keys::find(command.spec, argv).unwrap_or_default() {
        ks.effects.note_read(id, argv[at]);
    }
}

/// Before the client's next command: CLIENT CACHING counts for one command only.
pub(crate) fn after_command(client: &mut Client) {
    if let Some(tracking) = &mut client.tracking
        && tracking.caching
        && client.multi.is_none()
        && client.last_command.is_none_or(|last| last.full_name.split('|').next() != Some("client"))
    {
        tracking.caching = false;
    }
}

/// Keys that changed, and who changed each of them last.
type ChangedBy = BTreeMap<Box<[u8]>, Option<ClientId>>;

/// What became invalid.
enum Invalid<'a> {
    Key(&'a [u8]),
    Keys(&'a [&'a [u8]]),
    All,
}

/// Acts upon what a unit of execution read and changed.
#[cold]
pub(crate) fn release(ks: &mut Keyspace, sv: &mut ServerState, log: Vec<Track>) {
    let actor = ks.effects.actor;
    // By prefix: the keys that changed, and who changed each of them last.
    let mut broadcast: BTreeMap<Arc<[u8]>, ChangedBy> = BTreeMap::new();
    for track in log {
        match track {
            Track::Read(client, key) => sv.tracking.remember(client, &key),
            Track::Changed(key, by) => {
                for len in sv.tracking.lengths.keys().take_while(|len| **len <= key.len()) {
                    if let Some((prefix, _)) = sv.tracking.prefixes.get_key_value(&key[..*len]) {
                        broadcast.entry(prefix.clone()).or_default().insert(key.clone(), by);
                    }
                }
                tell_readers(sv, &key, actor);
            }
            Track::Flushed => {
                let clients: Vec<ClientId> = sv.tracking.clients.iter().copied().collect();
                clients.into_iter().for_each(|client| send(sv, client, &Invalid::All));
                ks.garbage.push_other(sv.tracking.forget_all());
            }
        }
    }
    for (prefix, keys) in broadcast {
        let clients: Vec<ClientId> =
            sv.tracking.prefixes.get(&prefix).into_iter().flatten().copied().collect();
        for client in clients {
            let tracking = sv.clients.get(client).and_then(|client| client.tracking.as_ref());
            let noloop = tracking.is_some_and(|tracking| tracking.noloop);
            let others = keys.iter().filter(|(_, by)| !(noloop && **by == Some(client)));
            let list: Vec<&[u8]> = others.map(|(key, _)| &key[..]).collect();
            if !list.is_empty() {
                send(sv, client, &Invalid::Keys(&list));
            }
        }
    }
}

/// Tells those who read a key that it changed, and forgets them.
fn tell_readers(sv: &mut ServerState, key: &[u8], actor: Option<ClientId>) {
    for reader in sv.tracking.forget(key) {
        let Some(tracking) = sv.clients.get(reader).and_then(|client| client.tracking.as_ref()) else {
            continue;
        };
        // What it read before it began to broadcast is of no interest any more.
        if tracking.bcast || (tracking.noloop && actor == Some(reader)) {
            continue;
        }
        send(sv, reader, &Invalid::Key(key));
    }
}

/// Sends a message to a client that tracks, or to whom it redirects.
fn send(sv: &mut ServerState, id: ClientId, what: &Invalid<'_>) {
    let Some(client) = sv.clients.get(id) else { return };
    let redirect = client.tracking.as_ref().and_then(|tracking| tracking.redirect);
    let target = match redirect {
        None => client,
        Some(to) => match sv.clients.get(to).filter(|target| !target.close) {
            Some(target) => target,
            None => return broken(sv, id, to),
        },
    };
    let mut bytes = Vec::new();
    let mut reply = Reply::resp(&mut bytes, target.proto);
    if reply.resp3() {
        reply.push(2);
        reply.bulk(b"invalidate");
    } else if redirect.is_some() && target.subscribed() > 0 {
        reply.array(3);
        reply.bulk(b"message");
        reply.bulk(CHANNEL);
    } else {
        // RESP2 has no messages outside of subscriptions.
        return;
    }
    match what {
        Invalid::All => reply.null(),
        Invalid::Key(key) => {
            reply.array(1);
            reply.bulk(key);
        }
        Invalid::Keys(keys) => {
            reply.array(keys.len());
            keys.iter().for_each(|key| reply.bulk(key));
        }
    }
    let to = target.id;
    sv.send(to, bytes);
}

/// The client to which messages are redirected is gone.
fn broken(sv: &mut ServerState, id: ClientId, redirect: ClientId) {
    let Some(client) = sv.clients.get_mut(id) else { return };
    if let Some(tracking) = &mut client.tracking {
        tracking.broken = true;
    }
    let mut bytes = Vec::new();
    let mut reply = Reply::resp(&mut bytes, client.proto);
    if reply.resp3() {
        reply.push(2);
        reply.bulk(b"tracking-redir-broken");
        reply.int(redirect.id as i64);
        sv.send(id, bytes);
    }
}

/// Keeps the table within `tracking-table-max-keys`: forgets keys at random, as if they had changed.
#[cold]
pub(crate) fn limit(ks: &mut Keyspace, sv: &mut ServerState) {
    let max = sv.config.tracking_table_max_keys as usize;
    if max == 0 || sv.tracking.keys() <= max {
        sv.tracking.rounds_over = 0;
        return;
    }
    for _ in 0..EFFORT * (sv.tracking.rounds_over + 1) {
        let Some(pos) = sv.tracking.keys.random(ks.random()) else { return };
        let key = sv.tracking.keys.get(pos).key.clone();
        tell_readers(sv, &key, None);
        if sv.tracking.keys() <= max {
            sv.tracking.rounds_over = 0;
            return;
        }
    }
    sv.tracking.rounds_over += 1;
}
