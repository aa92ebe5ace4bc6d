//! The list value: one listpack while it is small, then a quicklist.
//!
//! When which encoding is used follows Redis 7.2: a listpack grows into a quicklist when the elements to be added would
//! take it past `list-max-listpack-size`; a quicklist of one node becomes a listpack again when it has shrunk below
//! half of that, so that a list at the limit does not go to and fro.

use super::journal::Journal;
use totality_ds::quicklist::{exceeds_limit, node_limits};
use totality_ds::{Bytes, Item, Listpack, Quicklist};

/// The two ends of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The first element's end.
    Left,
    /// The last element's end.
    Right,
}

/// A list.
#[derive(Debug, Clone)]
pub struct List {
    repr: Repr,
    /// There while changes of a quicklist are to be taken back perhaps.
    journal: Option<Box<Journal<ListUndo>>>,
}

/// The inverse of a change of a quicklist.
#[derive(Debug, Clone)]
pub enum ListUndo {
    /// So many elements were not there, at this end.
    Pop(End, usize),
    /// The element was there, at this end.
    Push(End, Bytes),
    /// The element with this index was another.
    Set(usize, Bytes),
    /// There was no element with this index.
    Remove(usize),
    /// These elements were there, from this index on.
    Insert(usize, Vec<Bytes>),
    /// Such elements were there, with these indexes.
    InsertAt(Bytes, Vec<usize>),
    /// The list was this.
    Was(Box<Quicklist>),
}

#[derive(Debug, Clone)]
enum Repr {
    Pack(Listpack),
    Quick(Quicklist),
}

impl Default for List {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Listpack> for List {
    fn from(lp: Listpack) -> Self {
        List { repr: Repr::Pack(lp), journal: None }
    }
}

impl From<Quicklist> for List {
    fn from(quick: Quicklist) -> Self {
        List { repr: Repr::Quick(quick), journal: None }
    }
}

/// Inserts an element so that it has this index.
fn insert_at(quick: &mut Quicklist, index: usize, s: &[u8]) {
    match quick.seek(index as i64) {
        Some(at) => quick.insert_before(at, s),
        None => quick.push_back(s),
    }
}

/// The fill factor that a quicklist keeps, from `list-max-listpack-size`.
pub(crate) fn fill(size: i64) -> i32 {
    size.clamp(-5, 32767) as i32
}

impl List {
    /// An empty list.
    pub fn new() -> Self {
        List { repr: Repr::Pack(Listpack::new()), journal: None }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.len(),
            Repr::Quick(quick) => quick.len(),
        }
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        match &self.repr {
            Repr::Pack(lp) => lp.is_empty(),
            Repr::Quick(quick) => quick.is_empty(),
        }
    }

