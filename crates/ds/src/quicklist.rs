//! Redis's quicklist: a double-ended list of listpacks, with large elements in nodes of their own.
//!
//! Where nodes begin and end follows Redis exactly, since DUMP and RDB carry the nodes. Finding an index looks at the
//! count of every node on the shorter way to it and then into one node.

use std::collections::VecDeque;

use crate::Bytes;
use crate::listpack::{Item, Listpack};

/// Node size in bytes for the fill factors -1 to -5.
const FILL_BYTES: [usize; 5] = [4096, 8192, 16384, 32768, 65536];
/// Largest node of more than one element if the fill factor counts elements.
const SAFETY_LIMIT: usize = 8192;
/// What Redis adds to an element's size to guess its place in a listpack.
const ENTRY_OVERHEAD: usize = 8;

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Node {
    /// Any number of elements.
    Pack(Listpack),
    /// One large element.
    Plain(Bytes),
}

impl Node {
    /// Number of elements. O(1): the limits keep a node below the count that a listpack's header cannot hold, except
    /// for nodes made by others.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Node::Pack(lp) => lp.len(),
            Node::Plain(_) => 1,
        }
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        matches!(self, Node::Pack(lp) if lp.is_empty())
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Node::Pack(lp) => lp.heap_bytes(),
            Node::Plain(b) => b.heap_bytes(),
        }
    }
}

/// True if a node of `size` bytes and `count` elements is larger than the fill factor (`list-max-listpack-size`)
/// allows.
pub fn exceeds_limit(fill: i32, size: usize, count: usize) -> bool {
    if fill < 0 { size > fill_bytes(fill) } else { size > SAFETY_LIMIT || count > (fill as usize).max(1) }
}

/// The limits that a fill factor sets to a node: bytes and elements, `usize::MAX` where there is none.
pub fn node_limits(fill: i32) -> (usize, usize) {
    if fill < 0 { (fill_bytes(fill), usize::MAX) } else { (usize::MAX, (fill as usize).max(1)) }
}

fn fill_bytes(fill: i32) -> usize {
    FILL_BYTES[((fill.unsigned_abs() as usize).max(1) - 1).min(FILL_BYTES.len() - 1)]
}

fn is_large(size: usize, fill: i32) -> bool {
    size > if fill < 0 { fill_bytes(fill) } else { SAFETY_LIMIT }
}

/// Where an element is, until the next change of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPos {
    node: usize,
    /// Number of elements before it in its node.
    index: usize,
    /// Offset in the listpack; 0 in a plain node.
    offset: usize,
}

/// The list. See the module's documentation.
#[derive(Debug)]
pub struct Quicklist {
    nodes: VecDeque<Node>,
    len: usize,
    bytes: usize,
    fill: i32,
}

impl Clone for Quicklist {
    fn clone(&self) -> Self {
        // A copy has no room to spare, so its account is another one.
        let nodes = self.nodes.clone();
        let bytes = nodes.iter().map(Node::heap_bytes).sum();
        Quicklist { nodes, len: self.len, bytes, fill: self.fill }
    }
}

impl Quicklist {
    /// An empty list. `fill` is Redis's `list-max-listpack-size`: elements in a node, or -1…-5 for 4…64 KiB.
    pub fn new(fill: i32) -> Self {
        Quicklist { nodes: VecDeque::new(), len: 0, bytes: 0, fill }
    }

    /// A list with one node.
    pub fn from_listpack(lp: Listpack, fill: i32) -> Self {
        let mut q = Quicklist::new(fill);
        q.push_node(Node::Pack(lp));
        q
    }

    /// Appends a node as it is (for loading); an empty one is left out. A node of more elements than a listpack's
    /// header can count, which Redis never makes, is cut into nodes of the usual size.
    pub fn push_node(&mut self, node: Node) {
        match node {
            Node::Pack(lp) if lp.len() >= u16::MAX as usize => {
                for item in &lp {
                    item.with_bytes(|s| self.push_back(s));
                }
            }
            node if !node.is_empty() => self.insert_node(self.nodes.len(), node),
            _ => {}
        }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The fill factor.
    pub fn fill(&self) -> i32 {
        self.fill
    }

    /// The nodes from left to right.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = &Node> + ExactSizeIterator {
        self.nodes.iter()
    }

