//! The sorted set value: a listpack of members and scores in order while it is small, a counted tree when it has grown.
//!
//! The tree reports itself as `skiplist`, the name that clients know. A set never goes back to a listpack by losing
//! members, as in Redis.

use super::journal::Journal;
use super::rng::Rng;
use crate::keyspace::Keyspace;
use crate::util::format_double;
use smallvec::SmallVec;
use std::cmp::Ordering;
use totality_ds::dict::Seed;
use totality_ds::zset::{Inserted, ZSet as Tree};
use totality_ds::{Bytes, Item, Listpack};

/// When a sorted set changes its encoding, and the secret of its table.
#[derive(Debug, Clone, Copy)]
pub struct ZSetCfg {
    /// Most members of a listpack.
    pub entries: usize,
    /// Longest member of a listpack, in bytes.
    pub value: usize,
    /// Seed of the table.
    pub seed: Seed,
}

impl ZSetCfg {
    /// As the keyspace is configured.
    #[inline]
    pub fn of(ks: &Keyspace) -> Self {
        ZSetCfg {
            entries: ks.enc.zset_entries as usize,
            value: ks.enc.zset_value as usize,
            seed: Seed::new(ks.seed),
        }
    }
}

/// Conditions of [`ZSet::add`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ZAdd {
    /// Only members that are not there.
    pub nx: bool,
    /// Only members that are there.
    pub xx: bool,
    /// Only where the score grows.
    pub gt: bool,
    /// Only where the score shrinks.
    pub lt: bool,
    /// The score is added to the present one.
    pub incr: bool,
}

/// What [`ZSet::add`] did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Added {
    /// The member is new.
    New(f64),
    /// The member has another score now.
    Updated {
        /// The score that it had.
        old: f64,
        /// The score that it has.
        new: f64,
    },
    /// The member has this score already.
    Same(f64),
    /// A condition was not met.
    Skipped,
    /// The sum is not a number; nothing was changed.
    NaN,
}

/// A range of scores. `-inf` and `inf` are ordinary bounds.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRange {
    /// Lower bound.
    pub min: f64,
    /// Upper bound.
    pub max: f64,
    /// The lower bound itself is outside.
    pub min_open: bool,
    /// The upper bound itself is outside.
    pub max_open: bool,
}

impl ScoreRange {
    #[inline]
    fn above_min(&self, score: f64) -> bool {
        if self.min_open { score > self.min } else { score >= self.min }
    }
    #[inline]
    fn below_max(&self, score: f64) -> bool {
        if self.max_open { score < self.max } else { score <= self.max }
    }
}

/// A bound of a range of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// Before all members.
    Min,
    /// After all members.
    Max,
    /// This member and what is inside.
    Closed(&'a [u8]),
    /// What is inside of this member.
    Open(&'a [u8]),
}

/// A range of members of equal score.
#[derive(Debug, Clone, Copy)]
pub struct LexRange<'a> {
    /// Lower bound.
    pub min: LexBound<'a>,
    /// Upper bound.
    pub max: LexBound<'a>,
}

impl LexRange<'_> {
    fn above_min(&self, member: &[u8]) -> bool {
        match self.min {
            LexBound::Min => true,
            LexBound::Max => false,
            LexBound::Closed(min) => member >= min,
            LexBound::Open(min) => member > min,
        }
    }
    fn below_max(&self, member: &[u8]) -> bool {
        match self.max {
            LexBound::Min => false,
            LexBound::Max => true,
            LexBound::Closed(max) => member <= max,
            LexBound::Open(max) => member < max,
        }
    }
    fn is_empty(&self) -> bool {
        use LexBound::{Closed, Max, Min, Open};
        match (self.min, self.max) {
            (Max, _) | (_, Min) => true,
            (Min, _) | (_, Max) => false,
            (Closed(min), Closed(max)) => min > max,
            (Closed(min) | Open(min), Closed(max) | Open(max)) => min >= max,
        }
    }
}

/// A sorted set. Scores are never NaN.
#[derive(Debug, Clone)]
pub struct ZSet {
    repr: Repr,
}

#[derive(Debug, Clone)]
enum Repr {
    Pack(Listpack),
    Tree(Box<Large>),
}

