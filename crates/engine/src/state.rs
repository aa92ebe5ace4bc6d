//! Everything that the engine holds beside the data set.

use crate::acl::Acl;
use crate::busy::Running;
use crate::client::{Client, ClientId, Clients};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::Outgoing;
use crate::latency::Events;
use crate::persistence::Persistence;
use crate::pubsub::PubSub;
use crate::replication::Replication;
use crate::script::Scripts;
use crate::stats::Stats;
use crate::tracking::Tracking;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// State of the server: clients, configuration, statistics, what waits to leave.
pub struct ServerState {
    /// Time.
    pub clock: Box<dyn Clock>,
    /// Microseconds since the Unix epoch at the end of the last command, or when the owner woke the engine.
    pub stamp: u64,
    /// Users and their rights.
    pub acl: Acl,
    /// Clients.
    pub clients: Clients,
    /// Configuration.
    pub config: Config,
    /// Statistics.
    pub stats: Stats,
    /// What took long; see LATENCY.
    pub latency: Events,
    /// What waits to leave; see [`Outgoing`].
    pub outgoing: VecDeque<Outgoing>,
    /// Replication.
    pub repl: Replication,
    /// Clients that asked for MONITOR.
    pub monitors: Vec<ClientId>,
    /// Subscriptions.
    pub pubsub: PubSub,
    /// Cluster mode.
    pub cluster: crate::cluster::Cluster,
    /// Who caches which keys.
    pub tracking: Tracking,
    /// Compiled scripts and libraries.
    pub scripts: Scripts,
    /// The script or function that runs now.
    pub running: Option<Running>,
    /// DEBUG SET-SKIP-CHECKSUM-VALIDATION: RESTORE takes payloads whatever their checksum.
    pub skip_checksum: bool,
    /// DEBUG CLIENT-ENFORCE-REPLY-LIST: no reply is small, where replies are limited.
    pub reply_lists: bool,
    /// DEBUG PAUSE-CRON: nothing is done by itself.
    pub cron_paused: bool,
    /// CLIENT PAUSE.
    pub pause: Option<Pause>,
    /// Writes wait for the end of a failover, and for that of a shutdown.
    pub held: Held,
    /// Memory was over `maxmemory` and nothing could be evicted when the command in progress began.
    pub oom: bool,
    /// Memory is over `maxmemory`, and more is to be evicted soon.
    pub evicting: bool,
    /// Milliseconds since the Unix epoch at which the expiry cycle goes on, when its time did not suffice.
    pub expiry_due: Option<i64>,
    /// Bytes that the clients' buffers take, replicas' aside, as the owner of the connections counts them.
    pub client_memory: usize,
    /// What is freed elsewhere.
    pub lazy_free: Arc<LazyFree>,
    /// False (DEBUG SET-DISABLE-DENY-SCRIPTS): scripts may call what is not meant for them.
    pub deny_in_scripts: bool,
    /// The handler in progress wants its client to wait.
    pub block_request: Option<crate::blocked::Request>,
    /// When the log was last told of a web browser, in milliseconds since the Unix epoch.
    pub web_told: Option<i64>,
    /// The command in progress is one that waited and is run again.
    pub running_again: bool,
    /// Depth of units of execution: scripts and EXEC nest.
    pub depth: u32,
    /// Microseconds since the Unix epoch at start.
    pub started_us: u64,
    /// 40 hexadecimal digits that name this run of the server.
    pub run_id: String,
    /// Snapshots and the append-only file.
    pub persist: Persistence,
    /// What the owner knows of the process, for INFO.
    pub process: ProcessInfo,
}

/// Counters of values that are freed elsewhere; who frees them keeps them up to date.
#[derive(Debug, Default)]
pub struct LazyFree {
    /// Values that were handed over and are not yet freed.
    pub pending: AtomicU64,
    /// Values that were freed.
    pub freed: AtomicU64,
}

/// CLIENT PAUSE.
#[derive(Debug, Clone, Copy)]
pub struct Pause {
    /// Milliseconds since the Unix epoch.
    pub until: i64,
    /// All commands wait, not only those that may write.
    pub all: bool,
}

/// What makes writes wait beside CLIENT PAUSE, for as long as it takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// FAILOVER waits for a replica.
    pub failover: bool,
    /// SHUTDOWN waits for replicas.
    pub shutdown: bool,
}

impl Held {
    /// True when writes wait.
    #[inline]
    pub fn any(self) -> bool {
        self.failover || self.shutdown
    }
}