    /// Allocated bytes. O(1).
    pub fn mem_bytes(&self) -> usize {
        self.bytes + self.nodes.capacity() * size_of::<Node>()
    }

    /// The same as [`Quicklist::mem_bytes`], counted again from scratch. O(n) for n nodes.
    pub fn recount(&self) -> usize {
        self.mem_bytes() - self.bytes + self.nodes.iter().map(Node::heap_bytes).sum::<usize>()
    }

    /// The only node, if the list has exactly one and it is a listpack.
    pub fn single_listpack(&self) -> Option<&Listpack> {
        match (self.nodes.len(), self.nodes.front()) {
            (1, Some(Node::Pack(lp))) => Some(lp),
            _ => None,
        }
    }

    /// Takes the only node, if the list has exactly one and it is a listpack; the list is empty afterwards.
    pub fn take_single_listpack(&mut self) -> Option<Listpack> {
        self.single_listpack()?;
        match self.remove_node(0) {
            Some(Node::Pack(lp)) => Some(lp),
            _ => None,
        }
    }

    fn insert_node(&mut self, at: usize, node: Node) {
        self.len += node.len();
        self.bytes += node.heap_bytes();
        self.nodes.insert(at, node);
    }

    fn remove_node(&mut self, at: usize) -> Option<Node> {
        let node = self.nodes.remove(at)?;
        self.len -= node.len();
        self.bytes -= node.heap_bytes();
        if self.nodes.capacity() > 32 && self.nodes.len() * 4 < self.nodes.capacity() {
            self.nodes.shrink_to(self.nodes.len() * 2);
        }
        Some(node)
    }

    /// Changes the listpack of a node (which must be one) by `f`; `added` elements more or fewer.
    fn edit<R>(&mut self, at: usize, added: isize, f: impl FnOnce(&mut Listpack) -> R) -> Option<R> {
        let Some(Node::Pack(lp)) = self.nodes.get_mut(at) else { return None };
        let before = lp.heap_bytes();
        let r = f(lp);
        self.bytes = self.bytes + lp.heap_bytes() - before;
        self.len = self.len.wrapping_add_signed(added);
        Some(r)
    }

    fn allows_insert(&self, at: Option<usize>, size: usize) -> bool {
        match at.and_then(|i| self.nodes.get(i)) {
            Some(Node::Pack(lp)) => {
                !is_large(size, self.fill)
                    && !exceeds_limit(self.fill, lp.byte_len() + size + ENTRY_OVERHEAD, lp.len() + 1)
            }
            _ => false,
        }
    }

    fn new_node(&self, s: &[u8]) -> Node {
        if is_large(s.len(), self.fill) {
            Node::Plain(Bytes::copy_from(s))
        } else {
            let mut lp = Listpack::with_capacity(7 + s.len() + 11);
            lp.push_back(s);
            Node::Pack(lp)
        }
    }

    /// Adds an element at the left end.
    pub fn push_front(&mut self, s: &[u8]) {
        if self.allows_insert(Some(0), s.len()) {
            self.edit(0, 1, |lp| lp.push_front(s));
        } else {
            self.insert_node(0, self.new_node(s));
        }
    }

    /// Adds an element at the right end.
    pub fn push_back(&mut self, s: &[u8]) {
        let last = self.nodes.len().wrapping_sub(1);
        if self.allows_insert(Some(last), s.len()) {
            self.edit(last, 1, |lp| lp.push_back(s));
        } else {
            self.insert_node(self.nodes.len(), self.new_node(s));
        }
    }

