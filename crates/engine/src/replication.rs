//! What the engine knows of replication: its own part, the stream's identity and latest bytes, its replicas, its primary.
//!
//! The engine opens no socket. What is to reach replicas is appended to the stream ([`Replication::feed`]); the owner of
//! the connections copies from there what each replica has not got yet. Commands that need a connection to another
//! server ask the owner ([`crate::Ticker::replicate`], [`Request`]).
//!
//! Offsets count the bytes of the stream, as Redis's do.

pub mod backlog;
pub mod channel;
pub mod failover;
pub mod link;
pub mod replica;
pub mod stop;
pub(crate) mod sync;

use crate::client::ClientId;
use crate::engine::Outgoing;
use crate::keyspace::Keyspace;
use crate::state::{LogLevel, ServerState};
use backlog::Backlog;
pub use replica::{Announced, Replica, ReplicaState, Without};

/// What a command wants of the owner of the connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// REPLICAOF, after the engine's state has changed ([`become_replica`], [`become_primary`]): the owner closes the
    /// link that there is, and opens one to the primary that [`Replication::role`] names, if it names one.
    Relink,
    /// REPLCONF GETACK from the primary: the owner tells it the offset at once.
    Acknowledge,
}

/// The state of the link to the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkState {
    /// It is to be opened.
    #[default]
    Connect,
    /// The connection is being made.
    Connecting,
    /// Greetings are exchanged.
    Handshake,
    /// A snapshot is being received.
    Transfer,
    /// The stream is followed.
    Connected,
}

impl LinkState {
    /// As ROLE shows it.
    pub fn name(self) -> &'static str {
        match self {
            LinkState::Connect => "connect",
            LinkState::Connecting => "connecting",
            LinkState::Handshake => "handshake",
            LinkState::Transfer => "sync",
            LinkState::Connected => "connected",
        }
    }
}

/// A snapshot that is being received. Bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transfer {
    /// Its length; 0 while that is not known.
    pub total: u64,
    /// What came so far.
    pub read: u64,
    /// Unix time in seconds at which something came last.
    pub last_io: i64,
}

/// A replica's primary, and the link to it.
#[derive(Debug, Clone, Default)]
pub struct Upstream {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The link.
    pub link: LinkState,
    /// The client that runs the primary's commands, while the stream is followed.
    pub client: Option<ClientId>,
    /// Offset of the stream up to which bytes were received; those up to [`Replication::offset`] are executed.
    pub read_offset: u64,
    /// Unix time in seconds at which the primary sent something last.
    pub last_io: i64,
    /// Unix time in seconds since when the link is down; 0 when it never was up.
    pub down_since: i64,
    /// The snapshot under way.
    pub transfer: Transfer,
    /// The database that the stream selected last: a snapshot for replicas of this server tells them.
    pub db: usize,
    /// Bytes of a transaction that is not complete: they do not count as executed yet.
    pub unit: Vec<u8>,
    /// Nothing of this primary was ever there: a partial resync cannot be asked for.
    pub fresh: bool,
}

/// The server's part.
#[derive(Debug, Clone, Default)]
pub enum Role {
    /// It takes writes.
    #[default]
    Primary,
    /// It follows another server.
    Replica(Box<Upstream>),
}

/// FAILOVER: the primary hands its part to a replica.
#[derive(Debug, Clone, Default)]
pub struct Failover {
    /// How far it has come.
    pub state: FailoverState,
    /// The replica that is to take over, by host and port; the first that is ready when none is named.
    pub target: Option<(String, u16)>,
    /// Milliseconds since the Unix epoch at which it is given up, or forced.
    pub deadline: Option<i64>,
    /// The target takes over at the deadline though it has not got everything.
    pub force: bool,
}

/// How far a failover has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailoverState {
    /// There is none.
    #[default]
    None,
    /// Writes are paused until the target has got everything.
    WaitForSync,
    /// The server became a replica of the target and asks it to take over: the link sends `PSYNC … FAILOVER`.
    InProgress,
}

impl FailoverState {
    /// As INFO shows it.
    pub fn name(self) -> &'static str {
        match self {
            FailoverState::None => "no-failover",
            FailoverState::WaitForSync => "waiting-for-sync",
            FailoverState::InProgress => "failover-in-progress",
        }
    }
}

/// An id that names no stream.
pub const NO_ID: &str = "0000000000000000000000000000000000000000";

