//! Clients that wait in a blocking command: who waits for which keys, since when, until when.
//!
//! A handler that finds nothing asks the gate to block its client ([`crate::cx::Cx::block`]). When a key that somebody
//! waits for comes into being, the mutation gate marks it as ready among the unit's effects; at the unit's end the
//! waiters of ready keys are served in the order in which they began to wait: each runs its command again, as a unit
//! of its own, until nothing is left. A waiter that still finds nothing waits on, behind the others.

use crate::client::ClientId;
use crate::commands::Command;
use crate::cx::Origin;
use crate::engine::{NoTicker, Outgoing};
use crate::execute::{self, Call, Readmit};
use crate::keyspace::Keyspace;
use crate::reply::Reply;
use crate::spec::Flags;
use crate::state::ServerState;
use crate::value::Type;
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};

/// What a handler wants its client to wait for.
#[derive(Debug)]
pub struct Request {
    /// Keys, in the client's database.
    pub keys: Vec<Box<[u8]>>,
    /// The type that a key must have to wake the client.
    pub kind: Type,
    /// Milliseconds since the Unix epoch at which it gives up; 0: never.
    pub deadline: i64,
    /// It also wakes when a key is deleted or gets another type (XREADGROUP).
    pub on_deletion: bool,
    /// Arguments, with their positions, that stand for others when the command runs again (XREAD's `$`).
    pub replace: Vec<(usize, Box<[u8]>)>,
}

#[derive(Debug)]
struct Waiter {
    request: Request,
    db: usize,
    command: &'static Command,
    argv: Vec<Box<[u8]>>,
}

/// The clients that wait.
#[derive(Debug, Default)]
pub struct Blocked {
    /// By database and key: clients in the order of waiting.
    by_key: HashMap<usize, HashMap<Box<[u8]>, Vec<ClientId>>>,
    by_client: HashMap<ClientId, Waiter>,
    deadlines: BTreeSet<(i64, ClientId)>,
    /// Clients that also wait for deletions.
    on_deletion: usize,
    /// Clients that wait for replicas and so for no key.
    for_replicas: Vec<ClientId>,
}

impl Blocked {
    /// True when nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_client.is_empty()
    }

    /// Number of clients that wait.
    pub fn clients(&self) -> usize {
        self.by_client.len()
    }

    /// Number of clients that wait with a deadline.
    pub fn timed(&self) -> usize {
        self.deadlines.len()
    }

    /// Number of keys that are waited for.
    pub fn keys(&self) -> usize {
        self.by_key.values().map(HashMap::len).sum()
    }

    /// Number of keys whose deletion is waited for too.
    pub fn keys_on_deletion(&self) -> usize {
        let waits = |id: &ClientId| self.by_client.get(id).is_some_and(|w| w.request.on_deletion);
        self.by_key.values().flat_map(HashMap::values).filter(|clients| clients.iter().any(waits)).count()
    }

    /// True when somebody waits for deletions.
    #[inline]
    pub(crate) fn wants_deletions(&self) -> bool {
        self.on_deletion > 0
    }

    /// True when somebody waits for this key.
    pub(crate) fn is_waited_for(&self, db: usize, key: &[u8]) -> bool {
        self.by_key.get(&db).is_some_and(|keys| keys.contains_key(key))
    }

    /// The keys of a database that are waited for.
    pub(crate) fn keys_of(&self, db: usize) -> impl Iterator<Item = &[u8]> {
        self.by_key.get(&db).into_iter().flat_map(|keys| keys.keys().map(|key| &**key))
    }

    fn databases(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.by_key.keys().copied().collect();
        all.sort_unstable();
        all
    }

    fn waiters(&self, db: usize, key: &[u8]) -> Vec<ClientId> {
        self.by_key.get(&db).and_then(|keys| keys.get(key)).cloned().unwrap_or_default()
    }

    fn add(&mut self, id: ClientId, waiter: Waiter) {
        let keys = self.by_key.entry(waiter.db).or_default();
        for key in &waiter.request.keys {
            let clients = keys.entry(key.clone()).or_default();
            if clients.last() != Some(&id) {
                clients.push(id);
            }
        }
        if waiter.request.deadline != 0 {
            self.deadlines.insert((waiter.request.deadline, id));
        }
        self.on_deletion += usize::from(waiter.request.on_deletion);
        if waiter.request.keys.is_empty() {
            self.for_replicas.push(id);
        }
        self.by_client.insert(id, waiter);
    }

    fn take(&mut self, id: ClientId) -> Option<Waiter> {
        let waiter = self.by_client.remove(&id)?;
        if let Some(keys) = self.by_key.get_mut(&waiter.db) {
            for key in &waiter.request.keys {
                if let Some(clients) = keys.get_mut(key) {
                    clients.retain(|client| *client != id);
                    if clients.is_empty() {
                        keys.remove(key);
                    }
                }
            }
            if keys.is_empty() {
                self.by_key.remove(&waiter.db);
            }
        }
        self.deadlines.remove(&(waiter.request.deadline, id));
        self.on_deletion -= usize::from(waiter.request.on_deletion);
        if waiter.request.keys.is_empty() {
            self.for_replicas.retain(|client| *client != id);
        }
        Some(waiter)
    }

    /// The earliest deadline, in milliseconds since the Unix epoch.
    pub fn next_deadline(&self) -> Option<i64> {
        self.deadlines.first().map(|(at, _)| *at)
    }
}