    /// The leftmost element.
    pub fn front(&self) -> Option<Item<'_>> {
        Some(match self.nodes.front()? {
            Node::Pack(lp) => lp.get(lp.first()?),
            Node::Plain(b) => Item::Str(b),
        })
    }

    /// The rightmost element.
    pub fn back(&self) -> Option<Item<'_>> {
        Some(match self.nodes.back()? {
            Node::Pack(lp) => lp.get(lp.last()?),
            Node::Plain(b) => Item::Str(b),
        })
    }

    /// Removes the leftmost element after giving it to `f`.
    pub fn pop_front<R>(&mut self, f: impl FnOnce(Item<'_>) -> R) -> Option<R> {
        let r = f(self.front()?);
        self.remove_in_node(0, |lp| lp.first());
        Some(r)
    }

    /// Removes the rightmost element after giving it to `f`.
    pub fn pop_back<R>(&mut self, f: impl FnOnce(Item<'_>) -> R) -> Option<R> {
        let r = f(self.back()?);
        self.remove_in_node(self.nodes.len() - 1, |lp| lp.last());
        Some(r)
    }

    /// Removes the element that `which` chooses; the node too if it was the only one.
    fn remove_in_node(&mut self, at: usize, which: impl FnOnce(&Listpack) -> Option<usize>) {
        if self.nodes.get(at).is_some_and(|n| n.len() == 1) {
            self.remove_node(at);
        } else {
            self.edit(at, -1, |lp| which(lp).map(|p| lp.delete(p)));
        }
    }

    /// The position of element `index`, counted from 0, or from the right end by -1, -2…
    pub fn seek(&self, index: i64) -> Option<ListPos> {
        let len = self.len as i64;
        let i = if index < 0 { index.checked_add(len)? } else { index };
        if i < 0 || i >= len {
            return None;
        }
        let mut left = i as usize;
        let mut node = 0;
        if left <= self.len / 2 {
            while left >= self.nodes[node].len() {
                left -= self.nodes[node].len();
                node += 1;
            }
        } else {
            node = self.nodes.len();
            let mut right = self.len;
            while right > left {
                node -= 1;
                right -= self.nodes[node].len();
            }
            left -= right;
        }
        self.pos_in(node, left)
    }

    fn pos_in(&self, node: usize, index: usize) -> Option<ListPos> {
        let offset = match self.nodes.get(node)? {
            Node::Pack(lp) => lp.seek(index as i64)?,
            Node::Plain(_) => 0,
        };
        Some(ListPos { node, index, offset })
    }

    /// The element at a position; an empty string if there is none.
    pub fn get(&self, pos: ListPos) -> Item<'_> {
        match self.nodes.get(pos.node) {
            Some(Node::Pack(lp)) => lp.get(pos.offset),
            Some(Node::Plain(b)) => Item::Str(b),
            None => Item::Str(&[]),
        }
    }

    /// Element `index` (negative from the right end).
    pub fn get_index(&self, index: i64) -> Option<Item<'_>> {
        Some(self.get(self.seek(index)?))
    }

    /// The first element from the left that equals `s`.
    pub fn find(&self, s: &[u8]) -> Option<ListPos> {
        for (node, n) in self.nodes.iter().enumerate() {
            match n {
                Node::Plain(b) if **b == *s => return Some(ListPos { node, index: 0, offset: 0 }),
                Node::Plain(_) => {}
                Node::Pack(lp) => {
                    if let Some(offset) = lp.find(None, s, 0) {
                        let index = lp.len() - lp.iter_from(offset).count();
                        return Some(ListPos { node, index, offset });
                    }
                }
            }
        }
        None
    }

    /// Elements from `index` (negative from the right end) to the right; none if it is out of range.
    pub fn iter_from(&self, index: i64) -> Iter<'_> {
        Iter { list: self, pos: self.seek(index) }
    }

    /// Elements from `index` (negative from the right end) to the left; none if it is out of range.
    pub fn iter_rev_from(&self, index: i64) -> IterRev<'_> {
        IterRev { list: self, pos: self.seek(index) }
    }

    /// Calls `f` with up to `count` elements from `index` (negative from the right end) to the right: faster than
    /// [`Quicklist::iter_from`], since it goes node by node.
    pub fn for_each(&self, index: i64, mut count: usize, mut f: impl FnMut(Item<'_>)) {
        let Some(pos) = self.seek(index) else { return };
        let mut offset = Some(pos.offset);
        for node in self.nodes.range(pos.node..) {
            if count == 0 {
                return;
            }
            match node {
                Node::Plain(b) => {
                    f(Item::Str(b));
                    count -= 1;
                }
                Node::Pack(lp) => {
                    let from = offset.or_else(|| lp.first()).map_or_else(|| lp.iter(), |at| lp.iter_from(at));
                    for item in from.take(count) {
                        f(item);
                        count -= 1;
                    }
                }
            }
            offset = None;
        }
    }

    /// All elements from left to right.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// All elements from right to left.
    pub fn iter_rev(&self) -> IterRev<'_> {
        self.iter_rev_from(-1)
    }

    /// Cuts a node: elements from `index` on move to a new node right of it.
    fn split_node(&mut self, at: usize, index: usize) {
        let right = self.edit(at, 0, |lp| {
            let mut right = lp.clone();
            right.delete_range(0, index);
            right.shrink_to_fit();
            lp.delete_range(index as i64, usize::MAX);
            right
        });
        if let Some(right) = right {
            self.len -= right.len();
            if right.is_empty() {
                return;
            }
            self.insert_node(at + 1, Node::Pack(right));
        }
    }

    fn allows_merge(&self, a: usize, b: usize) -> bool {
        match (self.nodes.get(a), self.nodes.get(b)) {
            (Some(Node::Pack(x)), Some(Node::Pack(y))) => {
                !exceeds_limit(self.fill, x.byte_len() + y.byte_len() - 7, x.len() + y.len())
            }
            _ => false,
        }
    }

    /// Merges a node with its right neighbour if the limits allow it.
    fn try_merge(&mut self, left: usize) -> bool {
        if !self.allows_merge(left, left + 1) {
            return false;
        }
        if let Some(Node::Pack(b)) = self.remove_node(left + 1) {
            self.edit(left, b.len() as isize, |a| a.append(&b));
        }
        true
    }

    /// Merges around a node in Redis's order, after a split.
    fn merge_around(&mut self, center: usize) {
        let mut c = center;
        if c >= 2 && self.try_merge(c - 2) {
            c -= 1;
        }
        self.try_merge(c + 1);
        if c >= 1 && self.try_merge(c - 1) {
            c -= 1;
        }
        self.try_merge(c);
    }

    /// Inserts an element before the one at `pos`.
    pub fn insert_before(&mut self, pos: ListPos, s: &[u8]) {
        let ListPos { node, index, offset } = pos;
        let Some(n) = self.nodes.get(node) else { return };
        let head = index == 0;
        if is_large(s.len(), self.fill) {
            let at = if head || matches!(n, Node::Plain(_)) {
                node
            } else {
                self.split_node(node, index);
                node + 1
            };
            self.insert_node(at, self.new_node(s));
        } else if self.allows_insert(Some(node), s.len()) {
            self.edit(node, 1, |lp| lp.insert_before(offset, s));
        } else if head {
            let prev = node.checked_sub(1);
            match prev {
                Some(p) if self.allows_insert(prev, s.len()) => {
                    self.edit(p, 1, |lp| lp.push_back(s));
                }
                _ => self.insert_node(node, self.new_node(s)),
            }
        } else {
            self.split_node(node, index);
            self.edit(node, 1, |lp| lp.push_back(s));
            self.merge_around(node + 1);
        }
    }

    /// Inserts an element after the one at `pos`.
    pub fn insert_after(&mut self, pos: ListPos, s: &[u8]) {
        let ListPos { node, index, offset } = pos;
        let Some(n) = self.nodes.get(node) else { return };
        let tail = index + 1 == n.len();
        if is_large(s.len(), self.fill) {
            if !tail {
                self.split_node(node, index + 1);
            }
            self.insert_node(node + 1, self.new_node(s));
        } else if self.allows_insert(Some(node), s.len()) {
            self.edit(node, 1, |lp| lp.insert_after(offset, s));
        } else if tail {
            if self.allows_insert(Some(node + 1), s.len()) {
                self.edit(node + 1, 1, |lp| lp.push_front(s));
            } else {
                self.insert_node(node + 1, self.new_node(s));
            }
        } else {
            self.split_node(node, index + 1);
            self.edit(node + 1, 1, |lp| lp.push_front(s));
            self.merge_around(node);
        }
    }

    /// Replaces the element at `pos`.
    pub fn replace(&mut self, pos: ListPos, s: &[u8]) {
        let ListPos { node, index, offset } = pos;
        let large = is_large(s.len(), self.fill);
        match self.nodes.get(node) {
            None => {}
            Some(Node::Pack(_)) if !large => {
                self.edit(node, 0, |lp| lp.replace(offset, s));
            }
            Some(Node::Plain(_)) => {
                if !large {
                    self.insert_after(pos, s);
                    self.remove_node(node);
                } else {
                    self.remove_node(node);
                    self.insert_node(node, self.new_node(s));
                }
            }
            Some(Node::Pack(lp)) => {
                if index + 1 < lp.len() {
                    self.split_node(node, index + 1);
                }
                self.insert_node(node + 1, self.new_node(s));
                if index == 0 {
                    self.remove_node(node);
                } else {
                    self.edit(node, -1, |lp| lp.delete(offset));
                    self.merge_around(node + 1);
                }
            }
        }
    }

    /// Removes the element at `pos`.
    pub fn remove(&mut self, pos: ListPos) {
        self.remove_in_node(pos.node, |_| Some(pos.offset));
    }

    /// Removes up to `count` elements from element `start` (negative from the right end) on.
    pub fn remove_range(&mut self, start: i64, count: usize) {
        let Some(pos) = self.seek(start) else { return };
        let (mut node, mut index, mut left) = (pos.node, pos.index, count);
        while left > 0 && node < self.nodes.len() {
            let here = self.nodes[node].len();
            if index == 0 && left >= here {
                self.remove_node(node);
                left -= here;
            } else {
                let n = left.min(here - index);
                self.edit(node, -(n as isize), |lp| lp.delete_range(index as i64, n));
                left -= n;
                node += 1;
            }
            index = 0;
        }
    }

    /// Removes elements equal to `s`: at most `limit`, from the left or from the right. Gives their number.
    pub fn remove_equal(&mut self, s: &[u8], limit: usize, from_right: bool) -> usize {
        let mut gone = 0;
        let mut node = if from_right { self.nodes.len() } else { 0 };
        while gone < limit {
            if from_right {
                let Some(n) = node.checked_sub(1) else { break };
                node = n;
            } else if node >= self.nodes.len() {
                break;
            }
            let max = limit - gone;
            let here = match &mut self.nodes[node] {
                Node::Plain(b) => usize::from(**b == *s),
                Node::Pack(lp) => {
                    let before = lp.heap_bytes();
                    let n = remove_in_pack(lp, s, max, from_right);
                    self.bytes = self.bytes + lp.heap_bytes() - before;
                    self.len -= n;
                    n
                }
            };
            gone += here;
            let n = &self.nodes[node];
            if n.is_empty() || (here == 1 && matches!(n, Node::Plain(_))) {
                self.remove_node(node);
            } else if !from_right {
                node += 1;
            }
        }
        gone
    }
}