/// A place in the stream.
#[derive(Debug, Clone, Copy)]
pub struct Position<'a> {
    /// The stream's name.
    pub id: &'a str,
    /// Bytes before it.
    pub offset: u64,
    /// The database that is selected there.
    pub db: usize,
}

/// State of replication.
#[derive(Debug)]
pub struct Replication {
    /// There is an owner that has connections to replicas.
    pub available: bool,
    /// The server's part.
    pub role: Role,
    /// The stream's name, 40 hexadecimal digits.
    pub id: String,
    /// The name of the stream that this one goes on with, up to [`Replication::second_offset`].
    pub id2: String,
    /// The first offset that the old stream has not; -1 when there is none.
    pub second_offset: i64,
    /// Bytes of the stream so far (`master_repl_offset`).
    pub offset: u64,
    /// The stream's latest bytes. There is one while there are replicas, and for a while after.
    pub backlog: Option<Backlog>,
    /// The database that the stream selected last; `None`: the next command selects.
    pub selected: Option<usize>,
    /// Replicas, in the order in which they came.
    pub replicas: Vec<Replica>,
    /// Places from which on the stream is kept for replicas that get their snapshot on another connection.
    pub anchors: Vec<channel::Anchor>,
    /// Seconds for which such a place is kept when that connection is gone.
    pub grace: i64,
    /// Bytes of the primary's stream that a replica keeps until its snapshot is loaded, and the most that there were.
    pub kept: (u64, u64),
    /// DEBUG PAUSE-AFTER-FORK: the process stops when a snapshot for replicas has begun, and before a replica asks for
    /// the stream on its main connection.
    pub stops: bool,
    /// Unix time in seconds since when there are none.
    pub none_since: i64,
    /// Replicas that acknowledge in time, as `min-replicas-to-write` counts them.
    pub good: usize,
    /// Where the stream was when the snapshot that was loaded at the start was made: its name, offset and database.
    pub restored: Option<(String, u64, usize)>,
    /// A client waits for acknowledgements: replicas are asked for them at the end of the turn.
    pub want_acks: bool,
    /// Replicas acknowledged: waiting clients are looked at again at the end of the turn.
    pub acked: bool,
    /// FAILOVER.
    pub failover: Failover,
    /// SHUTDOWN waits for replicas.
    pub stopping: Option<Box<stop::Stopping>>,
    /// Feeds ids: each is used once.
    ids: u64,
    seed: [u8; 16],
}

impl Replication {
    /// A primary without replicas. `seed` makes its ids.
    pub fn new(seed: [u8; 16], now_us: u64) -> Self {
        let mut new = Replication {
            available: false,
            role: Role::Primary,
            id: String::new(),
            id2: NO_ID.to_owned(),
            second_offset: -1,
            offset: 0,
            backlog: None,
            selected: None,
            replicas: Vec::new(),
            anchors: Vec::new(),
            grace: channel::GRACE,
            kept: (0, 0),
            stops: false,
            none_since: (now_us / 1_000_000) as i64,
            good: 0,
            restored: None,
            want_acks: false,
            acked: false,
            failover: Failover::default(),
            stopping: None,
            ids: now_us,
            seed,
        };
        new.new_id();
        new
    }

    /// Gives the stream a new name.
    pub fn new_id(&mut self) {
        self.ids = self.ids.wrapping_add(1);
        let seed = [&b"replication"[..], &self.seed].concat();
        self.id = crate::state::sha1_hex(&seed, self.ids);
    }

    /// Forgets the old name.
    pub fn clear_id2(&mut self) {
        self.id2 = NO_ID.to_owned();
        self.second_offset = -1;
    }

    /// The present name becomes the old one, valid up to here, and the stream gets a new name: a replica that takes
    /// over keeps its siblings.
    pub fn shift_id(&mut self) {
        self.id2 = std::mem::take(&mut self.id);
        // The offset of the first byte that the old stream has not got from here.
        self.second_offset = self.offset as i64 + 1;
        self.new_id();
    }

    /// True on a primary.
    #[inline]
    pub fn is_primary(&self) -> bool {
        matches!(self.role, Role::Primary)
    }

    /// The primary, on a replica.
    #[inline]
    pub fn upstream(&self) -> Option<&Upstream> {
        match &self.role {
            Role::Primary => None,
            Role::Replica(upstream) => Some(upstream),
        }
    }

    /// The primary, on a replica.
    pub fn upstream_mut(&mut self) -> Option<&mut Upstream> {
        match &mut self.role {
            Role::Primary => None,
            Role::Replica(upstream) => Some(upstream),
        }
    }

