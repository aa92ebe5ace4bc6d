//! All or nothing, put to the test: random programs of write commands that fail somewhere, against the engine itself.
//! What is compared before and after is everything that a client, a replica or the disk could see.

pub mod programs;
pub mod snapshot;

pub use programs::{Step, program, script_argv};
pub use snapshot::Snapshot;

use crate::client::Command;
use crate::oracle::template;
use crate::rng::Rng;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock, Outgoing};

/// The time at which everything happens, in microseconds.
const NOW_US: u64 = 1_700_000_000_000_000;
/// Databases of the engines: few, so that commands on all of them are cheap.
const DATABASES: u64 = 4;

/// An engine whose clients watch, wait, subscribe and replicate, so that whatever leaves a unit is seen.
pub struct Bench {
    /// The engine.
    pub engine: Engine,
    /// Gives the commands.
    pub client: ClientId,
    watcher: ClientId,
    waiters: Vec<ClientId>,
}

impl Bench {
    /// An empty engine; `small` lowers the thresholds of the compact encodings so that conversions happen all the time.
    pub fn new(small: bool) -> Bench {
        let mut config = Config { databases: DATABASES, slowlog_log_slower_than: -1, ..Config::default() };
        if small {
            config.enc.hash_entries = 4;
            config.enc.hash_value = 12;
            config.enc.list_size = 5;
            config.enc.set_intset = 4;
            config.enc.set_entries = 6;
            config.enc.zset_entries = 4;
            config.stream_node_max_entries = 3;
        }
        let mut engine = Engine::new(config, Box::new(ManualClock::new(NOW_US)), [7; 16]);
        let [client, watcher, subscriber, replica] = [0; 4].map(|_| engine.connect(ConnInfo::default()));
        engine.ks.notify = totality_engine::notify::Class::all();
        engine.sv.config.notify_keyspace_events = totality_engine::notify::Class::all();
        let mut bench = Bench { engine, client, watcher, waiters: Vec::new() };
        bench.run_as(subscriber, &["PSUBSCRIBE", "*"]);
        totality_engine::replication::follow(&mut bench.engine.ks, &mut bench.engine.sv, replica);
        bench
    }

    /// Runs a command of any client and gives its reply in RESP2.
    pub fn run_as(&mut self, client: ClientId, argv: &[impl AsRef<[u8]>]) -> Vec<u8> {
        let argv: Vec<&[u8]> = argv.iter().map(AsRef::as_ref).collect();
        let mut out = Vec::new();
        self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        totality_engine::execute::finish_unit(&mut self.engine.ks, &mut self.engine.sv);
        out
    }

    /// Runs a command.
    pub fn run(&mut self, argv: &[impl AsRef<[u8]>]) -> Vec<u8> {
        let reply = self.run_as(self.client, argv);
        // A blocking command that finds nothing is over.
        self.engine.forget_blocked(self.client);
        reply
    }

    /// Empties everything and makes random keys of every type and encoding, then lets clients watch and wait.
    pub fn reset(&mut self, rng: &mut Rng, deterministic: bool) {
        self.run_as(self.watcher, &["UNWATCH"]);
        for client in std::mem::take(&mut self.waiters) {
            self.engine.disconnect(client);
        }
        self.run(&["SELECT", "0"]);
        self.run(&["FLUSHALL"]);
        for db in ["1", "0"] {
            self.run(&["SELECT", db]);
            for command in programs::setup(rng, deterministic) {
                self.run(&command);
            }
        }
        let _ = self.outgoing();
        self.engine.ks.dirty = rng.below(1000) as u64;
        for key in programs::KEYS.iter().chain([&&b"nokey"[..]]) {
            self.run_as(self.watcher, &[b"WATCH", *key]);
        }
        self.wait();
    }

    /// Lets clients wait for keys that do not exist, whatever type they will have.
    fn wait(&mut self) {
        let keys: Vec<&[u8]> = programs::KEYS.to_vec();
        let absent: Vec<&[u8]> = keys.into_iter().filter(|key| !self.engine.ks.exists(key)).collect();
        if absent.is_empty() {
            return;
        }
        for (first, last) in [(&["BLPOP"][..], &["0"][..]), (&["BZPOPMIN"], &["0"])] {
            let mut argv: Vec<&[u8]> = first.iter().map(|word| word.as_bytes()).collect();
            argv.extend(&absent);
            argv.extend(last.iter().map(|word| word.as_bytes()));
            let client = self.engine.connect(ConnInfo::default());
            self.waiters.push(client);
            self.run_as(client, &argv);
        }
    }

    /// What left the engine since, in a form that can be compared; lines of the log are left out.
    pub fn outgoing(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(out) = self.engine.next_outgoing() {
            // Connections have other numbers in another engine.
            match out {
                Outgoing::Log { .. } => {}
                Outgoing::Reply { bytes, .. } => all.push(bytes.escape_ascii().to_string()),
                Outgoing::Unblocked { .. } => all.push("unblocked".to_owned()),
                other => all.push(format!("{other:?}")),
            }
        }
        all
    }

    /// True when the watching client was told of a change.
    pub fn watch_is_broken(&mut self) -> bool {
        self.engine.ks.is_watch_broken(self.watcher)
    }

    /// Everything there is.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.engine)
    }
}

/// A random command of a template that is not spoiled.
pub fn expand(template: &str, rng: &mut Rng) -> Command {
    template::expand(template, rng)
}
