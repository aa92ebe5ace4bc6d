//! What a primary knows of one replica.

use crate::client::ClientId;
use crate::state::ServerState;

/// What a client told by REPLCONF before it asked for the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announced {
    /// The port on which it listens; 0 when it told none.
    pub port: u16,
    /// Its address, when it is not the one from which it connects.
    pub ip: Option<String>,
    /// `capa eof`: it finds the end of a snapshot whose length is not known at its beginning.
    pub eof: bool,
    /// `capa psync2`: it takes a new id with `+CONTINUE`.
    pub psync2: bool,
    /// Its version, `0xMMmmpp`; 0 when it told none.
    pub version: u32,
    /// It wants the snapshot and nothing after it.
    pub rdb_only: bool,
    /// Parts that its snapshot is to leave out.
    pub without: Without,
    /// `capa dual-channel`, where this server has it too: it takes the snapshot on a connection of its own.
    pub dual: bool,
    /// This is that connection.
    pub rdb_channel: bool,
    /// That connection's id, told by the one that gets the stream.
    pub rdb_client: Option<i64>,
}

/// Parts that a snapshot leaves out (`rdb-filter-only`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Without {
    /// The keys.
    pub data: bool,
    /// The functions.
    pub functions: bool,
}

impl Without {
    /// True when the snapshot is not whole.
    pub fn any(self) -> bool {
        self.data || self.functions
    }
}

/// How far a replica's synchronization has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaState {
    /// It waits for a snapshot to begin.
    WaitStart,
    /// Its snapshot is being made (on disk), or made and sent at once (diskless).
    WaitEnd,
    /// Its snapshot is being sent from disk.
    SendBulk,
    /// It gets the stream, and keeps it until it has loaded the snapshot that comes on another connection.
    Loading,
    /// It reads the stream.
    Online,
    /// It got all that it asked for (`rdb-only`) and is to go away.
    Done,
}

impl ReplicaState {
    /// As INFO shows it.
    pub fn name(self) -> &'static str {
        match self {
            ReplicaState::WaitStart | ReplicaState::WaitEnd => "wait_bgsave",
            ReplicaState::SendBulk => "send_bulk",
            ReplicaState::Loading => "bg_transfer",
            ReplicaState::Online => "online",
            ReplicaState::Done => "rdb_transmitted",
        }
    }
}

/// One replica.
#[derive(Debug, Clone)]
pub struct Replica {
    /// Its client.
    pub client: ClientId,
    /// What it told of itself.
    pub told: Announced,
    /// How far it is.
    pub state: ReplicaState,
    /// Bytes of the stream that were handed to its connection, counted from the stream's beginning.
    pub next: u64,
    /// A snapshot without length was sent: the stream follows the replica's first acknowledgement, for it finds the
    /// snapshot's end only where nothing follows.
    pub await_ack: bool,
    /// It asked by SYNC, as old replicas and tools do: it acknowledges nothing.
    pub silent: bool,
    /// The offset of the stream that it acknowledged.
    pub ack: u64,
    /// The same of what is safe in its append-only file.
    pub ack_aof: u64,
    /// Unix time in seconds at which it acknowledged last.
    pub ack_time: i64,
    /// Unix time in milliseconds since when it waits for a snapshot.
    pub since_ms: i64,
}

impl Replica {
    /// A new one in `state`, whose stream begins behind byte `next`.
    pub fn new(client: ClientId, told: Announced, state: ReplicaState, next: u64, now_ms: i64) -> Self {
        Replica {
            client,
            told,
            state,
            next,
            await_ack: false,
            silent: false,
            ack: 0,
            ack_aof: 0,
            ack_time: now_ms / 1000,
            since_ms: now_ms,
        }
    }

    /// True when bytes of the stream may be handed to its connection.
    pub fn reads_stream(&self) -> bool {
        let online = self.state == ReplicaState::Online && !self.await_ack;
        (online || self.state == ReplicaState::Loading) && !self.told.rdb_only
    }

    /// True when bytes of the stream have to be kept until it reads them.
    pub fn needs_stream(&self) -> bool {
        self.state != ReplicaState::WaitStart && self.state != ReplicaState::Done && !self.told.rdb_only
    }

    /// Which connection of it this is, as INFO shows it.
    pub fn kind(&self) -> &'static str {
        match self.state {
            _ if self.told.rdb_channel => "rdb-channel",
            ReplicaState::Loading => "main-channel",
            _ => "replica",
        }
    }

    /// Seconds since it acknowledged last; 0 while it is being synchronized.
    pub fn lag(&self, now: i64) -> i64 {
        if self.state == ReplicaState::Online { (now - self.ack_time).max(0) } else { 0 }
    }
}

impl Replica {
    /// Its address: the one that it told, or the one from which it connects.
    pub fn address<'a>(&'a self, sv: &'a ServerState) -> &'a str {
        match &self.told.ip {
            Some(ip) => ip,
            None => sv.clients.get(self.client).map_or("", |client| host_of(&client.conn.addr)),
        }
    }

    /// Its name in the log: address and port, or its client's number when it told no port.
    pub fn name(&self, sv: &ServerState) -> String {
        match self.told.port {
            0 => format!("client id #{}", self.client.id),
            port => format!("{}:{port}", self.address(sv)),
        }
    }
}

/// The host of `host:port`, an IPv6 address without its brackets.
fn host_of(addr: &str) -> &str {
    addr.rsplit_once(':').map_or(addr, |(host, _)| host).trim_start_matches('[').trim_end_matches(']')
}
