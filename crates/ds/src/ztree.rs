//! A counted B+tree over (score, member): the order of a sorted set.
//!
//! Leaves hold scores and ids of members; the members themselves are behind a [`Members`], which the caller hands in,
//! and are looked at only where scores are equal. An inner node repeats the first entry of each child and its number
//! of entries, so that ranks and counts cost one descent.

use std::cmp::Ordering;

/// Entries of a leaf.
const LEAF: usize = 64;
/// Children of an inner node.
const FANOUT: usize = 32;
/// More than 10^12 entries even if every node has two children only.
const MAX_HEIGHT: usize = 40;
const NONE: u32 = u32::MAX;

/// Where the members of the ids are.
pub(crate) trait Members {
    fn member(&self, id: u32) -> &[u8];
}

struct Leaf {
    scores: [f64; LEAF],
    ids: [u32; LEAF],
    len: u32,
    prev: u32,
    next: u32,
}

struct Inner {
    // First entry of each child.
    scores: [f64; FANOUT],
    ids: [u32; FANOUT],
    children: [u32; FANOUT],
    counts: [u32; FANOUT],
    len: u32,
}

/// What an inner node knows about a child.
#[derive(Clone, Copy)]
struct Child {
    score: f64,
    id: u32,
    node: u32,
    count: u32,
}

impl Inner {
    const EMPTY: Inner =
        Inner { scores: [0.0; FANOUT], ids: [0; FANOUT], children: [0; FANOUT], counts: [0; FANOUT], len: 0 };

    fn get(&self, i: usize) -> Child {
        Child { score: self.scores[i], id: self.ids[i], node: self.children[i], count: self.counts[i] }
    }

    fn set(&mut self, i: usize, c: Child) {
        self.scores[i] = c.score;
        self.ids[i] = c.id;
        self.children[i] = c.node;
        self.counts[i] = c.count;
    }

    fn insert(&mut self, at: usize, c: Child) {
        let n = self.len as usize;
        self.scores.copy_within(at..n, at + 1);
        self.ids.copy_within(at..n, at + 1);
        self.children.copy_within(at..n, at + 1);
        self.counts.copy_within(at..n, at + 1);
        self.set(at, c);
        self.len += 1;
    }

    fn remove(&mut self, at: usize) {
        let n = self.len as usize;
        self.scores.copy_within(at + 1..n, at);
        self.ids.copy_within(at + 1..n, at);
        self.children.copy_within(at + 1..n, at);
        self.counts.copy_within(at + 1..n, at);
        self.len -= 1;
    }

    /// Moves the children from `at` on to a new node.
    fn split_off(&mut self, at: usize) -> Inner {
        let mut right = Inner::EMPTY;
        for i in at..self.len as usize {
            right.set(i - at, self.get(i));
        }
        right.len = self.len - at as u32;
        self.len = at as u32;
        right
    }

    fn count(&self) -> u32 {
        self.counts[..self.len as usize].iter().sum()
    }
}

impl Leaf {
    const EMPTY: Leaf = Leaf { scores: [0.0; LEAF], ids: [0; LEAF], len: 0, prev: NONE, next: NONE };

    fn scores(&self) -> &[f64] {
        &self.scores[..self.len as usize]
    }

    fn insert(&mut self, at: usize, score: f64, id: u32) {
        let n = self.len as usize;
        self.scores.copy_within(at..n, at + 1);
        self.ids.copy_within(at..n, at + 1);
        self.scores[at] = score;
        self.ids[at] = id;
        self.len += 1;
    }

    fn remove(&mut self, at: usize) -> u32 {
        let n = self.len as usize;
        let id = self.ids[at];
        self.scores.copy_within(at + 1..n, at);
        self.ids.copy_within(at + 1..n, at);
        self.len -= 1;
        id
    }
}

/// Nodes of one kind in one allocation, with reuse.
struct Arena<T> {
    nodes: Vec<T>,
    free: Vec<u32>,
}

