//! The engine: the data set and all that belongs to it, as one value.

use crate::blocked;
use crate::busy::Busy;
use crate::client::{ClientId, ClientIo, ConnInfo};
use crate::clock::Clock;
use crate::config::Config;
use crate::evict;
use crate::execute;
use crate::keyspace::Keyspace;
use crate::persistence::Request;
use crate::replication;
use crate::reply::{Proto, Reply};
use crate::state::{LogLevel, ServerState};
use crate::tracking;

/// Microseconds for which keys are expired in one go.
const EXPIRY_SLICE_US: u64 = 1000;

/// What the owner of the connections does after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Goes on with the client's next command.
    Continue,
    /// Writes the reply and closes the connection.
    Close,
    /// Takes no further command of this client until [`Outgoing::Unblocked`].
    Blocked,
    /// Nothing was done (CLIENT PAUSE): the same command is to be given again after [`Outgoing::Unpaused`].
    Postponed,
}

/// What leaves the engine beside replies. The owner takes them with [`Engine::next_outgoing`] after each batch.
#[derive(Debug)]
pub enum Outgoing {
    /// Bytes for a client's output buffer.
    Reply {
        /// For whom.
        client: ClientId,
        /// RESP.
        bytes: Vec<u8>,
    },
    /// Close this client's connection.
    Kill {
        /// Whom.
        client: ClientId,
        /// Write what waits for it first.
        after_reply: bool,
    },
    /// A blocked client may go on.
    Unblocked {
        /// Who.
        client: ClientId,
    },
    /// CLIENT PAUSE is over.
    Unpaused,
    /// A line for the log.
    Log {
        /// How important.
        level: LogLevel,
        /// The text, without line break.
        text: Vec<u8>,
    },
    /// SHUTDOWN was accepted.
    Shutdown {
        /// Save first, do not save, or as configured.
        save: Option<bool>,
    },
    /// The data set must not be served any longer: the owner ends, without a snapshot.
    Fatal {
        /// Why.
        why: String,
    },
    /// SCRIPT DEBUG YES: the owner gives this client a session of its own on a copy of the data set as it is now, in
    /// which `argv` is to run with [`crate::client::DebugMode::Sync`], and forgets the client here. Only where
    /// [`Ticker::may_debug`] allowed it.
    Debug {
        /// Who.
        client: ClientId,
        /// EVAL with its arguments.
        argv: Vec<Vec<u8>>,
    },
    /// A parameter changed that the owner acts on (port, bind, maxclients, …).
    ConfigChanged {
        /// Its name.
        name: &'static str,
    },
}

/// What a long command or script calls from time to time, on its own stack.
pub trait Ticker {
    /// Called about every millisecond of a long run, with the engine as far as it may be used meanwhile. The owner
    /// may serve its sockets here once [`Busy::is_slow`].
    fn tick(&mut self, _busy: &mut Busy<'_>) {}

    /// May the client whose command runs debug a script? `copy` asks for a session on a copy of the data set.
    ///
    /// # Errors
    /// Why not.
    fn may_debug(&mut self, _copy: bool) -> Result<(), &'static str> {
        Err("nobody can be talked to here")
    }

    /// Sends bytes to the client whose command runs, at once. False when it is gone.
    fn say(&mut self, _bytes: &[u8]) -> bool {
        false
    }

    /// Waits some milliseconds for bytes of the client whose command runs, and appends them to `input`.
    fn hear(&mut self, _input: &mut Vec<u8>) -> Heard {
        Heard::Gone
    }

    /// CONFIG SET is about to change the parameter `name` to what `next` holds. The owner acts on what is his (the
    /// port, the working directory, …).
    ///
    /// # Errors
    /// Why he cannot: then nothing is changed.
    fn configure(&mut self, _name: &str, _next: &Config) -> Result<(), String> {
        Ok(())
    }

