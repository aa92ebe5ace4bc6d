//! Deadlines: deletion on access and the bounded cycle.

use super::undo::{Record, State};
use super::{Keyspace, NO_EXPIRY};
use crate::notify::{Class, Event};

/// A key was deleted because of its deadline.
const EXPIRED: Event = Event { class: Class::EXPIRED, name: "expired" };

/// Entries that are looked at between two looks at the clock: some 20 µs.
const STEP: usize = 512;
/// Entries that every call looks at whatever it finds, so that a walk over a large database comes to its end.
const MIN_LOOK: usize = 16 * 1024;

/// What one step of the cycle saw.
struct Step {
    seen: usize,
    /// Keys with a deadline.
    with: u64,
    dead: usize,
}

impl Keyspace {
    /// Deletes `key`, which is past its deadline, as an effect of its own. Where keys may not be deleted (a replica)
    /// it stays and is merely not seen.
    pub(crate) fn expire_key(&mut self, db: usize, key: &[u8]) {
        if !self.may_expire || self.import_mode {
            return;
        }
        // The caller's slice may lie in the entry that goes.
        let key: smallvec::SmallVec<[u8; 64]> = smallvec::SmallVec::from_slice(key);
        // What an open scope changed is taken back with the scope; what it did not touch is gone for good, with the
        // effects of that, whatever becomes of the scope.
        let hash = self.dbs[db].dict.hash(&key);
        let mut touched = false;
        if self.undo.is_open() {
            touched = self.undo.is_touched(db, hash, &key);
            self.effects.set_lasting(!touched);
        }
        let gone = if touched { self.expire_touched(db, hash, &key) } else { self.drop_entry(db, &key) };
        if gone {
            self.say_expired(db, &key, touched);
        }
        self.effects.set_lasting(false);
    }

    #[cold]
    fn expire_touched(&mut self, db: usize, hash: u64, key: &[u8]) -> bool {
        let Some(pos) = self.dbs[db].dict.find(hash, key) else { return false };
        let entry = self.unlink(db, pos);
        if self.undo.state(db, hash, key) == State::Full {
            self.discard(entry.value);
        } else {
            self.undo.push(db, hash, key, Record::Whole(entry.value, entry.expire, entry.lru));
        }
        true
    }

    fn say_expired(&mut self, db: usize, key: &[u8], touched: bool) {
        self.stats.expired += 1;
        if !self.watch.is_empty() {
            let newly = touched.then_some(&mut self.undo.broken);
            self.watch.touch_expired(db, key, newly);
        }
        self.effects.invalidate(key);
        self.effects.deletion(db, key);
        self.notify_event(db, key, EXPIRED);
    }

    /// Deletes keys past their deadline until few are left: a database is left when less than a tenth of its keys
    /// with a deadline are past it, and everything when `out_of_time` says so. Returns how many were deleted.
    pub fn expire_cycle(&mut self, out_of_time: &mut dyn FnMut() -> bool) -> usize {
        if !self.may_expire || self.import_mode {
            return 0;
        }
        let dbs = self.dbs.len();
        let first = self.expire_db;
        let mut deleted = 0;
        for i in 0..dbs {
            let db = (first + i) % dbs;
            let mut looked = 0;
            while self.dbs[db].expires > 0 {
                let step = self.expire_step(db);
                deleted += step.dead;
                looked += step.seen;
                if out_of_time() {
                    // The next call goes on with this database.
                    self.expire_db = db;
                    return deleted;
                }
                let few = (step.dead as u64) * 10 < step.with.max(1);
                // A small database has been looked through once; a large one goes on at the next call.
                if few && looked >= MIN_LOOK.min(self.dbs[db].dict.len()) {
                    break;
                }
            }
        }
        deleted
    }

    /// Looks at the next entries of a database and deletes those past their deadline.
    fn expire_step(&mut self, db: usize) -> Step {
        let now = self.now;
        let mut dead: Vec<Box<[u8]>> = Vec::new();
        let (mut seen, mut ttl, mut with) = (0, 0u64, 0);
        let table = &self.dbs[db];
        let next = table.dict.scan(table.expire_cursor, STEP, &mut |entry| {
            seen += 1;
            if entry.expire == NO_EXPIRY {
                return;
            }
            with += 1;
            if entry.expire <= now {
                dead.push(Box::from(&entry.key[..]));
            } else {
                ttl = ttl.saturating_add((entry.expire - now) as u64);
            }
        });
        let table = &mut self.dbs[db];
        table.expire_cursor = next;
        table.avg_ttl.0 = table.avg_ttl.0.saturating_add(ttl);
        table.avg_ttl.1 += with - dead.len() as u64;
        if next == 0 {
            // A moving average: what earlier walks saw counts half.
            table.avg_ttl = (table.avg_ttl.0 / 2, table.avg_ttl.1 / 2);
        }
        let count = dead.len();
        for key in dead {
            self.expire_key(db, &key);
        }
        Step { seen: seen.max(1), with, dead: count }
    }

    /// Deadline of `key` in milliseconds since the Unix epoch: `None` when the key is absent, `Some(None)` when it has
    /// none. Counts as a read, but leaves the access time as it is.
    pub fn deadline(&mut self, key: &[u8]) -> Option<Option<i64>> {
        self.glance(key).map(|e| (e.expire != NO_EXPIRY).then_some(e.expire))
    }
}
