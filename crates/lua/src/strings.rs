//! The string store: short strings interned, bytes in one buffer, ids as handles.
//!
//! Entries below `base` belong to the sandbox and to loaded chunks and live as long as the VM; the others belong to the
//! run and are truncated when it ends. Short strings of both kinds have an intern table of their own, so that ending a
//! run clears one small table.

use std::cmp::Ordering;

use crate::buf::Buf;
use crate::value::StrId;

/// Strings up to this length are interned.
pub(crate) const MAX_INTERNED: usize = 40;
/// Strings up to this length are kept in the shared buffer, longer ones in an allocation of their own.
const MAX_SMALL: usize = 1024;
/// What an entry costs beside its bytes, for accounting.
pub(crate) const ENTRY_COST: usize = 24;

const NO_HASH: u32 = 0;
/// `off` of an entry that was collected.
const FREE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    /// Offset in `small`, or index in `big`
    off: u32,
    len: u32,
    /// Interning hash (short strings only)
    hash: u32,
    /// Lua's own hash, which orders tables; `NO_HASH` until first needed
    lua_hash: u32,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct StrMark {
    entries: usize,
    small: usize,
    big: usize,
}

pub(crate) struct Strings {
    entries: Vec<Entry>,
    small: Vec<u8>,
    big: Vec<Buf>,
    free: Vec<u32>,
    free_big: Vec<u32>,
    base_table: Intern,
    run_table: Intern,
    base: StrMark,
    seed: u64,
    /// Where strings of one byte were found last; each is checked before use, so nothing need keep this up to date
    bytes_of_one: Box<[u32; 256]>,
    /// Bytes held by strings of the run, including `ENTRY_COST` each
    pub(crate) bytes: usize,
}

/// Open addressing over ids + 1; 0 is free.
struct Intern {
    slots: Vec<u32>,
    used: usize,
}

const RUN_SLOTS: usize = 32;
const KEEP_SLOTS: usize = 1024;

impl Intern {
    fn new(n: usize) -> Intern {
        Intern { slots: vec![0; n], used: 0 }
    }

    fn clear(&mut self) {
        if self.used == 0 {
            return;
        }
        if self.slots.len() > KEEP_SLOTS {
            self.slots = vec![0; RUN_SLOTS];
        } else if let Ok(slots) = <&mut [u32; RUN_SLOTS]>::try_from(&mut self.slots[..]) {
            // The usual size: its length is known here, so no call is needed.
            *slots = [0; RUN_SLOTS];
        } else {
            self.slots.fill(0);
        }
        self.used = 0;
    }

    fn insert(&mut self, hash: u32, id: u32, entries: &[Entry]) {
        if self.used * 4 >= self.slots.len() * 3 {
            let bigger = vec![0; self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, bigger);
            for slot in old.into_iter().filter(|s| *s != 0) {
                self.place(entries[slot as usize - 1].hash, slot);
            }
        }
        self.place(hash, id + 1);
        self.used += 1;
    }

