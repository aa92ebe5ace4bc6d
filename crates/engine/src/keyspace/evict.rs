//! Choosing keys to evict: samples of random keys, of which the best candidates are kept in a pool from one choice to
//! the next, as Redis does it.

use super::{Db, Entry, Keyspace, NO_EXPIRY, next_random};
use crate::config::Config;
use crate::notify::{Class, Event};
use totality_ds::Bytes;

/// A key was deleted for memory.
const EVICTED: Event = Event { class: Class::EVICTED, name: "evicted" };

/// Candidates that the pool holds.
const POOL: usize = 16;

/// What makes a key a good candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// It was not used for long.
    Lru,
    /// It is used rarely.
    Lfu,
    /// Its deadline is near.
    Ttl,
    /// All are equal.
    Random,
}

/// `maxmemory-policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Nothing is evicted.
    Never,
    /// Keys are chosen by a rank.
    By {
        /// The rank.
        rank: Rank,
        /// Only among keys with a deadline.
        volatile: bool,
    },
}

impl Policy {
    /// What the configuration says.
    pub(crate) fn of(config: &Config) -> Policy {
        let name = Config::POLICIES[config.maxmemory_policy];
        let rank = match name.rsplit('-').next() {
            Some("lru") => Rank::Lru,
            Some("lfu") => Rank::Lfu,
            Some("ttl") => Rank::Ttl,
            Some("random") => Rank::Random,
            _ => return Policy::Never,
        };
        Policy::By { rank, volatile: name.starts_with("volatile") }
    }

    /// True where keys have counters of their uses.
    pub(crate) fn counts_uses(self) -> bool {
        matches!(self, Policy::By { rank: Rank::Lfu, .. })
    }
}

/// A key that may be evicted.
#[derive(Debug, Clone)]
struct Candidate {
    /// The larger, the better.
    rank: u64,
    db: usize,
    key: Bytes,
}

/// The best candidates seen so far, the best one last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool(Vec<Candidate>);

impl Pool {
    /// Forgets all candidates.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn offer(&mut self, rank: u64, db: usize, key: &Bytes) {
        let at = self.0.partition_point(|c| c.rank < rank);
        if self.0.len() == POOL && at == 0 {
            return;
        }
        if self.0.iter().any(|c| c.db == db && c.key == *key) {
            return;
        }
        let candidate = Candidate { rank, db, key: key.clone() };
        if self.0.len() < POOL {
            self.0.insert(at, candidate);
        } else {
            // The worst one goes.
            self.0[..at].rotate_left(1);
            self.0[at - 1] = candidate;
        }
    }
}

impl Keyspace {
    /// Evicts one key by `policy`, as an effect of its own; false when there is none to evict.
    pub(crate) fn evict_one(&mut self, rank: Rank, volatile: bool, samples: usize) -> bool {
        if rank == Rank::Random {
            return self.evict_random(volatile);
        }
        // Every round takes candidates out of the pool, and there is something to fill it with: the loop ends.
        while self.fill_pool(rank, volatile, samples) {
            while let Some(best) = self.pool.0.pop() {
                let now =
                    self.dbs[best.db].dict.get_key(&best.key).map(|entry| self.rank(rank, volatile, entry));
                // What was used since it was chosen has had its rank changed: it is no candidate any more.
                if now.flatten().is_some_and(|now| now >= best.rank) {
                    self.evict(best.db, &best.key);
                    return true;
                }
            }
        }
        false
    }

    /// How good a candidate the entry is; `None` for one that is none.
    fn rank(&self, rank: Rank, volatile: bool, entry: &Entry) -> Option<u64> {
        if volatile && entry.expire == NO_EXPIRY {
            return None;
        }
        match rank {
            Rank::Ttl => Some(u64::MAX - entry.expire.max(0) as u64),
            _ => Some(self.coldness(entry.lru)),
        }
    }

