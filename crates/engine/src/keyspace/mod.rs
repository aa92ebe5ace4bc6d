//! The data set: databases of keys, and the only ways in.
//!
//! Reading goes through [`Keyspace::read`], changing through [`WriteGuard`]. Both see a key past its deadline as
//! absent; the first who meets it deletes it, which is an effect of its own.

mod access;
mod adopt;
mod evict;
mod expire;
mod fields;
mod flush;
mod memory;
mod own;
mod read;
mod snapshot;
mod undo;
mod volatile;
mod watch;
mod write;

pub use access::Lfu;
pub(crate) use evict::{Policy, Pool};
pub use memory::Garbage;
pub use read::Lookup;
pub use snapshot::{Snapshot, SnapshotOptions};
pub use undo::{TakenBack, Undo};
pub use watch::WatchTable;
pub use write::WriteGuard;

use crate::blocked::Blocked;
use crate::client::ClientId;
use crate::config::{Config, Encodings};
use crate::notify::{Class, Event};
use crate::propagate::Effects;
use crate::value::Value;
use totality_ds::dict::Seed;
use totality_ds::{Bytes, Dict, Keyed};

/// No deadline.
pub const NO_EXPIRY: i64 = 0;

/// A key with its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Value,
    /// Deadline in milliseconds since the Unix epoch; [`NO_EXPIRY`] when it has none.
    pub expire: i64,
    /// The access clock at the last use, or the LFU counter and its time; see [`Keyspace::idle_seconds`].
    pub lru: u32,
    /// The part of the hash that the dict splits by.
    pub hash: u32,
}

impl Keyed for Entry {
    fn key(&self) -> &[u8] {
        &self.key
    }
    #[inline]
    fn hash32(&self, _seed: &Seed) -> u32 {
        self.hash
    }
    #[inline]
    fn set_hash32(&mut self, hash: u32) {
        self.hash = hash;
    }
}

/// One numbered database.
pub struct Db {
    pub(crate) dict: Dict<Entry>,
    /// The keys that have a deadline.
    pub(crate) volatile: volatile::Volatile,
    /// Where the active expiry cycle goes on.
    pub(crate) expire_cursor: u64,
    /// Sum and number of the time to live that the last cycle saw, for INFO's `avg_ttl`.
    pub(crate) avg_ttl: (u64, u64),
    /// Heap bytes of its keys and values.
    pub(crate) used: usize,
    /// Keys of hashes that have fields with a deadline.
    pub(crate) timed: fields::TimedHashes,
}

impl Db {
    fn new(seed: [u8; 16]) -> Self {
        Db {
            dict: Dict::new(seed),
            volatile: volatile::Volatile::new(seed),
            expire_cursor: 0,
            avg_ttl: (0, 0),
            used: 0,
            timed: fields::TimedHashes::new(seed),
        }
    }
    /// Number of keys, those past their deadline but not yet deleted included.
    pub fn len(&self) -> usize {
        self.dict.len()
    }
    /// True without keys.
    pub fn is_empty(&self) -> bool {
        self.dict.is_empty()
    }
    /// Number of keys with a deadline.
    pub fn expires(&self) -> usize {
        self.volatile.len()
    }
    /// Heap bytes of its keys and values, as the account says.
    pub fn accounted_bytes(&self) -> usize {
        self.used
    }
    /// Mean time to live, in milliseconds, of the keys that have a deadline, as the expiry cycle saw them last.
    pub fn average_ttl(&self) -> u64 {
        self.avg_ttl.0.checked_div(self.avg_ttl.1).unwrap_or(0)
    }
    /// The key table, for walks that change nothing.
    pub fn dict(&self) -> &Dict<Entry> {
        &self.dict
    }
}

/// Counters of the keyspace, as INFO shows them.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyspaceStats {
    /// Look-ups of read commands that found the key.
    pub hits: u64,
    /// Look-ups of read commands that did not.
    pub misses: u64,
    /// Keys deleted because of their deadline.
    pub expired: u64,
    /// Fields of hashes deleted because of their deadline.
    pub expired_fields: u64,
    /// Keys deleted for memory.
    pub evicted: u64,
    /// Share of keys past their deadline among those with one, in percent, as the expiry cycle sees it lately.
    pub stale_percent: f64,
    /// Calls of the expiry cycle that ended because their time was over.
    pub expiry_cut_short: u64,
    /// Microseconds that the expiry cycle took.
    pub expiry_us: u64,
}

