//! The mutation gate: the only way to a value that changes.

use super::fields::is_timed;
use super::{Entry, Keyspace, NO_EXPIRY};
use crate::error::{Res, WRONG_TYPE};
use crate::notify::{DEL, Event};
use crate::value::{Collection, Value};
use totality_ds::Bytes;
use totality_ds::dict::Pos;

/// Access to one key for changing it. Dropping it settles the memory account. A command that changed something says
/// so with [`WriteGuard::changed`]; an SADD of a member that is there changes nothing.
pub struct WriteGuard<'k> {
    ks: &'k mut Keyspace,
    db: usize,
    key: &'k [u8],
    hash: u64,
    pos: Option<Pos>,
    /// Heap bytes of the entry when it was last accounted.
    accounted: usize,
    /// It was a hash with deadlines of fields.
    timed: bool,
}

impl Keyspace {
    /// Opens `key` of the unit's database for changing.
    #[inline]
    pub fn write<'k>(&'k mut self, key: &'k [u8]) -> WriteGuard<'k> {
        let db = self.cur;
        let hash = self.dbs[db].dict.hash(key);
        let pos = self.locate_hashed(hash, key);
        let (mut accounted, mut timed) = (0, false);
        if let Some(pos) = pos {
            let entry = self.dbs[db].dict.get(pos);
            accounted = entry.heap();
            timed = is_timed(&entry.value);
            if !self.no_touch {
                let old = self.dbs[db].dict.get(pos).lru;
                let lru = self.access_again(old);
                self.dbs[db].dict.get_mut(pos).lru = lru;
            }
        }
        WriteGuard { ks: self, db, key, hash, pos, accounted, timed }
    }

    /// Deletes `key` of the unit's database; false when it was absent. Raises `del` unless told another event.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        self.delete_as(key, DEL)
    }

    /// Deletes `key` and raises `event`.
    pub fn delete_as(&mut self, key: &[u8], event: Event) -> bool {
        let mut guard = self.write(key);
        if guard.take().is_none() {
            return false;
        }
        guard.changed(event, 1);
        true
    }

    /// Removes the entry whatever its deadline, settles the account, and returns it.
    pub(crate) fn take_entry(&mut self, db: usize, key: &[u8]) -> Option<Entry> {
        let dict = &mut self.dbs[db].dict;
        let hash = dict.hash(key);
        let pos = dict.find(hash, key)?;
        let mut entry = dict.remove(pos);
        let table = &mut self.dbs[db];
        table.used = table.used.saturating_sub(entry.heap());
        if entry.expire != NO_EXPIRY {
            table.expires -= 1;
        }
        if is_timed(&entry.value) {
            table.timed.note(key, false);
        }
        if self.blocked.wants_deletions() {
            self.signal(db, key);
        }
        let value = std::mem::replace(&mut entry.value, Value::Int(0));
        if value.is_big() {
            self.garbage.push(value);
        } else {
            entry.value = value;
        }
        Some(entry)
    }
}

