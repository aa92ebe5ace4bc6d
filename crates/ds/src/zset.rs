//! A sorted set: members with scores, by member in O(1), by order and rank in O(log n).
//!
//! Members are stored once, in a dense array. A table of ids finds a member, a counted B+tree of scores and ids is the
//! order. Removing moves the array's last member into the gap, so memory follows the size. About 65 bytes a member
//! plus what long members allocate.

use crate::Bytes;
use crate::dict::{Dict, Keyed, Seed};
use crate::ztree::{Members, Tree, TreePos};

/// Members of one piece of the array: growing never copies more than this.
const CHUNK: usize = 512;

/// From so many members on, and from this part of the set on, a range is removed in one pass.
const BULK: usize = 64;

struct Entry {
    member: Bytes,
    score: f64,
}

/// Members by id.
#[derive(Default)]
struct Slab {
    chunks: Vec<Vec<Entry>>,
    len: usize,
    heap: usize,
}

impl Slab {
    fn get(&self, id: u32) -> &Entry {
        &self.chunks[id as usize / CHUNK][id as usize % CHUNK]
    }

    fn get_mut(&mut self, id: u32) -> &mut Entry {
        &mut self.chunks[id as usize / CHUNK][id as usize % CHUNK]
    }

    fn push(&mut self, e: Entry) -> u32 {
        if self.len.is_multiple_of(CHUNK) {
            // The first piece grows with the set; later ones are worth their full size.
            self.chunks.push(Vec::with_capacity(if self.len == 0 { 0 } else { CHUNK }));
        }
        self.heap += e.member.heap_bytes();
        self.chunks[self.len / CHUNK].push(e);
        self.len += 1;
        self.len as u32 - 1
    }

    fn swap(&mut self, a: u32, b: u32) {
        let gap = Entry { member: Bytes::new(), score: 0.0 };
        let entry = std::mem::replace(self.get_mut(a), gap);
        let other = std::mem::replace(self.get_mut(b), entry);
        *self.get_mut(a) = other;
    }

    /// Drops what comes after the first `len` entries. What is dropped must hold no member.
    fn truncate(&mut self, len: usize) {
        self.chunks.truncate(len.div_ceil(CHUNK));
        if let Some(last) = self.chunks.last_mut() {
            last.truncate(len - (len - 1) / CHUNK * CHUNK);
        }
        if self.chunks.len() * 4 < self.chunks.capacity() {
            self.chunks.shrink_to(2 * self.chunks.len());
        }
        self.len = len;
    }

    /// Removes `id`; the last entry takes its place.
    fn swap_remove(&mut self, id: u32) -> Option<Entry> {
        let last = self.chunks.last_mut()?.pop()?;
        self.len -= 1;
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.pop();
        }
        let gone = if id as usize == self.len { last } else { std::mem::replace(self.get_mut(id), last) };
        self.heap -= gone.member.heap_bytes();
        Some(gone)
    }

    fn bytes(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        let last = self.chunks.last().map_or(0, Vec::capacity);
        (full + last) * size_of::<Entry>() + self.chunks.capacity() * size_of::<Vec<Entry>>() + self.heap
    }
}

impl Members for Slab {
    fn member(&self, id: u32) -> &[u8] {
        &self.get(id).member
    }
}

/// An id in the table of members.
struct Id {
    id: u32,
    hash: u32,
}

impl Keyed for Id {
    // The member is elsewhere: this table is searched by hash and id only.
    fn key(&self) -> &[u8] {
        &[]
    }

    fn hash32(&self, _: &Seed) -> u32 {
        self.hash
    }

    fn set_hash32(&mut self, hash: u32) {
        self.hash = hash;
    }
}

/// What [`ZSet::insert`] did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inserted {
    /// The member is new.
    Added,
    /// The member was there with this other score.
    Updated(f64),
    /// The member was there with the same score.
    Unchanged,
}

/// The sorted set. Scores must not be NaN. See the module's documentation.
pub struct ZSet {
    slab: Slab,
    ids: Dict<Id>,
    tree: Tree,
}