    /// True when the server's own commands go into the stream. On a replica the primary's bytes do, as they came.
    #[inline]
    pub fn collects(&self) -> bool {
        self.backlog.is_some() && self.is_primary()
    }

    /// Begins to keep the stream's bytes.
    pub fn open_backlog(&mut self, size: u64) {
        if self.backlog.is_none() {
            self.backlog = Some(Backlog::new(self.offset, size));
            self.selected = None;
        }
    }

    /// Appends bytes to the stream: whole commands on a primary, on a replica what the primary sent and was executed.
    /// Without a backlog only a replica counts them.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(backlog) = &mut self.backlog {
            backlog.push(bytes);
            self.offset += bytes.len() as u64;
            self.trim();
        } else if !self.is_primary() {
            self.offset += bytes.len() as u64;
        }
    }

    /// Asks all replicas how far they are.
    pub fn ask_acks(&mut self) {
        self.want_acks = false;
        if self.is_primary() && !self.replicas.is_empty() {
            self.feed(b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n");
        }
    }

    /// Shows replicas that this server is there.
    pub fn ping(&mut self) {
        if self.is_primary() && !self.replicas.is_empty() {
            self.feed(b"*1\r\n$4\r\nPING\r\n");
        }
    }

    /// Sets the stream's end: a replica that got a snapshot goes on from there, with no bytes before.
    pub fn jump(&mut self, offset: u64) {
        self.offset = offset;
        if let Some(backlog) = &mut self.backlog {
            let size = backlog.size();
            *backlog = Backlog::new(offset, size);
        }
    }

    /// Drops what neither the configured size nor a replica needs.
    pub fn trim(&mut self) {
        let Some(backlog) = &mut self.backlog else { return };
        let needed = self.replicas.iter().filter(|r| r.needs_stream()).map(|r| r.next);
        let needed = needed.chain(self.anchors.iter().map(|anchor| anchor.next)).min();
        backlog.trim(needed);
    }

    /// Where the stream is, for a snapshot that is made now; `None` when there is no stream.
    pub fn position(&self) -> Option<Position<'_>> {
        let db = match &self.role {
            Role::Primary => self.backlog.as_ref().map(|_| self.selected.unwrap_or(0))?,
            Role::Replica(upstream) => upstream.db,
        };
        Some(Position { id: &self.id, offset: self.offset, db })
    }

    /// The replica that this client is.
    pub fn replica(&self, client: ClientId) -> Option<&Replica> {
        self.replicas.iter().find(|replica| replica.client == client)
    }

    /// The replica that this client is.
    pub fn replica_mut(&mut self, client: ClientId) -> Option<&mut Replica> {
        self.replicas.iter_mut().find(|replica| replica.client == client)
    }

    /// Replicas that acknowledged the stream up to `offset`.
    pub fn acknowledged(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|r| r.state == ReplicaState::Online && r.ack >= offset).count()
    }

    /// Replicas that acknowledged that the stream up to `offset` is on their disks.
    pub fn acknowledged_on_disk(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|r| r.state == ReplicaState::Online && r.ack_aof >= offset).count()
    }
}

/// 40 hexadecimal digits that mark the end of a snapshot; `n` is used once with an id.
pub fn mark(id: &str, n: u64) -> String {
    crate::state::sha1_hex(&[b"mark", id.as_bytes()].concat(), n)
}

/// Counts the replicas that acknowledge in time, after something about them changed and once a second.
pub fn count_good(sv: &mut ServerState) {
    let lag = sv.config.min_replicas_max_lag;
    let now = (sv.stamp / 1_000_000) as i64;
    let good = |r: &&Replica| r.state == ReplicaState::Online && r.lag(now) <= lag as i64;
    sv.repl.good = sv.repl.replicas.iter().filter(good).count();
}

/// Adds a replica.
pub fn attach(ks: &mut Keyspace, sv: &mut ServerState, replica: Replica) {
    if let Some(client) = sv.clients.get_mut(replica.client) {
        client.replica = true;
    }
    sv.repl.replicas.push(replica);
    count_good(sv);
    crate::execute::update_recording(ks, sv);
}

/// Forgets the replica that a client is, if it is one.
pub fn detach(ks: &mut Keyspace, sv: &mut ServerState, client: ClientId) {
    let Some(at) = sv.repl.replicas.iter().position(|replica| replica.client == client) else { return };
    let name = sv.repl.replicas[at].name(sv);
    let whole = sv.repl.replicas.remove(at).state == ReplicaState::Done;
    channel::left(sv, client, whole);
    sv.log(LogLevel::Notice, format!("Connection with replica {name} lost."));
    if sv.repl.replicas.is_empty() {
        sv.repl.none_since = (sv.stamp / 1_000_000) as i64;
    }
    sv.repl.trim();
    count_good(sv);
    crate::execute::update_recording(ks, sv);
}

