//! The mutation gate: the only way to a value that changes.

use super::fields::is_timed;
use super::undo::{Record, State, Whole};
use super::{Entry, Keyspace, NO_EXPIRY};
use crate::error::{Res, WRONG_TYPE};
use crate::notify::{DEL, Event};
use crate::types::journal::StrEdit;
use crate::value::{Collection, Kept, Value};
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
    /// What the value was is kept as far as it must be.
    kept: bool,
    /// A running snapshot has not got the value, which is large: it gets it before it changes, or when it goes.
    owed: bool,
    /// The undo record that gets the changes of the large value which is open now.
    journal: Option<usize>,
}

impl Keyspace {
    /// Opens `key` of the unit's database for changing.
    #[inline]
    pub fn write<'k>(&'k mut self, key: &'k [u8]) -> WriteGuard<'k> {
        let db = self.cur;
        let hash = self.dbs[db].dict.hash(key);
        let pos = self.locate_hashed(hash, key);
        if pos.is_none() && !self.may_delete() && self.is_stale(key) {
            // It stays only until its place is wanted: a key is never there twice.
            self.expire_now(db, key);
        }
        // What is put off changes nothing, in the end.
        let owed = self.snapshot.is_some() && !self.put_off && self.keep_for_snapshot(db, hash, key);
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
        WriteGuard { ks: self, db, key, hash, pos, accounted, timed, kept: false, owed, journal: None }
    }