impl ZSet {
    /// An empty set whose table of members is keyed by `seed`.
    pub fn new(seed: impl Into<Seed>) -> Self {
        ZSet { slab: Slab::default(), ids: Dict::new(seed), tree: Tree::new() }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.slab.len
    }

    /// True if there is no member.
    pub fn is_empty(&self) -> bool {
        self.slab.len == 0
    }

    /// Allocated bytes. O(1).
    pub fn mem_bytes(&self) -> usize {
        self.slab.bytes() + self.ids.mem_bytes() + self.tree.bytes()
    }

    /// The same as [`ZSet::mem_bytes`], counted again from scratch. O(n).
    pub fn recount(&self) -> usize {
        let heap = |e: &Entry| e.member.heap_bytes();
        self.mem_bytes() - self.slab.heap + self.slab.chunks.iter().flatten().map(heap).sum::<usize>()
    }

    fn find(&self, hash: u64, member: &[u8]) -> Option<u32> {
        let h = hash as u32;
        let pos = self.ids.find_with(hash, |i| i.hash == h && self.slab.member(i.id) == member)?;
        Some(self.ids.get(pos).id)
    }

    /// The score of `member`.
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        let id = self.find(self.ids.hash(member), member)?;
        Some(self.slab.get(id).score)
    }

    /// True if `member` is in the set.
    pub fn contains(&self, member: &[u8]) -> bool {
        self.find(self.ids.hash(member), member).is_some()
    }

    /// Adds `member`, or gives it another score.
    pub fn insert(&mut self, member: &[u8], score: f64) -> Inserted {
        let hash = self.ids.hash(member);
        let Some(id) = self.find(hash, member) else {
            let id = self.slab.push(Entry { member: Bytes::copy_from(member), score });
            self.ids.insert_new(hash, Id { id, hash: 0 });
            self.tree.insert(&self.slab, score, id);
            return Inserted::Added;
        };
        let old = self.slab.get(id).score;
        if old == score {
            return Inserted::Unchanged;
        }
        self.slab.get_mut(id).score = score;
        if !self.tree.rescore(&self.slab, (old, member), score) {
            self.tree.remove(&self.slab, (old, member));
            self.tree.insert(&self.slab, score, id);
        }
        Inserted::Updated(old)
    }

    /// Removes `member`; gives its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let hash = self.ids.hash(member);
        let id = self.find(hash, member)?;
        let score = self.slab.get(id).score;
        self.tree.remove(&self.slab, (score, member));
        self.forget(hash, id);
        Some(score)
    }

    /// Removes from table and array an id that is no longer in the tree.
    fn forget(&mut self, hash: u64, id: u32) -> Option<Entry> {
        if let Some(p) = self.ids.find_with(hash, |i| i.id == id) {
            self.ids.remove(p);
        }
        let last = self.slab.len as u32 - 1;
        if id != last {
            // The last entry moves to the gap: its id changes everywhere first, while its member is still in place.
            let e = self.slab.get(last);
            self.tree.rename(&self.slab, (e.score, &e.member), last, id);
            if let Some(p) = self.ids.find_with(self.ids.hash(&e.member), |i| i.id == last) {
                self.ids.get_mut(p).id = id;
            }
        }
        self.slab.swap_remove(id)
    }

    /// The number of members before `member`.
    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = self.score(member)?;
        Some(self.tree.rank(&self.slab, (score, member)))
    }

    /// Member and score with `rank` members before it.
    pub fn at(&self, rank: usize) -> Option<(&[u8], f64)> {
        self.entry(self.tree.seek(rank)?)
    }

    fn entry(&self, pos: TreePos) -> Option<(&[u8], f64)> {
        let (score, id) = self.tree.get(pos);
        Some((self.slab.member(id), score))
    }

    /// The number of members whose score is below `score`, or not above it if `or_equal`. A range of scores is the
    /// range of ranks between two such numbers.
    pub fn count_below(&self, score: f64, or_equal: bool) -> usize {
        self.tree.count_while(|s, _| s < score || (or_equal && s == score))
    }

    /// The number of members that come before `member` by bytes, or are equal to it if `or_equal`. Meaningful if all
    /// scores are equal, as for ranges by lex.
    pub fn count_before(&self, member: &[u8], or_equal: bool) -> usize {
        self.tree.count_while(|_, id| {
            let m = self.slab.member(id);
            m < member || (or_equal && m == member)
        })
    }

    /// Members and scores from `rank` on, ascending.
    pub fn iter_from(&self, rank: usize) -> impl Iterator<Item = (&[u8], f64)> {
        let mut pos = self.tree.seek(rank);
        std::iter::from_fn(move || {
            let p = pos?;
            pos = self.tree.next(p);
            self.entry(p)
        })
    }

    /// Members and scores from `rank` on, descending.
    pub fn iter_rev_from(&self, rank: usize) -> impl Iterator<Item = (&[u8], f64)> {
        let mut pos = self.tree.seek(rank);
        std::iter::from_fn(move || {
            let p = pos?;
            pos = self.tree.prev(p);
            self.entry(p)
        })
    }

    /// All members and scores, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], f64)> {
        self.iter_from(0)
    }

    /// Removes the member with `rank` members before it, and gives it.
    pub fn remove_at(&mut self, rank: usize) -> Option<(Bytes, f64)> {
        let (score, id) = self.tree.get(self.tree.seek(rank)?);
        let member = self.slab.member(id);
        let hash = self.ids.hash(member);
        self.tree.remove(&self.slab, (score, member));
        let e = self.forget(hash, id)?;
        Some((e.member, e.score))
    }

    /// Removes the members of ranks `start..end` and gives each to `f`, ascending. Returns their number.
    pub fn remove_ranks(&mut self, start: usize, end: usize, f: &mut impl FnMut(Bytes, f64)) -> usize {
        let n = end.min(self.len()).saturating_sub(start);
        if n >= BULK && n >= self.len() / BULK {
            self.remove_many(start, n, f);
            return n;
        }
        for _ in 0..n {
            if let Some((m, s)) = self.remove_at(start) {
                f(m, s);
            }
        }
        n
    }

    /// The same for many: the tree loses whole nodes, and the ids of all that must move are changed in one pass.
    fn remove_many(&mut self, start: usize, n: usize, f: &mut impl FnMut(Bytes, f64)) {
        let mut gone = Vec::with_capacity(n);
        let mut pos = self.tree.seek(start);
        while let Some(p) = pos.filter(|_| gone.len() < n) {
            gone.push(self.tree.get(p).1);
            pos = self.tree.next(p);
        }
        self.tree.cut(start, start + n);
        // Ids from here on will not be used any more: who has one and stays moves into a gap.
        let end = (self.len() - n) as u32;
        const STAYS: u32 = u32::MAX;
        const GONE: u32 = u32::MAX - 1;
        let mut moves = vec![STAYS; n];
        for id in &gone {
            if *id >= end {
                moves[(*id - end) as usize] = GONE;
            }
            let hash = self.ids.hash(&self.slab.get(*id).member);
            if let Some(p) = self.ids.find_with(hash, |i| i.id == *id) {
                self.ids.remove(p);
            }
            let hole = Entry { member: Bytes::new(), score: 0.0 };
            let entry = std::mem::replace(self.slab.get_mut(*id), hole);
            self.slab.heap -= entry.member.heap_bytes();
            f(entry.member, entry.score);
        }
        let mut gaps = gone.into_iter().filter(|id| *id < end);
        let mut any = false;
        for (id, to) in (end..).zip(&mut moves) {
            if *to == STAYS
                && let Some(gap) = gaps.next()
            {
                self.slab.swap(id, gap);
                (*to, any) = (gap, true);
            }
        }
        self.slab.truncate(end as usize);
        if any {
            let now =
                |id: u32| if id < end { id } else { moves.get((id - end) as usize).copied().unwrap_or(id) };
            self.tree.renumber(now);
            self.ids.iter_mut().for_each(|i| i.id = now(i.id));
        }
    }

    /// One step of a walk in no useful order; see [`Dict::scan`].
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, f: &mut impl FnMut(&'a [u8], f64)) -> u64 {
        self.ids.scan(cursor, count, &mut |i| {
            let e = self.slab.get(i.id);
            f(&e.member, e.score);
        })
    }

    /// The member chosen by the random number `r`, uniformly.
    pub fn random(&self, r: u64) -> Option<(&[u8], f64)> {
        self.by_index((r as usize).checked_rem(self.len())?)
    }

    /// The member at a place of the inner array, whose order is of no use but to choose members at random.
    pub fn by_index(&self, index: usize) -> Option<(&[u8], f64)> {
        if index >= self.len() {
            return None;
        }
        let e = self.slab.get(index as u32);
        Some((&e.member, e.score))
    }
}

