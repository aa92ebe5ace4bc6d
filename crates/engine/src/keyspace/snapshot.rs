//! Snapshots without fork: the tables are walked in slices while commands go on, and what a command is about to change
//! before the walk came to it is written first. The result is the data set as it was at the beginning.
//!
//! The walk goes by the hash, so a hash and the walk's position say whether a key was passed. Keys that were written
//! early, and keys that are new, are remembered and left out later. Databases that are emptied or swapped meanwhile
//! are followed; a table that was emptied belongs to the snapshot until it is walked.
//!
//! A large value is written in pieces. One that goes (deleted, overwritten, past its deadline, evicted) before it is
//! written is handed over to the snapshot as it is. A client that wants to change one in place is made to wait until it is
//! written, and so is EXEC. A script that does so without having said it is taken back, and run again when it is written.
//! What else is about to change while a large value is half written is put aside until that is complete.

use super::volatile::Mark;
use super::{Entry, Keyspace, NO_EXPIRY};
use crate::dump::commands::write_key_piece;
use crate::dump::{Place, is_large, piece_of, value_version, write_key_head, write_piece, write_value};
use crate::propagate::render;
use std::collections::{HashSet, VecDeque};
use totality_ds::{Bytes, Dict};
use totality_rdb::{Writer, file};

/// Entries that are written between two looks at the clock, at most.
const STEP: usize = 256;
/// Bytes that are written between two looks at the clock, nearly.
const STEP_BYTES: usize = 64 * 1024;
/// Bytes that may wait to be taken before a step ends.
const ENOUGH: usize = 256 * 1024;
/// The end of a walk through a table.
const END: u64 = 1 << 32;

/// Where a database of the snapshot is now.
enum Source {
    /// The database of this number.
    Live(usize),
    /// It was emptied; this is what it held.
    Frozen(Dict<Entry>),
    /// It was emptied in a scope that is open.
    Hidden,
    /// It has been walked.
    Done,
}

struct Walked {
    source: Source,
    /// The smallest hash that was not passed.
    next: u64,
    /// Keys beyond that, which are not to be written: they have been, or they are new.
    skip: HashSet<Bytes>,
    keys: usize,
    expires: usize,
    begun: bool,
}

/// A large value that is half written.
struct Large {
    /// Which of the snapshot's databases it is in.
    at: usize,
    key: Bytes,
    place: Place,
    /// The entry, when the data set has it no longer.
    own: Option<Entry>,
    /// The undo log has it: see [`Lent`].
    lent: bool,
}

/// A large value that the snapshot has not got and the undo log holds, since it went in a scope: it belongs to the
/// snapshot when the scope's changes stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lent {
    /// Which snapshot.
    serial: u64,
    /// Which of its databases.
    at: usize,
}

/// A snapshot in the making.
pub struct Snapshot {
    /// No two are the same.
    serial: u64,
    w: Writer,
    form: Form,
    dbs: Vec<Walked>,
    /// Large values that are to be written before the walk goes on: database and key, the next one first.
    large: VecDeque<(usize, Bytes)>,
    /// Large values that the data set has no longer: database and entry.
    gone: VecDeque<(usize, Entry)>,
    writing: Option<Large>,
    /// Bytes of memory of what was written early or kept because of what commands changed.
    copied: u64,
    /// What is to be written when that large value is complete.
    aside: Vec<u8>,
    /// A client waits for one of them.
    awaited: bool,
    selected: Option<usize>,
    /// For each record of an emptied database in the undo log: which of the snapshot's databases it was.
    hidden: Vec<Option<usize>>,
    written: u64,
    /// Entries of the next step.
    step: usize,
    max_step: usize,
    /// Every step and piece is as small as possible, for tests.
    slow: bool,
    ended: bool,
}

/// What a snapshot is written as.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// A snapshot file.
    File {
        version: u16,
        /// Name of the `maxmemory-policy`.
        policy: &'static str,
    },
    /// The commands that make the data set.
    Commands,
}

/// How a snapshot is written.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotOptions {
    /// As the commands that make the data set. The other options do not matter then.
    pub commands: bool,
    /// The version of the format, where the data set fits it.
    pub version: u16,
    /// Longer strings are compressed.
    pub compress: bool,
    /// Name of the `maxmemory-policy`: whether idle times or counters are written.
    pub policy: &'static str,
    /// False: it holds no keys.
    pub data: bool,
}