    /// DEBUG SLEEP: the owner does nothing for so many microseconds. Who keeps a clock of its own sets it forward.
    fn sleep(&mut self, _us: u64) {}

    /// CONFIG REWRITE: the owner writes the configuration file.
    ///
    /// # Errors
    /// Why he cannot.
    fn rewrite(&mut self, _config: &Config) -> Result<(), String> {
        Err("The server is running without a config file".to_owned())
    }

    /// MIGRATE: the owner connects to a host and port, sends `request` and reads the first line of each of so many
    /// replies, without line break. No step may take longer than `timeout_ms`.
    fn exchange(
        &mut self,
        _peer: (&str, u16),
        _timeout_ms: u64,
        _request: &[u8],
        _replies: usize,
    ) -> Exchange {
        Exchange { replies: Vec::new(), broken: Some(Broken::Connecting) }
    }

    /// A command needs files: see [`Request`].
    ///
    /// # Errors
    /// The error reply, its code included.
    fn persist(
        &mut self,
        _ks: &mut Keyspace,
        _sv: &mut ServerState,
        _request: Request,
    ) -> Result<(), String> {
        Err("ERR no files are kept: the data set is in memory only".to_owned())
    }

    /// A command needs a connection to another server: see [`replication::Request`].
    ///
    /// # Errors
    /// The error reply, its code included.
    fn replicate(
        &mut self,
        _ks: &mut Keyspace,
        _sv: &mut ServerState,
        _request: replication::Request,
    ) -> Result<(), String> {
        Err("ERR This server cannot be a replica: it has no connections".to_owned())
    }

    /// ACL LOAD: the owner reads the file that `aclfile` names.
    ///
    /// # Errors
    /// Why he cannot.
    fn read_acl_file(&mut self, _path: &str) -> Result<Vec<u8>, String> {
        Err("Operation not permitted".to_owned())
    }

    /// Cluster mode: the owner replaces the file that `cluster-config-file` names.
    ///
    /// # Errors
    /// Why he cannot.
    fn write_node_file(&mut self, _path: &str, _text: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// ACL SAVE: the owner replaces the file that `aclfile` names.
    ///
    /// # Errors
    /// Why he cannot.
    fn write_acl_file(&mut self, _path: &str, _text: &[u8]) -> Result<(), String> {
        Err("Operation not permitted".to_owned())
    }
}

/// What came of [`Ticker::hear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// There are more bytes.
    Bytes,
    /// Nothing yet.
    Nothing,
    /// Nobody is there any more, or the owner is about to end.
    Gone,
}

/// Where an exchange with another server broke off, or took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Before there was a connection.
    Connecting,
    /// While the request was sent.
    Writing,
    /// While replies were awaited.
    Reading,
}

/// What came of [`Ticker::exchange`].
#[derive(Debug)]
pub struct Exchange {
    /// The first lines of the replies that came.
    pub replies: Vec<Vec<u8>>,
    /// Why there are no more.
    pub broken: Option<Broken>,
}

/// A ticker for callers that have nothing to do meanwhile.
pub struct NoTicker;
impl Ticker for NoTicker {}

/// A data server without I/O.
pub struct Engine {
    /// The data set.
    pub ks: Keyspace,
    /// Everything else.
    pub sv: ServerState,
}

/// The secret of the hash tables that `hash-seed` makes: servers that share it show keys in the same order.
fn table_seed(config: &Config) -> Option<[u8; 16]> {
    use sha1::Digest;
    let text = config.get("hash-seed").filter(|text| !text.is_empty())?;
    sha1::Sha1::digest(text.as_bytes()).first_chunk().copied()
}

