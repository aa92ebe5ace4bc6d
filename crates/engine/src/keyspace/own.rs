//! Keys with a deadline that clients of a replica made, where it may be written to. The primary knows nothing of them and
//! sends no deletion, so the replica deletes them itself.

use super::{Keyspace, NO_EXPIRY};
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

/// A key of a database.
type Name = (usize, Box<[u8]>);

/// Keys that are looked at between two looks at the clock.
const STEP: usize = 64;

/// The keys, and where the walk over them goes on.
#[derive(Debug, Default)]
pub(crate) struct OwnKeys {
    names: BTreeSet<Name>,
    last: Option<Name>,
}

impl OwnKeys {
    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Forgets them: the data set is another.
    pub(crate) fn clear(&mut self) {
        *self = OwnKeys::default();
    }

    fn next(&self) -> Option<&Name> {
        match &self.last {
            Some(last) => self.names.range((Excluded(last), Unbounded)).next(),
            None => self.names.first(),
        }
    }
}

impl Keyspace {
    /// A key of a replica got a deadline: whose is it?
    #[cold]
    pub(super) fn note_owner(&mut self, db: usize, key: &[u8]) {
        if self.replaying {
            return;
        }
        if !self.obeys {
            self.own.names.insert((db, Box::from(key)));
        } else if !self.own.names.is_empty() {
            self.own.names.remove(&(db, Box::from(key)));
        }
    }

    /// Deletes keys past their deadline that only this replica knows of, until few are found or `out_of_time` says so.
    /// Returns how many were deleted.
    pub fn expire_own(&mut self, out_of_time: &mut dyn FnMut() -> bool) -> usize {
        if self.own.names.is_empty() || !self.replica || !self.may_expire || self.import_mode || self.paused {
            return 0;
        }
        let (mut deleted, all) = (0, self.own.names.len());
        let mut seen = 0;
        while seen < all {
            let mut dead = 0;
            for _ in 0..STEP.min(all - seen) {
                seen += 1;
                let Some(name) = self.own.next().cloned() else {
                    self.own.last = None;
                    continue;
                };
                let expire = self.dbs.get(name.0).and_then(|db| db.dict.get_key(&name.1)).map(|e| e.expire);
                match expire {
                    Some(at) if at != NO_EXPIRY && at > self.now => {}
                    Some(at) if at != NO_EXPIRY => {
                        self.expire_now(name.0, &name.1);
                        self.own.names.remove(&name);
                        dead += 1;
                    }
                    _ => {
                        self.own.names.remove(&name);
                    }
                }
                self.own.last = Some(name);
            }
            deleted += dead;
            if out_of_time() || dead < STEP / 4 {
                break;
            }
        }
        deleted
    }

    /// Number of keys with a deadline that only this replica knows of.
    pub fn own_keys(&self) -> usize {
        self.own.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn set(ks: &mut Keyspace, key: &[u8], at: Option<i64>) {
        let mut guard = ks.write(key);
        guard.overwrite(Value::Int(1));
        guard.set_deadline(at);
    }

    fn sweep(ks: &mut Keyspace) -> usize {
        (0..4).map(|_| ks.expire_own(&mut || false)).sum()
    }

    #[test]
    fn only_own_keys_go() {
        let mut ks = Keyspace::new(2, [1; 16]);
        ks.replica = true;
        ks.begin_unit(1_000_000);
        ks.obeys = true;
        set(&mut ks, b"theirs", Some(2000));
        ks.obeys = false;
        for n in 0..200 {
            set(&mut ks, format!("ours{n}").as_bytes(), Some(2000));
        }
        set(&mut ks, b"later", Some(9000));
        set(&mut ks, b"stays", Some(2000));
        set(&mut ks, b"stays", None);
        set(&mut ks, b"taken", Some(2000));
        ks.obeys = true;
        set(&mut ks, b"taken", Some(2000));
        ks.obeys = false;
        assert_eq!((ks.own_keys(), sweep(&mut ks)), (202, 0));
        ks.begin_unit(3_000_000);
        let deleted: usize = (0..8).map(|_| sweep(&mut ks)).sum();
        assert_eq!((deleted, ks.own_keys(), ks.dbs()[0].len()), (200, 1, 4));
        assert_eq!(ks.stats.expired, 200);
        ks.replica = false;
        assert_eq!(sweep(&mut ks), 0);
    }
}
