//! The undo log: what keys were before a scope changed them.
//!
//! Scopes are marks on a stack of records. The first change of a key in a scope leaves the smallest record that is
//! enough: that the key was absent, its old value (moved when it is overwritten or deleted, copied when it is small), or
//! the inverses of what changes inside of a large value, which the value notes itself. Later changes of a key that is
//! kept whole leave nothing. Taking back applies the records from the last to the first.

use super::fields::is_timed;
use super::snapshot::Lent;
use super::{Db, Entry, Keyspace, NO_EXPIRY};
use crate::client::ClientId;
use crate::propagate::EffectsMark;
use crate::types::journal::Changes;
use crate::value::Value;
use std::collections::{HashMap, HashSet};
use totality_ds::Bytes;

/// Room that the log keeps for the next scope, in records.
const ROOM: usize = 1024;
/// So many records are searched one by one: most scopes have one or two, and an index costs more than it saves then.
const FEW: usize = 8;

/// What a key, or more than a key, was.
pub(super) enum Record {
    /// The key was not there.
    Absent,
    /// The key had this value, deadline and access mark.
    Whole(Value, i64, u32),
    /// The same, and a running snapshot is to have it when the changes stay.
    Lent(Box<(Whole, Lent)>),
    /// The key had this deadline.
    Deadline(i64),
    /// The key had this deadline, and its large value differed in this.
    Large(Option<Changes>, i64),
    /// The key was at `to` under the name that the record carries.
    Moved { to: usize, name: Bytes },
    /// The database was this one; the record carries no key.
    Flushed(Box<Db>),
    /// The database was the one that has this number now; the record carries no key.
    Swapped(usize),
}

/// A record and the key that it is of.
pub(super) struct Kept {
    pub(super) db: usize,
    pub(super) key: Bytes,
    hash: u64,
    pub(super) record: Record,
}

/// Value, deadline, access mark.
pub(super) type Whole = (Value, i64, u32);

/// What is known of a key in the innermost scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing, or its deadline only.
    Unknown,
    /// Its deadline.
    Deadline,
    /// All that it was.
    Full,
    /// Its deadline and, in the record of this number, what changed in its large value.
    Large(usize),
}

/// Where a scope began.
struct Mark {
    records: usize,
    /// Clients whose watched keys changed.
    broken: usize,
    effects: EffectsMark,
    dirty: u64,
    /// The selected database.
    cur: usize,
}

/// What was taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// Records of keys that were applied.
    pub records: usize,
}

/// The undo log with its scopes.
#[derive(Default)]
pub struct Undo {
    records: Vec<Kept>,
    marks: Vec<Mark>,
    /// The newest record of a key, by its hash and database, where there are more than a [`FEW`] records. Checked before
    /// use, so it may be out of date.
    index: HashMap<u64, u32, std::hash::BuildHasherDefault<SlotHasher>>,
    /// Records from here on were made under the names that keys have now.
    barrier: usize,
    bytes: usize,
    limit: usize,
    /// Clients whose watched keys changed since the outermost scope began.
    pub(super) broken: Vec<ClientId>,
}

/// Slots are made of hashes of keys: they are as good as random.
#[derive(Default, Clone, Copy)]
struct SlotHasher(u64);

impl std::hash::Hasher for SlotHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, slot: u64) {
        self.0 = slot;
    }
}

