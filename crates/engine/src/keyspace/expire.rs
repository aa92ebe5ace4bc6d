//! Deadlines: deletion on access and the bounded cycle.

use super::undo::{Record, State};
use super::{Keyspace, NO_EXPIRY};
use crate::notify::{Class, Event};

/// A key was deleted because of its deadline.
const EXPIRED: Event = Event { class: Class::EXPIRED, name: "expired" };

/// Keys that are looked at between two looks at the clock: some 50 µs when all are past their deadline.
const STEP: usize = 256;
/// Keys that every call looks at whatever it finds, so that a walk over a large database comes to its end. The part
/// that was not looked at for longest holds the most keys past their deadline: when those are few there, they are few
/// everywhere.
const MIN_LOOK: usize = 2048;

/// What one step of the cycle saw.
struct Step {
    seen: usize,
    dead: usize,
}

impl Keyspace {
    /// Deletes `key`, which is past its deadline, as an effect of its own. Where keys may not be deleted (a replica)
    /// it stays and is merely not seen.
    pub(crate) fn expire_key(&mut self, db: usize, key: &[u8]) {
        if self.may_delete() {
            self.expire_now(db, key);
        }
    }

    /// The same wherever it is.
    #[cold]
    pub(super) fn expire_now(&mut self, db: usize, key: &[u8]) {
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
            self.undo.push(db, hash, entry.key, Record::Whole(entry.value, entry.expire, entry.lru));
        }
        true
    }

    fn say_expired(&mut self, db: usize, key: &[u8], touched: bool) {
        self.stats.expired += 1;
        if !self.watch.is_empty() {
            let newly = touched.then_some(&mut self.undo.broken);
            self.watch.touch_expired(db, key, newly);
        }
        self.effects.invalidate_gone(key);
        self.effects.deletion(db, key);
        self.notify_event(db, key, EXPIRED);
    }

    /// Deletes keys past their deadline until few are left (under `stale_percent` of those with a deadline that were
    /// looked at last), or `out_of_time` says so. Returns how many were deleted, and whether the time did not suffice.
    pub fn expire_cycle(
        &mut self,
        stale_percent: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> (usize, bool) {
        if !self.may_delete() {
            return (0, false);
        }
        let dbs = self.in_use;
        let first = self.expire_db;
        let (mut deleted, mut total) = (0, 0);
        for i in 0..dbs {
            let db = (first + i) % dbs;
            let mut looked = 0;
            let all = self.dbs[db].volatile.len();
            while looked < all {
                let step = self.expire_step(db);
                deleted += step.dead;
                looked += step.seen;
                total += step.seen;
                if out_of_time() {
                    // The next call goes on with this database.
                    self.expire_db = db;
                    self.note_stale(deleted, total);
                    return (deleted, true);
                }
                let few = step.dead as u64 * 100 <= step.seen as u64 * stale_percent;
                if few && looked >= MIN_LOOK {
                    break;
                }
            }
        }
        self.note_stale(deleted, total);
        (deleted, false)
    }

    /// A moving average of what the calls saw, as Redis keeps it.
    fn note_stale(&mut self, deleted: usize, looked: usize) {
        let seen = if looked == 0 { 0.0 } else { deleted as f64 * 100.0 / looked as f64 };
        self.stats.stale_percent = seen * 0.05 + self.stats.stale_percent * 0.95;
    }

    /// Looks at the next keys with a deadline of a database and deletes those past it.
    fn expire_step(&mut self, db: usize) -> Step {
        let now = self.now;
        let mut dead: Vec<Box<[u8]>> = Vec::new();
        let (mut seen, mut ttl) = (0, 0u64);
        let table = &self.dbs[db];
        let next = table.volatile.0.scan(table.expire_cursor, STEP, &mut |mark| {
            seen += 1;
            let mut left = 0;
            // Of two keys with the same hash the one past its deadline is looked for.
            let due = table.dict.find_with(u64::from(mark.0), |entry| {
                if entry.hash != mark.0 || entry.expire == NO_EXPIRY {
                    return false;
                }
                left = (entry.expire - now).max(0) as u64;
                entry.expire <= now
            });
            match due {
                Some(pos) => dead.push(Box::from(&table.dict.get(pos).key[..])),
                None => ttl = ttl.saturating_add(left),
            }
        });
        let table = &mut self.dbs[db];
        table.expire_cursor = next;
        table.avg_ttl.0 = table.avg_ttl.0.saturating_add(ttl);
        table.avg_ttl.1 += (seen - dead.len()) as u64;
        if next == 0 {
            // A moving average: what earlier walks saw counts half.
            table.avg_ttl = (table.avg_ttl.0 / 2, table.avg_ttl.1 / 2);
        }
        let count = dead.len();
        for key in dead {
            self.expire_key(db, &key);
        }
        Step { seen: seen.max(1), dead: count }
    }

    /// Deadline of `key` in milliseconds since the Unix epoch: `None` when the key is absent, `Some(None)` when it has
    /// none. Counts as a read, but leaves the access time as it is.
    pub fn deadline(&mut self, key: &[u8]) -> Option<Option<i64>> {
        self.glance(key).map(|e| (e.expire != NO_EXPIRY).then_some(e.expire))
    }
}
