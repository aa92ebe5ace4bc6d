//! The hash value: field and value pairs, a listpack while it is small, a table when it has grown.

use super::hash_ttl::Deadlines;
use super::journal::Journal;
use super::rng::Rng;
use crate::keyspace::Keyspace;
use std::fmt;
use totality_ds::dict::Seed;
use totality_ds::{Bytes, Dict, Item, Keyed, Listpack};

/// When a hash stops being compact, and the secret of its table.
#[derive(Debug, Clone, Copy)]
pub struct HashCfg {
    /// Most fields of a listpack.
    pub entries: usize,
    /// Longest name or value of a listpack, in bytes.
    pub value: usize,
    /// Seed of the table.
    pub seed: Seed,
}

impl HashCfg {
    /// As the keyspace is configured.
    #[inline]
    pub fn of(ks: &Keyspace) -> Self {
        HashCfg {
            entries: ks.enc.hash_entries as usize,
            value: ks.enc.hash_value as usize,
            seed: Seed::new(ks.seed),
        }
    }
}

/// A field of a table.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: Bytes,
    /// Its value.
    pub value: Bytes,
}

impl Keyed for Field {
    #[inline]
    fn key(&self) -> &[u8] {
        &self.name
    }
}

impl Field {
    fn heap(&self) -> usize {
        self.name.heap_bytes() + self.value.heap_bytes()
    }
}

#[derive(Clone)]
struct Table {
    dict: Dict<Field>,
    /// Heap bytes of all names and values.
    heap: usize,
    /// There only while a field has a deadline.
    ttl: Option<Box<Deadlines>>,
    /// There while changes are to be taken back perhaps.
    journal: Option<Box<Journal<HashUndo>>>,
}

/// The inverse of a change of a table.
#[derive(Debug, Clone)]
pub enum HashUndo {
    /// The field was there, with this value and deadline.
    Put(Field, Option<i64>),
    /// There was no such field.
    Remove(Bytes),
    /// The field had this deadline.
    Deadline(Bytes, Option<i64>),
}

#[derive(Clone)]
enum Repr {
    Pack(Listpack),
    Table(Box<Table>),
}

/// A hash.
///
/// A field past its deadline stays until something deletes it, but nobody sees it: every look-up takes the time and
/// answers as if the field were absent. Only [`Hash::len`] counts it.
#[derive(Clone)]
pub struct Hash(Repr);

/// What a write does to the deadline of its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldTtl {
    /// The field has none afterwards.
    Clear,
    /// It keeps what it had.
    Keep,
    /// Milliseconds since the Unix epoch.
    At(i64),
}

/// What a write replaced. Of a compact hash nothing is told: it is small enough to be kept whole by an undo log.
#[derive(Debug, Clone, Default)]
pub struct Replaced {
    /// The old value.
    pub value: Option<Bytes>,
    /// The old deadline.
    pub deadline: Option<i64>,
}

/// What [`Hash::put`] did.
#[derive(Debug, Clone)]
pub enum Put {
    /// The field is new.
    Added,
    /// It was there.
    Updated(Replaced),
    /// It was there, past its deadline: new for everyone who looks.
    Revived(Replaced),
}

/// What [`Hash::set_deadline`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// There is no such field.
    NoField,
    /// The deadline before, if there was one.
    Was(Option<i64>),
}

impl Default for Hash {
    fn default() -> Self {
        Hash::new()
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({}, {} fields)", self.encoding(), self.len())
    }
}

impl Hash {
    /// An empty hash.
    pub fn new() -> Self {
        Hash(Repr::Pack(Listpack::new()))
    }

    /// An empty hash with room for `bytes` bytes of names and values.
    pub fn with_capacity(bytes: usize) -> Self {
        Hash(Repr::Pack(Listpack::with_capacity(bytes.min(1 << 16))))
    }

    /// Takes a listpack of names and values; a table is made of it when `cfg` asks for one. `None` when names or
    /// values are missing or a name is there twice.
    pub fn from_listpack(pack: Listpack, cfg: &HashCfg) -> Option<Self> {
        let len = pack.len();
        if !len.is_multiple_of(2) {
            return None;
        }
        let mut names = std::collections::HashSet::new();
        let mut fits = len / 2 <= cfg.entries;
        for (i, item) in pack.iter().enumerate() {
            let bytes = item.to_bytes();
            fits &= bytes.len() <= cfg.value;
            if i % 2 == 0 && !names.insert(bytes) {
                return None;
            }
        }
        let mut hash = Hash(Repr::Pack(pack));
        if !fits {
            hash.make_table(cfg);
        }
        Some(hash)
    }