    /// Offers random keys of every database to the pool. False when there is no key to choose from.
    fn fill_pool(&mut self, rank: Rank, volatile: bool, samples: usize) -> bool {
        let mut pool = std::mem::take(&mut self.pool);
        let mut rng = self.rng;
        let mut any = false;
        for db in 0..self.in_use {
            let table = &self.dbs[db];
            let offer = &mut |entry: &Entry| {
                if let Some(rank) = self.rank(rank, volatile, entry) {
                    pool.offer(rank, db, &entry.key);
                }
            };
            any |= table.sample(volatile, samples, &mut rng, offer) > 0;
        }
        self.rng = rng;
        self.pool = pool;
        any
    }

    fn evict_random(&mut self, volatile: bool) -> bool {
        for _ in 0..self.in_use {
            // The databases take turns.
            self.evict_db = (self.evict_db + 1) % self.in_use;
            let (db, mut rng, mut found) = (self.evict_db, self.rng, None);
            self.dbs[db].sample(volatile, 1, &mut rng, &mut |entry| found = Some(entry.key.clone()));
            self.rng = rng;
            if let Some(key) = found {
                self.evict(db, &key);
                return true;
            }
        }
        false
    }

    fn evict(&mut self, db: usize, key: &[u8]) {
        if !self.drop_entry(db, key) {
            return;
        }
        self.stats.evicted += 1;
        if !self.watch.is_empty() {
            self.watch.touch(db, key, None);
        }
        self.effects.invalidate_gone(key);
        self.notify_event(db, key, EVICTED);
        self.effects.eviction(db, key);
    }
}

impl Db {
    /// Calls `f` with up to `n` random entries, all or those with a deadline, and returns how many.
    fn sample(&self, volatile: bool, n: usize, rng: &mut u64, f: &mut impl FnMut(&Entry)) -> usize {
        let rng = &mut || next_random(rng);
        if !volatile {
            return self.dict.sample(n, rng, f);
        }
        self.volatile.0.sample(n, rng, &mut |mark| {
            let same = |entry: &Entry| entry.hash == mark.0 && entry.expire != NO_EXPIRY;
            if let Some(pos) = self.dict.find_with(u64::from(mark.0), same) {
                f(self.dict.get(pos));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn keyspace(n: usize) -> Keyspace {
        let mut ks = Keyspace::new(2, [5; 16]);
        ks.begin_unit(1_700_000_000_000_000);
        for i in 0..n {
            ks.begin_unit(1_700_000_000_000_000 + i as u64 * 100_000);
            let key = format!("key:{i}");
            let mut guard = ks.write(key.as_bytes());
            guard.set(Value::Int(1));
            if i % 2 == 0 {
                guard.set_deadline(Some(1_800_000_000_000 + i as i64));
            }
        }
        ks
    }

    #[test]
    fn lru_evicts_mostly_the_oldest() {
        let mut ks = keyspace(1000);
        for _ in 0..500 {
            assert!(ks.evict_one(Rank::Lru, false, 10));
        }
        let old = (0..500).filter(|i| ks.exists(format!("key:{i}").as_bytes())).count();
        assert!(old < 60, "{old} of the older half are left");
    }

    #[test]
    fn ttl_and_volatile_policies_leave_keys_without_deadline() {
        for rank in [Rank::Ttl, Rank::Lru, Rank::Random] {
            let mut ks = keyspace(200);
            let mut n = 0;
            while ks.evict_one(rank, true, 5) {
                n += 1;
            }
            assert_eq!((n, ks.db().len(), ks.db().expires()), (100, 100, 0), "{rank:?}");
            assert_eq!(ks.used_memory(), ks.recount_memory());
        }
    }

    #[test]
    fn the_nearest_deadline_goes_first() {
        let mut ks = keyspace(200);
        for _ in 0..50 {
            ks.evict_one(Rank::Ttl, true, 64);
        }
        let near = (0..100).step_by(2).filter(|i| ks.exists(format!("key:{i}").as_bytes())).count();
        assert!(near < 10, "{near} of the 50 nearest are left");
    }

    #[test]
    fn everything_goes_when_it_must() {
        let mut ks = keyspace(300);
        while ks.evict_one(Rank::Lru, false, 5) {}
        assert!(ks.db().is_empty());
        assert!(!ks.evict_one(Rank::Random, false, 5));
    }
}