impl Keyspace {
    /// Begins a snapshot of the data set as it is now. `head` writes what stands before the keys. No scope of the undo
    /// log may be open, and no other snapshot be in the making.
    pub fn begin_snapshot(&mut self, options: SnapshotOptions, head: impl FnOnce(&mut Writer)) {
        let mut w = Writer::new(options.compress);
        let timed = self.dbs.iter().any(|db| db.timed_hashes() > 0);
        // Only a hash with deadlines of fields needs another version than the one asked for.
        let version = if timed { timed_version(options.version) } else { options.version };
        let form = if options.commands {
            Form::Commands
        } else {
            file::head(&mut w, version);
            Form::File { version, policy: options.policy }
        };
        head(&mut w);
        let walked = |(i, db): (usize, &super::Db)| Walked {
            source: Source::Live(i),
            next: 0,
            skip: HashSet::new(),
            keys: db.len(),
            expires: db.expires(),
            begun: false,
        };
        let dbs = self.dbs.iter().enumerate().filter(|_| options.data).map(walked).collect();
        self.snapshots += 1;
        self.snapshot = Some(Box::new(Snapshot {
            serial: self.snapshots,
            w,
            form,
            dbs,
            large: VecDeque::new(),
            gone: VecDeque::new(),
            writing: None,
            copied: 0,
            aside: Vec::new(),
            awaited: false,
            selected: None,
            hidden: Vec::new(),
            written: 0,
            step: STEP,
            max_step: STEP,
            slow: false,
            ended: false,
        }));
    }

    /// True while a snapshot is in the making.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Gives up the snapshot.
    pub fn drop_snapshot(&mut self) {
        if let Some(snapshot) = self.snapshot.take() {
            self.snapshot_moved |= snapshot.awaited;
            let own = snapshot.writing.and_then(|large| large.own);
            for entry in snapshot.gone.into_iter().map(|(_, entry)| entry).chain(own) {
                self.discard(entry.value);
            }
            for walked in snapshot.dbs {
                if let Source::Frozen(table) = walked.source {
                    self.garbage.push_table(table, Dict::new(self.seed));
                }
            }
        }
    }

    /// Goes on with the snapshot until `out_of_time` says so, much waits to be taken, or it is complete. True when it
    /// is: then the last bytes, the end mark included, wait to be taken.
    pub fn snapshot_step(&mut self, out_of_time: &mut dyn FnMut() -> bool) -> bool {
        let Some(mut snapshot) = self.snapshot.take() else { return true };
        while !snapshot.ended && snapshot.w.out.len() < ENOUGH {
            if !snapshot.walk(self) {
                if let Form::File { .. } = snapshot.form {
                    file::end(&mut snapshot.w);
                }
                snapshot.ended = true;
            }
            if out_of_time() {
                break;
            }
        }
        let ended = snapshot.ended;
        self.snapshot = Some(snapshot);
        ended
    }

    /// Makes every step as small as possible, and takes every value that has pieces for a large one, for tests.
    pub fn slow_snapshot(&mut self) {
        if let Some(snapshot) = &mut self.snapshot {
            (snapshot.step, snapshot.max_step, snapshot.slow) = (1, 1, true);
        }
    }

    /// Takes the bytes that were made since the last call.
    pub fn take_snapshot_bytes(&mut self) -> Vec<u8> {
        self.snapshot.as_mut().map_or_else(Vec::new, |s| std::mem::take(&mut s.w.out))
    }

    /// Keys of the snapshot that were written so far, and all of them.
    pub fn snapshot_progress(&self) -> (u64, u64) {
        let all = |s: &Snapshot| s.dbs.iter().map(|db| db.keys as u64).sum();
        self.snapshot.as_ref().map_or((0, 0), |s| (s.written, all(s)))
    }

