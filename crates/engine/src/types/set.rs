//! The set value: sorted integers, a listpack while it is small, a table when it has grown.

use super::journal::Journal;
use super::rng::Rng;
use crate::keyspace::Keyspace;
use crate::util::parse_i64;
use std::collections::HashSet;
use std::fmt;
use totality_ds::dict::Seed;
use totality_ds::{Bytes, Dict, IntSet, Item, Listpack};

/// When a set changes its encoding, and the secret of its table.
#[derive(Debug, Clone, Copy)]
pub struct SetCfg {
    /// Most members of an intset.
    pub ints: usize,
    /// Most members of a listpack.
    pub entries: usize,
    /// Longest member of a listpack, in bytes.
    pub value: usize,
    /// Seed of the table.
    pub seed: Seed,
}

impl SetCfg {
    /// As the keyspace is configured.
    #[inline]
    pub fn of(ks: &Keyspace) -> Self {
        SetCfg {
            // An intset counts in 32 bits; Redis stops at a quarter of that.
            ints: (ks.enc.set_intset as usize).min(1 << 30),
            entries: ks.enc.set_entries as usize,
            value: ks.enc.set_value as usize,
            seed: Seed::new(ks.seed),
        }
    }
}

#[derive(Clone)]
struct Table {
    dict: Dict<Bytes>,
    /// Heap bytes of all members.
    heap: usize,
    /// There while changes are to be taken back perhaps.
    journal: Option<Box<Journal<SetUndo>>>,
}

/// The inverse of a change of a table.
#[derive(Debug, Clone)]
pub enum SetUndo {
    /// The member was there.
    Add(Bytes),
    /// The member was not there.
    Remove(Bytes),
}

impl Table {
    #[inline]
    fn add(&mut self, member: &[u8]) -> bool {
        let hash = self.dict.hash(member);
        if self.dict.find(hash, member).is_some() {
            return false;
        }
        let member = Bytes::from(member);
        self.heap += member.heap_bytes();
        if let Some(journal) = &mut self.journal {
            journal.note(SetUndo::Remove(member.clone()), member.heap_bytes());
        }
        self.dict.insert_new(hash, member);
        true
    }

    #[inline]
    fn remove(&mut self, member: &[u8]) -> bool {
        let Some(gone) = self.dict.remove_key(member) else { return false };
        self.heap -= gone.heap_bytes();
        self.note_gone(&gone);
        true
    }

    /// Notes that a member was there.
    #[inline]
    fn note_gone(&mut self, member: &Bytes) {
        if let Some(journal) = &mut self.journal {
            journal.note(SetUndo::Add(member.clone()), member.heap_bytes());
        }
    }
}

#[derive(Clone)]
enum Repr {
    Ints(IntSet),
    Pack(Listpack),
    Table(Box<Table>),
}

/// A set. What a change displaces is the member that the caller named, so nothing is given back.
#[derive(Clone)]
pub struct Set(Repr);

impl Default for Set {
    fn default() -> Self {
        Set(Repr::Ints(IntSet::new()))
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Set({}, {} members)", self.encoding(), self.len())
    }
}

impl Set {
    /// An empty set in the encoding that fits its first member and the number of members to come.
    pub fn for_member(member: &[u8], hint: usize, cfg: &SetCfg) -> Self {
        if hint <= cfg.ints && parse_i64(member).is_some() {
            Set(Repr::Ints(IntSet::new()))
        } else if hint <= cfg.entries {
            Set(Repr::Pack(Listpack::with_capacity(9 + member.len())))
        } else {
            Set::table(cfg)
        }
    }

    /// An empty intset.
    pub fn ints() -> Self {
        Set::default()
    }

    /// An empty listpack.
    pub fn pack() -> Self {
        Set(Repr::Pack(Listpack::new()))
    }

    /// An empty table.
    pub fn table(cfg: &SetCfg) -> Self {
        Set(Repr::Table(Box::new(Table { dict: Dict::new(cfg.seed), heap: 0, journal: None })))
    }

    /// Takes an intset; a table is made of it when `cfg` asks for one.
    pub fn from_intset(ints: IntSet, cfg: &SetCfg) -> Self {
        let mut set = Set(Repr::Ints(ints));
        set.limit_ints(cfg);
        set
    }