impl<T> Arena<T> {
    const fn new() -> Self {
        Arena { nodes: Vec::new(), free: Vec::new() }
    }

    fn add(&mut self, node: T) -> u32 {
        if let Some(i) = self.free.pop() {
            self.nodes[i as usize] = node;
            i
        } else {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        }
    }

    fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

/// Where an entry is, until the next change.
#[derive(Clone, Copy)]
pub(crate) struct TreePos {
    leaf: u32,
    at: u32,
}

/// The way from the root to a leaf: inner node and child index of each level.
struct Path {
    steps: [(u32, u32); MAX_HEIGHT],
    len: usize,
}

pub(crate) struct Tree {
    leaves: Arena<Leaf>,
    inners: Arena<Inner>,
    root: u32,
    /// Levels of inner nodes.
    height: usize,
    len: usize,
}

/// Order of an entry and a target: by score, then by the bytes of the member. -0 and 0 are equal.
fn compare(m: &impl Members, score: f64, id: u32, target: (f64, &[u8])) -> Ordering {
    match score.partial_cmp(&target.0) {
        Some(Ordering::Equal) | None => m.member(id).cmp(target.1),
        Some(o) => o,
    }
}

/// The number of leading indices for which `f` is true.
fn partition(n: usize, mut f: impl FnMut(usize) -> bool) -> usize {
    let (mut lo, mut hi) = (0, n);
    while lo < hi {
        let mid = (lo + hi) / 2;
        if f(mid) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    lo
}

impl Tree {
    pub(crate) const fn new() -> Self {
        Tree { leaves: Arena::new(), inners: Arena::new(), root: NONE, height: 0, len: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.leaves.bytes() + self.inners.bytes()
    }

    fn leaf(&self, i: u32) -> &Leaf {
        &self.leaves.nodes[i as usize]
    }

    fn leaf_mut(&mut self, i: u32) -> &mut Leaf {
        &mut self.leaves.nodes[i as usize]
    }

    fn inner(&self, i: u32) -> &Inner {
        &self.inners.nodes[i as usize]
    }

    fn inner_mut(&mut self, i: u32) -> &mut Inner {
        &mut self.inners.nodes[i as usize]
    }

    /// What a parent should know about a node that stands `level` levels above the leaves.
    fn describe(&self, node: u32, level: usize) -> Child {
        if level == 0 {
            let l = self.leaf(node);
            Child { score: l.scores[0], id: l.ids[0], node, count: l.len }
        } else {
            let n = self.inner(node);
            Child { score: n.scores[0], id: n.ids[0], node, count: n.count() }
        }
    }

    fn node_len(&self, node: u32, level: usize) -> usize {
        if level == 0 { self.leaf(node).len as usize } else { self.inner(node).len as usize }
    }

    /// Descends to the leaf where `target` is or belongs.
    fn descend(&self, m: &impl Members, target: (f64, &[u8])) -> (Path, u32) {
        let mut path = Path { steps: [(0, 0); MAX_HEIGHT], len: 0 };
        let mut node = self.root;
        for _ in 0..self.height {
            let n = self.inner(node);
            let i = partition(n.len as usize - 1, |i| {
                compare(m, n.scores[i + 1], n.ids[i + 1], target) != Ordering::Greater
            });
            path.steps[path.len] = (node, i as u32);
            path.len += 1;
            node = n.children[i];
        }
        (path, node)
    }

    /// Where in a leaf `target` is or belongs. Looks at members of equal scores only.
    fn place(&self, m: &impl Members, leaf: u32, target: (f64, &[u8])) -> usize {
        let l = self.leaf(leaf);
        let lo = l.scores().partition_point(|&s| s < target.0);
        let same = l.scores()[lo..].partition_point(|&s| s <= target.0);
        lo + partition(same, |i| m.member(l.ids[lo + i]) < target.1)
    }

    /// Adds an entry that is not there yet. `id`'s member must be in `m`.
    pub(crate) fn insert(&mut self, m: &impl Members, score: f64, id: u32) {
        self.len += 1;
        if self.root == NONE {
            let mut leaf = Leaf::EMPTY;
            leaf.insert(0, score, id);
            self.root = self.leaves.add(leaf);
            return;
        }
        let target = (score, m.member(id));
        let (path, leaf) = self.descend(m, target);
        let at = self.place(m, leaf, target);
        let mut carry = None;
        if self.leaf(leaf).len as usize == LEAF {
            let right = self.split_leaf(leaf, at);
            let kept = self.leaf(leaf).len as usize;
            if at > kept || (at == kept && self.leaf(right).len == 0) {
                self.leaf_mut(right).insert(at - kept, score, id);
            } else {
                self.leaf_mut(leaf).insert(at, score, id);
            }
            carry = Some(right);
        } else {
            self.leaf_mut(leaf).insert(at, score, id);
        }
        for level in 0..path.len {
            let (parent, i) = path.steps[path.len - 1 - level];
            let i = i as usize;
            match carry.take() {
                None => {
                    // The common case: one entry more, perhaps a new first one.
                    let n = self.inner_mut(parent);
                    n.counts[i] += 1;
                    let node = n.children[i];
                    let c = if level == 0 {
                        let l = self.leaf(node);
                        (l.scores[0], l.ids[0])
                    } else {
                        let l = self.inner(node);
                        (l.scores[0], l.ids[0])
                    };
                    let n = self.inner_mut(parent);
                    (n.scores[i], n.ids[i]) = c;
                }
                Some(right) => carry = self.adopt(parent, i, right, level),
            }
        }
        if let Some(right) = carry {
            let level = self.height;
            let mut root = Inner::EMPTY;
            root.insert(0, self.describe(self.root, level));
            root.insert(1, self.describe(right, level));
            self.root = self.inners.add(root);
            self.height += 1;
        }
    }

    /// Splits a full leaf into which an entry is to be inserted at `at`; gives the new right one, which may be empty.
    fn split_leaf(&mut self, leaf: u32, at: usize) -> u32 {
        let next = self.leaf(leaf).next;
        // Entries that come in ascending order fill the leaves.
        let cut = if next == NONE && at == LEAF { LEAF } else { LEAF / 2 };
        let mut new = Leaf { prev: leaf, next, ..Leaf::EMPTY };
        let l = self.leaf_mut(leaf);
        new.scores[..LEAF - cut].copy_from_slice(&l.scores[cut..]);
        new.ids[..LEAF - cut].copy_from_slice(&l.ids[cut..]);
        new.len = (LEAF - cut) as u32;
        l.len = cut as u32;
        let right = self.leaves.add(new);
        self.leaf_mut(leaf).next = right;
        if next != NONE {
            self.leaf_mut(next).prev = right;
        }
        right
    }

    /// After child `i` of `parent` was split: takes in its new right neighbour. Gives the parent's own new neighbour
    /// if it had to be split too.
    fn adopt(&mut self, parent: u32, i: usize, right: u32, level: usize) -> Option<u32> {
        let left = self.inner(parent).children[i];
        let (left, right) = (self.describe(left, level), self.describe(right, level));
        let n = self.inner_mut(parent);
        n.set(i, left);
        if (n.len as usize) < FANOUT {
            n.insert(i + 1, right);
            return None;
        }
        let cut = if i + 1 == FANOUT { FANOUT - 1 } else { FANOUT / 2 };
        let mut new = n.split_off(cut);
        if i + 1 > cut {
            new.insert(i + 1 - cut, right)
        } else {
            n.insert(i + 1, right)
        }
        Some(self.inners.add(new))
    }

    /// Removes the entry; gives its id. None if it is not there.
    pub(crate) fn remove(&mut self, m: &impl Members, target: (f64, &[u8])) -> Option<u32> {
        if self.root == NONE {
            return None;
        }
        let (path, leaf) = self.descend(m, target);
        let at = self.place(m, leaf, target);
        let l = self.leaf(leaf);
        if at >= l.len as usize || compare(m, l.scores[at], l.ids[at], target) != Ordering::Equal {
            return None;
        }
        let id = self.leaf_mut(leaf).remove(at);
        self.len -= 1;
        for level in 0..path.len {
            let (parent, i) = path.steps[path.len - 1 - level];
            self.after_removal(parent, i as usize, level);
        }
        while self.height > 0 && self.inner(self.root).len <= 1 {
            let old = self.root;
            let n = self.inner(old);
            self.root = if n.len == 1 { n.children[0] } else { NONE };
            self.inners.free.push(old);
            self.height = if self.root == NONE { 0 } else { self.height - 1 };
        }
        if self.len == 0 {
            *self = Tree::new();
        }
        Some(id)
    }

    /// Brings `parent` up to date after a removal below child `i`: drops an empty child, merges a small one.
    fn after_removal(&mut self, parent: u32, i: usize, level: usize) {
        let child = self.inner(parent).children[i];
        let len = self.node_len(child, level);
        if len == 0 {
            self.inner_mut(parent).remove(i);
            self.free_node(child, level);
            return;
        }
        let known = self.describe(child, level);
        self.inner_mut(parent).set(i, known);
        let cap = if level == 0 { LEAF } else { FANOUT };
        let siblings = self.inner(parent).len as usize;
        if len > cap / 4 || siblings == 1 {
            return;
        }
        let left = if i > 0 { i - 1 } else { 0 };
        let (a, b) = (self.inner(parent).children[left], self.inner(parent).children[left + 1]);
        if self.node_len(a, level) + self.node_len(b, level) > cap * 3 / 4 {
            return;
        }
        self.absorb(a, b, level);
        let known = self.describe(a, level);
        let n = self.inner_mut(parent);
        n.set(left, known);
        n.remove(left + 1);
        self.free_node(b, level);
    }

    /// Appends the content of node `b` to its left neighbour `a`.
    fn absorb(&mut self, a: u32, b: u32, level: usize) {
        if level == 0 {
            let from = self.leaf(b);
            let (scores, ids, n) = (from.scores, from.ids, from.len as usize);
            let to = self.leaf_mut(a);
            let at = to.len as usize;
            to.scores[at..at + n].copy_from_slice(&scores[..n]);
            to.ids[at..at + n].copy_from_slice(&ids[..n]);
            to.len += n as u32;
        } else {
            for i in 0..self.inner(b).len as usize {
                let c = self.inner(b).get(i);
                let to = self.inner_mut(a);
                let at = to.len as usize;
                to.insert(at, c);
            }
        }
    }

    /// Removes the entries of ranks `start..end`, whole nodes at a time.
    pub(crate) fn cut(&mut self, start: usize, end: usize) {
        let end = end.min(self.len);
        if start >= end {
            return;
        }
        if end - start == self.len {
            *self = Tree::new();
            return;
        }
        self.cut_below(self.root, self.height, start, end);
        self.len -= end - start;
        while self.height > 0 && self.inner(self.root).len <= 1 {
            let old = self.root;
            self.root = self.inner(old).children[0];
            self.inners.free.push(old);
            self.height -= 1;
        }
    }

    /// Removes a part of what is below a node, but not all of it.
    fn cut_below(&mut self, node: u32, level: usize, start: usize, end: usize) {
        if level == 0 {
            let leaf = self.leaf_mut(node);
            let len = leaf.len as usize;
            leaf.scores.copy_within(end..len, start);
            leaf.ids.copy_within(end..len, start);
            leaf.len -= (end - start) as u32;
            return;
        }
        let (mut before, mut kept) = (0, 0);
        for i in 0..self.inner(node).len as usize {
            let mut child = self.inner(node).get(i);
            let count = child.count as usize;
            let (from, to) = (start.clamp(before, before + count), end.clamp(before, before + count));
            let (from, to) = (from - before, to - before);
            before += count;
            if to - from == count {
                self.free_below(child.node, level - 1);
                continue;
            }
            if from < to {
                self.cut_below(child.node, level - 1, from, to);
                child = self.describe(child.node, level - 1);
            }
            self.inner_mut(node).set(kept, child);
            kept += 1;
        }
        self.inner_mut(node).len = kept as u32;
    }

    fn free_below(&mut self, node: u32, level: usize) {
        if level > 0 {
            for i in 0..self.inner(node).len as usize {
                self.free_below(self.inner(node).children[i], level - 1);
            }
        }
        self.free_node(node, level);
    }

    /// Replaces ids by what `f` says of them. The order stays as it is.
    pub(crate) fn renumber(&mut self, f: impl Fn(u32) -> u32) {
        for leaf in &mut self.leaves.nodes {
            leaf.ids[..leaf.len as usize].iter_mut().for_each(|id| *id = f(*id));
        }
        for inner in &mut self.inners.nodes {
            inner.ids[..inner.len as usize].iter_mut().for_each(|id| *id = f(*id));
        }
    }

    fn free_node(&mut self, node: u32, level: usize) {
        if level > 0 {
            self.inners.free.push(node);
            return;
        }
        let (prev, next) = (self.leaf(node).prev, self.leaf(node).next);
        if prev != NONE {
            self.leaf_mut(prev).next = next;
        }
        if next != NONE {
            self.leaf_mut(next).prev = prev;
        }
        self.leaves.free.push(node);
    }

    /// Gives an entry another score if that leaves it between its neighbours; false if it must move, or is not there.
    pub(crate) fn rescore(&mut self, m: &impl Members, target: (f64, &[u8]), score: f64) -> bool {
        if self.root == NONE {
            return false;
        }
        let (path, leaf) = self.descend(m, target);
        let at = self.place(m, leaf, target);
        let l = self.leaf(leaf);
        if at >= l.len as usize || compare(m, l.scores[at], l.ids[at], target) != Ordering::Equal {
            return false;
        }
        let id = l.ids[at];
        let pos = TreePos { leaf, at: at as u32 };
        let is = |other: Option<TreePos>, order| {
            other.map(|p| self.get(p)).is_none_or(|(s, i)| compare(m, s, i, (score, target.1)) == order)
        };
        if !is(self.prev(pos), Ordering::Less) || !is(self.next(pos), Ordering::Greater) {
            return false;
        }
        self.leaf_mut(leaf).scores[at] = score;
        for &(parent, i) in &path.steps[..path.len] {
            let n = self.inner_mut(parent);
            if n.ids[i as usize] == id {
                n.scores[i as usize] = score;
            }
        }
        true
    }

    /// Gives the entry another id. Both ids must have its member in `m`, or `m` must still have the old one.
    pub(crate) fn rename(&mut self, m: &impl Members, target: (f64, &[u8]), old: u32, new: u32) {
        if self.root == NONE {
            return;
        }
        let (path, leaf) = self.descend(m, target);
        let at = self.place(m, leaf, target);
        let l = self.leaf_mut(leaf);
        if let Some(id) = l.ids[..l.len as usize].get_mut(at) {
            *id = new;
        }
        for &(parent, i) in &path.steps[..path.len] {
            let id = &mut self.inner_mut(parent).ids[i as usize];
            if *id == old {
                *id = new;
            }
        }
    }

    /// The number of entries before the first one for which `before` is false. `before` must be true for entries of
    /// the left only.
    pub(crate) fn count_while(&self, before: impl Fn(f64, u32) -> bool) -> usize {
        if self.root == NONE {
            return 0;
        }
        let (mut node, mut rank) = (self.root, 0);
        for _ in 0..self.height {
            let n = self.inner(node);
            let i = partition(n.len as usize - 1, |i| before(n.scores[i + 1], n.ids[i + 1]));
            rank += n.counts[..i].iter().map(|&c| c as usize).sum::<usize>();
            node = n.children[i];
        }
        let l = self.leaf(node);
        rank + partition(l.len as usize, |i| before(l.scores[i], l.ids[i]))
    }

    /// The number of entries before `target`.
    pub(crate) fn rank(&self, m: &impl Members, target: (f64, &[u8])) -> usize {
        self.count_while(|score, id| compare(m, score, id, target) == Ordering::Less)
    }

    /// The entry with `rank` entries before it.
    pub(crate) fn seek(&self, rank: usize) -> Option<TreePos> {
        if rank >= self.len {
            return None;
        }
        let (mut node, mut left) = (self.root, rank);
        for _ in 0..self.height {
            let n = self.inner(node);
            let mut i = 0;
            while left >= n.counts[i] as usize {
                left -= n.counts[i] as usize;
                i += 1;
            }
            node = n.children[i];
        }
        Some(TreePos { leaf: node, at: left as u32 })
    }

    /// Score and id of the entry at `pos`.
    pub(crate) fn get(&self, pos: TreePos) -> (f64, u32) {
        let l = self.leaf(pos.leaf);
        (l.scores[pos.at as usize], l.ids[pos.at as usize])
    }

    pub(crate) fn next(&self, pos: TreePos) -> Option<TreePos> {
        let l = self.leaf(pos.leaf);
        if pos.at + 1 < l.len {
            Some(TreePos { at: pos.at + 1, ..pos })
        } else if l.next != NONE {
            Some(TreePos { leaf: l.next, at: 0 })
        } else {
            None
        }
    }

    pub(crate) fn prev(&self, pos: TreePos) -> Option<TreePos> {
        if pos.at > 0 {
            return Some(TreePos { at: pos.at - 1, ..pos });
        }
        let prev = self.leaf(pos.leaf).prev;
        if prev == NONE { None } else { Some(TreePos { leaf: prev, at: self.leaf(prev).len - 1 }) }
    }

    /// Checks order, counts, first entries and links (for tests).
    #[cfg(test)]
    pub(crate) fn check(&self, m: &impl Members) {
        let mut leaves = Vec::new();
        if self.root != NONE {
            let total = self.check_node(self.root, self.height, &mut leaves);
            assert_eq!(total, self.len);
        } else {
            assert_eq!(self.len, 0);
        }
        for w in leaves.windows(2) {
            assert_eq!((self.leaf(w[0]).next, self.leaf(w[1]).prev), (w[1], w[0]));
        }
        let all: Vec<(f64, u32)> = leaves
            .iter()
            .flat_map(|&l| (0..self.leaf(l).len).map(move |at| self.get(TreePos { leaf: l, at })))
            .collect();
        for w in all.windows(2) {
            assert_eq!(compare(m, w[0].0, w[0].1, (w[1].0, m.member(w[1].1))), Ordering::Less);
        }
        assert_eq!(self.leaves.nodes.len() - self.leaves.free.len(), leaves.len());
    }

    #[cfg(test)]
    fn check_node(&self, node: u32, level: usize, leaves: &mut Vec<u32>) -> usize {
        assert!(self.node_len(node, level) > 0);
        if level == 0 {
            leaves.push(node);
            return self.leaf(node).len as usize;
        }
        let n = self.inner(node);
        let mut total = 0;
        for i in 0..n.len as usize {
            let c = self.describe(n.children[i], level - 1);
            assert_eq!((n.scores[i], n.ids[i], n.counts[i]), (c.score, c.id, c.count));
            total += self.check_node(n.children[i], level - 1, leaves);
        }
        total
    }
}