    #[inline]
    fn place(&mut self, hash: u32, slot: u32) {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        while self.slots[i] != 0 {
            i = (i + 1) & mask;
        }
        self.slots[i] = slot;
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[inline]
fn word8(s: &[u8]) -> u64 {
    let mut w = [0; 8];
    w.copy_from_slice(&s[..8]);
    u64::from_le_bytes(w)
}

#[inline]
fn word4(s: &[u8]) -> u64 {
    let mut w = [0; 4];
    w.copy_from_slice(&s[..4]);
    u64::from(u32::from_le_bytes(w))
}

/// At most 16 bytes as two words that differ when the bytes do and the lengths are equal; loads overlap instead of
/// depending on the length.
#[inline]
fn two_words(s: &[u8]) -> (u64, u64) {
    let n = s.len();
    if n >= 8 {
        (word8(s), word8(&s[n - 8..]))
    } else if n >= 4 {
        (word4(s), word4(&s[n - 4..]))
    } else if n > 0 {
        (u64::from(s[0]) | u64::from(s[n / 2]) << 8 | u64::from(s[n - 1]) << 16, 0)
    } else {
        (0, 0)
    }
}

/// Equality of two strings of one length. Short ones need no call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() <= 16 && a.len() == b.len() { two_words(a) == two_words(b) } else { a == b }
}

/// Seeded hash for interning: two words at a time, folded multiplications.
#[inline]
fn intern_hash(seed: u64, s: &[u8]) -> u32 {
    let mut h = seed ^ (s.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // Keyed: with a known factor a script could choose words that make the product 0.
    let key = seed.rotate_left(29) ^ 0xA076_1D64_78BD_642F;
    let mut rest = s;
    while rest.len() > 16 {
        h = fold(h ^ word8(rest), key ^ word8(&rest[8..]));
        rest = &rest[16..];
    }
    let (x, y) = two_words(rest);
    let h = fold(h ^ x, key ^ y);
    let h = fold(h, 0x8EBC_6AF0_9C88_C6E3 ^ seed);
    (h ^ (h >> 32)) as u32
}

/// Bytes at the end of a string that its hash in tables takes in: a run cannot be stopped while it hashes.
const MAX_HASHED: usize = 1 << 20;

/// The hash that orders Lua tables in Redis's build: over all bytes, from the last to the first.
fn lua_hash(s: &[u8]) -> u32 {
    let mut h = s.len() as u32;
    for &c in s.iter().rev().take(MAX_HASHED) {
        h ^= (h << 5).wrapping_add(h >> 2).wrapping_add(u32::from(c));
    }
    h
}

impl Strings {
    pub(crate) fn new(seed: u64) -> Strings {
        Strings {
            entries: Vec::new(),
            small: Vec::new(),
            big: Vec::new(),
            free: Vec::new(),
            free_big: Vec::new(),
            base_table: Intern::new(1024),
            run_table: Intern::new(RUN_SLOTS),
            base: StrMark::default(),
            seed,
            bytes_of_one: Box::new([u32::MAX; 256]),
            bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: StrId) -> &[u8] {
        let e = self.entries[id.index()];
        if e.len as usize <= MAX_SMALL {
            &self.small[e.off as usize..e.off as usize + e.len as usize]
        } else {
            &self.big[e.off as usize]
        }
    }

    #[inline]
    pub(crate) fn len(&self, id: StrId) -> usize {
        self.entries[id.index()].len as usize
    }

    /// The id of `s`, which is stored if it is new. `s` must be shorter than 4 GiB (callers check the limit).
    pub(crate) fn intern(&mut self, s: &[u8]) -> StrId {
        if s.len() > MAX_INTERNED {
            return self.push_long(s);
        }
        let hash = intern_hash(self.seed, s);
        if let Some(id) = self.find(hash, s) {
            return StrId(id);
        }
        let off = self.small.len() as u32;
        self.small.extend_from_slice(s);
        StrId(self.add(off, s.len(), hash))
    }

    /// The string of one byte.
    #[inline]
    pub(crate) fn one_byte(&mut self, b: u8) -> StrId {
        let id = self.bytes_of_one[usize::from(b)];
        if let Some(e) = self.entries.get(id as usize)
            && e.len == 1
            && self.small.get(e.off as usize) == Some(&b)
        {
            return StrId(id);
        }
        let id = self.intern(&[b]);
        self.bytes_of_one[usize::from(b)] = id.0;
        id
    }

    /// The id of a string that already is in the store, if it is short.
    pub(crate) fn lookup(&self, s: &[u8]) -> Option<StrId> {
        if s.len() > MAX_INTERNED {
            return None;
        }
        self.find(intern_hash(self.seed, s), s).map(StrId)
    }

    /// A part of a string as a string of its own.
    pub(crate) fn substr(&mut self, id: StrId, from: usize, to: usize) -> StrId {
        let e = self.entries[id.index()];
        let (from, to) = (from.min(e.len as usize), to.min(e.len as usize));
        if to <= from {
            return self.intern(b"");
        }
        if from == 0 && to == e.len as usize {
            return id;
        }
        let len = to - from;
        if len == 1 {
            let b = self.get(id)[from];
            return self.one_byte(b);
        }
        if len > MAX_INTERNED {
            if len <= MAX_SMALL {
                let off = self.small.len() as u32;
                if e.len as usize <= MAX_SMALL {
                    let start = e.off as usize + from;
                    self.small.extend_from_within(start..start + len);
                } else {
                    self.small.extend_from_slice(&self.big[e.off as usize][from..to]);
                }
                return StrId(self.add(off, len, 0) | StrId::LONG);
            }
            let copy = self.big[e.off as usize][from..to].to_vec();
            return self.push_big(copy.into());
        }
        let start = e.off as usize + from;
        let small = e.len as usize <= MAX_SMALL;
        let bytes = if small { &self.small[start..start + len] } else { &self.big[e.off as usize][from..to] };
        let hash = intern_hash(self.seed, bytes);
        if let Some(id) = self.find(hash, bytes) {
            return StrId(id);
        }
        let off = self.small.len() as u32;
        if small {
            self.small.extend_from_within(start..start + len);
        } else {
            self.small.extend_from_slice(&self.big[e.off as usize][from..to]);
        }
        StrId(self.add(off, len, hash))
    }

    /// A string from a buffer that is given away; long ones are not copied.
    pub(crate) fn intern_buf(&mut self, s: Buf) -> StrId {
        if s.len() > MAX_SMALL { self.push_big(s) } else { self.intern(&s) }
    }

    #[inline]
    fn find(&self, hash: u32, s: &[u8]) -> Option<u32> {
        let found = self.find_in(&self.base_table, hash, s);
        if found.is_some() || self.run_table.used == 0 {
            return found;
        }
        self.find_in(&self.run_table, hash, s)
    }

    #[inline(always)]
    fn find_in(&self, table: &Intern, hash: u32, s: &[u8]) -> Option<u32> {
        let slots = &table.slots[..];
        let mask = slots.len() - 1;
        let mut i = hash as usize & mask;
        while slots[i] != 0 {
            let id = slots[i] - 1;
            let e = &self.entries[id as usize];
            if e.hash == hash && e.len as usize == s.len() {
                let off = e.off as usize;
                if same(&self.small[off..off + s.len()], s) {
                    return Some(id);
                }
            }
            i = (i + 1) & mask;
        }
        None
    }

    fn add(&mut self, off: u32, len: usize, hash: u32) -> u32 {
        let entry = Entry { off, len: len as u32, hash, lua_hash: NO_HASH };
        self.bytes += len + ENTRY_COST;
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        if len <= MAX_INTERNED {
            self.run_table.insert(hash, id, &self.entries);
        }
        id
    }

    fn push_long(&mut self, s: &[u8]) -> StrId {
        if s.len() > MAX_SMALL {
            return self.push_big(s.to_vec().into());
        }
        let off = self.small.len() as u32;
        self.small.extend_from_slice(s);
        StrId(self.add(off, s.len(), 0) | StrId::LONG)
    }

    fn push_big(&mut self, s: Buf) -> StrId {
        let len = s.len();
        let off = match self.free_big.pop() {
            Some(i) => {
                self.big[i as usize] = s;
                i
            }
            None => {
                self.big.push(s);
                self.big.len() as u32 - 1
            }
        };
        StrId(self.add(off, len, 0) | StrId::LONG)
    }

    /// Equality of two ids that differ: only long strings can still be equal.
    pub(crate) fn eq_long(&self, a: StrId, b: StrId) -> bool {
        a == b || (a.is_long() && b.is_long() && self.len(a) == self.len(b) && self.get(a) == self.get(b))
    }

    /// Redis's Lua hash of a string, computed once.
    #[inline]
    pub(crate) fn table_hash(&mut self, id: StrId) -> u32 {
        let h = self.entries[id.index()].lua_hash;
        if h != NO_HASH {
            return h;
        }
        self.table_hash_slow(id)
    }

    /// Order of two strings by their bytes.
    #[inline(never)]
    pub(crate) fn compare(&self, a: StrId, b: StrId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (x, y) = (self.get(a), self.get(b));
        // Most strings differ early, which needs no library call.
        if let (Some(p), Some(q)) = (x.first_chunk::<8>(), y.first_chunk::<8>()) {
            let (p, q) = (u64::from_be_bytes(*p), u64::from_be_bytes(*q));
            return if p == q { x.cmp(y) } else { p.cmp(&q) };
        }
        for (p, q) in x.iter().zip(y) {
            if p != q {
                return p.cmp(q);
            }
        }
        x.len().cmp(&y.len())
    }

    /// Redis's Lua hash of a short string, if it was needed before. No call, so that the interpreter's loop need not
    /// save its registers.
    #[inline]
    pub(crate) fn known_hash(&self, id: StrId) -> Option<u32> {
        if id.is_long() {
            return None;
        }
        let h = self.entries[id.index()].lua_hash;
        if h != NO_HASH { Some(h) } else { None }
    }

    #[cold]
    fn table_hash_slow(&mut self, id: StrId) -> u32 {
        let h = lua_hash(self.get(id));
        self.entries[id.index()].lua_hash = h;
        h
    }

    /// As [`Strings::table_hash`] without keeping it.
    pub(crate) fn table_hash_shared(&self, id: StrId) -> u32 {
        match self.entries[id.index()].lua_hash {
            NO_HASH => lua_hash(self.get(id)),
            h => h,
        }
    }

    /// Makes everything stored so far permanent. Must not be called during a run.
    pub(crate) fn seal(&mut self) {
        for (id, e) in self.entries.iter().enumerate().skip(self.base.entries) {
            if e.len as usize <= MAX_INTERNED && e.off != FREE {
                self.base_table.insert(e.hash, id as u32, &self.entries);
            }
        }
        self.run_table.clear();
        self.base = self.mark();
        self.bytes = 0;
    }

    fn mark(&self) -> StrMark {
        StrMark { entries: self.entries.len(), small: self.small.len(), big: self.big.len() }
    }

    pub(crate) fn base(&self) -> StrMark {
        self.base
    }

    /// Drops the strings of the run.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.entries.truncate(self.base.entries);
        self.small.truncate(self.base.small);
        self.big.truncate(self.base.big);
        self.run_table.clear();
        self.free.clear();
        self.free_big.clear();
        self.bytes = 0;
        if self.small.capacity() > (1 << 20) + self.base.small * 2 {
            self.small.shrink_to(self.base.small + (64 << 10));
        }
        if self.entries.capacity() > (1 << 16) + self.base.entries * 2 {
            self.entries.shrink_to(self.base.entries + 4096);
        }
        if self.big.capacity() > 4096 {
            self.big.shrink_to(64);
        }
    }

    /// Goes back to an earlier base: forgets loaded chunks. Must not be called during a run.
    pub(crate) fn rebase(&mut self, mark: StrMark) {
        self.reset();
        self.entries.truncate(mark.entries);
        self.small.truncate(mark.small);
        self.big.truncate(mark.big);
        self.base = mark;
        self.base_table = Intern::new(1024);
        for (id, e) in self.entries.iter().enumerate() {
            if e.len as usize <= MAX_INTERNED {
                self.base_table.insert(e.hash, id as u32, &self.entries);
            }
        }
    }

    /// Number of entries, live or free: the size of a mark bitmap.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Frees the run's strings for which `live` is false and compacts the shared buffer.
    pub(crate) fn sweep(&mut self, live: impl Fn(usize) -> bool) {
        let mut packed: Vec<u8> = Vec::with_capacity(self.small.len() / 2 + 64);
        packed.extend_from_slice(&self.small[..self.base.small]);
        self.run_table.clear();
        for id in self.base.entries..self.entries.len() {
            let e = self.entries[id];
            if e.off == FREE {
                continue;
            }
            let len = e.len as usize;
            if !live(id) {
                if len > MAX_SMALL {
                    self.big[e.off as usize] = Buf::default();
                    self.free_big.push(e.off);
                }
                self.bytes -= len + ENTRY_COST;
                self.entries[id] = Entry { off: FREE, len: 0, hash: 0, lua_hash: NO_HASH };
                self.free.push(id as u32);
                continue;
            }
            if len <= MAX_SMALL {
                let off = packed.len() as u32;
                packed.extend_from_slice(&self.small[e.off as usize..e.off as usize + len]);
                self.entries[id].off = off;
                if len <= MAX_INTERNED {
                    self.run_table.insert(e.hash, id as u32, &self.entries);
                }
            }
        }
        self.small = packed;
    }
}