    /// Bytes of memory of what was written early or kept because of what commands changed since the snapshot began.
    pub fn snapshot_copied(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |s| s.copied)
    }

    /// True when a client has to wait before it changes this key: its value is large and not yet written. It is the next
    /// to be written then.
    pub(crate) fn awaits_snapshot(&mut self, key: &[u8]) -> bool {
        let Some(mut snapshot) = self.snapshot.take() else { return false };
        let waits = snapshot.awaits(self, self.cur, key);
        self.snapshot = Some(snapshot);
        waits
    }

    /// True while a client waits for a large value to be written.
    pub fn snapshot_is_awaited(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| snapshot.awaited)
    }

    /// True once after large values were written that clients waited for.
    pub fn take_snapshot_moved(&mut self) -> bool {
        std::mem::take(&mut self.snapshot_moved)
    }

    /// A key of a database may be about to change: writes what it is, unless the walk has passed it. True when its value is
    /// large: then, before it changes, [`Keyspace::write_for_snapshot`] is to be called, or, when it goes,
    /// [`Keyspace::give_to_snapshot`].
    #[cold]
    pub(super) fn keep_for_snapshot(&mut self, db: usize, hash: u64, key: &[u8]) -> bool {
        let Some(mut snapshot) = self.snapshot.take() else { return false };
        let owed = snapshot.keep(self, db, hash, key);
        self.snapshot = Some(snapshot);
        owed
    }

    /// A large value is about to change: the run that does so is put off, or else the value is written at once.
    #[cold]
    pub(super) fn write_for_snapshot(&mut self, db: usize, hash: u64, key: &[u8]) {
        if self.put_off {
            return;
        }
        if self.may_put_off && self.undo.is_open() {
            let cur = std::mem::replace(&mut self.cur, db);
            self.put_off = self.awaits_snapshot(key);
            self.cur = cur;
            if self.put_off {
                return;
            }
        }
        let Some(mut snapshot) = self.snapshot.take() else { return };
        snapshot.write_owed(self, db, hash, key);
        self.snapshot = Some(snapshot);
    }

    /// Hands over a large value that was taken out of its table.
    #[cold]
    pub(super) fn give_to_snapshot(&mut self, db: usize, entry: Entry) {
        let refused = match &mut self.snapshot {
            Some(snapshot) => snapshot.adopt(db, entry),
            None => Some(entry),
        };
        if let Some(entry) = refused {
            self.discard(entry.value);
        }
    }

    /// A large value that the snapshot has not got was taken out of its table in a scope, and may come back.
    #[cold]
    pub(super) fn lend_to_undo(&mut self, db: usize, key: &[u8]) -> Option<Lent> {
        self.snapshot.as_mut().and_then(|snapshot| snapshot.lend(db, key))
    }

    /// What went in a scope is gone for good.
    pub(super) fn settle_lent(&mut self, lent: Lent, entry: Entry) {
        match &mut self.snapshot {
            Some(snapshot) if snapshot.serial == lent.serial => snapshot.take_lent(lent.at, entry),
            _ => self.discard(entry.value),
        }
    }

    /// What went in a scope is there again.
    pub(super) fn give_back_lent(&mut self, lent: Lent, key: &[u8]) {
        if let Some(snapshot) = self.snapshot.as_mut().filter(|snapshot| snapshot.serial == lent.serial) {
            snapshot.lent_is_back(lent.at, key);
        }
    }

    /// A database's table is put aside; the snapshot takes it if it still needs it.
    pub(super) fn freeze_for_snapshot(&mut self, db: usize, table: Dict<Entry>) -> Option<Dict<Entry>> {
        let Some(walked) = self.snapshot.as_mut().and_then(|s| s.live(db)) else { return Some(table) };
        walked.source = Source::Frozen(table);
        None
    }

    /// A database is emptied in a scope that may be taken back.
    pub(super) fn hide_from_snapshot(&mut self, db: usize) {
        let Some(snapshot) = &mut self.snapshot else { return };
        let at = snapshot.dbs.iter().position(|walked| matches!(walked.source, Source::Live(i) if i == db));
        if let Some(at) = at {
            snapshot.dbs[at].source = Source::Hidden;
        }
        snapshot.hidden.push(at);
    }

    /// That emptying is taken back.
    pub(super) fn show_to_snapshot(&mut self, db: usize) {
        let Some(snapshot) = &mut self.snapshot else { return };
        if let Some(Some(at)) = snapshot.hidden.pop() {
            snapshot.dbs[at].source = Source::Live(db);
        }
    }

    /// Those emptyings stand; `tables` are what the databases held, in their order. Gives those that nobody needs.
    pub(super) fn settle_snapshot(&mut self, tables: Vec<(Dict<Entry>, Dict<Mark>)>) {
        let mut hidden = self.snapshot.as_mut().map(|s| std::mem::take(&mut s.hidden)).unwrap_or_default();
        hidden.resize(tables.len(), None);
        for ((table, marks), at) in tables.into_iter().zip(hidden) {
            match (at, &mut self.snapshot) {
                (Some(at), Some(snapshot)) => {
                    snapshot.dbs[at].source = Source::Frozen(table);
                    self.garbage.push_marks(marks);
                }
                _ => self.garbage.push_table(table, marks),
            }
        }
    }

    /// Two databases were exchanged.
    pub(super) fn swap_for_snapshot(&mut self, a: usize, b: usize) {
        for walked in self.snapshot.iter_mut().flat_map(|s| &mut s.dbs) {
            if let Source::Live(db) = &mut walked.source {
                *db = if *db == a {
                    b
                } else if *db == b {
                    a
                } else {
                    *db
                };
            }
        }
    }
}