/// The tree, and what it notes of its changes while they are to be taken back perhaps.
#[derive(Debug, Clone)]
struct Large {
    tree: Tree,
    journal: Option<Box<Journal<ZSetUndo>>>,
}

/// The inverse of a change of a tree: the member and the score that it had, if it was there.
pub type ZSetUndo = (Bytes, Option<f64>);

impl Large {
    fn empty(cfg: &ZSetCfg) -> Repr {
        Repr::Tree(Box::new(Large { tree: Tree::new(cfg.seed), journal: None }))
    }

    #[inline]
    fn note(&mut self, member: &[u8], was: Option<f64>) {
        if let Some(journal) = &mut self.journal {
            let member = Bytes::from(member);
            let heap = member.heap_bytes();
            journal.note((member, was), heap);
        }
    }

    fn insert(&mut self, member: &[u8], score: f64) -> Inserted {
        let done = self.tree.insert(member, score);
        match done {
            Inserted::Added => self.note(member, None),
            Inserted::Updated(old) => self.note(member, Some(old)),
            Inserted::Unchanged => {}
        }
        done
    }

    fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let old = self.tree.remove(member)?;
        self.note(member, Some(old));
        Some(old)
    }
}

impl std::ops::Deref for Large {
    type Target = Tree;
    fn deref(&self) -> &Tree {
        &self.tree
    }
}

impl Default for ZSet {
    fn default() -> Self {
        ZSet { repr: Repr::Pack(Listpack::new()) }
    }
}

/// The score that an element of a listpack says.
#[inline]
fn score_of(item: Item<'_>) -> f64 {
    match item {
        Item::Int(n) => n as f64,
        Item::Str(s) => std::str::from_utf8(s).ok().and_then(|s| s.parse().ok()).unwrap_or(0.0),
    }
}

/// The integer that a score is stored as, where it is one that Redis stores so.
#[inline]
fn as_integer(score: f64) -> Option<i64> {
    const LIMIT: f64 = (i64::MAX / 2) as f64;
    ((-LIMIT..=LIMIT).contains(&score) && score == score.trunc()).then_some(score as i64)
}

fn order(item: Item<'_>, member: &[u8]) -> Ordering {
    item.with_bytes(|bytes| bytes.cmp(member))
}

/// Members of a listpack with their positions.
struct Pairs<'a> {
    lp: &'a Listpack,
    at: Option<usize>,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (usize, Item<'a>, f64);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at?;
        let score_at = self.lp.next(at)?;
        self.at = self.lp.next(score_at);
        Some((at, self.lp.get(at), score_of(self.lp.get(score_at))))
    }
}

fn pairs(lp: &Listpack) -> Pairs<'_> {
    Pairs { lp, at: lp.first() }
}

fn put(lp: &mut Listpack, at: Option<usize>, member: &[u8], score: f64) {
    let int = as_integer(score);
    let mut text = SmallVec::<[u8; 32]>::new();
    if int.is_none() {
        format_double(score, &mut text);
    }
    match (at, int) {
        (Some(at), Some(n)) => lp.insert_before_int(at, n),
        (Some(at), None) => lp.insert_before(at, &text),
        (None, _) => lp.push_back(member),
    }
    match (at, int) {
        (Some(at), _) => lp.insert_before(at, member),
        (None, Some(n)) => lp.push_back_int(n),
        (None, None) => lp.push_back(&text),
    }
}

/// Inserts a pair at its place in the order.
fn insert_sorted(lp: &mut Listpack, member: &[u8], score: f64) {
    let goes_before =
        |m: Item<'_>, s: f64| s > score || (s == score && order(m, member) == Ordering::Greater);
    let last = lp.seek(-2).and_then(|at| Some((lp.get(at), score_of(lp.get(lp.next(at)?)))));
    // Scores often grow with time.
    let at = match last {
        Some((m, s)) if goes_before(m, s) => {
            pairs(lp).find(|(_, m, s)| goes_before(*m, *s)).map(|(at, ..)| at)
        }
        _ => None,
    };
    put(lp, at, member, score);
}