impl Engine {
    /// An empty engine. `seed` keys hash tables, generators and the run id: with the same seed and clock the same calls
    /// give the same bytes.
    pub fn new(config: Config, clock: Box<dyn Clock>, seed: [u8; 16]) -> Engine {
        let databases = if config.cluster_enabled { config.cluster_databases } else { config.databases };
        let mut ks = Keyspace::new(databases as usize, seed);
        if let Some(tables) = table_seed(&config) {
            // What is drawn by lot stays so.
            let rng = ks.rng;
            ks = Keyspace::new(databases as usize, tables);
            ks.rng = rng;
        }
        ks.configure(&config);
        let sv = ServerState::new(config, clock, seed);
        ks.begin_unit(sv.stamp);
        Engine { ks, sv }
    }

    /// A client connects.
    pub fn connect(&mut self, conn: ConnInfo) -> ClientId {
        self.wake();
        self.sv.stats.connections += 1;
        let (user, open) = (self.sv.acl.default_user().clone(), self.sv.acl.is_open());
        let now = (self.sv.stamp / 1000) as i64;
        self.sv.clients.add(conn, user, open, now)
    }

    /// A client is gone.
    pub fn disconnect(&mut self, id: ClientId) {
        execute::remove_client(&mut self.ks, &mut self.sv, id);
    }

    /// Reads the clock. The owner calls it when it has waited for something; between the commands of a batch the
    /// time at the end of one is the time at the beginning of the next.
    #[inline]
    pub fn wake(&mut self) {
        self.sv.stamp = self.sv.clock.now_us();
    }

    /// Runs one command of a client and appends its reply to `out`. `argv` holds at least the command's name.
    #[inline]
    pub fn execute(
        &mut self,
        id: ClientId,
        argv: &[&[u8]],
        out: &mut Vec<u8>,
        ticker: &mut dyn Ticker,
    ) -> After {
        let proto = self.sv.clients.get(id).map_or(Proto::Resp2, |c| c.proto);
        let start = out.len();
        let after =
            execute::client_command(&mut self.ks, &mut self.sv, id, argv, Reply::resp(out, proto), ticker);
        execute::apply_reply_mode(&mut self.sv, id, start, out);
        after
    }

    /// Runs one command of an embedded session, with any reply sink.
    pub fn execute_into(
        &mut self,
        id: ClientId,
        argv: &[&[u8]],
        reply: Reply<'_>,
        ticker: &mut dyn Ticker,
    ) -> After {
        execute::client_command(&mut self.ks, &mut self.sv, id, argv, reply, ticker)
    }

    /// Periodic work: deadlines, statistics. To be called `hz` times a second.
    pub fn cron(&mut self) {
        self.wake();
        if self.sv.cron_paused {
            return;
        }
        self.ks.begin_unit(self.sv.stamp);
        self.ks.effects.actor = None;
        (self.ks.sees_all, self.ks.obeys) = (false, false);
        self.end_pause();
        blocked::expire(&mut self.ks, &mut self.sv);
        self.expire_slice();
        if self.sv.stats.rates.is_due(self.sv.stamp) {
            let net = self.sv.net_bytes();
            self.sv.stats.sample_rates(self.sv.stamp, net);
        }
        if self.ks.effects.tracking {
            tracking::limit(&mut self.ks, &mut self.sv);
        }
        let used = self.ks.used_memory() + self.sv.memory();
        self.sv.stats.peak_memory = self.sv.stats.peak_memory.max(used);
    }