impl Keyspace {
    /// Marks a key as ready when somebody waits for it. To be called when the key came into being, when its content
    /// grew in a way that waiters look at (streams), and when it was deleted while [`Blocked::wants_deletions`].
    #[inline]
    pub fn signal(&mut self, db: usize, key: &[u8]) {
        if !self.blocked.is_empty() && self.blocked.is_waited_for(db, key) {
            self.effects.mark_ready(db, key);
        }
    }

    /// Marks all keys of a database that are waited for: it was replaced as a whole.
    pub(crate) fn signal_database(&mut self, db: usize) {
        if self.blocked.is_empty() {
            return;
        }
        // In an order of their own: the same calls give the same bytes.
        let mut keys: Vec<&[u8]> = self.blocked.keys_of(db).collect();
        keys.sort_unstable();
        for key in keys {
            self.effects.mark_ready(db, key);
        }
    }
}

/// Lets the client of a command that just ran wait, as its handler asked for.
pub(crate) fn begin(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    id: ClientId,
    command: &'static Command,
    argv: &[&[u8]],
    request: Request,
) {
    let Some(client) = sv.clients.get_mut(id) else { return };
    client.blocked = true;
    let mut argv: Vec<Box<[u8]>> = argv.iter().map(|arg| Box::from(*arg)).collect();
    for (at, arg) in &request.replace {
        if let Some(slot) = argv.get_mut(*at) {
            slot.clone_from(arg);
        }
    }
    ks.blocked.add(id, Waiter { request, db: client.db, command, argv });
}

/// Serves those who wait for keys that the unit made ready.
#[cold]
pub(crate) fn serve(ks: &mut Keyspace, sv: &mut ServerState) {
    // The unit may have taken long: what passed its deadline meanwhile is no longer there.
    ks.begin_unit(sv.stamp);
    while let Some((db, key)) = ks.effects.take_ready() {
        // Who begins to wait again during this round has its turn at the next event.
        for id in ks.blocked.waiters(db, &key) {
            let Some(request) = ks.blocked.by_client.get(&id).map(|w| &w.request) else { continue };
            let (kind, on_deletion) = (request.kind, request.on_deletion);
            ks.cur = db;
            // A look without effects: a key past its deadline is not there, but is deleted by who comes next.
            let now = ks.view(&key).map(|entry| entry.value.kind());
            if now == Some(kind) || on_deletion {
                run_again(ks, sv, id);
            } else if now.is_none() && !ks.blocked.wants_deletions() {
                break;
            }
        }
    }
}

/// Looks again at those who wait for replicas: some acknowledged.
pub(crate) fn serve_acknowledged(ks: &mut Keyspace, sv: &mut ServerState) {
    for id in ks.blocked.for_replicas.clone() {
        run_again(ks, sv, id);
    }
}

/// Runs the command of a client that waits once more.
fn run_again(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) {
    let Some(waiter) = ks.blocked.take(id) else { return };
    let Some(client) = sv.clients.get_mut(id) else { return };
    (ks.cur, ks.no_touch) = (client.db, client.no_touch);
    (ks.sees_all, ks.obeys) = (client.import_source && ks.import_mode, false);
    ks.effects.actor = Some(id);
    let proto = client.proto;
    client.blocked = false;
    let argv: SmallVec<[&[u8]; 8]> = waiter.argv.iter().map(|arg| &**arg).collect();
    let mut bytes = Vec::new();
    let mut reply = Reply::resp(&mut bytes, proto);
    match execute::readmit(ks, sv, id, &argv) {
        Readmit::Later => {
            // CLIENT PAUSE: all keys are looked at again when it is over.
            drop(argv);
            return wait_on(ks, sv, id, waiter);
        }
        Readmit::No(error) => reply.error(error.text()),
        Readmit::Yes => {
            sv.running_again = true;
            let call = Call { id, argv: &argv, command: waiter.command, origin: Origin::Client };
            execute::call(ks, sv, call, reply, &mut NoTicker);
            sv.running_again = false;
        }
    }
    drop(argv);
    if let Some(request) = sv.block_request.take() {
        let deadline = waiter.request.deadline;
        wait_on(ks, sv, id, Waiter { request: Request { deadline, ..request }, ..waiter });
    } else {
        answer(sv, id, bytes);
    }
    // What the client is told of its own changes comes after the reply.
    execute::release(ks, sv);
}