fn slot(db: usize, hash: u64) -> u64 {
    hash ^ (db as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Undo {
    /// True while a scope is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Number of open scopes.
    pub fn depth(&self) -> usize {
        self.marks.len()
    }

    /// Bytes that the log holds, nearly, old values included.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sets how many bytes the log may hold; 0 for no limit.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// True when the log holds more than it may: what runs is to be stopped and taken back.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.limit > 0 && self.bytes > self.limit
    }

    /// What the innermost scope knows of a key.
    #[inline]
    pub(super) fn state(&self, db: usize, hash: u64, key: &[u8]) -> State {
        let first = self.marks.last().map_or(0, |mark| mark.records).max(self.barrier);
        self.state_since(first, db, hash, key)
    }

    /// True when any open scope changed the key, or may have.
    pub(super) fn is_touched(&self, db: usize, hash: u64, key: &[u8]) -> bool {
        self.barrier > 0 || self.state_since(0, db, hash, key) != State::Unknown
    }

    #[inline]
    fn state_since(&self, first: usize, db: usize, hash: u64, key: &[u8]) -> State {
        let known = |at: usize, kept: &Kept| match kept.record {
            _ if kept.hash != hash || kept.db != db || *kept.key != *key => State::Unknown,
            Record::Absent | Record::Whole(..) | Record::Lent(_) => State::Full,
            Record::Large(..) => State::Large(at),
            Record::Deadline(_) => State::Deadline,
            _ => State::Unknown,
        };
        if self.records.len() <= FEW {
            let since = self.records.iter().enumerate().skip(first).rev();
            return since
                .map(|(at, kept)| known(at, kept))
                .find(|state| *state != State::Unknown)
                .unwrap_or(State::Unknown);
        }
        let Some(at) = self.index.get(&slot(db, hash)) else { return State::Unknown };
        let at = *at as usize;
        match self.records.get(at) {
            Some(kept) if at >= first => known(at, kept),
            _ => State::Unknown,
        }
    }

    /// Adds the record of a key.
    #[inline]
    pub(super) fn push(&mut self, db: usize, hash: u64, key: Bytes, record: Record) -> usize {
        let at = self.records.len();
        self.push_record(Kept { db, key, hash, record });
        if at >= FEW {
            self.note_in_index(at);
        }
        at
    }

    /// Enters a record into the index, and those before it when it is the first that needs one.
    #[cold]
    fn note_in_index(&mut self, at: usize) {
        let from = if at == FEW { 0 } else { at };
        for (at, kept) in self.records.iter().enumerate().skip(from) {
            // The other kinds carry no key, or one that has another name since.
            if !matches!(kept.record, Record::Moved { .. } | Record::Flushed(_) | Record::Swapped(_)) {
                self.index.insert(slot(kept.db, kept.hash), at as u32);
            }
        }
    }

    /// Adds a record after which keys have other names: what was known of them is not any more.
    pub(super) fn push_barrier(&mut self, db: usize, key: Bytes, record: Record) {
        self.push_record(Kept { db, key, hash: 0, record });
        self.barrier = self.records.len();
    }

    #[inline]
    fn push_record(&mut self, kept: Kept) {
        self.bytes += kept.bytes();
        self.records.push(kept);
    }

    /// The changes of a large value so far, to be given to the value.
    pub(super) fn lend(&mut self, at: usize) -> Option<Changes> {
        let changes = match &mut self.records[at].record {
            Record::Large(changes, _) => changes.take(),
            _ => None,
        }?;
        self.bytes -= changes.bytes();
        Some(changes)
    }

    /// Takes the changes of a large value back from the value.
    pub(super) fn put_back(&mut self, at: usize, taken: Changes) {
        if let Some(Kept { record: Record::Large(changes, _), .. }) = self.records.get_mut(at) {
            self.bytes += taken.bytes();
            *changes = Some(taken);
        }
    }

    /// The changes of a long string, to be noted in.
    pub(super) fn changes_mut(&mut self, at: usize) -> Option<&mut Changes> {
        match &mut self.records.get_mut(at)?.record {
            Record::Large(changes, _) => changes.as_mut(),
            _ => None,
        }
    }

    /// Counts bytes that were added to what [`Undo::changes_mut`] gave.
    pub(super) fn count(&mut self, at: usize, before: usize) {
        let after = self.changes_mut(at).map_or(0, |changes| changes.bytes());
        self.bytes = (self.bytes + after).saturating_sub(before);
    }

    /// The keys that the innermost scope changed, each once, in the order of their first change.
    pub(crate) fn touched_keys(&self) -> Vec<(usize, Bytes)> {
        let first = self.marks.last().map_or(0, |mark| mark.records);
        let mut seen = HashSet::new();
        let mut keys = Vec::new();
        for kept in self.records.get(first..).unwrap_or(&[]) {
            let mut names = vec![(kept.db, kept.key.clone())];
            match &kept.record {
                Record::Moved { to, name } => names.push((*to, name.clone())),
                Record::Flushed(_) | Record::Swapped(_) => continue,
                _ => {}
            }
            keys.extend(names.into_iter().filter(|name| seen.insert(name.clone())));
        }
        keys
    }

    /// Forgets everything but the records: no scope is open any more.
    #[inline]
    fn finish(&mut self) {
        self.broken.clear();
        if self.index.capacity() > ROOM {
            self.index = HashMap::default();
        } else if !self.index.is_empty() {
            self.index.clear();
        }
        (self.barrier, self.bytes) = (0, 0);
        if self.records.is_empty() && self.records.capacity() > ROOM {
            self.records = Vec::new();
        }
    }
}

impl Kept {
    #[inline]
    fn bytes(&self) -> usize {
        let held = match &self.record {
            Record::Whole(value, ..) => value.mem(),
            Record::Lent(lent) => lent.0.0.mem(),
            Record::Large(changes, _) => changes.as_ref().map_or(0, Changes::bytes),
            Record::Flushed(db) => db.used + db.dict.mem_bytes(),
            Record::Moved { name, .. } => name.heap_bytes(),
            Record::Absent | Record::Deadline(_) | Record::Swapped(_) => 0,
        };
        size_of::<Kept>() + self.key.heap_bytes() + held
    }
}

impl Keyspace {
    /// Opens a scope: what changes from now on can be taken back as a whole.
    pub fn open_scope(&mut self) {
        self.undo.marks.push(Mark {
            records: self.undo.records.len(),
            broken: self.undo.broken.len(),
            effects: self.effects.mark(),
            dirty: self.dirty,
            cur: self.cur,
        });
    }

    /// Ends the innermost scope; its changes stay, as far as the scopes around it are not taken back.
    pub fn commit_scope(&mut self) {
        self.undo.marks.pop();
        if self.undo.is_open() {
            return;
        }
        self.effects.end_scopes();
        let (mut tables, mut lent) = (Vec::new(), Vec::new());
        let Keyspace { undo, garbage, .. } = self;
        for kept in undo.records.drain(..) {
            match kept.record {
                Record::Whole(value, ..) => garbage.discard(value),
                Record::Lent(record) => lent.push((kept.key, kept.hash, *record)),
                Record::Flushed(mut db) => tables.push((db.dict.take(), db.volatile.take())),
                _ => {}
            }
        }
        if self.snapshot.is_some() || !tables.is_empty() {
            self.settle_snapshot(tables);
        }
        for (key, hash, ((value, expire, lru), lent)) in lent {
            self.settle_lent(lent, Entry { key, value, expire, lru, hash: hash as u32 });
        }
        self.undo.finish();
    }

    /// Takes back all that changed since the innermost scope began, and ends it. Deletions of keys past their deadline
    /// that the scope had not touched stay, with their effects.
    pub fn take_back(&mut self) -> TakenBack {
        let Some(mark) = self.undo.marks.pop() else { return TakenBack::default() };
        let records = self.undo.records.len() - mark.records;
        while self.undo.records.len() > mark.records {
            let Some(kept) = self.undo.records.pop() else { break };
            self.undo.bytes -= kept.bytes().min(self.undo.bytes);
            self.apply(kept);
        }
        self.undo.barrier = self.undo.barrier.min(mark.records);
        for client in self.undo.broken.drain(mark.broken..) {
            self.watch.mend(client);
        }
        self.effects.truncate(mark.effects);
        (self.dirty, self.cur) = (mark.dirty, mark.cur);
        if !self.undo.is_open() {
            self.effects.end_scopes();
            self.undo.finish();
        }
        TakenBack { records }
    }

    /// Makes a key, or a database, what a record says.
    fn apply(&mut self, kept: Kept) {
        let Kept { db, key, hash, record } = kept;
        match record {
            Record::Absent => {
                if let Some((value, ..)) = self.restore(db, &key, hash, None) {
                    self.discard(value);
                }
            }
            Record::Whole(value, expire, lru) => {
                if let Some((value, ..)) = self.restore(db, &key, hash, Some((value, expire, lru))) {
                    self.discard(value);
                }
            }
            Record::Lent(record) => {
                let (whole, lent) = *record;
                if let Some((value, ..)) = self.restore(db, &key, hash, Some(whole)) {
                    self.discard(value);
                }
                self.give_back_lent(lent, &key);
            }
            Record::Deadline(expire) => self.restore_deadline(db, &key, hash, expire),
            Record::Large(changes, expire) => {
                self.restore_deadline(db, &key, hash, expire);
                if let Some(changes) = changes {
                    self.restore_inside(db, &key, hash, changes);
                }
            }
            Record::Moved { to, name } => {
                let hash = self.dbs[to].dict.hash(&name);
                if let Some(moved) = self.restore(to, &name, hash, None) {
                    let hash = self.dbs[db].dict.hash(&key);
                    self.restore(db, &key, hash, Some(moved));
                }
            }
            Record::Flushed(was) => {
                let mut now = std::mem::replace(&mut self.dbs[db], *was);
                if !now.dict.is_empty() {
                    self.garbage.push_table(now.dict.take(), now.volatile.take());
                }
                self.show_to_snapshot(db);
            }
            Record::Swapped(other) => self.swap_tables(db, other),
        }
    }

    /// Gives a key another value, deadline and access mark, or removes it, with no effects; gives what it had. A key
    /// that is there keeps its access mark.
    fn restore(&mut self, db: usize, key: &[u8], hash: u64, to: Option<Whole>) -> Option<Whole> {
        let table = &mut self.dbs[db];
        let mut was = None;
        if let Some(pos) = table.dict.find(hash, key) {
            let entry = table.dict.remove(pos);
            table.used = table.used.saturating_sub(entry.heap());
            if entry.expire != NO_EXPIRY {
                table.volatile.remove(entry.hash);
            }
            if is_timed(&entry.value) {
                table.timed.note(key, false);
            }
            was = Some((entry.value, entry.expire, entry.lru));
        }
        if let Some((value, expire, lru)) = to {
            let lru = was.as_ref().map_or(lru, |(_, _, lru)| *lru);
            let entry = Entry { key: Bytes::from(key), value, expire, lru, hash: hash as u32 };
            table.used += entry.heap();
            if expire != NO_EXPIRY {
                table.volatile.add(hash as u32);
            }
            if is_timed(&entry.value) {
                table.timed.note(key, true);
            }
            table.dict.insert_new(hash, entry);
        }
        was
    }

    fn restore_deadline(&mut self, db: usize, key: &[u8], hash: u64, expire: i64) {
        let table = &mut self.dbs[db];
        let Some(pos) = table.dict.find(hash, key) else { return };
        let entry = table.dict.get_mut(pos);
        let was = std::mem::replace(&mut entry.expire, expire);
        let hash = entry.hash;
        match (was != NO_EXPIRY, expire != NO_EXPIRY) {
            (false, true) => table.volatile.add(hash),
            (true, false) => table.volatile.remove(hash),
            _ => {}
        }
    }

    fn restore_inside(&mut self, db: usize, key: &[u8], hash: u64, changes: Changes) {
        let table = &mut self.dbs[db];
        let Some(pos) = table.dict.find(hash, key) else { return };
        let entry = table.dict.get_mut(pos);
        let before = entry.heap();
        entry.value.undo(changes);
        table.used = (table.used + entry.heap()).saturating_sub(before);
        let timed = is_timed(&entry.value);
        table.timed.note(key, timed);
    }
}