/// What INFO shows of the process; the engine's owner keeps it up to date.
#[derive(Debug, Clone, Default)]
pub struct ProcessInfo {
    /// Process id.
    pub pid: u32,
    /// TCP port; 0 for none.
    pub tcp_port: u16,
    /// TCP port for TLS; 0 for none.
    pub tls_port: u16,
    /// Certificates in use, that of the server, that of its own connections and that of the authority: serial number,
    /// and the second since the Unix epoch at which it ends.
    pub certificates: [Option<(String, i64)>; 3],
    /// Path of the program.
    pub executable: String,
    /// Path of the configuration file, if one was read.
    pub config_file: String,
    /// Rounds of background work per second as they are now; 0 where nobody says.
    pub hz: u64,
    /// The service manager that was told of the server; empty for none.
    pub supervised: String,
    /// `uname` text: system, release, machine.
    pub os: String,
    /// Resident memory in bytes.
    pub rss: u64,
    /// Physical memory of the machine in bytes.
    pub total_system_memory: u64,
    /// CPU time in microseconds: user and system.
    pub cpu_us: (u64, u64),
    /// CPU time of the main thread in microseconds: user, system, and both by a finer clock.
    pub main_thread_us: (u64, u64, u64),
    /// Reads from connections and writes to them.
    pub io_calls: (u64, u64),
    /// Bytes received and sent by connections that are gone.
    pub net: (u64, u64),
}

impl ServerState {
    /// State of a server that starts now.
    pub fn new(config: Config, clock: Box<dyn Clock>, seed: [u8; 16]) -> Self {
        let now = clock.now_us();
        let mut stats = Stats::default();
        stats.commands.resize(crate::commands::all().len(), Default::default());
        stats.histograms.resize_with(crate::commands::all().len(), || None);
        let run_id = sha1_hex(&seed, now);
        let mut sv = ServerState {
            acl: Acl::new(seed),
            clock,
            stamp: now,
            clients: Clients::default(),
            config,
            stats,
            latency: Events::default(),
            outgoing: VecDeque::new(),
            repl: Replication::new(seed, now),
            monitors: Vec::new(),
            pubsub: PubSub::default(),
            cluster: crate::cluster::Cluster::new(sha1_of(&seed, now ^ 1), sha1_of(&seed, now ^ 2)),
            tracking: Tracking::new(seed),
            scripts: Scripts::default(),
            running: None,
            skip_checksum: false,
            reply_lists: false,
            cron_paused: false,
            pause: None,
            held: Held::default(),
            oom: false,
            evicting: false,
            expiry_due: None,
            client_memory: 0,
            lazy_free: Arc::default(),
            deny_in_scripts: true,
            block_request: None,
            web_told: None,
            running_again: false,
            depth: 0,
            started_us: now,
            run_id,
            persist: Persistence::new(now),
            process: ProcessInfo::default(),
        };
        if !sv.config.requirepass.is_empty() {
            let password = sv.config.requirepass.clone();
            crate::acl::set_default_password(&mut sv, &password);
        }
        sv
    }

    /// The client, if it is still connected.
    #[inline]
    pub fn client(&self, id: ClientId) -> Option<&Client> {
        self.clients.get(id)
    }

    /// Bytes held beside the data set: clients and scripts. O(1).
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.clients.len() * size_of::<Client>()
            + self.client_memory
            + self.scripts.memory()
            + self.repl.kept.0 as usize
    }

    /// Bytes received and sent by all connections so far.
    pub fn net_bytes(&self) -> (u64, u64) {
        let live = self.clients.iter().fold((0, 0), |(i, o), c| (i + c.io.net_in, o + c.io.net_out));
        (self.process.net.0 + live.0, self.process.net.1 + live.1)
    }

    /// Bytes that wait for replicas: what they have not been handed of the stream, and what their connections hold.
    pub fn replica_bytes(&self) -> u64 {
        let waits = |r: &&crate::replication::Replica| r.needs_stream();
        let stream = self.repl.replicas.iter().filter(waits).map(|r| self.repl.offset.saturating_sub(r.next));
        let conns = self.repl.replicas.iter().filter_map(|r| self.client(r.client));
        stream.sum::<u64>() + conns.map(|c| (c.io.obl + c.io.omem) as u64).sum::<u64>()
    }

    /// True when what the client wrote is in the append-only file and safe on the disk.
    pub fn is_safe(&self, client: ClientId) -> bool {
        let logged = self.clients.get(client).map_or(0, |client| client.logged);
        self.persist.logs() && self.persist.log.offset.1 >= logged
    }

    /// Sends bytes to a client outside of its own command's reply.
    pub fn send(&mut self, client: ClientId, bytes: Vec<u8>) {
        self.outgoing.push_back(Outgoing::Reply { client, bytes });
    }

    /// A line for the log.
    pub fn log(&mut self, level: LogLevel, text: impl Into<Vec<u8>>) {
        self.outgoing.push_back(Outgoing::Log { level, text: text.into() });
    }
}

/// 40 hexadecimal digits made of a seed and a number.
pub(crate) fn sha1_hex(seed: &[u8], number: u64) -> String {
    sha1_of(seed, number).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha1_of(seed: &[u8], now: u64) -> [u8; 20] {
    use sha1::Digest;
    let mut sha = sha1::Sha1::new();
    sha.update(seed);
    sha.update(now.to_le_bytes());
    sha.finalize().into()
}

/// Levels of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Much, for developers.
    Debug,
    /// Rarely of use.
    Verbose,
    /// What an operator wants to see.
    Notice,
    /// What an operator must see.
    Warning,
}
