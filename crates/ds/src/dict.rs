//! A hash table without long pauses: extendible hashing over segments of at most about 1,000 entries.
//!
//! A directory indexed by the top bits of a 32-bit hash names the segment. A full segment splits in two, so that the
//! largest piece of work of one insertion is to move one segment (some 20 µs) or to double the directory (4 bytes per
//! segment). Small tables have one segment, which grows 4, 8, 16… as a plain hash table does.
//!
//! A segment keeps its entries side by side, with little room to spare, and finds them by a small table of hashes and
//! places: what is never quite full is that table, not the entries. The hashes are there without looking at entries, so
//! splitting and scanning touch only what they give.
//!
//! A position ([`Pos`]) is valid until the next insertion or removal. A scan cursor is a lower bound of hashes and
//! therefore survives every reorganisation.

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

/// Buckets of a full-grown segment.
const SEGMENT_BUCKETS: usize = 1024;
/// Entries of a full-grown segment (hashbrown fills 7/8 of the buckets).
const SEGMENT_ENTRIES: usize = SEGMENT_BUCKETS / 8 * 7;
/// A full-grown segment with fewer entries than this is full of tombstones: rebuild it rather than split it.
const SPLIT_MIN: usize = SEGMENT_ENTRIES / 4 * 3;
/// Two halves whose sum is not larger than this are merged when entries are removed.
const MERGE_MAX: usize = SEGMENT_ENTRIES / 2;
/// Directory bits at most; beyond (ten billion entries) segments grow.
const MAX_DEPTH: u8 = 24;

/// What an entry of a [`Dict`] must tell about itself.
pub trait Keyed {
    /// The key.
    fn key(&self) -> &[u8];

    /// The low 32 bits of the key's hash: stored by the entry, or computed again.
    #[inline]
    fn hash32(&self, seed: &Seed) -> u32 {
        seed.hash(self.key()) as u32
    }

    /// Called once on insertion, for entries that store their hash.
    #[inline]
    fn set_hash32(&mut self, _hash: u32) {}
}

impl Keyed for crate::Bytes {
    #[inline]
    fn key(&self) -> &[u8] {
        self
    }
}

/// The secret of a keyed SipHash-1-3.
#[derive(Clone, Copy)]
pub struct Seed {
    k0: u64,
    k1: u64,
}

impl Seed {
    /// A seed from 16 random bytes.
    pub fn new(seed: [u8; 16]) -> Self {
        let n = u128::from_le_bytes(seed);
        Seed { k0: n as u64, k1: (n >> 64) as u64 }
    }

    /// SipHash-1-3 of `key`.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        SipHasher13::new_with_keys(self.k0, self.k1).hash(key)
    }
}

impl From<[u8; 16]> for Seed {
    fn from(s: [u8; 16]) -> Self {
        Seed::new(s)
    }
}

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// Where an entry is, until the next insertion or removal in the same [`Dict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pos {
    segment: u32,
    bucket: u32,
}

/// Where an entry of a segment is, and its hash.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    at: u32,
}

#[derive(Clone)]
struct Segment<T> {
    index: HashTable<Slot>,
    entries: Vec<T>,
    /// The top `depth` bits that the hashes of this segment share.
    prefix: u32,
    depth: u8,
}

/// What hashbrown needs of a 32-bit hash: low bits choose the bucket, the top seven bits are the tag.
/// The directory uses the top bits of the 32, so bucket and tag come from the lower ones.
#[inline]
fn spread(h: u32) -> u64 {
    (h as u64) | ((h as u64) << 46)
}

#[inline]
fn spread_slot(slot: &Slot) -> u64 {
    spread(slot.hash)
}

impl<T> Segment<T> {
    fn new(prefix: u32, depth: u8, index: usize, entries: usize) -> Self {
        Segment {
            index: HashTable::with_capacity(index),
            entries: Vec::with_capacity(entries),
            prefix,
            depth,
        }
    }

    #[inline]
    fn find(&self, h: u32, mut eq: impl FnMut(&T) -> bool) -> Option<&T> {
        let slot =
            self.index.find(spread(h), |slot| slot.hash == h && eq(&self.entries[slot.at as usize]))?;
        self.entries.get(slot.at as usize)
    }

    /// Adds an entry; the index has room for it.
    #[inline]
    fn push(&mut self, hash: u32, entry: T) -> usize {
        let len = self.entries.len();
        if len == self.entries.capacity() {
            self.entries.reserve_exact((len / 4).max(4));
        }
        self.entries.push(entry);
        self.index.insert_unique(spread(hash), Slot { hash, at: len as u32 }, spread_slot).bucket_index()
    }

