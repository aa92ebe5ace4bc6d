//! State of the connected clients.

use crate::acl::User;
use crate::commands::Command;
use crate::replication::Announced;
use crate::reply::Proto;
use crate::tracking::ClientTracking;
use std::sync::Arc;

/// A client. The number is Redis's client id: it grows and is never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId {
    pub(crate) slot: u32,
    /// Redis's client id.
    pub id: u64,
}

/// Where a client comes from.
#[derive(Debug, Clone, Default)]
pub struct ConnInfo {
    /// Its address, `ip:port`, or `path:0` for a unix socket; empty for an embedded session.
    pub addr: String,
    /// The address it connected to.
    pub laddr: String,
    /// File descriptor, for CLIENT LIST only.
    pub fd: i64,
    /// It came by a unix socket.
    pub unix: bool,
}

impl ConnInfo {
    /// True for connections from this machine: loopback, unix socket, embedded.
    pub fn is_local(&self) -> bool {
        let host = self.addr.rsplit_once(':').map_or("", |(host, _)| host);
        self.unix || self.addr.is_empty() || host.starts_with("127.") || matches!(host, "::1" | "[::1]")
    }
}

/// What the owner of the connections knows of a client's buffers, for CLIENT LIST and limits. Bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientIo {
    /// Bytes waiting in the query buffer.
    pub qbuf: usize,
    /// Free bytes of the query buffer.
    pub qbuf_free: usize,
    /// Bytes of incomplete arguments.
    pub argv_mem: usize,
    /// Bytes in the fixed output buffer.
    pub obl: usize,
    /// Blocks in the output list.
    pub oll: usize,
    /// Bytes of the output list.
    pub omem: usize,
    /// Bytes received so far.
    pub net_in: u64,
    /// Bytes sent so far.
    pub net_out: u64,
}

/// What CLIENT REPLY chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyMode {
    /// Replies are sent.
    #[default]
    On,
    /// No replies.
    Off,
    /// The next command's reply is not sent (SKIP was just answered by nothing).
    SkipNext,
}

/// What SCRIPT DEBUG chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugMode {
    /// On a copy of the data set, while other clients are served.
    Copy,
    /// On the data set itself, while other clients wait.
    Sync,
}

/// A command that waits for EXEC.
pub struct Queued {
    /// The command.
    pub command: &'static Command,
    /// Its arguments, the name included.
    pub argv: Vec<Box<[u8]>>,
}

/// State between MULTI and EXEC.
#[derive(Default)]
pub struct Multi {
    /// Commands in order.
    pub queue: Vec<Queued>,
    /// A command could not be queued: EXEC will refuse.
    pub abort: bool,
    /// Bytes of the queued arguments.
    pub bytes: usize,
}

/// One client.
pub struct Client {
    /// Its id.
    pub id: ClientId,
    /// Where it comes from.
    pub conn: ConnInfo,
    /// Name by CLIENT SETNAME or HELLO.
    pub name: Vec<u8>,
    /// Library name and version by CLIENT SETINFO.
    pub lib: (Vec<u8>, Vec<u8>),
    /// Selected database.
    pub db: usize,
    /// Protocol version.
    pub proto: Proto,
    /// It may run commands.
    pub authenticated: bool,
    /// It once was, or needed not.
    pub ever_authenticated: bool,
    /// ACL user.
    pub user: Arc<User>,
    /// Its commands are checked: the user may not do everything.
    pub restricted: bool,
    /// The open transaction.
    pub multi: Option<Box<Multi>>,
    /// CLIENT REPLY.
    pub reply_mode: ReplyMode,
    /// Close the connection when its reply is written.
    pub close: bool,
    /// DEBUG PROTECT-CLIENT: it is not closed before this is taken back.
    pub protected: bool,
    /// Milliseconds since the Unix epoch at which it connected.
    pub since_ms: i64,
    /// Milliseconds since the Unix epoch at its last command.
    pub last_ms: i64,
    /// Its last command.
    pub last_command: Option<&'static Command>,
    /// The script that it ran last.
    pub script: Option<crate::script::tracked::Ticket>,
    /// Commands so far.
    pub commands: u64,
    /// CLIENT NO-EVICT.
    pub no_evict: bool,
    /// READONLY of cluster mode.
    pub reads_replicas: bool,
    /// CLIENT NO-TOUCH.
    pub no_touch: bool,
    /// CLIENT CAPA REDIRECT.
    pub capa_redirect: bool,
    /// CLIENT IMPORT-SOURCE: in import mode it sees keys past their deadline.
    pub import_source: bool,
    /// It is a replica: it asked for the stream (SYNC, PSYNC).
    pub replica: bool,
    /// It is this server's primary: what it sends is executed without an answer.
    pub primary: bool,
    /// What it told by REPLCONF.
    pub announced: Option<Box<Announced>>,
    /// Offset of the stream behind its last write, which WAIT waits for.
    pub written: u64,
    /// Bytes of effects for the append-only file behind its last write, which WAITAOF waits for.
    pub logged: u64,
    /// It asked for MONITOR.
    pub monitor: bool,
    /// While its EXEC runs: how many commands were queued, and their bytes.
    pub exec: (usize, usize),
    /// CLIENT TRACKING.
    pub tracking: Option<Box<ClientTracking>>,
    /// Channels, patterns and shard channels that it subscribed to.
    pub subscriptions: [usize; 3],
    /// Bytes that they take.
    pub subscription_bytes: usize,
    /// SCRIPT DEBUG: its next EVAL is debugged.
    pub debug: Option<DebugMode>,
    /// It waits in a blocking command.
    pub blocked: bool,
    /// Its command waits for the end of CLIENT PAUSE.
    pub postponed: bool,
    /// Times that it was taken back because a snapshot had to write a value first.
    pub put_off: u8,
    /// Buffers, told by the owner of the connection.
    pub io: ClientIo,
}

