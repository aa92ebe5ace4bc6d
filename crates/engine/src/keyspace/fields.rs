//! Deadlines of fields: which hashes have any, and the bounded cycle that removes fields past theirs.

use super::{Db, Keyspace};
use crate::notify::Event;
use crate::types::Hash;
use crate::value::Value;
use totality_ds::{Bytes, Dict};

/// Keys that one step of the cycle looks at.
const STEP: usize = 64;
/// Fields of one hash that are removed at a time.
const BATCH: usize = 128;

/// The keys of a database whose hashes have fields with a deadline.
pub(crate) struct TimedHashes {
    keys: Dict<Bytes>,
    cursor: u64,
}

impl TimedHashes {
    pub(crate) fn new(seed: [u8; 16]) -> Self {
        TimedHashes { keys: Dict::new(seed), cursor: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.cursor = 0;
    }

    /// Remembers or forgets a key.
    #[cold]
    pub(crate) fn note(&mut self, key: &[u8], timed: bool) {
        let hash = self.keys.hash(key);
        match (self.keys.find(hash, key), timed) {
            (None, true) => {
                self.keys.insert_new(hash, Bytes::from(key));
            }
            (Some(pos), false) => {
                self.keys.remove(pos);
            }
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
    /// Removes fields past their deadline until `out_of_time` says so or all were looked at once. Returns how many
    /// were removed.
    pub fn field_cycle(&mut self, out_of_time: &mut dyn FnMut() -> bool) -> usize {
        if !self.may_expire || self.import_mode {
            return 0;
        }
        let (cur, mut removed) = (self.cur, 0);
        // Nobody looked at these hashes.
        let no_touch = std::mem::replace(&mut self.no_touch, true);
        for db in 0..self.dbs.len() {
            let mut left = self.dbs[db].timed.keys.len();
            self.cur = db;
            while left > 0 {
                let (seen, gone) = self.field_step(db, out_of_time);
                removed += gone;
                left = left.saturating_sub(seen.max(1));
                if out_of_time() {
                    left = 0;
                }
            }
        }
        self.cur = cur;
        self.no_touch = no_touch;
        removed
    }

    /// Looks at the next hashes of a database; gives how many, and how many fields were removed.
    fn field_step(&mut self, db: usize, out_of_time: &mut dyn FnMut() -> bool) -> (usize, usize) {
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
        let mut gone = 0;
        for key in keys {
            loop {
                let n = self.expire_fields(&key);
                gone += n;
                if n < BATCH || out_of_time() {
                    break;
                }
            }
        }
        (seen, gone)
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
        ks.effects.command(ks.cur, &argv);
        guard.delete_if_empty();
        gone.len()
    }
}