/// The server becomes a replica of another, or of another than before. What it has of the stream stays until the link
/// finds that it cannot go on from there. The owner is to be asked to [`Request::Relink`].
pub fn become_replica(ks: &mut Keyspace, sv: &mut ServerState, host: &str, port: u16) {
    if sv.repl.is_primary() {
        // Going on from what it has itself is possible when the new primary was its replica.
        let size = sv.config.repl_backlog_size;
        sv.repl.open_backlog(size);
    }
    let fresh = sv.repl.upstream().is_some_and(|upstream| upstream.fresh);
    let upstream =
        Upstream { host: host.to_owned(), port, read_offset: sv.repl.offset, fresh, ..Upstream::default() };
    sv.repl.role = Role::Replica(Box::new(upstream));
    sv.config.replicaof = Some((host.to_owned(), port));
    ks.replica = true;
    crate::execute::update_recording(ks, sv);
    // In a failover they wait on until it has succeeded.
    if sv.repl.failover.state != FailoverState::InProgress {
        crate::blocked::unblock_all(ks, sv);
    }
}

/// The server becomes a primary. Its stream goes on under a new name, and its replicas come back to hear it. The owner
/// is to be asked to [`Request::Relink`].
pub fn become_primary(ks: &mut Keyspace, sv: &mut ServerState) {
    if sv.repl.is_primary() {
        return;
    }
    sv.repl.role = Role::Primary;
    sv.config.replicaof = None;
    ks.replica = false;
    ks.own.clear();
    sv.repl.shift_id();
    drop_replicas(sv);
    sv.repl.selected = None;
    sv.repl.none_since = (sv.stamp / 1_000_000) as i64;
    crate::execute::update_recording(ks, sv);
}

/// The server starts as a primary. Where the snapshot that it loaded says where the stream was, the stream goes on there
/// under a new name: replicas that were there need no snapshot.
pub fn resume(ks: &mut Keyspace, sv: &mut ServerState) {
    let Some((id, offset, _)) = sv.repl.restored.take() else { return };
    begin_behind(ks, sv, id, offset);
}

/// The stream begins behind another's place. Later calls change nothing.
pub(crate) fn begin_behind(ks: &mut Keyspace, sv: &mut ServerState, id: String, offset: u64) {
    if sv.repl.backlog.is_some() {
        return;
    }
    sv.repl.id2 = id;
    sv.repl.second_offset = offset as i64 + 1;
    sv.repl.jump(offset);
    let size = sv.config.repl_backlog_size;
    sv.repl.open_backlog(size);
    sv.repl.none_since = (sv.stamp / 1_000_000) as i64;
    crate::execute::update_recording(ks, sv);
}

/// Closes the connections of all replicas: they come back and ask how to go on.
pub fn drop_replicas(sv: &mut ServerState) {
    sv.repl.anchors.clear();
    for replica in &sv.repl.replicas {
        sv.outgoing.push_back(Outgoing::Kill { client: replica.client, after_reply: false });
    }
}

/// Lets a client follow the stream from here on, without a snapshot: for tests, and for those who watch what commands
/// and scripts propagate in an engine that has no replicas.
pub fn follow(ks: &mut Keyspace, sv: &mut ServerState, client: ClientId) {
    let size = sv.config.repl_backlog_size;
    sv.repl.open_backlog(size);
    sv.repl.selected = None;
    let (offset, now) = (sv.repl.offset, (sv.stamp / 1000) as i64);
    let mut replica = Replica::new(client, Announced::default(), ReplicaState::Online, offset, now);
    replica.silent = true;
    attach(ks, sv, replica);
}

/// Hands what replicas have not got yet of the stream to their connections.
pub(crate) fn hand_out(sv: &mut ServerState) {
    let Replication { backlog: Some(backlog), replicas, .. } = &mut sv.repl else { return };
    for replica in replicas.iter_mut().filter(|replica| replica.reads_stream()) {
        let mut bytes = Vec::new();
        replica.next += backlog.copy(replica.next, usize::MAX, &mut bytes) as u64;
        if !bytes.is_empty() {
            sv.outgoing.push_back(Outgoing::Reply { client: replica.client, bytes });
        }
    }
}