fn remove_in_pack(lp: &mut Listpack, s: &[u8], max: usize, from_right: bool) -> usize {
    let mut gone = 0;
    if from_right {
        let mut at = lp.last();
        while let Some(p) = at
            && gone < max
        {
            at = lp.prev(p);
            if lp.get(p).eq_bytes(s) {
                lp.delete(p);
                gone += 1;
            }
        }
    } else {
        let mut at = lp.find(None, s, 0);
        while let Some(p) = at
            && gone < max
        {
            gone += 1;
            at = lp.delete(p).and_then(|next| lp.find(Some(next), s, 0));
        }
    }
    gone
}

/// Elements from left to right.
#[derive(Clone)]
pub struct Iter<'a> {
    list: &'a Quicklist,
    pos: Option<ListPos>,
}

impl Iter<'_> {
    /// Position of the element that comes next.
    pub fn pos(&self) -> Option<ListPos> {
        self.pos
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let p = self.pos?;
        let item = self.list.get(p);
        let next = match self.list.nodes.get(p.node) {
            Some(Node::Pack(lp)) => lp.next(p.offset),
            _ => None,
        };
        self.pos = match next {
            Some(offset) => Some(ListPos { node: p.node, index: p.index + 1, offset }),
            None => self.list.pos_in(p.node + 1, 0),
        };
        Some(item)
    }
}