    fn bytes(&self) -> usize {
        self.index.allocation_size() + self.entries.capacity() * size_of::<T>()
    }

    /// Hashes of the entries, in their order.
    fn hashes(&self) -> Vec<u32> {
        let mut hashes = vec![0; self.entries.len()];
        for slot in &self.index {
            hashes[slot.at as usize] = slot.hash;
        }
        hashes
    }
}

/// A step of SplitMix64: turns one random number into a sequence.
#[inline]
pub(crate) fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The table. See the module's documentation.
pub struct Dict<T> {
    seed: Seed,
    len: usize,
    /// Bytes allocated by the tables of all segments.
    table_bytes: usize,
    depth: u8,
    /// How many segments have the depth of the directory. When none has, the directory halves.
    deepest: u32,
    /// Segment by the top `depth` bits of the hash; empty while there is one segment.
    dir: Vec<u32>,
    segments: Vec<Segment<T>>,
}

impl<T: Clone> Clone for Dict<T> {
    fn clone(&self) -> Self {
        // A copy has no room to spare, so its account is another one.
        let segments = self.segments.clone();
        let table_bytes = segments.iter().map(Segment::bytes).sum();
        let Dict { seed, len, depth, deepest, .. } = *self;
        Dict { seed, len, table_bytes, depth, deepest, dir: self.dir.clone(), segments }
    }
}

impl<T: Keyed> Dict<T> {
    /// An empty table; allocates nothing.
    pub fn new(seed: impl Into<Seed>) -> Self {
        Dict {
            seed: seed.into(),
            len: 0,
            table_bytes: 0,
            depth: 0,
            deepest: 0,
            dir: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// The seed given at construction.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The hash that [`Dict::find_hashed`] and [`Dict::insert_new`] want.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.seed.hash(key)
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes allocated by the table itself, without what entries own elsewhere. O(1).
    pub fn mem_bytes(&self) -> usize {
        self.table_bytes
            + self.dir.capacity() * size_of::<u32>()
            + self.segments.capacity() * size_of::<Segment<T>>()
    }

    /// Places for entries in all segments. O(S) for S segments.
    pub fn buckets(&self) -> usize {
        self.segments.iter().map(|s| s.index.num_buckets()).sum()
    }

    #[inline]
    fn segment_of(&self, h: u32) -> usize {
        if self.depth == 0 { 0 } else { self.dir[(h >> (32 - self.depth)) as usize] as usize }
    }

    /// Finds `key` whose hash is `hash`.
    #[inline]
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Pos> {
        self.find_with(hash, |t| t.key() == key)
    }

    /// Finds `key`, hashing it.
    #[inline]
    pub fn find_key(&self, key: &[u8]) -> Option<Pos> {
        self.find(self.hash(key), key)
    }

    /// The entry of `key`, hashing it.
    #[inline]
    pub fn get_key(&self, key: &[u8]) -> Option<&T> {
        let h = self.hash(key) as u32;
        self.segments.get(self.segment_of(h))?.find(h, |t| t.key() == key)
    }

    /// Finds an entry by its hash and a test of equality.
    #[inline]
    pub fn find_with(&self, hash: u64, mut eq: impl FnMut(&T) -> bool) -> Option<Pos> {
        let h = hash as u32;
        let segment = self.segment_of(h);
        let Segment { index, entries, .. } = self.segments.get(segment)?;
        let eq = |slot: &Slot| slot.hash == h && eq(&entries[slot.at as usize]);
        let bucket = index.find_bucket_index(spread(h), eq)?;
        Some(Pos { segment: segment as u32, bucket: bucket as u32 })
    }

    /// The entry at `pos`, if the position is valid.
    #[inline]
    pub fn try_get(&self, pos: Pos) -> Option<&T> {
        let segment = self.segments.get(pos.segment as usize)?;
        segment.entries.get(segment.index.get_bucket(pos.bucket as usize)?.at as usize)
    }

    /// The entry at `pos`.
    ///
    /// # Panics
    /// If `pos` is no longer valid, which is an error of the calling code.
    #[inline]
    pub fn get(&self, pos: Pos) -> &T {
        self.try_get(pos).expect("stale position")
    }

    /// The entry at `pos`, to be changed. Its key and hash must stay.
    ///
    /// # Panics
    /// If `pos` is no longer valid, which is an error of the calling code.
    #[inline]
    pub fn get_mut(&mut self, pos: Pos) -> &mut T {
        let segment = &mut self.segments[pos.segment as usize];
        let slot = segment.index.get_bucket(pos.bucket as usize).expect("stale position");
        &mut segment.entries[slot.at as usize]
    }

    /// Inserts an entry whose key is known to be absent, and whose hash is `hash`.
    pub fn insert_new(&mut self, hash: u64, mut entry: T) -> Pos {
        let h = hash as u32;
        entry.set_hash32(h);
        let mut id = self.segment_of(h);
        while self.segments.get(id).is_none_or(|s| s.index.len() == s.index.capacity()) {
            self.make_room(id);
            id = self.segment_of(h);
        }
        let segment = &mut self.segments[id];
        let before = segment.entries.capacity();
        let bucket = segment.push(h, entry);
        self.table_bytes += (segment.entries.capacity() - before) * size_of::<T>();
        self.len += 1;
        Pos { segment: id as u32, bucket: bucket as u32 }
    }

    /// Removes the entry at `pos`. All positions become invalid.
    ///
    /// # Panics
    /// If `pos` is no longer valid, which is an error of the calling code.
    pub fn remove(&mut self, pos: Pos) -> T {
        let id = pos.segment as usize;
        let Segment { index, entries, .. } = &mut self.segments[id];
        let (slot, _) = index.get_bucket_entry(pos.bucket as usize).ok().expect("stale position").remove();
        let entry = entries.swap_remove(slot.at as usize);
        let last = entries.len() as u32;
        if let Some(moved) = entries.get(slot.at as usize) {
            // The last entry took the place.
            let hash = spread(moved.hash32(&self.seed));
            if let Some(other) = index.find_mut(hash, |other| other.at == last) {
                other.at = slot.at;
            }
        }
        self.len -= 1;
        let (len, buckets) = (index.len(), index.num_buckets());
        if len * 8 <= buckets && buckets > 8 {
            self.shrink(id);
        }
        entry
    }

    /// Removes the entry of `key`, hashing it.
    pub fn remove_key(&mut self, key: &[u8]) -> Option<T> {
        let pos = self.find_key(key)?;
        Some(self.remove(pos))
    }

    /// Makes the table empty and returns the old one, so that the caller chooses when to free it.
    pub fn take(&mut self) -> Self {
        let empty = Dict::new(self.seed);
        std::mem::replace(self, empty)
    }

    /// Drops all entries.
    pub fn clear(&mut self) {
        self.take();
    }

    /// All entries, in no useful order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.segments.iter().flat_map(|s| s.entries.iter())
    }

    /// All entries, to be changed. Keys and hashes must stay.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.segments.iter_mut().flat_map(|s| s.entries.iter_mut())
    }