    /// The listpack of a compact hash.
    pub fn as_listpack(&self) -> Option<&Listpack> {
        match &self.0 {
            Repr::Pack(pack) => Some(pack),
            Repr::Table(_) => None,
        }
    }

    /// Number of fields, those past their deadline included. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Pack(pack) => pack.len() / 2,
            Repr::Table(table) => table.dict.len(),
        }
    }

    /// Number of fields that can be seen at `now`.
    pub fn live_len(&self, now: i64) -> usize {
        match &self.0 {
            Repr::Table(table) => table.dict.len() - table.ttl.as_ref().map_or(0, |ttl| ttl.expired(now)),
            Repr::Pack(_) => self.len(),
        }
    }

    /// True without any field.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on the heap. O(1).
    #[inline]
    pub fn mem(&self) -> usize {
        match &self.0 {
            Repr::Pack(pack) => pack.heap_bytes(),
            Repr::Table(table) => {
                let ttl = table.ttl.as_ref().map_or(0, |ttl| ttl.mem());
                size_of::<Table>() + table.dict.mem_bytes() + table.heap + ttl
            }
        }
    }

    /// The same as [`Hash::mem`], counted again from scratch but for the deadlines.
    pub fn recount(&self) -> usize {
        match &self.0 {
            Repr::Table(table) => self.mem() - table.heap + table.dict.iter().map(Field::heap).sum::<usize>(),
            Repr::Pack(_) => self.mem(),
        }
    }

    /// Name of the encoding.
    pub fn encoding(&self) -> &'static str {
        match &self.0 {
            Repr::Pack(_) => "listpack",
            Repr::Table(_) => "hashtable",
        }
    }

    /// The value of a field.
    #[inline]
    pub fn get(&self, name: &[u8], now: i64) -> Option<Item<'_>> {
        match &self.0 {
            Repr::Pack(pack) => Some(pack.get(pack.next(pack.find(None, name, 1)?)?)),
            Repr::Table(table) => {
                let hash = table.dict.hash(name);
                let pos = table.dict.find(hash, name)?;
                if table.is_expired(hash, name, now) {
                    return None;
                }
                Some(Item::Str(&table.dict.get(pos).value))
            }
        }
    }

    /// True when the field is there.
    #[inline]
    pub fn contains(&self, name: &[u8], now: i64) -> bool {
        self.get(name, now).is_some()
    }

    /// Makes a table at once where the words (names and values) could not stay in a listpack.
    #[inline]
    pub fn prepare(&mut self, words: &[&[u8]], cfg: &HashCfg) {
        if let Repr::Pack(pack) = &self.0
            && (words.len() / 2 > cfg.entries
                || words.iter().any(|word| word.len() > cfg.value)
                || !pack.safe_to_add(words.iter().map(|word| word.len()).sum()))
        {
            self.make_table(cfg);
        }
    }

    /// Sets a field.
    pub fn put(&mut self, name: &[u8], value: &[u8], ttl: FieldTtl, now: i64, cfg: &HashCfg) -> Put {
        if let Repr::Pack(pack) = &mut self.0 {
            let fits = name.len() <= cfg.value
                && value.len() <= cfg.value
                && pack.safe_to_add(name.len() + value.len() + 32)
                && !matches!(ttl, FieldTtl::At(_));
            if fits {
                if let Some(pos) = pack.find(None, name, 1).and_then(|pos| pack.next(pos)) {
                    pack.replace(pos, value);
                    return Put::Updated(Replaced::default());
                }
                pack.push_back(name);
                pack.push_back(value);
                if pack.len() / 2 > cfg.entries {
                    self.make_table(cfg);
                }
                return Put::Added;
            }
        }
        self.make_table(cfg).put(name, value, ttl, now)
    }

    /// Removes a field and gives it, as far as it was not compact; `None` when it cannot be seen at `now`.
    pub fn remove(&mut self, name: &[u8], now: i64) -> Option<(Option<Field>, Option<i64>)> {
        match &mut self.0 {
            Repr::Pack(pack) => {
                let pos = pack.find(None, name, 1)?;
                pack.delete_from(pos, 2);
                Some((None, None))
            }
            Repr::Table(table) => {
                let hash = table.dict.hash(name);
                let pos = table.dict.find(hash, name)?;
                if table.is_expired(hash, name, now) {
                    return None;
                }
                let field = table.dict.remove(pos);
                table.heap -= field.heap();
                let deadline = table.set_deadline(hash, name, None);
                table.note_gone(&field, deadline);
                Some((Some(field), deadline))
            }
        }
    }

    /// All fields that can be seen at `now`, names and values: in the order of insertion while compact.
    pub fn iter(&self, now: i64) -> impl Iterator<Item = (Item<'_>, Item<'_>)> {
        let (pack, table) = match &self.0 {
            Repr::Pack(pack) => (Some(pack), None),
            Repr::Table(table) => (None, Some(table)),
        };
        let pairs = pack.map(|pack| Pairs(pack.iter())).into_iter().flatten();
        let fields = table.into_iter().flat_map(move |table| {
            table
                .dict
                .iter()
                .filter(move |field| table.ttl.is_none() || !table.has_expired(field, now))
                .map(|field| (Item::Str(&field.name), Item::Str(&field.value)))
        });
        pairs.chain(fields)
    }

    /// One step of a walk, as [`Dict::scan`]; a compact hash is given at once.
    pub fn scan<'a>(
        &'a self,
        cursor: u64,
        count: usize,
        now: i64,
        f: &mut impl FnMut(Item<'a>, Item<'a>),
    ) -> u64 {
        match &self.0 {
            Repr::Pack(pack) => {
                Pairs(pack.iter()).for_each(|(name, value)| f(name, value));
                0
            }
            Repr::Table(table) => table.dict.scan(cursor, count, &mut |field: &'a Field| {
                if table.ttl.is_none() || !table.has_expired(field, now) {
                    f(Item::Str(&field.name), Item::Str(&field.value));
                }
            }),
        }
    }

    /// The same with the fields' deadlines, those past it included: what is saved.
    pub fn scan_all<'a>(
        &'a self,
        cursor: u64,
        count: usize,
        f: &mut impl FnMut(Item<'a>, Item<'a>, Option<i64>),
    ) -> u64 {
        match &self.0 {
            Repr::Pack(pack) => {
                Pairs(pack.iter()).for_each(|(name, value)| f(name, value, None));
                0
            }
            Repr::Table(table) => table.dict.scan(cursor, count, &mut |field: &'a Field| {
                let at =
                    table.ttl.as_ref().and_then(|ttl| ttl.get(table.dict.hash(&field.name), &field.name));
                f(Item::Str(&field.name), Item::Str(&field.value), at);
            }),
        }
    }

    /// A random field that can be seen at `now`.
    pub fn random(&self, rng: &mut Rng, now: i64) -> Option<(Item<'_>, Item<'_>)> {
        match &self.0 {
            Repr::Pack(pack) => {
                let pos = pack.seek(2 * rng.below(self.len()) as i64)?;
                Some((pack.get(pos), pack.get(pack.next(pos)?)))
            }
            Repr::Table(table) => {
                for _ in 0..100 {
                    let field = table.dict.get(table.dict.random(rng.bits())?);
                    if table.ttl.is_none() || !table.has_expired(field, now) {
                        return Some((Item::Str(&field.name), Item::Str(&field.value)));
                    }
                }
                // Nearly all are past their deadline: look for those that are not.
                let live = self.live_len(now);
                self.iter(now).nth(rng.below(live))
            }
        }
    }

    /// Up to `count` different fields, chosen at random.
    pub fn random_distinct(&self, count: usize, rng: &mut Rng, now: i64) -> Vec<(Item<'_>, Item<'_>)> {
        let table = match &self.0 {
            Repr::Pack(_) => {
                let mut chosen = rng.choose(self.len(), count).peekable();
                return self
                    .iter(now)
                    .enumerate()
                    .filter(|(i, _)| chosen.next_if_eq(i).is_some())
                    .map(|(_, pair)| pair)
                    .collect();
            }
            Repr::Table(table) => table,
        };
        if table.ttl.is_some() || count.saturating_mul(3) > table.dict.len() {
            let mut all: Vec<_> = self.iter(now).collect();
            rng.shuffle_front(&mut all, count);
            all.truncate(count);
            return all;
        }
        // Few of many: draw, and draw again what was drawn before.
        let mut seen = std::collections::HashSet::with_capacity(count);
        let mut out = Vec::with_capacity(count);
        while out.len() < count
            && let Some(pos) = table.dict.random(rng.bits())
        {
            let field = table.dict.get(pos);
            if seen.insert(std::ptr::from_ref(field).addr()) {
                out.push((Item::Str(&field.name), Item::Str(&field.value)));
            }
        }
        out
    }

    /// True when a field has a deadline.
    #[inline]
    pub fn has_deadlines(&self) -> bool {
        matches!(&self.0, Repr::Table(table) if table.ttl.is_some())
    }

    /// Number of fields with a deadline.
    pub fn deadlines(&self) -> usize {
        match &self.0 {
            Repr::Table(table) => table.ttl.as_ref().map_or(0, |ttl| ttl.len()),
            Repr::Pack(_) => 0,
        }
    }

    /// The earliest deadline of a field.
    pub fn next_deadline(&self) -> Option<i64> {
        match &self.0 {
            Repr::Table(table) => table.ttl.as_ref()?.first(),
            Repr::Pack(_) => None,
        }
    }

    /// A field's deadline; `None` when the field cannot be seen at `now`, `Some(None)` when it has none.
    pub fn deadline(&self, name: &[u8], now: i64) -> Option<Option<i64>> {
        self.get(name, now)?;
        let Repr::Table(table) = &self.0 else { return Some(None) };
        Some(table.ttl.as_ref().and_then(|ttl| ttl.get(table.dict.hash(name), name)))
    }

    /// Sets or removes a field's deadline; a compact hash becomes a table when it gets its first.
    pub fn set_deadline(&mut self, name: &[u8], at: Option<i64>, now: i64, cfg: &HashCfg) -> Timing {
        if !self.contains(name, now) {
            return Timing::NoField;
        }
        if at.is_none() && !self.has_deadlines() {
            return Timing::Was(None);
        }
        let table = self.make_table(cfg);
        let hash = table.dict.hash(name);
        let old = table.set_deadline(hash, name, at);
        if let Some(journal) = &mut table.journal {
            let name = Bytes::from(name);
            let heap = name.heap_bytes();
            journal.note(HashUndo::Deadline(name, old), heap);
        }
        Timing::Was(old)
    }

    /// Gives a table a journal to note its changes in. A compact hash has no use for it.
    pub(crate) fn keep_changes(&mut self, journal: Box<Journal<HashUndo>>) {
        if let Repr::Table(table) = &mut self.0 {
            table.journal = Some(journal);
        }
    }

    /// Takes the journal away.
    pub(crate) fn take_journal(&mut self) -> Option<Box<Journal<HashUndo>>> {
        match &mut self.0 {
            Repr::Pack(_) => None,
            Repr::Table(table) => table.journal.take(),
        }
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, journal: Journal<HashUndo>) {
        let Repr::Table(table) = &mut self.0 else { return };
        for inverse in journal.into_inverses() {
            match inverse {
                HashUndo::Put(field, deadline) => {
                    let ttl = deadline.map_or(FieldTtl::Clear, FieldTtl::At);
                    table.put(&field.name, &field.value, ttl, i64::MIN);
                }
                HashUndo::Remove(name) => {
                    let hash = table.dict.hash(&name);
                    if let Some(pos) = table.dict.find(hash, &name) {
                        let field = table.dict.remove(pos);
                        table.heap -= field.heap();
                        table.set_deadline(hash, &name, None);
                    }
                }
                HashUndo::Deadline(name, deadline) => {
                    let hash = table.dict.hash(&name);
                    table.set_deadline(hash, &name, deadline);
                }
            }
        }
    }

    /// Removes up to `max` fields past their deadline and gives them.
    pub fn take_expired(&mut self, now: i64, max: usize) -> Vec<(Field, i64)> {
        let mut gone = Vec::new();
        let Repr::Table(table) = &mut self.0 else { return gone };
        while gone.len() < max
            && let Some(name) = table.ttl.as_ref().and_then(|ttl| ttl.due(now)).cloned()
        {
            let hash = table.dict.hash(&name);
            let at = table.set_deadline(hash, &name, None);
            let Some(pos) = table.dict.find(hash, &name) else { continue };
            let field = table.dict.remove(pos);
            table.heap -= field.heap();
            table.note_gone(&field, at);
            gone.push((field, at.unwrap_or(now)));
        }
        gone
    }

    /// Makes a table at once where so many fields are about to be loaded.
    pub(crate) fn reserve(&mut self, fields: usize, cfg: &HashCfg) {
        if fields > cfg.entries {
            self.make_table(cfg);
        }
    }

    fn make_table(&mut self, cfg: &HashCfg) -> &mut Table {
        if let Repr::Pack(pack) = &self.0 {
            let mut table = Table { dict: Dict::new(cfg.seed), heap: 0, ttl: None, journal: None };
            for (name, value) in Pairs(pack.iter()) {
                let field = Field { name: name.to_bytes(), value: value.to_bytes() };
                let hash = table.dict.hash(&field.name);
                table.heap += field.heap();
                table.dict.insert_new(hash, field);
            }
            self.0 = Repr::Table(Box::new(table));
        }
        match &mut self.0 {
            Repr::Table(table) => table,
            Repr::Pack(_) => unreachable!("made a table just now"),
        }
    }
}