/// A step of the generator whose state is `rng`.
pub(crate) fn next_random(rng: &mut u64) -> u64 {
    *rng ^= *rng >> 12;
    *rng ^= *rng << 25;
    *rng ^= *rng >> 27;
    rng.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// All databases and what is collected while they change.
pub struct Keyspace {
    pub(crate) dbs: Vec<Db>,
    /// Databases from this number on were never used.
    pub(crate) in_use: usize,
    /// The database that the unit works on.
    pub cur: usize,
    /// Time of the unit in milliseconds since the Unix epoch; it stands still inside scripts and EXEC.
    pub now: i64,
    /// The same in microseconds.
    pub now_us: u64,
    /// Access clock in units of 2^15 microseconds, low 32 bits.
    pub(crate) lru_clock: u32,
    /// Changes since the last save.
    pub dirty: u64,
    /// What leaves the unit of execution.
    pub effects: Effects,
    /// What keys were before the open scopes changed them.
    pub undo: Undo,
    /// Clients that watch keys.
    pub watch: WatchTable,
    /// Clients that wait for keys.
    pub blocked: Blocked,
    /// Classes of keyspace events that are published.
    pub notify: Class,
    /// Thresholds of the compact encodings.
    pub enc: Encodings,
    /// Counters.
    pub stats: KeyspaceStats,
    /// What is to be freed elsewhere.
    pub(crate) garbage: Garbage,
    /// Candidates for eviction.
    pub(crate) pool: Pool,
    /// The database from which a random key was evicted last.
    pub(crate) evict_db: usize,
    /// Commands of a file are run again: it says itself which keys were deleted for their deadline.
    pub(crate) replaying: bool,
    /// Snapshots that were begun.
    pub(crate) snapshots: u64,
    /// The snapshot in the making.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// Large values were written that clients waited for.
    pub(crate) snapshot_moved: bool,
    /// A large value had to be written at once.
    pub(crate) snapshot_held_up: bool,
    /// True while a run is under way that can be put off: a scope around it takes back all that it did.
    pub(crate) may_put_off: bool,
    /// It is to be put off: it is about to change a large value that the snapshot has not got. All that it does from
    /// now on is taken back.
    pub(crate) put_off: bool,
    /// The database that the expiry cycle begins with.
    pub(crate) expire_db: usize,
    /// Settings of the LFU counters; `None` under any other policy.
    pub lfu: Option<Lfu>,
    /// False: keys past their deadline are not deleted (a script that may not write, a replica).
    pub(crate) may_expire: bool,
    /// True: what is past its deadline is not seen, but stays.
    pub(crate) import_mode: bool,
    /// True: the unit runs for a client that sees what is past its deadline (CLIENT IMPORT-SOURCE).
    pub(crate) sees_all: bool,
    /// True: keys past their deadline stay, while clients are paused.
    pub(crate) paused: bool,
    /// True: the server is a replica. Keys past their deadline are not seen, but stay until the primary deletes them.
    pub replica: bool,
    /// Keys that only this replica knows the deadline of.
    pub(crate) own: own::OwnKeys,
    /// True: the unit is the primary's. It sees what is past its deadline, fields included.
    pub(crate) obeys: bool,
    /// True: access times are not touched (CLIENT NO-TOUCH).
    pub no_touch: bool,
    /// Secret of the hash tables, those inside of values included.
    pub(crate) seed: [u8; 16],
    /// State of the engine's own generator (RANDOMKEY, SPOP, eviction samples).
    pub(crate) rng: u64,
}

impl Keyspace {
    /// `databases` empty databases; `seed` keys the hash tables and the generator.
    pub fn new(databases: usize, seed: [u8; 16]) -> Self {
        let rng =
            u64::from_le_bytes([seed[0], seed[1], seed[2], seed[3], seed[4], seed[5], seed[6], seed[7]]) | 1;
        Keyspace {
            dbs: (0..databases).map(|_| Db::new(seed)).collect(),
            in_use: 0,
            cur: 0,
            now: 0,
            now_us: 0,
            lru_clock: 0,
            dirty: 0,
            effects: Effects::default(),
            undo: Undo::default(),
            watch: WatchTable::default(),
            blocked: Blocked::default(),
            notify: Class::empty(),
            enc: Encodings::default(),
            stats: KeyspaceStats::default(),
            garbage: Garbage::default(),
            pool: Pool::default(),
            evict_db: 0,
            replaying: false,
            snapshots: 0,
            snapshot: None,
            snapshot_moved: false,
            snapshot_held_up: false,
            may_put_off: false,
            put_off: false,
            expire_db: 0,
            lfu: None,
            may_expire: true,
            import_mode: false,
            sees_all: false,
            paused: false,
            replica: false,
            own: own::OwnKeys::default(),
            obeys: false,
            no_touch: false,
            seed,
            rng,
        }
    }

    /// Takes over what the configuration says of the data set.
    pub fn configure(&mut self, config: &Config) {
        self.enc = config.enc;
        // While data is imported, its deadlines are kept but not acted upon.
        self.import_mode = config.import_mode;
        self.undo.set_limit(usize::try_from(config.script_rollback_max_bytes).unwrap_or(usize::MAX));
        self.notify = config.notify_keyspace_events;
        self.effects.lazy_evict = config.lazyfree[0];
        self.effects.lazy_expire = config.lazyfree[1];
        let (log_factor, decay_time) = (config.lfu_log_factor, config.lfu_decay_time);
        let lfu = Policy::of(config).counts_uses().then_some(Lfu { log_factor, decay_time });
        if self.lfu.is_some() != lfu.is_some() {
            // What is remembered means something else under the new policy.
            self.pool.clear();
        }
        self.lfu = lfu;
    }

    /// Sets the time of the unit of execution that begins.
    #[inline]
    pub fn begin_unit(&mut self, now_us: u64) {
        self.now_us = now_us;
        self.now = (now_us / 1000) as i64;
        self.lru_clock = (now_us >> access::CLOCK_BITS) as u32;
    }

    /// The databases.
    pub fn dbs(&self) -> &[Db] {
        &self.dbs
    }

    /// The database that the unit works on.
    pub fn db(&self) -> &Db {
        &self.dbs[self.cur]
    }

    /// State of the engine's own generator, to be set back after a dry run.
    pub(crate) fn rng_state(&self) -> u64 {
        self.rng
    }

    /// Sets the state of the engine's own generator.
    pub(crate) fn set_rng_state(&mut self, state: u64) {
        self.rng = state;
    }

    /// Next number of the engine's own generator (xorshift64*, seeded by the owner).
    pub fn random(&mut self) -> u64 {
        next_random(&mut self.rng)
    }

    /// True for a deadline that has passed, as far as the unit's client may see it.
    #[inline]
    pub(crate) fn is_past(&self, expire: i64) -> bool {
        expire != NO_EXPIRY && expire <= self.now && !self.sees_all && !self.obeys && !self.replaying
    }

    /// True while CLIENT PAUSE or the like makes writes wait.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// True where keys past their deadline may be deleted.
    #[inline]
    pub(crate) fn may_delete(&self) -> bool {
        self.may_expire && !self.import_mode && !self.paused && !self.replica
    }

    /// True where a deadline that has passed does not delete at once: somebody else says when keys go.
    #[inline]
    pub(crate) fn keeps_past(&self) -> bool {
        self.import_mode || self.replica
    }

    /// A number below `n`, which is above zero.
    pub fn random_below(&mut self, n: usize) -> usize {
        ((u128::from(self.random()) * n as u128) >> 64) as usize
    }

    /// Says that `key` of database `db` changed: dirty counter, watchers, event. Guards call it; commands that change
    /// something without a guard (FLUSHDB, SWAPDB) call it themselves.
    #[inline]
    pub fn changed(&mut self, db: usize, key: &[u8], event: Event, n: u64) {
        self.dirty += n;
        if !self.watch.is_empty() {
            let newly = self.undo.is_open().then_some(&mut self.undo.broken);
            self.watch.touch(db, key, newly);
        }
        self.effects.invalidate(key);
        self.notify_event(db, key, event);
    }

    /// Publishes a keyspace event without a change.
    #[inline]
    pub fn notify_event(&mut self, db: usize, key: &[u8], event: Event) {
        if self.notify.intersects(event.class) {
            self.effects.event(self.notify, db, key, event);
        }
    }

    /// True when `key` is there but past its deadline.
    pub fn is_stale(&self, key: &[u8]) -> bool {
        let dict = &self.dbs[self.cur].dict;
        let hash = dict.hash(key);
        dict.find(hash, key).is_some_and(|pos| self.is_past(dict.get(pos).expire))
    }

    /// Watch flags that a client collected; see [`WatchTable`].
    pub fn is_watch_broken(&mut self, client: ClientId) -> bool {
        let now = self.now;
        let dbs = &self.dbs;
        self.watch.is_broken(client, |db, key| {
            let dict = &dbs[db].dict;
            let hash = dict.hash(key);
            dict.find(hash, key).is_some_and(|pos| {
                let expire = dict.get(pos).expire;
                expire != NO_EXPIRY && expire <= now
            })
        })
    }
}