    /// All entries by value, in slices of at most about 1,000: to free a large table bit by bit.
    pub fn into_slices(self) -> impl Iterator<Item = Vec<T>> {
        self.segments.into_iter().map(|s| s.entries)
    }

    /// Calls `f` with the entries whose hashes follow `cursor` (0 to begin), about `count` of them, and returns the
    /// next cursor, 0 at the end. Every entry that is there during a whole walk is seen at least once, whatever is
    /// inserted or removed between the steps. A step looks at `count` entries plus a few segments at most.
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, f: &mut impl FnMut(&'a T)) -> u64 {
        const END: u64 = 1 << 32;
        let count = count.max(1);
        let mut budget = 16 + count / 64;
        let mut from = cursor & (END - 1);
        let mut seen = 0;
        while let Some(seg) = self.segments.get(self.segment_of(from as u32)) {
            let span = END >> seg.depth;
            let end = ((seg.prefix as u64) + 1) << (32 - seg.depth);
            let parts = (seg.entries.len() / (count - seen)).max(1);
            let width = (span >> parts.ilog2()).max(1);
            let to = if width == span { end } else { ((from & !(width - 1)) + width).min(end) };
            if to == end && from == end - span {
                seg.entries.iter().for_each(&mut *f);
                seen += seg.entries.len();
            } else {
                for slot in &seg.index {
                    if (from..to).contains(&u64::from(slot.hash)) {
                        f(&seg.entries[slot.at as usize]);
                        seen += 1;
                    }
                }
            }
            if to >= END {
                return 0;
            }
            from = to;
            budget -= 1;
            if seen >= count || budget == 0 {
                return from;
            }
        }
        0
    }