fn wait_on(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId, waiter: Waiter) {
    if let Some(client) = sv.clients.get_mut(id) {
        client.blocked = true;
        ks.blocked.add(id, waiter);
    }
}

/// Sends the reply for which the client waited and lets it go on.
fn answer(sv: &mut ServerState, id: ClientId, mut bytes: Vec<u8>) {
    execute::apply_reply_mode(sv, id, 0, &mut bytes);
    let Some(client) = sv.clients.get_mut(id) else { return };
    client.blocked = false;
    let close = client.close;
    if !bytes.is_empty() {
        sv.outgoing.push_back(Outgoing::Reply { client: id, bytes });
    }
    sv.outgoing.push_back(Outgoing::Unblocked { client: id });
    if close {
        sv.outgoing.push_back(Outgoing::Kill { client: id, after_reply: true });
    }
}

/// Ends a wait with what a command answers when its time is over, or with an error.
fn end(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId, error: Option<&str>) -> bool {
    let Some(waiter) = ks.blocked.take(id) else { return false };
    let proto = sv.clients.get(id).map(|client| client.proto).unwrap_or_default();
    let mut bytes = Vec::new();
    let mut reply = Reply::resp(&mut bytes, proto);
    match error {
        // Those that wait for replicas wait for no key, and are told how many there were.
        None if waiter.request.keys.is_empty() => {
            let offset = sv.clients.get(id).map_or(0, |client| client.written);
            if waiter.command.spec.name == "waitaof" {
                reply.array(2);
                reply.int(i64::from(sv.is_safe(id)));
                reply.int(sv.repl.acknowledged_on_disk(offset) as i64);
            } else {
                reply.int(sv.repl.acknowledged(offset) as i64);
            }
        }
        None => reply.null_array(),
        Some(text) => {
            sv.stats.count_error(text.split(' ').next().unwrap_or_default().as_bytes());
            reply.error(text.as_bytes());
        }
    }
    let stats = &mut sv.stats.commands[waiter.command.id as usize];
    stats.calls += 1;
    // It did not run: it counts as refused.
    stats.rejected += u64::from(error.is_some());
    if let Some(client) = sv.clients.get_mut(id) {
        client.commands += 1;
    }
    answer(sv, id, bytes);
    true
}

/// Ends a client's wait from outside (CLIENT UNBLOCK). False when it does not wait.
pub fn unblock(ks: &mut Keyspace, sv: &mut ServerState, client: ClientId, with_error: bool) -> bool {
    end(ks, sv, client, with_error.then_some("UNBLOCKED client unblocked via CLIENT UNBLOCK"))
}

const ROLE_CHANGED: &str =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

/// Ends waits with an error: the server became a replica. Who can be sent to the primary is sent there, others are
/// disconnected; who reads from replicas on purpose waits on.
pub fn unblock_all(ks: &mut Keyspace, sv: &mut ServerState) {
    let waiting: Vec<ClientId> = ks.blocked.by_client.keys().copied().collect();
    let primary = sv.repl.upstream().map(|upstream| format!("REDIRECT {}:{}", upstream.host, upstream.port));
    for id in waiting {
        let Some(waiter) = ks.blocked.by_client.get(&id) else { continue };
        let Some(client) = sv.clients.get_mut(id) else { continue };
        if client.reads_replicas && !waiter.command.spec.flags.contains(Flags::WRITE) {
            continue;
        }
        let for_keys = !waiter.request.keys.is_empty();
        match primary.as_deref().filter(|_| client.capa_redirect && for_keys) {
            Some(text) => end(ks, sv, id, Some(text)),
            None => {
                client.close = true;
                end(ks, sv, id, Some(ROLE_CHANGED))
            }
        };
    }
}

/// Ends the waits whose time has come. `ks.now` is the time.
pub fn expire(ks: &mut Keyspace, sv: &mut ServerState) {
    while let Some((at, id)) = ks.blocked.deadlines.first().copied()
        && at <= ks.now
    {
        end(ks, sv, id, None);
    }
}

/// Marks all keys that are waited for, to be looked at when the unit ends: CLIENT PAUSE is over.
pub fn look_again(ks: &mut Keyspace) {
    for db in ks.blocked.databases() {
        ks.signal_database(db);
    }
}

/// Forgets a client without an answer: it is gone, or does not want to wait.
pub fn forget(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) {
    ks.blocked.take(id);
    if let Some(client) = sv.clients.get_mut(id) {
        client.blocked = false;
    }
}