/// The version that a data set with deadlines of fields needs.
fn timed_version(wanted: u16) -> u16 {
    if wanted < totality_rdb::VERSION_REDIS_8 { totality_rdb::VERSION_VALKEY_9 } else { wanted }
}

impl Snapshot {
    fn live(&mut self, db: usize) -> Option<&mut Walked> {
        self.dbs.iter_mut().find(|walked| matches!(walked.source, Source::Live(i) if i == db))
    }

    fn select(&mut self, db: usize) {
        if self.selected != Some(db) {
            self.selected = Some(db);
            let Walked { keys, expires, begun, .. } = &mut self.dbs[db];
            match self.form {
                Form::File { .. } => {
                    file::select(&mut self.w, db, (!*begun).then_some((*keys, *expires)));
                }
                Form::Commands => render(&[&b"SELECT"[..], db.to_string().as_bytes()], &mut self.w.out),
            }
            *begun = true;
        }
    }

    /// Writes a little more; false at the end.
    fn walk(&mut self, ks: &mut Keyspace) -> bool {
        if self.writing.is_none() {
            self.begin_large();
        }
        if self.writing.is_some() {
            self.go_on_with_large(ks);
            return true;
        }
        let Some(db) = self.dbs.iter().position(|walked| !matches!(walked.source, Source::Done)) else {
            return false;
        };
        if self.dbs[db].next == END {
            self.close(ks, db);
            return true;
        }
        if self.dbs[db].keys > 0 {
            self.select(db);
        }
        let walked = &mut self.dbs[db];
        let table = match &walked.source {
            Source::Live(i) => &ks.dbs[*i].dict,
            Source::Frozen(table) => table,
            // Steps come between units, so no scope is open.
            Source::Hidden | Source::Done => return true,
        };
        let (w, form, large, slow) = (&mut self.w, self.form, &mut self.large, self.slow);
        let before = w.out.len();
        let mut written = 0;
        let next = table.scan(walked.next, self.step, &mut |entry: &Entry| {
            if !walked.skip.is_empty() && walked.skip.remove(&entry.key) {
                return;
            }
            if is_large(&entry.value, slow) {
                large.push_back((db, entry.key.clone()));
            } else {
                write_key(w, ks, entry, form);
                written += 1;
            }
        });
        self.written += written;
        // Entries are as large as those before them, mostly.
        let bytes = w.out.len() - before;
        self.step =
            if bytes > STEP_BYTES { (self.step / 4).max(1) } else { (self.step * 2).min(self.max_step) };
        walked.next = if next == 0 { END } else { next };
        true
    }

    /// Chooses the next large value. What is only kept for the snapshot goes first, but for what a client waits for.
    fn begin_large(&mut self) {
        let gone = if self.awaited { None } else { self.gone.pop_front() };
        let large = match gone {
            Some(gone) => Some(gone),
            None => match self.large.pop_front() {
                Some((at, key)) => {
                    self.writing = Some(Large { at, key, place: Place::Start, own: None, lent: false });
                    return self.select(at);
                }
                None => self.gone.pop_front(),
            },
        };
        if let Some((at, entry)) = large {
            let (key, place) = (entry.key.clone(), Place::Start);
            self.writing = Some(Large { at, key, place, own: Some(entry), lent: false });
            self.select(at);
        }
    }

    /// A database is written.
    fn close(&mut self, ks: &mut Keyspace, db: usize) {
        let walked = &mut self.dbs[db];
        walked.skip = HashSet::new();
        if let Source::Frozen(table) = std::mem::replace(&mut walked.source, Source::Done) {
            ks.garbage.push_table(table, Dict::new(ks.seed));
        }
    }

    /// The entry of a key of the snapshot, where it is now.
    fn entry<'k>(dbs: &'k [Walked], ks: &'k Keyspace, at: usize, key: &[u8]) -> Option<&'k Entry> {
        let table = match &dbs[at].source {
            Source::Live(i) => &ks.dbs[*i].dict,
            Source::Frozen(table) => table,
            Source::Hidden | Source::Done => return None,
        };
        table.find_key(key).map(|pos| table.get(pos))
    }