    /// Deletes `key` of the unit's database; false when it was absent. Raises `del` unless told another event.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        self.delete_as(key, DEL)
    }

    /// Deletes `key` and raises `event`.
    pub fn delete_as(&mut self, key: &[u8], event: Event) -> bool {
        let mut guard = self.write(key);
        if !guard.remove() {
            return false;
        }
        guard.changed(event, 1);
        true
    }

    /// Removes the entry whatever its deadline and settles the account. A value that is expensive to free goes to the
    /// outbox. False when there is no such key.
    pub(crate) fn drop_entry(&mut self, db: usize, key: &[u8]) -> bool {
        let dict = &self.dbs[db].dict;
        let Some(pos) = dict.find(dict.hash(key), key) else { return false };
        self.drop_at(db, pos);
        true
    }

    /// Removes an entry and settles the account.
    pub(super) fn drop_at(&mut self, db: usize, pos: Pos) {
        let owed = self.snapshot.is_some() && self.keep_entry(db, pos, false);
        let entry = self.take_out(db, pos);
        if owed { self.give_to_snapshot(db, entry) } else { self.discard(entry.value) }
    }

    /// See [`Keyspace::keep_for_snapshot`]. `now`: what it owes is written.
    #[cold]
    fn keep_entry(&mut self, db: usize, pos: Pos, now: bool) -> bool {
        let entry = self.dbs[db].dict.get(pos);
        let (key, hash) = (entry.key.clone(), u64::from(entry.hash));
        let owed = self.keep_for_snapshot(db, hash, &key);
        if owed && now {
            self.write_for_snapshot(db, hash, &key);
        }
        owed
    }

    /// Takes an entry, whose value is used further, out of its table and settles the account.
    pub(super) fn unlink(&mut self, db: usize, pos: Pos) -> Entry {
        if self.snapshot.is_some() && !self.put_off {
            self.keep_entry(db, pos, true);
        }
        self.take_out(db, pos)
    }

    fn take_out(&mut self, db: usize, pos: Pos) -> Entry {
        let table = &mut self.dbs[db];
        let entry = table.dict.remove(pos);
        table.used = table.used.saturating_sub(entry.heap());
        if entry.expire != NO_EXPIRY {
            table.volatile.remove(entry.hash);
        }
        if is_timed(&entry.value) {
            table.timed.note(&entry.key, false);
        }
        if self.blocked.wants_deletions() {
            self.signal(db, &entry.key);
        }
        entry
    }

    /// Moves a key with its value and deadline to another name or database, in place of what is there. False when it
    /// is absent. Says nothing of it: events and counters are the caller's.
    pub(crate) fn relocate(&mut self, from: (usize, &[u8]), to: (usize, &[u8])) -> bool {
        let cur = self.cur;
        self.cur = from.0;
        let source = self.locate(from.1);
        self.cur = to.0;
        if source.is_some() {
            self.write(to.1).remove();
        }
        self.cur = cur;
        // The removal may have moved entries within their table.
        let dict = &self.dbs[from.0].dict;
        let Some(pos) = source.and_then(|_| dict.find(dict.hash(from.1), from.1)) else { return false };
        let entry = self.unlink(from.0, pos);
        if self.undo.is_open() {
            let record = Record::Moved { to: to.0, name: Bytes::from(to.1) };
            self.undo.push_barrier(from.0, entry.key, record);
        }
        self.cur = to.0;
        let mut guard = self.write(to.1);
        guard.kept = true;
        guard.set(entry.value);
        guard.set_deadline((entry.expire != NO_EXPIRY).then_some(entry.expire));
        drop(guard);
        self.cur = cur;
        true
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

    /// Called before the value is changed in place: keeps what it is while a scope is open.
    #[inline]
    fn before_change(&mut self) {
        if self.owed {
            self.pay();
        }
        if self.ks.undo.is_open() && !self.kept {
            self.keep();
        }
    }

    /// The running snapshot gets the value before it changes in place.
    #[cold]
    fn pay(&mut self) {
        self.owed = false;
        self.ks.write_for_snapshot(self.db, self.hash, self.key);
    }

    #[inline(never)]
    fn keep(&mut self) {
        self.kept = true;
        let Keyspace { undo, dbs, .. } = &mut *self.ks;
        let at = match undo.state(self.db, self.hash, self.key) {
            State::Full => return,
            State::Large(at) => Some(at),
            State::Unknown | State::Deadline => None,
        };
        let Some(pos) = self.pos else {
            if at.is_none() {
                undo.push(self.db, self.hash, Bytes::from(self.key), Record::Absent);
            }
            return;
        };
        let entry = dbs[self.db].dict.get_mut(pos);
        let earlier = at.and_then(|at| undo.lend(at));
        match entry.value.keep_changes(earlier) {
            Kept::Small(earlier) => {
                // A value that was large before, if it was, has that noted.
                if let (Some(at), Some(earlier)) = (at, earlier) {
                    undo.put_back(at, earlier);
                }
                let record = Record::Whole(entry.value.clone(), entry.expire, entry.lru);
                undo.push(self.db, self.hash, Bytes::from(self.key), record);
            }
            Kept::Inside => {
                let new = || Record::Large(None, entry.expire);
                self.journal =
                    at.or_else(|| Some(undo.push(self.db, self.hash, Bytes::from(self.key), new())));
            }
            Kept::Beside(changes) => {
                let new = || Record::Large(None, entry.expire);
                let at = at.unwrap_or_else(|| undo.push(self.db, self.hash, Bytes::from(self.key), new()));
                undo.put_back(at, changes);
                self.journal = Some(at);
            }
        }
    }

    /// Takes the journal away from a large value that is about to go or to be closed.
    fn close_journal(&mut self) {
        let (Some(at), Some(pos)) = (self.journal.take(), self.pos) else { return };
        let Keyspace { undo, dbs, .. } = &mut *self.ks;
        let value = &mut dbs[self.db].dict.get_mut(pos).value;
        match value.take_changes() {
            Some(changes) => undo.put_back(at, changes),
            // A long string's changes are noted beside it.
            None => debug_assert!(
                matches!(value, Value::Str(_)),
                "a collection was replaced through a reference: the undo log cannot know what it was"
            ),
        }
    }

    /// Called before the value is replaced or removed: `true` when the old value must go to [`WriteGuard::keep_old`].
    #[inline]
    fn must_keep_old(&mut self) -> bool {
        if !self.ks.undo.is_open() {
            return false;
        }
        if self.journal.is_some() {
            self.close_journal();
        }
        self.ks.undo.state(self.db, self.hash, self.key) != State::Full
    }

    /// Hands a replaced or removed value to the undo log. The running snapshot, if it is owed to that, gets it from there.
    #[inline(never)]
    fn keep_old(&mut self, key: Bytes, value: Value, expire: i64, lru: u32) {
        self.kept = true;
        let record = match self.owed {
            true => self.lend((value, expire, lru)),
            false => Record::Whole(value, expire, lru),
        };
        self.ks.undo.push(self.db, self.hash, key, record);
    }

    #[cold]
    fn lend(&mut self, whole: Whole) -> Record {
        self.owed = false;
        match self.ks.lend_to_undo(self.db, self.key) {
            Some(lent) => Record::Lent(Box::new((whole, lent))),
            None => Record::Whole(whole.0, whole.1, whole.2),
        }
    }

    /// The value, to be changed.
    #[inline]
    fn value_mut(&mut self) -> Option<&mut Value> {
        self.before_change();
        self.pos.map(|pos| &mut self.ks.dbs[self.db].dict.get_mut(pos).value)
    }

    /// The collection at the key, or WRONGTYPE; `None` when the key is absent. It is not to be replaced through the
    /// reference, only by [`WriteGuard::set`].
    #[inline]
    pub fn get<T: Collection>(&mut self) -> Res<Option<&mut T>> {
        if self.pos.is_none() {
            return Ok(None);
        }
        match self.value_mut() {
            None => Ok(None),
            Some(value) => T::of_mut(value).map(Some).ok_or(WRONG_TYPE),
        }
    }

    /// Edits the string at the key in place, or WRONGTYPE. A missing key is made. Afterwards the encoding is `raw`.
    pub fn edit<R>(&mut self, f: impl FnOnce(&mut StrEdit<'_>) -> R) -> Res<R> {
        let Some(pos) = self.pos else {
            self.set(Value::Str(Bytes::new()));
            return self.edit(f);
        };
        self.before_change();
        let Keyspace { undo, dbs, .. } = &mut *self.ks;
        let value = &mut dbs[self.db].dict.get_mut(pos).value;
        let Some(at) = self.journal else { return value.edit(None, f) };
        let changes = undo.changes_mut(at);
        let before = changes.as_ref().map_or(0, |changes| changes.bytes());
        let result = value.edit(changes, f);
        undo.count(at, before);
        result
    }

    /// The collection at the key, created by `new` when the key is absent, or WRONGTYPE.
    #[inline]
    pub fn get_or_create<T: Collection>(&mut self, new: impl FnOnce() -> T) -> Res<&mut T> {
        if self.pos.is_none() {
            self.set(new().into_value());
        }
        self.get::<T>()?.ok_or(WRONG_TYPE)
    }

    /// Sets the value; the deadline stays.
    #[inline]
    pub fn set(&mut self, value: Value) {
        let Some(pos) = self.pos else { return self.create(value) };
        let keep = self.must_keep_old();
        let entry = self.ks.dbs[self.db].dict.get_mut(pos);
        let changes_type = value.kind() != entry.value.kind();
        let (expire, lru) = (entry.expire, entry.lru);
        let old = std::mem::replace(&mut entry.value, value);
        if keep {
            self.keep_old(Bytes::from(self.key), old, expire, lru);
        } else if std::mem::take(&mut self.owed) {
            let (key, hash) = (Bytes::from(self.key), self.hash as u32);
            self.ks.give_to_snapshot(self.db, Entry { key, value: old, expire, lru, hash });
        } else {
            self.ks.discard(old);
        }
        if changes_type && !self.ks.blocked.is_empty() {
            self.signal();
        }
    }

    /// Makes the key.
    fn create(&mut self, value: Value) {
        self.before_change();
        let entry = Entry {
            key: Bytes::from(self.key),
            value,
            expire: NO_EXPIRY,
            lru: self.ks.access_new(),
            hash: self.hash as u32,
        };
        self.pos = Some(self.ks.dbs[self.db].dict.insert_new(self.hash, entry));
        self.ks.in_use = self.ks.in_use.max(self.db + 1);
        let new = Event { class: crate::notify::Class::NEW, name: "new" };
        self.ks.notify_event(self.db, self.key, new);
        self.signal();
    }

    /// Wakes the clients that wait for this key, at the unit's end. New keys do so by themselves.
    #[inline]
    pub fn signal(&mut self) {
        self.ks.signal(self.db, self.key);
    }

    /// Sets the value and removes the deadline, as SET does.
    #[inline]
    pub fn overwrite(&mut self, value: Value) {
        self.set(value);
        self.set_deadline(None);
    }

    /// Removes the key; a value that is expensive to free goes to the outbox. False when it is absent.
    pub fn remove(&mut self) -> bool {
        if self.pos.is_none() {
            return false;
        }
        let keep = self.must_keep_old();
        let Some(pos) = self.pos.take() else { return false };
        let table = &mut self.ks.dbs[self.db];
        let entry = table.dict.remove(pos);
        if entry.expire != NO_EXPIRY {
            table.volatile.remove(entry.hash);
        }
        table.used = table.used.saturating_sub(self.accounted);
        self.accounted = 0;
        if std::mem::take(&mut self.timed) {
            table.timed.note(self.key, false);
        }
        if keep {
            self.keep_old(entry.key, entry.value, entry.expire, entry.lru);
        } else if std::mem::take(&mut self.owed) {
            self.ks.give_to_snapshot(self.db, entry);
        } else {
            self.ks.discard(entry.value);
        }
        if self.ks.blocked.wants_deletions() {
            self.ks.signal(self.db, self.key);
        }
        true
    }

    /// Deadline in milliseconds since the Unix epoch.
    pub fn deadline(&self) -> Option<i64> {
        let entry = self.ks.dbs[self.db].dict.get(self.pos?);
        (entry.expire != NO_EXPIRY).then_some(entry.expire)
    }

    /// Sets or removes the deadline; true when there was one.
    pub fn set_deadline(&mut self, at: Option<i64>) -> bool {
        let Some(pos) = self.pos else { return false };
        if self.owed {
            self.pay();
        }
        if self.ks.undo.is_open() && !self.kept {
            self.keep_deadline(pos);
        }
        let table = &mut self.ks.dbs[self.db];
        let entry = table.dict.get_mut(pos);
        let had = entry.expire != NO_EXPIRY;
        // 0 stands for none: a deadline at the epoch itself is as far past as one a millisecond later.
        entry.expire = at.map_or(NO_EXPIRY, |at| if at == NO_EXPIRY { 1 } else { at });
        let hash = entry.hash;
        match (had, at.is_some()) {
            (false, true) => table.volatile.add(hash),
            (true, false) => table.volatile.remove(hash),
            _ => {}
        }
        if self.ks.replica && at.is_some() {
            self.ks.note_owner(self.db, self.key);
        }
        had
    }

    #[cold]
    fn keep_deadline(&mut self, pos: Pos) {
        if self.ks.undo.state(self.db, self.hash, self.key) == State::Unknown {
            let expire = self.ks.dbs[self.db].dict.get(pos).expire;
            self.ks.undo.push(self.db, self.hash, Bytes::from(self.key), Record::Deadline(expire));
        }
    }

    /// Sets when, or how often, the key was used: a mark of [`Keyspace::access_idle`] and its like.
    pub(crate) fn set_access(&mut self, mark: u32) {
        if let Some(pos) = self.pos {
            self.ks.dbs[self.db].dict.get_mut(pos).lru = mark;
        }
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
        if self.journal.is_some() {
            self.close_journal();
        }
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