/// Elements from right to left.
#[derive(Clone)]
pub struct IterRev<'a> {
    list: &'a Quicklist,
    pos: Option<ListPos>,
}

impl<'a> Iterator for IterRev<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let p = self.pos?;
        let item = self.list.get(p);
        let prev = match self.list.nodes.get(p.node) {
            Some(Node::Pack(lp)) if p.index > 0 => lp.prev(p.offset),
            _ => None,
        };
        self.pos = match prev {
            Some(offset) => Some(ListPos { node: p.node, index: p.index - 1, offset }),
            None => p.node.checked_sub(1).and_then(|n| self.list.pos_in(n, self.list.nodes[n].len() - 1)),
        };
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            6 => (0u8..30).prop_map(|i| i.to_string().into_bytes()),
            3 => (0usize..1200).prop_map(|n| vec![b'm'; n]),
            1 => (4000usize..9000).prop_map(|n| vec![b'L'; n]),
        ]
    }

    fn check(q: &Quicklist, model: &[Vec<u8>]) {
        assert_eq!(q.len(), model.len());
        assert!(q.iter().map(|i| i.to_bytes().into_vec()).eq(model.iter().cloned()));
        assert!(q.iter_rev().map(|i| i.to_bytes().into_vec()).eq(model.iter().rev().cloned()));
        let from = model.len() / 3;
        let mut some = Vec::new();
        q.for_each(from as i64, 7, |i| some.push(i.to_bytes().into_vec()));
        assert_eq!(some, model[from..].iter().take(7).cloned().collect::<Vec<_>>());
        assert_eq!(q.bytes, q.nodes.iter().map(Node::heap_bytes).sum::<usize>());
        for n in &q.nodes {
            assert!(!n.is_empty());
            if let Node::Pack(lp) = n {
                assert!(crate::listpack::validate(lp.as_bytes()));
            }
        }
    }

    #[test]
    fn oversized_foreign_nodes_are_cut() {
        let mut lp = Listpack::new();
        for i in 0..70_000i64 {
            lp.push_back_int(i);
        }
        let mut q = Quicklist::new(-2);
        q.push_node(Node::Pack(lp));
        assert_eq!(q.len(), 70_000);
        assert!(q.nodes().len() > 10);
        assert_eq!(q.get_index(-1), Some(Item::Int(69_999)));
        q.push_node(Node::Pack(Listpack::new()));
        assert_eq!(q.back(), Some(Item::Int(69_999)));
    }

    proptest! {
        #[test]
        fn behaves_as_list(fill in prop_oneof![Just(-1i32), Just(-2), Just(3), Just(128)],
                           ops in prop::collection::vec((0u8..12, any::<u16>(), text()), 0..120)) {
            let (mut q, mut model) = (Quicklist::new(fill), Vec::<Vec<u8>>::new());
            for (op, at, s) in ops {
                let n = model.len();
                let i = if n == 0 { 0 } else { at as usize % n };
                match op {
                    0 | 1 => { q.push_back(&s); model.push(s); }
                    2 | 3 => { q.push_front(&s); model.insert(0, s); }
                    4 if n > 0 => { q.insert_before(q.seek(i as i64).unwrap(), &s); model.insert(i, s); }
                    5 if n > 0 => { q.insert_after(q.seek(i as i64 - n as i64).unwrap(), &s); model.insert(i + 1, s); }
                    6 if n > 0 => { q.replace(q.seek(i as i64).unwrap(), &s); model[i] = s; }
                    7 => { let k = at as usize % 5; q.remove_range(i as i64, k); model.drain(i..(i + k).min(n)); }
                    8 => {
                        let limit = at as usize % 3 + 1;
                        let right = at % 2 == 0;
                        let got = q.remove_equal(&s, limit, right);
                        let mut gone = 0;
                        while gone < limit {
                            let found = if right { model.iter().rposition(|m| *m == s) } else { model.iter().position(|m| *m == s) };
                            let Some(f) = found else { break };
                            model.remove(f);
                            gone += 1;
                        }
                        prop_assert_eq!(got, gone);
                    }
                    9 => { prop_assert_eq!(q.pop_front(|i| i.to_bytes().into_vec()), if n > 0 { Some(model.remove(0)) } else { None }); }
                    10 => { prop_assert_eq!(q.pop_back(|i| i.to_bytes().into_vec()), model.pop()); }
                    _ => {
                        let found = q.find(&s);
                        prop_assert_eq!(found, model.iter().position(|m| *m == s).and_then(|i| q.seek(i as i64)));
                        if let Some(p) = found { q.remove(p); let i = model.iter().position(|m| *m == s).unwrap(); model.remove(i); }
                    }
                }
                check(&q, &model);
            }
        }
    }
}