    /// Writes the next piece of the large value in progress.
    fn go_on_with_large(&mut self, ks: &mut Keyspace) {
        let Some(Large { at, key, place, own, .. }) = &mut self.writing else { return };
        let entry = match own {
            Some(entry) => Some(&*entry),
            None => Self::entry(&self.dbs, ks, *at, key),
        };
        debug_assert!(entry.is_some(), "a large value is gone before it was written");
        if let Some(entry) = entry {
            if *place == Place::Start
                && let Form::File { version, policy } = self.form
            {
                write_key_head(&mut self.w, ks, entry, version, policy);
            }
            let count = if self.slow { 1 } else { piece_of(&entry.value) };
            *place = match self.form {
                Form::File { version, .. } => write_piece(&mut self.w, &entry.value, version, *place, count),
                Form::Commands => write_key_piece(&mut self.w.out, entry, *place, count),
            };
            if *place != Place::End {
                return;
            }
        }
        if let Some(Large { own: Some(entry), .. }) = self.writing.take() {
            ks.discard(entry.value);
        }
        self.written += 1;
        self.w.out.append(&mut self.aside);
        ks.snapshot_moved |= std::mem::take(&mut self.awaited);
    }

    fn awaits(&mut self, ks: &Keyspace, db: usize, key: &[u8]) -> bool {
        let Some(at) = self.dbs.iter().position(|w| matches!(w.source, Source::Live(i) if i == db)) else {
            return false;
        };
        if !self.is_writing(at, key) {
            if let Some(n) = self.queued(at, key) {
                self.large.swap(0, n);
            } else {
                let (hash, walked) = (ks.dbs[db].dict.hash(key), &mut self.dbs[at]);
                if u64::from(hash as u32) < walked.next || walked.skip.contains(key) {
                    return false;
                }
                let table = &ks.dbs[db].dict;
                let Some(entry) = table.find(hash, key).map(|pos| table.get(pos)) else { return false };
                if !is_large(&entry.value, self.slow) {
                    return false;
                }
                walked.skip.insert(entry.key.clone());
                self.large.push_front((at, entry.key.clone()));
            }
        }
        self.awaited = true;
        true
    }

    fn is_writing(&self, at: usize, key: &[u8]) -> bool {
        let here = |large: &Large| large.at == at && large.own.is_none() && !large.lent && *large.key == *key;
        self.writing.as_ref().is_some_and(here)
    }

    fn queued(&self, at: usize, key: &[u8]) -> Option<usize> {
        self.large.iter().position(|(db, name)| *db == at && **name == *key)
    }

    /// See [`Keyspace::keep_for_snapshot`].
    fn keep(&mut self, ks: &Keyspace, db: usize, hash: u64, key: &[u8]) -> bool {
        let Some(at) = self.dbs.iter().position(|w| matches!(w.source, Source::Live(i) if i == db)) else {
            return false;
        };
        // Only what is large is queued, or written in pieces.
        if self.is_writing(at, key) || self.queued(at, key).is_some() {
            return true;
        }
        let walked = &mut self.dbs[at];
        if u64::from(hash as u32) < walked.next || walked.skip.contains(key) {
            return false;
        }
        let table = &ks.dbs[db].dict;
        let entry = table.find(hash, key).map(|pos| table.get(pos));
        if entry.is_some_and(|entry| is_large(&entry.value, self.slow)) {
            return true;
        }
        walked.skip.insert(Bytes::from(key));
        if let Some(entry) = entry {
            self.write_early(ks, at, entry);
        }
        false
    }

    /// Writes a key out of turn.
    fn write_early(&mut self, ks: &Keyspace, at: usize, entry: &Entry) {
        // It must not come between the pieces of another.
        let apart = self.writing.is_some();
        if apart {
            std::mem::swap(&mut self.w.out, &mut self.aside);
        }
        self.select(at);
        write_key(&mut self.w, ks, entry, self.form);
        self.copied += (size_of::<Entry>() + entry.heap()) as u64;
        if apart {
            std::mem::swap(&mut self.w.out, &mut self.aside);
        }
        self.written += 1;
    }