    /// Bytes on the heap. O(1).
    #[inline]
    pub fn mem(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.heap_bytes(),
            Repr::Quick(quick) => quick.mem_bytes(),
        }
    }

    /// The same as [`List::mem`], counted again from scratch.
    pub fn recount(&self) -> usize {
        match &self.repr {
            Repr::Pack(lp) => lp.heap_bytes(),
            Repr::Quick(quick) => quick.recount(),
        }
    }

    /// Number of allocations that hold the elements.
    pub fn pieces(&self) -> usize {
        match &self.repr {
            Repr::Pack(_) => 1,
            Repr::Quick(quick) => quick.nodes().len(),
        }
    }

    /// Name of the encoding.
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Pack(_) => "listpack",
            Repr::Quick(_) => "quicklist",
        }
    }

    /// The listpack, while the list is one.
    pub fn listpack(&self) -> Option<&Listpack> {
        match &self.repr {
            Repr::Pack(lp) => Some(lp),
            Repr::Quick(_) => None,
        }
    }

    /// The quicklist, once the list is one.
    pub fn quicklist(&self) -> Option<&Quicklist> {
        match &self.repr {
            Repr::Pack(_) => None,
            Repr::Quick(quick) => Some(quick),
        }
    }

    /// To be called before `count` elements of `bytes` bytes in all are added (or one is replaced): changes to a
    /// quicklist when a listpack would pass `size` (`list-max-listpack-size`).
    #[inline]
    pub fn prepare(&mut self, size: i64, bytes: usize, count: usize) {
        if let Repr::Pack(lp) = &mut self.repr
            && exceeds_limit(fill(size), lp.byte_len().saturating_add(bytes), lp.len() + count)
        {
            let quick = Quicklist::from_listpack(std::mem::take(lp), fill(size));
            self.repr = Repr::Quick(quick);
        }
    }

    /// To be called after elements were removed or replaced: changes back to a listpack when the list has become
    /// small enough for `size` (`list-max-listpack-size`).
    #[inline]
    pub fn settle(&mut self, size: i64) {
        self.pack_below(size, 2);
    }

    /// Chooses the encoding of a list that was built or loaded as a whole.
    pub fn choose(&mut self, size: i64) {
        self.prepare(size, 0, 0);
        self.pack_below(size, 1);
    }

    fn pack_below(&mut self, size: i64, divisor: usize) {
        let Repr::Quick(quick) = &mut self.repr else { return };
        let Some(lp) = quick.single_listpack() else { return };
        let (bytes, count) = node_limits(fill(size));
        if lp.byte_len() > bytes / divisor || lp.len() > count / divisor {
            return;
        }
        if let Some(journal) = &mut self.journal {
            let heap = quick.mem_bytes() + size_of::<Quicklist>();
            journal.note(ListUndo::Was(Box::new(quick.clone())), heap);
        }
        if let Some(lp) = quick.take_single_listpack() {
            self.repr = Repr::Pack(lp);
        }
    }

    /// Gives a quicklist a journal to note its changes in. A listpack has no use for it.
    pub(crate) fn keep_changes(&mut self, journal: Box<Journal<ListUndo>>) {
        self.journal = Some(journal);
    }

    /// Takes the journal away.
    pub(crate) fn take_journal(&mut self) -> Option<Box<Journal<ListUndo>>> {
        self.journal.take()
    }

    /// The journal, when changes are to be noted. Those of a listpack are not: that the list became one was.
    #[inline]
    fn journal(&mut self) -> Option<&mut Journal<ListUndo>> {
        match &self.repr {
            Repr::Quick(_) => self.journal.as_deref_mut(),
            Repr::Pack(_) => None,
        }
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, journal: Journal<ListUndo>) {
        for inverse in journal.into_inverses() {
            if let ListUndo::Was(quick) = inverse {
                self.repr = Repr::Quick(*quick);
                continue;
            }
            let Repr::Quick(quick) = &mut self.repr else { return };
            match inverse {
                ListUndo::Pop(end, n) => {
                    for _ in 0..n {
                        match end {
                            End::Left => quick.pop_front(|_| ()),
                            End::Right => quick.pop_back(|_| ()),
                        };
                    }
                }
                ListUndo::Push(End::Left, s) => quick.push_front(&s),
                ListUndo::Push(End::Right, s) => quick.push_back(&s),
                ListUndo::Set(index, s) => {
                    if let Some(at) = quick.seek(index as i64) {
                        quick.replace(at, &s);
                    }
                }
                ListUndo::Remove(index) => quick.remove_range(index as i64, 1),
                ListUndo::Insert(0, elements) => elements.iter().rev().for_each(|s| quick.push_front(s)),
                ListUndo::Insert(index, elements) => {
                    elements.iter().enumerate().for_each(|(i, s)| insert_at(quick, index + i, s));
                }
                ListUndo::InsertAt(s, indexes) => indexes.iter().for_each(|i| insert_at(quick, *i, &s)),
                ListUndo::Was(_) => {}
            }
        }
    }

    /// Adds an element. See [`List::prepare`].
    #[inline]
    pub fn push(&mut self, end: End, s: &[u8]) {
        if self.journal.is_some() {
            self.note_push(end);
        }
        match (&mut self.repr, end) {
            (Repr::Pack(lp), End::Left) => lp.push_front(s),
            (Repr::Pack(lp), End::Right) => lp.push_back(s),
            (Repr::Quick(quick), End::Left) => quick.push_front(s),
            (Repr::Quick(quick), End::Right) => quick.push_back(s),
        }
    }

    #[cold]
    fn note_push(&mut self, end: End) {
        let Some(journal) = self.journal() else { return };
        match journal.last_mut() {
            Some(ListUndo::Pop(last, n)) if *last == end => *n += 1,
            _ => journal.note(ListUndo::Pop(end, 1), 0),
        }
    }

    /// Notes the elements of a range, which are about to go.
    #[cold]
    fn note_range(&mut self, index: i64, count: usize) {
        if self.journal().is_none() {
            return;
        }
        let len = self.len() as i64;
        let start = if index < 0 { index + len } else { index };
        let (mut gone, mut heap) = (Vec::new(), 0);
        self.for_each(start, count, |item| {
            let item = item.to_bytes();
            heap += item.heap_bytes() + size_of::<Bytes>();
            gone.push(item);
        });
        if let (Some(journal), false) = (self.journal(), gone.is_empty()) {
            journal.note(ListUndo::Insert(start as usize, gone), heap);
        }
    }

    /// Notes the elements equal to `s` that are about to go.
    #[cold]
    fn note_equal(&mut self, s: &[u8], limit: usize, from: End) {
        if limit == 0 || self.journal().is_none() {
            return;
        }
        let mut found = Vec::new();
        let (mut i, len) = (0, self.len());
        self.scan(from, |item| {
            if item.eq_bytes(s) {
                found.push(if from == End::Left { i } else { len - 1 - i });
            }
            i += 1;
            found.len() < limit
        });
        found.sort_unstable();
        if let (Some(journal), false) = (self.journal(), found.is_empty()) {
            let heap = found.capacity() * size_of::<usize>() + s.len();
            journal.note(ListUndo::InsertAt(Bytes::from(s), found), heap);
        }
    }

    /// Removes the element at an end after giving it to `f`.
    #[inline]
    pub fn pop<R>(&mut self, end: End, f: impl FnOnce(Item<'_>) -> R) -> Option<R> {
        if self.journal.is_some() {
            let gone = self.get(if end == End::Left { 0 } else { -1 })?.to_bytes();
            if let Some(journal) = self.journal() {
                let heap = gone.heap_bytes();
                journal.note(ListUndo::Push(end, gone), heap);
            }
        }
        match (&mut self.repr, end) {
            (Repr::Quick(quick), End::Left) => quick.pop_front(f),
            (Repr::Quick(quick), End::Right) => quick.pop_back(f),
            (Repr::Pack(lp), _) => {
                let at = if end == End::Left { lp.first()? } else { lp.last()? };
                let result = f(lp.get(at));
                lp.delete(at);
                Some(result)
            }
        }
    }

    /// Element `index`, counted from 0, or from the right end by -1, -2…
    pub fn get(&self, index: i64) -> Option<Item<'_>> {
        match &self.repr {
            Repr::Pack(lp) => lp.get_index(index),
            Repr::Quick(quick) => quick.get_index(index),
        }
    }

    /// Replaces element `index`; returns what it was. None, and no change, if it is out of range.
    pub fn set(&mut self, index: i64, s: &[u8]) -> Option<Bytes> {
        match &mut self.repr {
            Repr::Pack(lp) => {
                let at = lp.seek(index)?;
                let old = lp.get(at).to_bytes();
                lp.replace(at, s);
                Some(old)
            }
            Repr::Quick(quick) => {
                let at = quick.seek(index)?;
                let old = quick.get(at).to_bytes();
                quick.replace(at, s);
                if let Some(journal) = &mut self.journal {
                    let index = if index < 0 { index + quick.len() as i64 } else { index };
                    journal.note(ListUndo::Set(index as usize, old.clone()), old.heap_bytes());
                }
                Some(old)
            }
        }
    }

    /// Inserts an element before or after the first one from the left that equals `pivot`; false if there is none.
    pub fn insert(&mut self, pivot: &[u8], before: bool, s: &[u8]) -> bool {
        match &mut self.repr {
            Repr::Pack(lp) => match lp.find(None, pivot, 0) {
                None => return false,
                Some(at) if before => lp.insert_before(at, s),
                Some(at) => {
                    lp.insert_after(at, s);
                }
            },
            Repr::Quick(quick) => {
                let Some(at) = quick.find(pivot) else { return false };
                if let Some(journal) = &mut self.journal {
                    let index = quick.iter().position(|item| item.eq_bytes(pivot)).unwrap_or(0);
                    journal.note(ListUndo::Remove(index + usize::from(!before)), 0);
                }
                if before { quick.insert_before(at, s) } else { quick.insert_after(at, s) }
            }
        }
        true
    }

    /// Calls `f` with up to `count` elements from `index` on, from left to right.
    #[inline]
    pub fn for_each(&self, index: i64, count: usize, mut f: impl FnMut(Item<'_>)) {
        match &self.repr {
            Repr::Pack(lp) => {
                if let Some(at) = lp.seek(index) {
                    lp.iter_from(at).take(count).for_each(&mut f);
                }
            }
            Repr::Quick(quick) => quick.for_each(index, count, f),
        }
    }

    /// Calls `f` with elements from an end on, until it returns false.
    pub fn scan(&self, from: End, mut f: impl FnMut(Item<'_>) -> bool) {
        match (&self.repr, from) {
            (Repr::Pack(lp), End::Left) => lp.iter().all(&mut f),
            (Repr::Pack(lp), End::Right) => lp.iter_rev().all(&mut f),
            (Repr::Quick(quick), End::Left) => quick.iter().all(&mut f),
            (Repr::Quick(quick), End::Right) => quick.iter_rev().all(&mut f),
        };
    }

    /// All elements from left to right.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Item<'_>> + '_> {
        match &self.repr {
            Repr::Pack(lp) => Box::new(lp.iter()),
            Repr::Quick(quick) => Box::new(quick.iter()),
        }
    }

    /// Removes up to `count` elements from element `index` on.
    pub fn remove_range(&mut self, index: i64, count: usize) {
        if self.journal.is_some() {
            self.note_range(index, count);
        }
        match &mut self.repr {
            Repr::Pack(lp) => lp.delete_range(index, count),
            Repr::Quick(quick) => quick.remove_range(index, count),
        }
    }

    /// Removes elements equal to `s`: at most `limit`, searched from an end. Returns how many.
    pub fn remove_equal(&mut self, s: &[u8], limit: usize, from: End) -> usize {
        if self.journal.is_some() {
            self.note_equal(s, limit, from);
        }
        match (&mut self.repr, from) {
            (Repr::Quick(quick), _) => quick.remove_equal(s, limit, from == End::Right),
            (Repr::Pack(lp), End::Left) => {
                let mut gone = 0;
                let mut at = lp.find(None, s, 0);
                while let Some(pos) = at
                    && gone < limit
                {
                    gone += 1;
                    at = lp.delete(pos).and_then(|next| lp.find(Some(next), s, 0));
                }
                gone
            }
            (Repr::Pack(lp), End::Right) => {
                let mut gone = 0;
                let mut at = lp.last();
                while let Some(pos) = at
                    && gone < limit
                {
                    at = lp.prev(pos);
                    if lp.get(pos).eq_bytes(s) {
                        lp.delete(pos);
                        gone += 1;
                    }
                }
                gone
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &List) -> Vec<Vec<u8>> {
        list.iter().map(|i| i.to_bytes().into_vec()).collect()
    }

    #[test]
    fn grows_into_a_quicklist_and_shrinks_back_below_half() {
        let mut list = List::new();
        for i in 0..128 {
            list.prepare(128, 3, 1);
            list.push(End::Right, format!("{i:03}").as_bytes());
        }
        assert_eq!(list.encoding(), "listpack");
        list.prepare(128, 3, 1);
        list.push(End::Right, b"128");
        assert_eq!((list.encoding(), list.len()), ("quicklist", 129));
        list.pop(End::Right, |_| ()).unwrap();
        list.settle(128);
        assert_eq!(list.encoding(), "quicklist");
        while list.len() > 65 {
            list.pop(End::Left, |_| ()).unwrap();
            list.settle(128);
        }
        assert_eq!(list.encoding(), "quicklist");
        list.pop(End::Left, |_| ()).unwrap();
        list.settle(128);
        assert_eq!((list.encoding(), list.len()), ("listpack", 64));
    }

    #[test]
    fn a_large_element_gets_a_node_of_its_own() {
        let mut list = List::new();
        list.push(End::Left, b"a");
        let large = vec![b'x'; 9000];
        list.prepare(-2, large.len(), 1);
        list.push(End::Left, &large);
        assert_eq!(list.encoding(), "quicklist");
        assert_eq!(list.quicklist().unwrap().nodes().len(), 2);
        assert!(list.mem() >= 9000);
        assert_eq!(list.set(0, b"b").unwrap().len(), 9000);
        list.settle(-2);
        assert_eq!(texts(&list), [b"b".to_vec(), b"a".to_vec()]);
        assert_eq!(list.encoding(), "listpack");
    }

    #[test]
    fn equal_elements_are_removed_from_either_end() {
        for size in [128, 1] {
            let mut list = List::new();
            for s in ["a", "1", "b", "1", "1"] {
                list.prepare(size, s.len(), 1);
                list.push(End::Right, s.as_bytes());
            }
            assert_eq!(list.remove_equal(b"1", 1, End::Right), 1);
            assert_eq!(list.remove_equal(b"1", 1, End::Left), 1);
            assert_eq!(texts(&list), [b"a".to_vec(), b"b".to_vec(), b"1".to_vec()]);
            assert!(list.insert(b"b", true, b"x") && list.insert(b"b", false, b"y"));
            assert!(!list.insert(b"z", true, b"x"));
            assert_eq!(texts(&list), [&b"a"[..], b"x", b"b", b"y", b"1"].map(<[u8]>::to_vec));
        }
    }
}