impl Client {
    fn new(id: ClientId, conn: ConnInfo, user: Arc<User>, authenticated: bool, now_ms: i64) -> Self {
        Client {
            id,
            conn,
            name: Vec::new(),
            lib: (Vec::new(), Vec::new()),
            db: 0,
            proto: Proto::Resp2,
            authenticated,
            ever_authenticated: authenticated,
            restricted: user.is_restricted(),
            user,
            multi: None,
            reply_mode: ReplyMode::On,
            close: false,
            protected: false,
            since_ms: now_ms,
            last_ms: now_ms,
            last_command: None,
            script: None,
            commands: 0,
            no_evict: false,
            reads_replicas: false,
            no_touch: false,
            import_source: false,
            capa_redirect: false,
            replica: false,
            primary: false,
            announced: None,
            written: 0,
            logged: 0,
            monitor: false,
            exec: (0, 0),
            tracking: None,
            subscriptions: [0; 3],
            subscription_bytes: 0,
            debug: None,
            blocked: false,
            postponed: false,
            put_off: 0,
            io: ClientIo::default(),
        }
    }

    /// Gives the client a user, or the user new rights.
    pub fn set_user(&mut self, user: Arc<User>) {
        self.restricted = user.is_restricted() && !self.primary;
        self.user = user;
    }

    /// Bytes that the engine holds for the client beside its buffers, watched keys aside. O(1).
    pub fn held_memory(&self) -> usize {
        self.multi.as_ref().map_or(0, |multi| multi.bytes)
            + self.subscription_bytes
            + self.tracking.as_ref().map_or(0, |tracking| tracking.memory())
    }

    /// Number of subscriptions of all kinds.
    pub fn subscribed(&self) -> usize {
        self.subscriptions.iter().sum()
    }
}

/// All clients.
#[derive(Default)]
pub struct Clients {
    slots: Vec<Option<Client>>,
    free: Vec<u32>,
    next: u64,
    count: usize,
}

impl Clients {
    /// Adds a client.
    pub fn add(&mut self, conn: ConnInfo, user: Arc<User>, authenticated: bool, now_ms: i64) -> ClientId {
        self.next += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let id = ClientId { slot, id: self.next };
        self.slots[slot as usize] = Some(Client::new(id, conn, user, authenticated, now_ms));
        self.count += 1;
        id
    }

    /// Removes a client.
    pub fn remove(&mut self, id: ClientId) -> Option<Client> {
        self.get(id)?;
        let client = self.slots[id.slot as usize].take();
        self.free.push(id.slot);
        self.count -= 1;
        client
    }

    /// The client, if it is still connected.
    #[inline]
    pub fn get(&self, id: ClientId) -> Option<&Client> {
        self.slots.get(id.slot as usize)?.as_ref().filter(|c| c.id == id)
    }

    /// The client, if it is still connected.
    #[inline]
    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        self.slots.get_mut(id.slot as usize)?.as_mut().filter(|c| c.id == id)
    }

    /// The client with this number.
    pub fn by_number(&self, number: u64) -> Option<&Client> {
        self.iter().find(|c| c.id.id == number)
    }

    /// All clients.
    pub fn iter(&self) -> impl Iterator<Item = &Client> {
        self.slots.iter().flatten()
    }

    /// All clients.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Client> {
        self.slots.iter_mut().flatten()
    }

    /// Number of clients.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True without clients.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