impl<'k> WriteGuard<'k> {
    /// The key.
    pub fn key(&self) -> &'k [u8] {
        self.key
    }

    /// True when the key exists.
    #[inline]
    pub fn exists(&self) -> bool {
        self.pos.is_some()
    }

    /// The keyspace's settings and generator, beside the value.
    pub fn keyspace(&mut self) -> &mut Keyspace {
        self.ks
    }

    /// The value as it is.
    #[inline]
    pub fn value(&self) -> Option<&Value> {
        self.pos.map(|pos| &self.ks.dbs[self.db].dict.get(pos).value)
    }

    /// The value, to be changed.
    #[inline]
    pub fn value_mut(&mut self) -> Option<&mut Value> {
        self.pos.map(|pos| &mut self.ks.dbs[self.db].dict.get_mut(pos).value)
    }

    /// The collection at the key, or WRONGTYPE; `None` when the key is absent.
    #[inline]
    pub fn get<T: Collection>(&mut self) -> Res<Option<&mut T>> {
        match self.value_mut() {
            None => Ok(None),
            Some(value) => T::of_mut(value).map(Some).ok_or(WRONG_TYPE),
        }
    }

    /// The collection at the key, created by `new` when the key is absent, or WRONGTYPE.
    #[inline]
    pub fn get_or_create<T: Collection>(&mut self, new: impl FnOnce() -> T) -> Res<&mut T> {
        if self.pos.is_none() {
            self.set(new().into_value());
        }
        self.get::<T>()?.ok_or(WRONG_TYPE)
    }

    /// Sets the value; the deadline stays. Returns the old value.
    #[inline]
    pub fn set(&mut self, value: Value) -> Option<Value> {
        if let Some(slot) = self.value_mut() {
            let old = std::mem::replace(slot, value);
            if !self.ks.blocked.is_empty() && self.value().is_some_and(|new| new.kind() != old.kind()) {
                self.signal();
            }
            return Some(old);
        }
        let entry = Entry {
            key: Bytes::from(self.key),
            value,
            expire: NO_EXPIRY,
            lru: self.ks.access_new(),
            hash: self.hash as u32,
        };
        self.pos = Some(self.ks.dbs[self.db].dict.insert_new(self.hash, entry));
        let new = Event { class: crate::notify::Class::NEW, name: "new" };
        self.ks.notify_event(self.db, self.key, new);
        self.signal();
        None
    }

    /// Wakes the clients that wait for this key, at the unit's end. New keys do so by themselves.
    #[inline]
    pub fn signal(&mut self) {
        self.ks.signal(self.db, self.key);
    }

    /// Sets the value and removes the deadline, as SET does.
    pub fn overwrite(&mut self, value: Value) -> Option<Value> {
        let old = self.set(value);
        self.set_deadline(None);
        old
    }

    /// Removes the key and returns its value.
    pub fn take(&mut self) -> Option<Value> {
        let pos = self.pos.take()?;
        let table = &mut self.ks.dbs[self.db];
        let entry = table.dict.remove(pos);
        if entry.expire != NO_EXPIRY {
            table.expires -= 1;
        }
        table.used = table.used.saturating_sub(self.accounted);
        self.accounted = 0;
        if std::mem::take(&mut self.timed) {
            table.timed.note(self.key, false);
        }
        if self.ks.blocked.wants_deletions() {
            self.ks.signal(self.db, self.key);
        }
        Some(entry.value)
    }

    /// Removes the key; a value that is expensive to free goes to the outbox.
    pub fn remove(&mut self) -> bool {
        match self.take() {
            None => false,
            Some(value) => {
                self.ks.discard(value);
                true
            }
        }
    }

    /// Deadline in milliseconds since the Unix epoch.
    pub fn deadline(&self) -> Option<i64> {
        let entry = self.ks.dbs[self.db].dict.get(self.pos?);
        (entry.expire != NO_EXPIRY).then_some(entry.expire)
    }

    /// Sets or removes the deadline; true when there was one.
    pub fn set_deadline(&mut self, at: Option<i64>) -> bool {
        let Some(pos) = self.pos else { return false };
        let table = &mut self.ks.dbs[self.db];
        let entry = table.dict.get_mut(pos);
        let had = entry.expire != NO_EXPIRY;
        // 0 stands for none: a deadline at the epoch itself is as far past as one a millisecond later.
        entry.expire = at.map_or(NO_EXPIRY, |at| if at == NO_EXPIRY { 1 } else { at });
        match (had, at.is_some()) {
            (false, true) => table.expires += 1,
            (true, false) => table.expires -= 1,
            _ => {}
        }
        had
    }

    /// Says what changed: `event` with `n` changes.
    #[inline]
    pub fn changed(&mut self, event: Event, n: u64) {
        self.ks.changed(self.db, self.key, event, n);
    }

    /// Counts `n` changes that Redis keeps from those who watch the key: the state of consumer groups.
    #[inline]
    pub fn changed_quietly(&mut self, n: u64) {
        self.ks.dirty += n;
    }

    /// Says that `n` fields of the hash were past their deadline when they were replaced or removed.
    #[inline]
    pub fn fields_expired(&mut self, n: usize) {
        if n > 0 {
            self.ks.stats.expired_fields += n as u64;
            self.event(Event::hash("hexpired"));
        }
    }

    /// Publishes an event that is no change of its own.
    pub fn event(&mut self, event: Event) {
        self.ks.notify_event(self.db, self.key, event);
    }

    /// After elements were removed: deletes the key, with event `del`, when nothing is left.
    pub fn delete_if_empty(&mut self) -> bool {
        let empty = match self.value() {
            Some(Value::List(v)) => v.is_empty(),
            Some(Value::Set(v)) => v.is_empty(),
            Some(Value::Hash(v)) => v.is_empty(),
            Some(Value::ZSet(v)) => v.is_empty(),
            _ => false,
        };
        if empty {
            self.remove();
            self.event(DEL);
        }
        empty
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(pos) = self.pos {
            let table = &mut self.ks.dbs[self.db];
            let entry = table.dict.get(pos);
            let after = entry.heap();
            let timed = is_timed(&entry.value);
            if timed != self.timed {
                table.timed.note(self.key, timed);
            }
            table.used = (table.used + after).saturating_sub(self.accounted);
        }
    }
}