impl Clone for ZSet {
    fn clone(&self) -> Self {
        let mut z = ZSet::new(self.ids.seed());
        for (m, s) in self.iter() {
            z.insert(m, s);
        }
        z
    }
}

impl std::fmt::Debug for ZSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter().map(|(m, s)| (m.escape_ascii().to_string(), s))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn check(z: &ZSet, model: &BTreeMap<Vec<u8>, f64>) -> Vec<(Vec<u8>, f64)> {
        z.tree.check(&z.slab);
        assert_eq!(z.len(), model.len());
        assert_eq!(z.ids.len(), model.len());
        assert_eq!(z.slab.heap, model.keys().filter(|k| k.len() > 22).map(|k| k.len()).sum::<usize>());
        let mut sorted: Vec<_> = model.iter().map(|(m, s)| (m.clone(), *s)).collect();
        sorted.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap().then_with(|| a.0.cmp(&b.0)));
        let all: Vec<_> = z.iter().map(|(m, s)| (m.to_vec(), s)).collect();
        assert_eq!(all, sorted);
        sorted
    }

    #[test]
    fn large_and_back() {
        let mut z = ZSet::new([1; 16]);
        let mut model = BTreeMap::new();
        for i in 0..20_000u64 {
            let m = format!("member:{}", i * 7919 % 20_011).into_bytes();
            let s = ((i * 31) % 997) as f64;
            assert_eq!(z.insert(&m, s), Inserted::Added);
            model.insert(m, s);
        }
        let sorted = check(&z, &model);
        for (r, (m, s)) in sorted.iter().enumerate().step_by(37) {
            assert_eq!(z.rank(m), Some(r));
            assert_eq!(z.at(r), Some((&m[..], *s)));
        }
        let per = z.mem_bytes() / z.len();
        assert!(per < 90, "{per} bytes a member");
        for (i, (m, s)) in sorted.iter().enumerate().skip(5) {
            assert_eq!(z.remove(m), Some(*s));
            model.remove(m);
            if i % 4000 == 0 {
                check(&z, &model);
            }
        }
        check(&z, &model);
        assert_eq!(z.tree.seek(0).map(|p| z.tree.get(p).0), Some(sorted[0].1));
    }

    #[test]
    fn large_ranges_go_in_one_pass() {
        let mut rng = 7u64;
        for (n, start, end) in
            [(5000u64, 0, 5000), (5000, 0, 2500), (5000, 100, 4900), (5000, 4000, 5000), (700, 1, 100)]
        {
            let (mut z, mut model) = (ZSet::new([1; 16]), BTreeMap::new());
            for i in 0..n {
                let m = format!("member:{:0width$}", i, width = if i % 3 == 0 { 30 } else { 1 }).into_bytes();
                let s = (crate::dict::splitmix(&mut rng) % 500) as f64;
                z.insert(&m, s);
                model.insert(m, s);
            }
            let before: Vec<_> = z.iter().map(|(m, s)| (m.to_vec(), s)).collect();
            let mut gone = Vec::new();
            assert_eq!(z.remove_ranks(start, end, &mut |m, s| gone.push((m.to_vec(), s))), end - start);
            assert_eq!(gone, before[start..end]);
            for (m, _) in &gone {
                model.remove(m);
            }
            check(&z, &model);
            // It goes on working.
            for i in 0..n {
                let m = format!("again:{i}").into_bytes();
                z.insert(&m, (i % 50) as f64);
                model.insert(m, (i % 50) as f64);
            }
            for (m, _) in before.iter().step_by(3) {
                assert_eq!(z.remove(m), model.remove(m));
            }
            check(&z, &model);
        }
    }

    #[test]
    fn infinities_and_zeros() {
        let mut z = ZSet::new([1; 16]);
        for (m, s) in [("c", f64::INFINITY), ("a", f64::NEG_INFINITY), ("b", 0.0), ("bb", -0.0)] {
            z.insert(m.as_bytes(), s);
        }
        assert_eq!(z.iter().map(|(m, _)| m).collect::<Vec<_>>(), [&b"a"[..], b"b", b"bb", b"c"]);
        assert_eq!((z.count_below(0.0, false), z.count_below(-0.0, true)), (1, 3));
        assert_eq!(z.insert(b"b", -0.0), Inserted::Unchanged);
        assert_eq!(z.count_below(f64::INFINITY, true), 4);
    }

    #[test]
    fn ascending_order_fills_leaves() {
        let mut z = ZSet::new([1; 16]);
        for i in 0..10_000 {
            z.insert(format!("{i:05}").as_bytes(), i as f64);
        }
        assert!(z.tree.bytes() < 10_000 * 30, "{}", z.tree.bytes());
    }

    proptest! {
        #[test]
        fn behaves_as_sorted_map(ops in prop::collection::vec((0u8..10, 0u16..600, 0i8..6, any::<bool>()), 1..1500)) {
            let (mut z, mut model) = (ZSet::new([5; 16]), BTreeMap::new());
            for (op, m, s, long) in ops {
                let name = if long { format!("{m:040}") } else { m.to_string() }.into_bytes();
                let s = if s == 0 { m as f64 } else { s as f64 / 2.0 };
                match op {
                    0..=5 => {
                        let want = match model.insert(name.clone(), s) {
                            None => Inserted::Added,
                            Some(old) if old == s => Inserted::Unchanged,
                            Some(old) => Inserted::Updated(old),
                        };
                        prop_assert_eq!(z.insert(&name, s), want);
                    }
                    6..=8 => prop_assert_eq!(z.remove(&name), model.remove(&name)),
                    _ => {
                        let (start, end) = (m as usize, m as usize + s as usize);
                        z.remove_ranks(start, end, &mut |m, s| assert_eq!(model.remove(&*m), Some(s)));
                    }
                }
            }
            let sorted = check(&z, &model);
            for (r, (m, s)) in sorted.iter().enumerate() {
                prop_assert_eq!(z.rank(m), Some(r));
                prop_assert_eq!(z.at(r), Some((&m[..], *s)));
                prop_assert_eq!(z.count_below(*s, false), sorted.iter().filter(|e| e.1 < *s).count());
                prop_assert_eq!(z.count_below(*s, true), sorted.iter().filter(|e| e.1 <= *s).count());
            }
            let back: Vec<_> = z.iter_rev_from(z.len().wrapping_sub(1)).map(|e| e.0.to_vec()).collect();
            prop_assert!(back.iter().rev().eq(sorted.iter().map(|e| &e.0)));
            let mut seen = std::collections::HashSet::new();
            let mut c = 0;
            loop { c = z.scan(c, 7, &mut |m, _| { seen.insert(m.to_vec()); }); if c == 0 { break; } }
            prop_assert_eq!(seen.len(), model.len());
        }

        #[test]
        fn lex_ranges(names in prop::collection::btree_set("[a-c]{0,5}", 0..200), probe in "[a-c]{0,5}") {
            let mut z = ZSet::new([5; 16]);
            for n in &names { z.insert(n.as_bytes(), 0.0); }
            prop_assert_eq!(z.count_before(probe.as_bytes(), false), names.iter().filter(|n| **n < probe).count());
            prop_assert_eq!(z.count_before(probe.as_bytes(), true), names.iter().filter(|n| **n <= probe).count());
        }
    }
}