    /// Takes a listpack of members; a table is made of it when `cfg` asks for one. `None` when a member is there twice.
    pub fn from_listpack(pack: Listpack, cfg: &SetCfg) -> Option<Self> {
        let mut members = HashSet::new();
        let mut fits = pack.len() <= cfg.entries;
        for item in &pack {
            let bytes = item.to_bytes();
            fits &= bytes.len() <= cfg.value;
            if !members.insert(bytes) {
                return None;
            }
        }
        let mut set = Set(Repr::Pack(pack));
        if !fits {
            set.make_table(cfg);
        }
        Some(set)
    }

    /// The intset of a set that is one.
    pub fn as_intset(&self) -> Option<&IntSet> {
        match &self.0 {
            Repr::Ints(ints) => Some(ints),
            _ => None,
        }
    }

    /// The listpack of a set that is one.
    pub fn as_listpack(&self) -> Option<&Listpack> {
        match &self.0 {
            Repr::Pack(pack) => Some(pack),
            _ => None,
        }
    }

    /// True for the encoding that grows without limit.
    pub fn is_table(&self) -> bool {
        matches!(self.0, Repr::Table(_))
    }

    /// Number of members. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Ints(ints) => ints.len(),
            Repr::Pack(pack) => pack.len(),
            Repr::Table(table) => table.dict.len(),
        }
    }

    /// True without any member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on the heap. O(1).
    #[inline]
    pub fn mem(&self) -> usize {
        match &self.0 {
            Repr::Ints(ints) => ints.heap_bytes(),
            Repr::Pack(pack) => pack.heap_bytes(),
            Repr::Table(table) => size_of::<Table>() + table.dict.mem_bytes() + table.heap,
        }
    }

    /// The same as [`Set::mem`], counted again from scratch.
    pub fn recount(&self) -> usize {
        match &self.0 {
            Repr::Table(table) => {
                size_of::<Table>()
                    + table.dict.mem_bytes()
                    + table.dict.iter().map(Bytes::heap_bytes).sum::<usize>()
            }
            _ => self.mem(),
        }
    }

    /// Name of the encoding.
    pub fn encoding(&self) -> &'static str {
        match &self.0 {
            Repr::Ints(_) => "intset",
            Repr::Pack(_) => "listpack",
            Repr::Table(_) => "hashtable",
        }
    }

    /// True when `member` is in the set.
    #[inline]
    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.0 {
            Repr::Ints(ints) => parse_i64(member).is_some_and(|n| ints.contains(n)),
            Repr::Pack(pack) => pack.find(None, member, 0).is_some(),
            Repr::Table(table) => table.dict.get_key(member).is_some(),
        }
    }

    /// The same for a member of another set.
    #[inline]
    pub fn contains_item(&self, member: Item<'_>) -> bool {
        match (&self.0, member) {
            (Repr::Ints(ints), Item::Int(n)) => ints.contains(n),
            _ => member.with_bytes(|bytes| self.contains(bytes)),
        }
    }

    /// Makes a table at once where that many members are about to be added.
    pub fn prepare(&mut self, hint: usize, cfg: &SetCfg) {
        let limit = match &self.0 {
            Repr::Ints(_) => cfg.ints,
            Repr::Pack(_) => cfg.entries,
            Repr::Table(_) => return,
        };
        if hint > limit {
            self.make_table(cfg);
        }
    }

    /// Adds a member; false when it was there.
    pub fn add(&mut self, member: &[u8], cfg: &SetCfg) -> bool {
        match &mut self.0 {
            Repr::Table(table) => table.add(member),
            Repr::Pack(pack) => {
                if pack.find(None, member, 0).is_some() {
                    return false;
                }
                if pack.len() < cfg.entries
                    && member.len() <= cfg.value
                    && pack.safe_to_add(member.len() + 16)
                {
                    pack.push_back(member);
                    return true;
                }
                self.make_table(cfg).add(member)
            }
            Repr::Ints(ints) => {
                if let Some(n) = parse_i64(member) {
                    let added = ints.insert(n);
                    if added {
                        self.limit_ints(cfg);
                    }
                    return added;
                }
                let widest = |n: Option<i64>| n.map_or(0, |n| Item::Int(n).byte_len());
                let longest = widest(ints.get(0)).max(widest(ints.get(ints.len().wrapping_sub(1))));
                if ints.len() < cfg.entries && member.len() <= cfg.value && longest <= cfg.value {
                    self.make_pack(member.len() + 9).push_back(member);
                    return true;
                }
                self.make_table(cfg).add(member)
            }
        }
    }

    /// Adds a member of another set.
    pub fn add_item(&mut self, member: Item<'_>, cfg: &SetCfg) -> bool {
        if let (Repr::Ints(ints), Item::Int(n)) = (&mut self.0, member) {
            let added = ints.insert(n);
            if added {
                self.limit_ints(cfg);
            }
            return added;
        }
        member.with_bytes(|bytes| self.add(bytes, cfg))
    }

    /// Removes a member; false when it was not there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.0 {
            Repr::Ints(ints) => parse_i64(member).is_some_and(|n| ints.remove(n)),
            Repr::Pack(pack) => match pack.find(None, member, 0) {
                None => false,
                Some(pos) => {
                    pack.delete(pos);
                    true
                }
            },
            Repr::Table(table) => table.remove(member),
        }
    }

    /// Removes a member of another set.
    pub fn remove_item(&mut self, member: Item<'_>) -> bool {
        match (&mut self.0, member) {
            (Repr::Ints(ints), Item::Int(n)) => ints.remove(n),
            _ => member.with_bytes(|bytes| self.remove(bytes)),
        }
    }

    /// All members: ascending in an intset, in the order of insertion in a listpack.
    pub fn iter(&self) -> impl Iterator<Item = Item<'_>> {
        let (ints, pack, table) = match &self.0 {
            Repr::Ints(ints) => (Some(ints), None, None),
            Repr::Pack(pack) => (None, Some(pack), None),
            Repr::Table(table) => (None, None, Some(table)),
        };
        let ints = ints.into_iter().flat_map(|ints| ints.iter().map(Item::Int));
        let pack = pack.into_iter().flat_map(Listpack::iter);
        let table = table.into_iter().flat_map(|table| table.dict.iter().map(|member| Item::Str(member)));
        ints.chain(pack).chain(table)
    }

    /// One step of a walk, as [`Dict::scan`]; small encodings are given at once.
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, f: &mut impl FnMut(Item<'a>)) -> u64 {
        match &self.0 {
            Repr::Table(table) => {
                table.dict.scan(cursor, count, &mut |member: &'a Bytes| f(Item::Str(member)))
            }
            _ => {
                self.iter().for_each(f);
                0
            }
        }
    }

    /// A random member; `None` when there is none.
    pub fn random(&self, rng: &mut Rng) -> Option<Item<'_>> {
        match &self.0 {
            Repr::Ints(ints) => ints.get(rng.below(ints.len())).map(Item::Int),
            Repr::Pack(pack) => Some(pack.get(pack.seek(rng.below(pack.len()) as i64)?)),
            Repr::Table(table) => Some(Item::Str(table.dict.get(table.dict.random(rng.bits())?))),
        }
    }

    /// Up to `count` different members, chosen at random.
    pub fn random_distinct(&self, count: usize, rng: &mut Rng) -> Vec<Item<'_>> {
        let len = self.len();
        let few = count.saturating_mul(3) <= len;
        match &self.0 {
            Repr::Table(table) if few => {
                // Draw, and draw again what was drawn before.
                let mut seen = HashSet::with_capacity(count);
                let mut out = Vec::with_capacity(count);
                while out.len() < count
                    && let Some(pos) = table.dict.random(rng.bits())
                {
                    let member = table.dict.get(pos);
                    if seen.insert(std::ptr::from_ref(member).addr()) {
                        out.push(Item::Str(member));
                    }
                }
                out
            }
            Repr::Table(_) => {
                let mut all: Vec<_> = self.iter().collect();
                rng.shuffle_front(&mut all, count);
                all.truncate(count);
                all
            }
            Repr::Ints(ints) if few => {
                let mut seen = HashSet::with_capacity(count);
                let mut out = Vec::with_capacity(count);
                while out.len() < count
                    && let Some(n) = ints.get(rng.below(len))
                {
                    if seen.insert(n) {
                        out.push(Item::Int(n));
                    }
                }
                out
            }
            _ => {
                let mut chosen = rng.choose(len, count).peekable();
                let members = self.iter().enumerate().filter(|(i, _)| chosen.next_if_eq(i).is_some());
                members.map(|(_, member)| member).collect()
            }
        }
    }

    /// Removes a random member and gives it.
    pub fn pop(&mut self, rng: &mut Rng) -> Option<Bytes> {
        match &mut self.0 {
            Repr::Ints(ints) => {
                let n = ints.get(rng.below(ints.len()))?;
                ints.remove(n);
                Some(Item::Int(n).to_bytes())
            }
            Repr::Pack(pack) => {
                let pos = pack.seek(rng.below(pack.len()) as i64)?;
                let member = pack.get(pos).to_bytes();
                pack.delete(pos);
                Some(member)
            }
            Repr::Table(table) => {
                let member = table.dict.remove(table.dict.random(rng.bits())?);
                table.heap -= member.heap_bytes();
                table.note_gone(&member);
                Some(member)
            }
        }
    }

    /// Removes `count` random members, fewer than there are, and gives them.
    pub fn pop_many(&mut self, count: usize, rng: &mut Rng) -> Vec<Bytes> {
        let len = self.len();
        match &mut self.0 {
            Repr::Pack(pack) => {
                let mut gone = Vec::with_capacity(count.min(len));
                let mut kept = Listpack::with_capacity(pack.byte_len());
                let mut chosen = rng.choose(len, count).peekable();
                for (i, item) in pack.iter().enumerate() {
                    if chosen.next_if_eq(&i).is_some() {
                        gone.push(item.to_bytes());
                    } else {
                        kept.push_back_item(item);
                    }
                }
                kept.shrink_to_fit();
                *pack = kept;
                gone
            }
            _ => (0..count).map_while(|_| self.pop(rng)).collect(),
        }
    }

    /// Gives a table a journal to note its changes in. Other encodings have no use for it.
    pub(crate) fn keep_changes(&mut self, journal: Box<Journal<SetUndo>>) {
        if let Repr::Table(table) = &mut self.0 {
            table.journal = Some(journal);
        }
    }

    /// Takes the journal away.
    pub(crate) fn take_journal(&mut self) -> Option<Box<Journal<SetUndo>>> {
        match &mut self.0 {
            Repr::Table(table) => table.journal.take(),
            _ => None,
        }
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, journal: Journal<SetUndo>) {
        let Repr::Table(table) = &mut self.0 else { return };
        for inverse in journal.into_inverses() {
            match inverse {
                SetUndo::Add(member) => table.add(&member),
                SetUndo::Remove(member) => table.remove(&member),
            };
        }
    }

    /// Splits off `keep` random members as a set of their own; the others stay here. For when few are to be kept.
    pub fn split_random(&mut self, keep: usize, rng: &mut Rng, cfg: &SetCfg) -> Set {
        let mut kept = if matches!(self.0, Repr::Ints(_)) { Set::ints() } else { Set::pack() };
        for member in self.pop_many(keep, rng) {
            kept.add(&member, cfg);
        }
        kept
    }

    /// Makes an intset of a set all of whose members are integers, when there are not too many.
    pub fn shrink_to_ints(&mut self, cfg: &SetCfg) {
        if matches!(self.0, Repr::Ints(_)) || self.len() > cfg.ints {
            return;
        }
        let mut ints = IntSet::new();
        for member in self.iter() {
            let Some(n) = member.with_bytes(parse_i64) else { return };
            ints.insert(n);
        }
        self.0 = Repr::Ints(ints);
    }

    /// Gives slack back.
    pub fn shrink_to_fit(&mut self) {
        if let Repr::Pack(pack) = &mut self.0 {
            pack.shrink_to_fit();
        }
    }

    fn limit_ints(&mut self, cfg: &SetCfg) {
        if self.as_intset().is_some_and(|ints| ints.len() > cfg.ints) {
            self.make_table(cfg);
        }
    }

    /// Makes a listpack with room for `more` bytes.
    fn make_pack(&mut self, more: usize) -> &mut Listpack {
        if let Repr::Ints(ints) = &self.0 {
            let size: usize = ints.iter().map(totality_ds::listpack::entry_size_int).sum();
            let mut pack = Listpack::with_capacity(7 + size + more);
            ints.iter().for_each(|n| pack.push_back_int(n));
            self.0 = Repr::Pack(pack);
        }
        match &mut self.0 {
            Repr::Pack(pack) => pack,
            _ => unreachable!("made a listpack just now"),
        }
    }

    fn make_table(&mut self, cfg: &SetCfg) -> &mut Table {
        if !self.is_table() {
            let mut table = Table { dict: Dict::new(cfg.seed), heap: 0, journal: None };
            for item in self.iter() {
                let member = item.to_bytes();
                let hash = table.dict.hash(&member);
                table.heap += member.heap_bytes();
                table.dict.insert_new(hash, member);
            }
            self.0 = Repr::Table(Box::new(table));
        }
        match &mut self.0 {
            Repr::Table(table) => table,
            _ => unreachable!("made a table just now"),
        }
    }
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
