//! Deadlines of fields: which hashes have any, and the bounded cycle that removes fields past theirs.

use super::{Db, Keyspace};
use crate::notify::Event;
use crate::types::Hash;
use crate::value::Value;
use totality_ds::{Bytes, Dict};

/// Keys that one step of the cycle looks at.
const STEP: usize = 64;
/// Keys that every call looks at whatever it finds, so that a walk over many hashes comes to its end.
const MIN_LOOK: usize = 512;
/// Fields of one hash that are removed at a time.
const BATCH: usize = 128;

/// What one step of the cycle saw: hashes, those with fields past their deadline, fields that were removed.
struct Step {
    seen: usize,
    due: usize,
    gone: usize,
}

/// The keys of a database whose hashes have fields with a deadline.
pub(crate) struct TimedHashes {
    keys: Dict<Bytes>,
    cursor: u64,
    /// Heap bytes of the keys.
    heap: usize,
}

impl TimedHashes {
    pub(crate) fn new(seed: [u8; 16]) -> Self {
        TimedHashes { keys: Dict::new(seed), cursor: 0, heap: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        (self.cursor, self.heap) = (0, 0);
    }

    /// Bytes that the index takes. O(1).
    #[inline]
    pub(crate) fn mem_bytes(&self) -> usize {
        self.keys.mem_bytes() + self.heap
    }

    /// The same, counted again from scratch.
    pub(crate) fn recount(&self) -> usize {
        self.keys.mem_bytes() + self.keys.iter().map(Bytes::heap_bytes).sum::<usize>()
    }

    /// Remembers or forgets a key.
    #[cold]
    pub(crate) fn note(&mut self, key: &[u8], timed: bool) {
        let hash = self.keys.hash(key);
        match (self.keys.find(hash, key), timed) {
            (None, true) => {
                let key = Bytes::from(key);
                self.heap += key.heap_bytes();
                self.keys.insert_new(hash, key);
            }
            (Some(pos), false) => self.heap -= self.keys.remove(pos).heap_bytes(),
            _ => {}
        }
    }
}

/// True for a hash with a field that has a deadline.
#[inline]
pub(crate) fn is_timed(value: &Value) -> bool {
    matches!(value, Value::Hash(hash) if hash.has_deadlines())
}

impl Db {
    /// Number of keys whose hashes have fields with a deadline.
    pub fn timed_hashes(&self) -> usize {
        self.timed.keys.len()
    }
}

impl Keyspace {
    /// Removes fields past their deadline until few hashes have any (under `stale_percent` of those that are looked at)
    /// or `out_of_time` says so. Returns how many were removed, and whether the time did not suffice.
    pub fn field_cycle(
        &mut self,
        stale_percent: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> (usize, bool) {
        if !self.may_delete() {
            return (0, false);
        }
        let (cur, mut removed, mut cut) = (self.cur, 0, false);
        // Nobody looked at these hashes.
        let no_touch = std::mem::replace(&mut self.no_touch, true);
        for db in 0..self.in_use {
            let all = self.dbs[db].timed.keys.len();
            let mut looked = 0;
            self.cur = db;
            while looked < all && !cut {
                let step = self.field_step(db, out_of_time);
                removed += step.gone;
                looked += step.seen.max(1);
                cut = out_of_time();
                if looked >= MIN_LOOK && step.due as u64 * 100 < step.seen as u64 * stale_percent {
                    break;
                }
            }
        }
        self.cur = cur;
        self.no_touch = no_touch;
        (removed, cut)
    }

    /// Looks at the next hashes of a database and removes what is due.
    fn field_step(&mut self, db: usize, out_of_time: &mut dyn FnMut() -> bool) -> Step {
        let table = &mut self.dbs[db];
        let (mut seen, mut keys) = (0, Vec::new());
        let (now, dict) = (self.now, &table.dict);
        table.timed.cursor = table.timed.keys.scan(table.timed.cursor, STEP, &mut |key| {
            seen += 1;
            let due = dict.get_key(key).is_some_and(|entry| match &entry.value {
                Value::Hash(hash) => hash.next_deadline().is_some_and(|at| at <= now),
                _ => false,
            });
            if due {
                keys.push(key.clone());
            }
        });
        let (mut gone, due) = (0, keys.len());
        for key in keys {
            if self.snapshot.is_some() && self.awaits_snapshot(&key) {
                // Its fields go when it is written.
                continue;
            }
            loop {
                let n = self.expire_fields(&key);
                gone += n;
                if n < BATCH || out_of_time() {
                    break;
                }
            }
        }
        Step { seen, due, gone }
    }

    /// Removes a batch of fields past their deadline from the hash at `key`, as an effect of its own.
    fn expire_fields(&mut self, key: &[u8]) -> usize {
        let now = self.now;
        let mut guard = self.write(key);
        let gone = match guard.get::<Hash>() {
            Ok(Some(hash)) => hash.take_expired(now, BATCH),
            _ => return 0,
        };
        if gone.is_empty() {
            return 0;
        }
        guard.keyspace().stats.expired_fields += gone.len() as u64;
        guard.changed(Event::hash("hexpired"), 0);
        let names = gone.iter().map(|(field, _)| &field.name[..]);
        let argv: Vec<&[u8]> = [&b"HDEL"[..], key].into_iter().chain(names).collect();
        let ks = guard.keyspace();
        ks.effects.always(ks.cur, &argv);
        guard.delete_if_empty();
        gone.len()
    }
}