    /// Writes a large value that [`Snapshot::keep`] left to its caller, now.
    fn write_owed(&mut self, ks: &mut Keyspace, db: usize, hash: u64, key: &[u8]) {
        let Some(at) = self.dbs.iter().position(|w| matches!(w.source, Source::Live(i) if i == db)) else {
            return;
        };
        ks.snapshot_held_up = true;
        if self.is_writing(at, key) {
            while self.writing.is_some() {
                self.go_on_with_large(ks);
            }
            return;
        }
        self.leave_out(at, key);
        let table = &ks.dbs[db].dict;
        if let Some(entry) = table.find(hash, key).map(|pos| table.get(pos)) {
            self.write_early(ks, at, entry);
        }
    }

    /// The walk is not to write this key.
    fn leave_out(&mut self, at: usize, key: &[u8]) {
        match self.queued(at, key) {
            Some(n) => drop(self.large.remove(n)),
            None => drop(self.dbs[at].skip.insert(Bytes::from(key))),
        }
    }

    fn lend(&mut self, db: usize, key: &[u8]) -> Option<Lent> {
        let at = self.dbs.iter().position(|w| matches!(w.source, Source::Live(i) if i == db))?;
        if self.is_writing(at, key) {
            self.writing.iter_mut().for_each(|writing| writing.lent = true);
        } else {
            self.leave_out(at, key);
        }
        Some(Lent { serial: self.serial, at })
    }

    /// The value that is half written, if the undo log has it and it is this one.
    fn lent_half(&mut self, at: usize, key: &[u8]) -> Option<&mut Large> {
        self.writing.as_mut().filter(|large| large.lent && large.at == at && *large.key == *key)
    }

    fn take_lent(&mut self, at: usize, entry: Entry) {
        self.copied += (size_of::<Entry>() + entry.heap()) as u64;
        match self.lent_half(at, &entry.key) {
            Some(writing) => (writing.own, writing.lent) = (Some(entry), false),
            None => self.gone.push_back((at, entry)),
        }
    }

    fn lent_is_back(&mut self, at: usize, key: &[u8]) {
        match self.lent_half(at, key) {
            Some(writing) => writing.lent = false,
            None => self.large.push_front((at, Bytes::from(key))),
        }
    }

    /// Takes a large value that is in its table no longer; gives it back when it does not want it.
    fn adopt(&mut self, db: usize, entry: Entry) -> Option<Entry> {
        let Some(at) = self.dbs.iter().position(|w| matches!(w.source, Source::Live(i) if i == db)) else {
            return Some(entry);
        };
        self.copied += (size_of::<Entry>() + entry.heap()) as u64;
        if self.is_writing(at, &entry.key) {
            if let Some(writing) = &mut self.writing {
                writing.own = Some(entry);
            }
            return None;
        }
        self.leave_out(at, &entry.key);
        self.gone.push_back((at, entry));
        None
    }
}

/// Writes a key at once.
fn write_key(w: &mut Writer, ks: &Keyspace, entry: &Entry, form: Form) {
    match form {
        Form::File { version, policy } => {
            debug_assert!(value_version(&entry.value, version) == version);
            write_key_head(w, ks, entry, version, policy);
            write_value(w, &entry.value, version);
        }
        Form::Commands => {
            let mut place = Place::Start;
            while place != Place::End {
                place = write_key_piece(&mut w.out, entry, place, usize::MAX);
            }
        }
    }
}

impl Keyspace {
    /// Adds a key that is loaded; false when it is there already and `replace` does not allow that.
    pub fn load_entry(
        &mut self,
        db: usize,
        key: Bytes,
        value: crate::value::Value,
        expire: Option<i64>,
        access: Option<u32>,
        replace: bool,
    ) -> bool {
        let hash = self.dbs[db].dict.hash(&key);
        if let Some(pos) = self.dbs[db].dict.find(hash, &key) {
            if !replace {
                return false;
            }
            self.drop_at(db, pos);
        }
        let expire = expire.map_or(NO_EXPIRY, |at| if at == NO_EXPIRY { 1 } else { at });
        let lru = access.unwrap_or_else(|| self.access_new());
        self.in_use = self.in_use.max(db + 1);
        let entry = Entry { key, value, expire, lru, hash: hash as u32 };
        let table = &mut self.dbs[db];
        table.used += entry.heap();
        if expire != NO_EXPIRY {
            table.volatile.add(hash as u32);
        }
        if super::fields::is_timed(&entry.value) {
            table.timed.note(&entry.key, true);
        }
        table.dict.insert_new(hash, entry);
        true
    }
}
