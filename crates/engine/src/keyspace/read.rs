//! Reading keys.

use super::{Entry, Keyspace};
use crate::error::{Res, WRONG_TYPE};
use crate::notify::{Class, Event};
use crate::value::{Collection, StrRef, Value};
use totality_ds::dict::Pos;

/// How a look-up counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A read: hits and misses are counted, the access time is set.
    Read,
    /// Counted, but the access time stays (TYPE, TTL, EXISTS, OBJECT).
    Glance,
    /// Neither counted nor does it set the access time.
    Peek,
}

impl Keyspace {
    /// The value of `key` in the unit's database; `None` when it is absent or past its deadline.
    #[inline]
    pub fn read(&mut self, key: &[u8]) -> Option<&Value> {
        self.entry(key, Lookup::Read).map(|entry| &entry.value)
    }

    /// The entry of `key`, counted as a read that leaves the access time as it is.
    #[inline]
    pub fn glance(&mut self, key: &[u8]) -> Option<&Entry> {
        self.entry(key, Lookup::Glance)
    }

    /// The entry of `key` when nothing may happen meanwhile: a key past its deadline is not seen, but stays.
    pub fn view(&self, key: &[u8]) -> Option<&Entry> {
        let entry = self.dbs[self.cur].dict.get_key(key)?;
        (!self.is_past(entry.expire)).then_some(entry)
    }

    /// The same as [`Keyspace::glance`], without counting.
    #[inline]
    pub fn peek(&mut self, key: &[u8]) -> Option<&Entry> {
        self.entry(key, Lookup::Peek)
    }

    /// The string at `key`, or WRONGTYPE.
    #[inline]
    pub fn read_str(&mut self, key: &[u8]) -> Res<Option<StrRef<'_>>> {
        self.read(key).map(Value::as_str).transpose()
    }

    /// The collection at `key`, or WRONGTYPE.
    #[inline]
    pub fn read_as<T: Collection>(&mut self, key: &[u8]) -> Res<Option<&T>> {
        match self.read(key) {
            None => Ok(None),
            Some(value) => T::of(value).map(Some).ok_or(WRONG_TYPE),
        }
    }

    /// The collection at a key that was just read: for commands that look at several at once. Neither counts nor
    /// touches; the deadline was judged by the read before.
    pub fn view_as<T: Collection>(&self, key: &[u8]) -> Option<&T> {
        T::of(&self.dbs[self.cur].dict.get_key(key)?.value)
    }

    /// True when `key` exists.
    pub fn exists(&mut self, key: &[u8]) -> bool {
        self.peek(key).is_some()
    }

    fn entry(&mut self, key: &[u8], how: Lookup) -> Option<&Entry> {
        let Some(pos) = self.locate(key) else {
            if how != Lookup::Peek {
                self.stats.misses += 1;
                self.notify_event(self.cur, key, Event { class: Class::MISS, name: "keymiss" });
            }
            return None;
        };
        if how != Lookup::Peek {
            self.stats.hits += 1;
        }
        if how == Lookup::Read && !self.no_touch {
            let old = self.dbs[self.cur].dict.get(pos).lru;
            let lru = self.access_again(old);
            let entry = self.dbs[self.cur].dict.get_mut(pos);
            entry.lru = lru;
            return Some(entry);
        }
        Some(self.dbs[self.cur].dict.get(pos))
    }

    /// Where `key` is in the unit's database. A key past its deadline is deleted and not found.
    #[inline]
    pub(crate) fn locate(&mut self, key: &[u8]) -> Option<Pos> {
        let dict = &self.dbs[self.cur].dict;
        let hash = dict.hash(key);
        self.locate_hashed(hash, key)
    }

    /// The same for a caller that has the hash already.
    #[inline]
    pub(crate) fn locate_hashed(&mut self, hash: u64, key: &[u8]) -> Option<Pos> {
        let dict = &self.dbs[self.cur].dict;
        let pos = dict.find(hash, key)?;
        let expire = dict.get(pos).expire;
        if self.is_past(expire) {
            self.expire_key(self.cur, key);
            return None;
        }
        Some(pos)
    }
}
