//! Deadlines: deletion on access and the bounded cycle.

use super::{Keyspace, NO_EXPIRY};
use crate::notify::{Class, Event};

/// A key was deleted because of its deadline.
const EXPIRED: Event = Event { class: Class::EXPIRED, name: "expired" };

impl Keyspace {
    /// Deletes `key`, which is past its deadline, as an effect of its own. Where keys may not be deleted (a replica)
    /// it stays and is merely not seen.
    pub(crate) fn expire_key(&mut self, db: usize, key: &[u8]) {
        if !self.may_expire {
            return;
        }
        // The caller's slice may lie in the entry that goes.
        let key: smallvec::SmallVec<[u8; 64]> = smallvec::SmallVec::from_slice(key);
        if self.take_entry(db, &key).is_none() {
            return;
        }
        self.stats.expired += 1;
        if !self.watch.is_empty() {
            self.watch.touch_expired(db, &key);
        }
        self.effects.invalidate(&key);
        self.effects.deletion(db, &key);
        self.notify_event(db, &key, EXPIRED);
    }

    /// Deletes keys past their deadline: at most `budget` entries are looked at. Returns how many were deleted.
    pub fn expire_cycle(&mut self, budget: usize) -> usize {
        let mut deleted = 0;
        let mut left = budget;
        for db in 0..self.dbs.len() {
            let mut laps = 0;
            while left > 0 && self.dbs[db].expires > 0 && laps < 2 {
                let now = self.now;
                let mut dead: Vec<Box<[u8]>> = Vec::new();
                let (mut seen, mut ttl, mut with) = (0usize, 0u64, 0u64);
                let table = &self.dbs[db];
                let next = table.dict.scan(table.expire_cursor, 64, &mut |entry| {
                    seen += 1;
                    if entry.expire != NO_EXPIRY {
                        if entry.expire <= now {
                            dead.push(Box::from(&entry.key[..]));
                        } else {
                            ttl += (entry.expire - now) as u64;
                            with += 1;
                        }
                    }
                });
                let table = &mut self.dbs[db];
                table.expire_cursor = next;
                table.avg_ttl.0 = table.avg_ttl.0.saturating_add(ttl);
                table.avg_ttl.1 += with;
                if next == 0 {
                    laps += 1;
                    let (sum, count) = table.avg_ttl;
                    // Keep a moving average: halve what the last lap saw.
                    table.avg_ttl = (sum / 2, count / 2);
                }
                deleted += dead.len();
                for key in dead {
                    self.expire_key(db, &key);
                }
                left = left.saturating_sub(seen.max(1));
            }
        }
        deleted
    }

    /// Deadline of `key` in milliseconds since the Unix epoch: `None` when the key is absent, `Some(None)` when it has none.
    pub fn deadline(&mut self, key: &[u8]) -> Option<Option<i64>> {
        self.peek(key).map(|e| (e.expire != NO_EXPIRY).then_some(e.expire))
    }
}