    /// A random entry chosen by the random number `r`, nearly uniformly. None if there is no entry.
    pub fn random(&self, r: u64) -> Option<Pos> {
        let mut state = r;
        let segment = self.random_segment(&mut state)?;
        let Segment { index, entries, .. } = &self.segments[segment];
        let at = splitmix(&mut state) as usize % entries.len();
        let hash = spread(entries[at].hash32(&self.seed));
        let bucket = index.find_bucket_index(hash, |slot| slot.at as usize == at)?;
        Some(Pos { segment: segment as u32, bucket: bucket as u32 })
    }

    /// A segment with entries, with a probability proportional to its range of hashes.
    fn random_segment(&self, state: &mut u64) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let first = self.segment_of(splitmix(state) as u32);
        let n = self.segments.len();
        (0..n)
            .map(|i| if first + i < n { first + i } else { first + i - n })
            .find(|&s| !self.segments[s].entries.is_empty())
    }

    /// Calls `f` with up to `n` entries of one random region (neighbours in the table): good enough to choose what to
    /// evict, and much cheaper than `n` independent choices. Returns how many it gave.
    pub fn sample(&self, n: usize, rng: &mut impl FnMut() -> u64, f: &mut impl FnMut(&T)) -> usize {
        let mut given = 0;
        let mut rounds = 0;
        while given < n && given < self.len && rounds < 4 {
            rounds += 1;
            let mut state = rng();
            let Some(segment) = self.random_segment(&mut state) else { break };
            let entries = &self.segments[segment].entries;
            let (before, after) = entries.split_at(splitmix(&mut state) as usize % entries.len());
            for entry in after.iter().chain(before).take(n - given) {
                f(entry);
                given += 1;
            }
            if self.segments.len() == 1 {
                break;
            }
        }
        given
    }

    /// Makes room for one more entry in a full segment. Afterwards the entry may belong to another segment.
    #[cold]
    fn make_room(&mut self, id: usize) {
        let Some(seg) = self.segments.get_mut(id) else {
            self.segments = Vec::with_capacity(1);
            self.segments.push(Segment::new(0, 0, 0, 0));
            self.deepest = 1;
            return;
        };
        let before = seg.bytes();
        let len = seg.index.len();
        let full_grown = seg.index.num_buckets() >= SEGMENT_BUCKETS;
        if full_grown && len >= SPLIT_MIN && self.can_split(id) {
            self.split(id);
            return;
        }
        let seg = &mut self.segments[id];
        if full_grown && (SEGMENT_ENTRIES / 2..SPLIT_MIN).contains(&len) {
            // Only tombstones fill it. hashbrown would double it; a fresh table of the same size is enough.
            let mut fresh = HashTable::with_capacity(SEGMENT_ENTRIES);
            for slot in &seg.index {
                fresh.insert_unique(spread(slot.hash), *slot, spread_slot);
            }
            seg.index = fresh;
        } else {
            seg.index.reserve(1, spread_slot);
        }
        self.table_bytes = self.table_bytes + seg.bytes() - before;
    }

    /// False where a split cannot help: hashes that are all alike would only grow the directory.
    fn can_split(&self, id: usize) -> bool {
        let depth = self.segments[id].depth;
        depth < MAX_DEPTH && (depth < self.depth || self.dir.len() <= 16 * self.segments.len())
    }

    fn split(&mut self, id: usize) {
        let depth = self.segments[id].depth + 1;
        let prefix = self.segments[id].prefix << 1;
        if depth > self.depth {
            self.double_directory();
        }
        let old = std::mem::replace(&mut self.segments[id], Segment::new(prefix, depth, 0, 0));
        self.table_bytes -= old.bytes();
        let hashes = old.hashes();
        let half_of = |h: u32| (h >> (32 - depth)) as usize & 1;
        let high = hashes.iter().filter(|h| half_of(**h) == 1).count();
        let mut halves = [hashes.len() - high, high].map(|n| n + n / 8);
        let mut halves = std::array::from_fn::<_, 2, _>(|i| {
            let n = std::mem::take(&mut halves[i]);
            Segment::new(prefix | i as u32, depth, n, n)
        });
        for (h, t) in hashes.into_iter().zip(old.entries) {
            halves[half_of(h)].push(h, t);
        }
        let [low, high] = halves;
        self.table_bytes += low.bytes() + high.bytes();
        self.segments[id] = low;
        let new = self.segments.len();
        self.segments.push(high);
        self.fix_directory(new);
        if depth == self.depth {
            self.deepest += 2;
        }
    }

    /// Makes the directory lead to segment `id` over the segment's whole range.
    fn fix_directory(&mut self, id: usize) {
        if self.depth == 0 {
            return;
        }
        let seg = &self.segments[id];
        let width = 1usize << (self.depth - seg.depth);
        let start = seg.prefix as usize * width;
        self.dir[start..start + width].fill(id as u32);
    }

    fn double_directory(&mut self) {
        let old = self.dir.len().max(1);
        self.dir.resize(old * 2, 0);
        for i in (0..old).rev() {
            let id = self.dir[i];
            self.dir[2 * i] = id;
            self.dir[2 * i + 1] = id;
        }
        self.depth += 1;
        self.deepest = 0;
    }

    fn halve_directory(&mut self) {
        self.depth -= 1;
        if self.depth == 0 {
            self.dir = Vec::new();
        } else {
            let half = self.dir.len() / 2;
            for i in 0..half {
                self.dir[i] = self.dir[2 * i];
            }
            self.dir.truncate(half);
            if self.dir.capacity() > 4 * half {
                self.dir.shrink_to(2 * half);
            }
        }
        self.deepest = self.segments.iter().filter(|s| s.depth == self.depth).count() as u32;
    }

    /// Gives memory back after removals: merges the segment with its other half, or makes its table smaller.
    #[cold]
    fn shrink(&mut self, id: usize) {
        let seg = &self.segments[id];
        if seg.depth > 0 {
            let width = 1usize << (self.depth - seg.depth);
            let buddy = self.dir[(seg.prefix ^ 1) as usize * width] as usize;
            let other = &self.segments[buddy];
            if other.depth == seg.depth && other.index.len() + seg.index.len() <= MERGE_MAX {
                self.merge(id, buddy);
                return;
            }
        }
        let seg = &mut self.segments[id];
        let before = seg.bytes();
        let want = seg.index.len() * 2;
        if want * 2 > seg.index.capacity() {
            return;
        }
        seg.index.shrink_to(want, spread_slot);
        seg.entries.shrink_to(want);
        self.table_bytes = self.table_bytes + seg.bytes() - before;
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (keep, gone) = (a.min(b), a.max(b));
        let old = self.segments.swap_remove(gone);
        if gone < self.segments.len() {
            self.fix_directory(gone);
        }
        let seg = &mut self.segments[keep];
        self.table_bytes -= seg.bytes() + old.bytes();
        let n = seg.index.len() + old.index.len();
        let merged = Segment::new(seg.prefix >> 1, seg.depth - 1, n, n + n / 8);
        let before = std::mem::replace(seg, merged);
        if before.depth == self.depth {
            self.deepest -= 2;
        }
        for part in [before, old] {
            for (h, t) in part.hashes().into_iter().zip(part.entries) {
                seg.push(h, t);
            }
        }
        self.table_bytes += seg.bytes();
        self.fix_directory(keep);
        while self.depth > 0 && self.deepest == 0 {
            self.halve_directory();
        }
        if self.segments.capacity() > 64 && self.segments.len() * 4 < self.segments.capacity() {
            self.segments.shrink_to(self.segments.len() * 2);
        }
        // A neighbour that was split further when this half became small can be merged now.
        if self.segments[keep].depth > 0 && self.segments[keep].index.len() <= MERGE_MAX / 2 {
            self.shrink(keep);
        }
    }

    /// Checks the table's inner consistency (for tests).
    #[cfg(test)]
    fn check(&self) {
        assert_eq!(self.len, self.segments.iter().map(|s| s.entries.len()).sum::<usize>());
        assert_eq!(self.table_bytes, self.segments.iter().map(Segment::bytes).sum::<usize>());
        assert_eq!(self.deepest as usize, self.segments.iter().filter(|s| s.depth == self.depth).count());
        assert!(self.depth == 0 || self.dir.len() == 1 << self.depth);
        for (i, &id) in self.dir.iter().enumerate() {
            let s = &self.segments[id as usize];
            assert_eq!(i as u32 >> (self.depth - s.depth), s.prefix);
        }
        for s in &self.segments {
            assert!(s.index.num_buckets() <= SEGMENT_BUCKETS);
            assert_eq!(s.index.len(), s.entries.len());
            for (t, h) in s.entries.iter().zip(s.hashes()) {
                assert_eq!(h, t.hash32(&self.seed));
                assert_eq!(s.prefix as u64, h as u64 >> (32 - s.depth));
            }
        }
    }
}

#[cfg(test)]
#[path = "dict_tests.rs"]
mod tests;
