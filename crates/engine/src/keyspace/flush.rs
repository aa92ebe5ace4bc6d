//! Whole databases at once: emptying and swapping. The tables are moved aside, so neither takes long; who owns the
//! keyspace frees them where it does not hurt.

use super::undo::Record;
use super::{Db, Keyspace, NO_EXPIRY};
use std::ops::Range;
use totality_ds::Bytes;

/// What became of a watched key.
fn is_expired(db: &Db, key: &[u8], now: i64) -> Option<bool> {
    db.dict.get_key(key).map(|entry| entry.expire != NO_EXPIRY && entry.expire <= now)
}

impl Keyspace {
    /// Empties databases and returns how many keys they held. Clients that watch one of the keys notice.
    pub fn flush(&mut self, dbs: Range<usize>) -> u64 {
        let mut removed = 0;
        if !self.watch.is_empty() {
            let (tables, now) = (&self.dbs, self.now);
            let newly = self.undo.is_open().then_some(&mut self.undo.broken);
            self.watch.touch_where(newly, |db, key, stale| {
                dbs.contains(&db) && !stale && is_expired(&tables[db], key, now).is_some()
            });
        }
        if self.blocked.wants_deletions() {
            dbs.clone().for_each(|db| self.signal_database(db));
        }
        self.effects.invalidate_all();
        for db in dbs {
            let table = &mut self.dbs[db];
            removed += table.dict.len() as u64;
            if self.undo.is_open() {
                if table.dict.is_empty() {
                    continue;
                }
                let was = std::mem::replace(table, Db::new(self.seed));
                self.undo.push_barrier(db, Bytes::new(), Record::Flushed(Box::new(was)));
                self.hide_from_snapshot(db);
                continue;
            }
            let (was, marks) = (table.dict.take(), table.volatile.take());
            table.timed.clear();
            (table.expire_cursor, table.avg_ttl, table.used) = (0, (0, 0), 0);
            if was.is_empty() {
                continue;
            }
            match self.freeze_for_snapshot(db, was) {
                Some(was) => self.garbage.push_table(was, marks),
                None => self.garbage.push_marks(marks),
            }
        }
        removed
    }

    /// Exchanges two databases. Clients that watch a key notice unless it is absent from both, or merely past its
    /// deadline where it was not there before.
    pub fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        if !self.watch.is_empty() {
            let (tables, now) = (&self.dbs, self.now);
            let newly = self.undo.is_open().then_some(&mut self.undo.broken);
            self.watch.touch_where(newly, |db, key, stale| {
                let other = match db {
                    db if db == a => b,
                    db if db == b => a,
                    _ => return false,
                };
                let before = is_expired(&tables[db], key, now);
                match is_expired(&tables[other], key, now) {
                    None => before.is_some() && !stale,
                    Some(true) => before.is_some() && !stale,
                    Some(false) => true,
                }
            });
        }
        if self.undo.is_open() {
            self.undo.push_barrier(a, Bytes::new(), Record::Swapped(b));
        }
        self.swap_tables(a, b);
        self.signal_database(a);
        self.signal_database(b);
    }

    /// Exchanges two databases; who watches a key of them that is now past its deadline knows it.
    pub(super) fn swap_tables(&mut self, a: usize, b: usize) {
        if !self.watch.is_empty() {
            let (tables, now) = (&self.dbs, self.now);
            self.watch.refresh(|db, key| {
                let other = match db {
                    db if db == a => b,
                    db if db == b => a,
                    _ => return None,
                };
                Some(is_expired(&tables[other], key, now) == Some(true))
            });
        }
        self.swap_for_snapshot(a, b);
        self.dbs.swap(a, b);
        self.in_use = self.in_use.max(a + 1).max(b + 1);
    }
}