fn find(lp: &Listpack, member: &[u8]) -> Option<(usize, f64)> {
    let at = lp.find(None, member, 1)?;
    Some((at, score_of(lp.get(lp.next(at)?))))
}

impl ZSet {
    /// An empty set in the encoding for `count` members the first of which has `len` bytes.
    pub fn for_members(count: usize, len: usize, cfg: &ZSetCfg) -> Self {
        if count <= cfg.entries && len <= cfg.value {
            Self::default()
        } else {
            ZSet { repr: Large::empty(cfg) }
        }
    }

    /// The same, with room in a compact one for `bytes` bytes in all.
    pub fn with_capacity(count: usize, len: usize, bytes: usize, cfg: &ZSetCfg) -> Self {
        let mut set = Self::for_members(count, len, cfg);
        if let Repr::Pack(lp) = &mut set.repr {
            *lp = Listpack::with_capacity(bytes.min(1 << 16));
        }
        set
    }

    /// A set of members that are in order and different, in the smallest encoding that `cfg` allows.
    pub fn from_sorted<'a>(
        members: impl ExactSizeIterator<Item = (&'a [u8], f64)> + Clone,
        cfg: &ZSetCfg,
    ) -> Self {
        let longest = members.clone().map(|(m, _)| m.len()).max().unwrap_or(0);
        let mut set = ZSet::for_members(members.len(), longest, cfg);
        match &mut set.repr {
            Repr::Pack(lp) => members.for_each(|(member, score)| put(lp, None, member, score)),
            Repr::Tree(tree) => members.for_each(|(member, score)| {
                tree.insert(member, score);
            }),
        }
        set
    }

