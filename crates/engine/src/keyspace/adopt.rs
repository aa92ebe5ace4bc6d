//! A whole data set in the place of another: what a replica gets from its primary.

use super::Keyspace;
use crate::config::Config;

impl Keyspace {
    /// An empty keyspace whose databases can take the place of this one's; see [`Keyspace::adopt`].
    pub fn twin(&self, config: &Config) -> Keyspace {
        let mut twin = Keyspace::new(self.dbs.len(), self.seed);
        twin.configure(config);
        twin.begin_unit(self.now_us);
        twin
    }

    /// Puts the databases of a [`Keyspace::twin`] into the place of this one's. Clients that watch or cache a key, or
    /// wait for one, notice.
    pub fn adopt(&mut self, mut twin: Keyspace) {
        let all = self.dbs.len();
        self.flush(0..all);
        std::mem::swap(&mut self.dbs, &mut twin.dbs);
        self.in_use = self.in_use.max(twin.in_use);
        (self.evict_db, self.expire_db) = (0, 0);
        self.pool.clear();
        self.own.clear();
        let found = &self.dbs;
        self.watch.touch_where(None, |db, key, _| found[db].dict.get_key(key).is_some());
        (0..all).for_each(|db| self.signal_database(db));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use totality_ds::Bytes;

    #[test]
    fn the_new_data_set_is_there_and_counted() {
        let mut ks = Keyspace::new(2, [1; 16]);
        ks.load_entry(0, Bytes::from(&b"old"[..]), Value::Int(1), None, None, false);
        let mut twin = ks.twin(&Config::default());
        twin.load_entry(1, Bytes::from(&b"new"[..]), Value::Int(2), Some(99), None, false);
        ks.adopt(twin);
        ks.now = 100;
        assert_eq!((ks.dbs()[0].len(), ks.dbs()[1].len(), ks.dbs()[1].expires()), (0, 1, 1));
        assert_eq!(ks.used_memory(), ks.recount_memory());
        // A replica does not see it, and does not delete it; the primary's commands see it.
        ks.cur = 1;
        ks.replica = true;
        assert!(!ks.exists(b"new"));
        ks.obeys = true;
        assert!(ks.exists(b"new"));
        (ks.obeys, ks.replica) = (false, false);
        assert!(!ks.exists(b"new"));
        assert_eq!(ks.dbs()[1].len(), 0);
    }

    #[test]
    fn a_write_takes_the_place_of_what_is_past_its_deadline() {
        let mut ks = Keyspace::new(1, [1; 16]);
        ks.load_entry(0, Bytes::from(&b"k"[..]), Value::Int(1), Some(99), None, false);
        (ks.now, ks.replica) = (100, true);
        assert!(!ks.exists(b"k"));
        ks.write(b"k").set(Value::Int(2));
        assert!(ks.exists(b"k"));
        assert_eq!((ks.dbs()[0].len(), ks.dbs()[0].expires()), (1, 0));
        assert_eq!(ks.used_memory(), ks.recount_memory());
    }
}