impl Table {
    /// Notes that a field was there.
    #[inline]
    fn note_gone(&mut self, field: &Field, deadline: Option<i64>) {
        if let Some(journal) = &mut self.journal {
            journal.note(HashUndo::Put(field.clone(), deadline), field.heap());
        }
    }

    #[inline]
    fn is_expired(&self, hash: u64, name: &[u8], now: i64) -> bool {
        self.ttl.as_ref().is_some_and(|ttl| ttl.get(hash, name).is_some_and(|at| at <= now))
    }

    fn has_expired(&self, field: &Field, now: i64) -> bool {
        self.is_expired(self.dict.hash(&field.name), &field.name, now)
    }

    fn set_deadline(&mut self, hash: u64, name: &[u8], at: Option<i64>) -> Option<i64> {
        let old = match (&mut self.ttl, at) {
            (None, None) => return None,
            (ttl, _) => {
                ttl.get_or_insert_with(|| Box::new(Deadlines::new(self.dict.seed()))).set(hash, name, at)
            }
        };
        if self.ttl.as_ref().is_some_and(|ttl| ttl.is_empty()) {
            self.ttl = None;
        }
        old
    }

    fn put(&mut self, name: &[u8], value: &[u8], ttl: FieldTtl, now: i64) -> Put {
        let hash = self.dict.hash(name);
        let Some(pos) = self.dict.find(hash, name) else {
            let field = Field { name: Bytes::from(name), value: Bytes::from(value) };
            self.heap += field.heap();
            if let Some(journal) = &mut self.journal {
                journal.note(HashUndo::Remove(field.name.clone()), field.name.heap_bytes());
            }
            self.dict.insert_new(hash, field);
            if let FieldTtl::At(at) = ttl {
                self.set_deadline(hash, name, Some(at));
            }
            return Put::Added;
        };
        let field = self.dict.get_mut(pos);
        let old = std::mem::replace(&mut field.value, Bytes::from(value));
        self.heap = self.heap + field.value.heap_bytes() - old.heap_bytes();
        let expired = self.is_expired(hash, name, now);
        if self.journal.is_some() {
            let had = self.ttl.as_ref().and_then(|ttl| ttl.get(hash, name));
            self.note_gone(&Field { name: Bytes::from(name), value: old.clone() }, had);
        }
        let deadline = match ttl {
            FieldTtl::At(at) => self.set_deadline(hash, name, Some(at)),
            FieldTtl::Keep if !expired => None,
            FieldTtl::Clear | FieldTtl::Keep => self.set_deadline(hash, name, None),
        };
        let replaced = Replaced { value: Some(old), deadline };
        if expired { Put::Revived(replaced) } else { Put::Updated(replaced) }
    }
}

/// Elements two by two.
struct Pairs<'a>(totality_ds::listpack::Iter<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Item<'a>, Item<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