    /// Deletes keys and fields past their deadline for at most [`EXPIRY_SLICE_US`]; when that does not suffice, says when
    /// to go on, such that `active-expire-effort` decides the share of the time that this takes.
    fn expire_slice(&mut self) {
        self.sv.expiry_due = None;
        if !self.sv.config.active_expire {
            return;
        }
        let effort = self.sv.config.active_expire_effort.clamp(1, 10) - 1;
        let (share, stale) = (25 + 2 * effort, 10 - effort);
        let clock = &self.sv.clock;
        let start = clock.now_us();
        let mut out_of_time = || clock.now_us().saturating_sub(start) >= EXPIRY_SLICE_US;
        self.ks.effects.apart = true;
        let (_, keys_left) = self.ks.expire_cycle(stale, &mut out_of_time);
        let (_, fields_left) = self.ks.field_cycle(stale, &mut out_of_time);
        self.ks.expire_own(&mut out_of_time);
        let now = self.sv.clock.now_us();
        let spent = now.saturating_sub(start);
        self.ks.stats.expiry_us += spent;
        self.sv.latency.note(self.sv.config.latency_monitor_threshold, "expire-cycle", spent, now);
        if keys_left || fields_left {
            self.ks.stats.expiry_cut_short += 1;
            self.sv.expiry_due = Some(((now + spent * (100 - share) / share) / 1000 + 1) as i64);
        }
        execute::finish_unit(&mut self.ks, &mut self.sv);
        self.ks.effects.apart = false;
    }

    /// Lets commands go on when CLIENT PAUSE is over.
    fn end_pause(&mut self) {
        if self.sv.pause.is_some_and(|pause| pause.until <= self.ks.now) {
            execute::unpause(&mut self.ks, &mut self.sv);
            execute::finish_unit(&mut self.ks, &mut self.sv);
        }
    }

    /// Milliseconds since the Unix epoch at which [`Engine::run_due`] is to be called: a client gives up waiting, a
    /// pause ends, or more is to be evicted or to expire. 0: at once.
    pub fn next_deadline(&self) -> Option<i64> {
        if self.sv.evicting {
            return Some(0);
        }
        let pause = self.sv.pause.map(|pause| pause.until);
        [self.ks.blocked.next_deadline(), pause, self.sv.expiry_due].into_iter().flatten().min()
    }

    /// Does what is due: answers the clients that have waited long enough, ends a pause, goes on with evicting and
    /// expiring.
    pub fn run_due(&mut self) {
        if self.next_deadline().is_none() {
            return;
        }
        self.wake();
        self.ks.begin_unit(self.sv.stamp);
        self.ks.effects.actor = None;
        (self.ks.sees_all, self.ks.obeys) = (false, false);
        self.end_pause();
        blocked::expire(&mut self.ks, &mut self.sv);
        if self.sv.evicting {
            evict::make_room(&mut self.ks, &mut self.sv);
            execute::finish_unit(&mut self.ks, &mut self.sv);
        }
        if self.sv.expiry_due.is_some_and(|due| due <= self.ks.now) {
            self.expire_slice();
        }
    }

    /// Looks again at the clients that wait for replicas, when some acknowledged.
    pub fn run_acknowledged(&mut self) {
        if std::mem::take(&mut self.sv.repl.acked) {
            self.ks.begin_unit(self.sv.stamp);
            blocked::serve_acknowledged(&mut self.ks, &mut self.sv);
            execute::finish_unit(&mut self.ks, &mut self.sv);
        }
    }

    /// Lets a client no longer wait, without an answer: for callers that got [`After::Blocked`] and cannot wait.
    pub fn forget_blocked(&mut self, id: ClientId) {
        blocked::forget(&mut self.ks, &mut self.sv, id);
    }

    /// What waits to leave, oldest first.
    #[inline]
    pub fn next_outgoing(&mut self) -> Option<Outgoing> {
        self.sv.outgoing.pop_front()
    }

    /// The client as CLIENT LIST shows it; empty when it is gone.
    pub fn describe(&self, id: ClientId) -> String {
        let mut line = Vec::new();
        if let Some(client) = self.sv.clients.get(id) {
            crate::commands::connection::client::describe(
                client,
                &self.ks,
                &self.sv.scripts.tracker,
                self.sv.config.hide_user_data_from_log,
                &mut line,
            );
        }
        String::from_utf8_lossy(&line).into_owned()
    }

    /// What the owner knows of a client's buffers.
    pub fn client_io(&mut self, id: ClientId) -> Option<&mut ClientIo> {
        self.sv.clients.get_mut(id).map(|c| &mut c.io)
    }
}