    /// Takes a loaded listpack; a tree is made of it when `cfg` asks for one. `None` when it is not one of pairs of
    /// different members and scores in order.
    pub fn from_listpack(lp: Listpack, cfg: &ZSetCfg) -> Option<Self> {
        let mut before: Option<(Item<'_>, f64)> = None;
        let (mut count, mut longest) = (0, 0);
        let mut members = std::collections::HashSet::new();
        let mut at = lp.first();
        while let Some(pos) = at {
            let score_at = lp.next(pos)?;
            let (member, score) = (lp.get(pos), lp.get(score_at));
            let score = match score {
                Item::Int(n) => n as f64,
                Item::Str(s) => std::str::from_utf8(s).ok()?.parse::<f64>().ok().filter(|s| !s.is_nan())?,
            };
            let sorted = before.is_none_or(|(m, s)| {
                s < score || (s == score && m.with_bytes(|m| order(member, m)) == Ordering::Greater)
            });
            if !sorted || !members.insert(member.to_bytes().into_vec()) {
                return None;
            }
            before = Some((member, score));
            count += 1;
            longest = longest.max(member.byte_len());
            at = lp.next(score_at);
        }
        let mut set = ZSet { repr: Repr::Pack(lp) };
        if count > cfg.entries || longest > cfg.value {
            set.grow(cfg);
        }
        Some(set)
    }

    /// The listpack, while the set is one.
    pub fn listpack(&self) -> Option<&Listpack> {
        match &self.repr {
            Repr::Pack(lp) => Some(lp),
            Repr::Tree(_) => None,
        }
    }

    /// Number of members.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.len() / 2,
            Repr::Tree(tree) => tree.len(),
        }
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on the heap. O(1).
    #[inline]
    pub fn mem(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.heap_bytes(),
            Repr::Tree(tree) => size_of::<Large>() + tree.mem_bytes(),
        }
    }

    /// The same as [`ZSet::mem`], counted again from scratch.
    pub fn recount(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.heap_bytes(),
            Repr::Tree(tree) => size_of::<Large>() + tree.recount(),
        }
    }

    /// Name of the encoding.
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Pack(_) => "listpack",
            Repr::Tree(_) => "skiplist",
        }
    }

    /// Makes a tree at once where that many members are about to be added.
    pub fn prepare(&mut self, hint: usize, cfg: &ZSetCfg) {
        if hint > cfg.entries && matches!(self.repr, Repr::Pack(_)) {
            self.grow(cfg);
        }
    }

    #[cold]
    fn grow(&mut self, cfg: &ZSetCfg) {
        if let Repr::Pack(lp) = &self.repr {
            let mut tree = Tree::new(cfg.seed);
            for (_, member, score) in pairs(lp) {
                member.with_bytes(|member| tree.insert(member, score));
            }
            self.repr = Repr::Tree(Box::new(Large { tree, journal: None }));
        }
    }

    /// The score of `member`.
    #[inline]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.repr {
            Repr::Pack(lp) => find(lp, member).map(|(_, score)| score),
            Repr::Tree(tree) => tree.score(member),
        }
    }

    /// Adds a member or changes its score. `score` must not be NaN.
    pub fn add(&mut self, member: &[u8], score: f64, how: ZAdd, cfg: &ZSetCfg) -> Added {
        if score.is_nan() {
            return Added::NaN;
        }
        if let Repr::Pack(lp) = &mut self.repr {
            if let Some((at, old)) = find(lp, member) {
                let done = judge(old, score, how);
                if let Added::Updated { new, .. } = done {
                    lp.delete_from(at, 2);
                    insert_sorted(lp, member, new);
                }
                return done;
            }
            if how.xx {
                return Added::Skipped;
            }
            if lp.len() / 2 < cfg.entries && member.len() <= cfg.value && lp.safe_to_add(member.len()) {
                insert_sorted(lp, member, score);
                return Added::New(score);
            }
            self.grow(cfg);
        }
        let Repr::Tree(tree) = &mut self.repr else { return Added::Skipped };
        if !(how.nx || how.xx || how.gt || how.lt || how.incr) {
            return match tree.insert(member, score) {
                Inserted::Added => Added::New(score),
                Inserted::Updated(old) => Added::Updated { old, new: score },
                Inserted::Unchanged => Added::Same(score),
            };
        }
        match tree.score(member) {
            Some(old) => {
                let done = judge(old, score, how);
                if let Added::Updated { new, .. } = done {
                    tree.insert(member, new);
                }
                done
            }
            None if how.xx => Added::Skipped,
            None => {
                tree.insert(member, score);
                Added::New(score)
            }
        }
    }

    /// Removes a member; returns its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.repr {
            Repr::Pack(lp) => {
                let (at, score) = find(lp, member)?;
                lp.delete_from(at, 2);
                Some(score)
            }
            Repr::Tree(tree) => tree.remove(member),
        }
    }

    /// The number of members before `member`, and its score.
    pub fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        match &self.repr {
            Repr::Pack(lp) => {
                let int = crate::util::parse_i64(member);
                let equal = |m: Item<'_>| match m {
                    Item::Int(n) => int == Some(n),
                    Item::Str(s) => int.is_none() && s == member,
                };
                pairs(lp)
                    .enumerate()
                    .find(|(_, (_, m, _))| equal(*m))
                    .map(|(rank, (.., score))| (rank, score))
            }
            Repr::Tree(tree) => Some((tree.rank(member)?, tree.score(member)?)),
        }
    }

    /// Calls `f` with up to `count` members from rank `start` on, downwards if `reverse`.
    #[inline]
    pub fn for_ranks(&self, start: usize, count: usize, reverse: bool, mut f: impl FnMut(Item<'_>, f64)) {
        match &self.repr {
            Repr::Tree(tree) if reverse => {
                tree.iter_rev_from(start).take(count).for_each(|(m, s)| f(Item::Str(m), s));
            }
            Repr::Tree(tree) => tree.iter_from(start).take(count).for_each(|(m, s)| f(Item::Str(m), s)),
            Repr::Pack(lp) => {
                let mut at = lp.seek(2 * start as i64);
                for _ in 0..count {
                    let Some(pos) = at else { return };
                    let Some(score_at) = lp.next(pos) else { return };
                    f(lp.get(pos), score_of(lp.get(score_at)));
                    at = if reverse { lp.prev(pos).and_then(|p| lp.prev(p)) } else { lp.next(score_at) };
                }
            }
        }
    }

    /// All members in order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (Item<'_>, f64)> + '_> {
        match &self.repr {
            Repr::Pack(lp) => Box::new(pairs(lp).map(|(_, m, s)| (m, s))),
            Repr::Tree(tree) => Box::new(tree.iter().map(|(m, s)| (Item::Str(m), s))),
        }
    }

    /// The ranks of the members whose scores are in a range: from the first up to, not including, the second.
    pub fn score_ranks(&self, range: &ScoreRange) -> (usize, usize) {
        let (start, end) = match &self.repr {
            Repr::Tree(tree) => {
                (tree.count_below(range.min, range.min_open), tree.count_below(range.max, !range.max_open))
            }
            Repr::Pack(lp) => {
                let (mut start, mut end) = (0, 0);
                for (_, _, score) in pairs(lp) {
                    if !range.below_max(score) {
                        break;
                    }
                    end += 1;
                    start += usize::from(!range.above_min(score));
                }
                (start, end)
            }
        };
        (start, end.max(start))
    }

    /// The same for a range of members. Where scores differ, what is in the range is not specified: like Redis, small
    /// sets are searched from the end at which the caller begins.
    pub fn lex_ranks(&self, range: &LexRange<'_>, reverse: bool) -> (usize, usize) {
        if range.is_empty() {
            return (0, 0);
        }
        let (start, end) = match &self.repr {
            Repr::Tree(tree) => {
                // Redis looks at the ends first, which tells only where scores differ.
                let last = tree.len().checked_sub(1).and_then(|rank| tree.at(rank));
                if !last.is_some_and(|(m, _)| range.above_min(m))
                    || !tree.at(0).is_some_and(|(m, _)| range.below_max(m))
                {
                    return (0, 0);
                }
                let start = match range.min {
                    LexBound::Min => 0,
                    LexBound::Max => tree.len(),
                    LexBound::Closed(min) => tree.count_before(min, false),
                    LexBound::Open(min) => tree.count_before(min, true),
                };
                let end = match range.max {
                    LexBound::Min => 0,
                    LexBound::Max => tree.len(),
                    LexBound::Closed(max) => tree.count_before(max, true),
                    LexBound::Open(max) => tree.count_before(max, false),
                };
                (start, end)
            }
            Repr::Pack(lp) => pack_lex_ranks(lp, range, reverse),
        };
        (start, end.max(start))
    }

    /// Removes the members of ranks `start..end` and gives each to `f`, in order. Returns how many.
    pub fn remove_ranks(&mut self, start: usize, end: usize, f: &mut impl FnMut(Item<'_>, f64)) -> usize {
        match &mut self.repr {
            Repr::Tree(large) => {
                let Large { tree, journal } = &mut **large;
                tree.remove_ranks(start, end, &mut |m, s| {
                    f(Item::Str(&m), s);
                    if let Some(journal) = journal {
                        let heap = m.heap_bytes();
                        journal.note((m, Some(s)), heap);
                    }
                })
            }
            Repr::Pack(lp) => {
                let n = end.min(lp.len() / 2).saturating_sub(start);
                let Some(at) = lp.seek(2 * start as i64) else { return 0 };
                Pairs { lp, at: Some(at) }.take(n).for_each(|(_, m, s)| f(m, s));
                lp.delete_from(at, 2 * n);
                n
            }
        }
    }

    /// Removes the first member, or the last one if `last`, after giving it to `f`.
    pub fn pop<R>(&mut self, last: bool, f: impl FnOnce(Item<'_>, f64) -> R) -> Option<R> {
        match &mut self.repr {
            Repr::Tree(tree) => {
                let rank = if last { tree.len().checked_sub(1)? } else { 0 };
                let (member, score) = tree.tree.remove_at(rank)?;
                tree.note(&member, Some(score));
                Some(f(Item::Str(&member), score))
            }
            Repr::Pack(lp) => {
                let at = lp.seek(if last { -2 } else { 0 })?;
                let result = f(lp.get(at), score_of(lp.get(lp.next(at)?)));
                lp.delete_from(at, 2);
                Some(result)
            }
        }
    }

    /// Gives a tree a journal to note its changes in. A compact set has no use for it.
    pub(crate) fn keep_changes(&mut self, journal: Box<Journal<ZSetUndo>>) {
        if let Repr::Tree(large) = &mut self.repr {
            large.journal = Some(journal);
        }
    }

    /// Takes the journal away.
    pub(crate) fn take_journal(&mut self) -> Option<Box<Journal<ZSetUndo>>> {
        match &mut self.repr {
            Repr::Pack(_) => None,
            Repr::Tree(large) => large.journal.take(),
        }
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, journal: Journal<ZSetUndo>) {
        let Repr::Tree(large) = &mut self.repr else { return };
        for (member, was) in journal.into_inverses() {
            match was {
                Some(score) => {
                    large.tree.insert(&member, score);
                }
                None => {
                    large.tree.remove(&member);
                }
            }
        }
    }

    /// One step of a walk, as [`totality_ds::Dict::scan`]; a small set is given at once.
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, f: &mut impl FnMut(Item<'a>, f64)) -> u64 {
        match &self.repr {
            Repr::Tree(tree) => tree.scan(cursor, count, &mut |m, s| f(Item::Str(m), s)),
            Repr::Pack(lp) => {
                pairs(lp).for_each(|(_, m, s)| f(m, s));
                0
            }
        }
    }

    /// The member at a place in an order that is of no use but to choose members.
    #[inline]
    fn by_index(&self, index: usize) -> Option<(Item<'_>, f64)> {
        match &self.repr {
            Repr::Tree(tree) => tree.by_index(index).map(|(m, s)| (Item::Str(m), s)),
            Repr::Pack(lp) => {
                let at = lp.seek(2 * index as i64)?;
                Some((lp.get(at), score_of(lp.get(lp.next(at)?))))
            }
        }
    }

    /// A random member.
    pub fn random(&self, rng: &mut Rng) -> Option<(Item<'_>, f64)> {
        self.by_index(rng.below(self.len()))
    }

    /// Calls `f` with `count` different members (all of them when there are fewer), chosen at random.
    pub fn random_distinct(&self, count: usize, rng: &mut Rng, mut f: impl FnMut(Item<'_>, f64)) {
        let len = self.len();
        if count.saturating_mul(3) >= len {
            // The walk over all is worth it.
            for index in rng.choose(len, count) {
                if let Some((member, score)) = self.by_index(index) {
                    f(member, score);
                }
            }
            return;
        }
        let mut chosen = std::collections::HashSet::with_capacity(count);
        while chosen.len() < count {
            let index = rng.below(len);
            if chosen.insert(index)
                && let Some((member, score)) = self.by_index(index)
            {
                f(member, score);
            }
        }
    }
}

/// What happens to a member that is there with score `old`.
fn judge(old: f64, score: f64, how: ZAdd) -> Added {
    if how.nx {
        return Added::Skipped;
    }
    let new = if how.incr { old + score } else { score };
    if new.is_nan() {
        Added::NaN
    } else if (how.lt && new >= old) || (how.gt && new <= old) {
        Added::Skipped
    } else if new == old {
        Added::Same(new)
    } else {
        Added::Updated { old, new }
    }
}

fn pack_lex_ranks(lp: &Listpack, range: &LexRange<'_>, reverse: bool) -> (usize, usize) {
    let above = |m: Item<'_>| m.with_bytes(|m| range.above_min(m));
    let below = |m: Item<'_>| m.with_bytes(|m| range.below_max(m));
    // Redis looks at the ends first.
    let (Some(first), Some(last)) = (lp.first(), lp.seek(-2)) else { return (0, 0) };
    if !above(lp.get(last)) || !below(lp.get(first)) {
        return (0, 0);
    }
    if reverse {
        let mut end = lp.len() / 2;
        let mut at = Some(last);
        let back = |pos: usize| lp.prev(pos).and_then(|p| lp.prev(p));
        while let Some(pos) = at
            && !below(lp.get(pos))
        {
            end -= 1;
            at = back(pos);
        }
        let mut start = end;
        while let Some(pos) = at
            && above(lp.get(pos))
        {
            start -= 1;
            at = back(pos);
        }
        return (start, end);
    }
    let start = pairs(lp).take_while(|(_, m, _)| !above(*m)).count();
    let inside = pairs(lp).skip(start).take_while(|(_, m, _)| below(*m)).count();
    (start, start + inside)
}

#[cfg(test)]
#[path = "zset_tests.rs"]
mod tests;
