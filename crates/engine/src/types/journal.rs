//! What a large value notes of its own changes so that they can be taken back.
//!
//! A value that is small is kept whole by the mutation gate. A large one gets a journal from the gate while it is open
//! for changing ([`crate::value::Value::keep_changes`]): whatever changes it notes the inverse there, and the gate takes
//! the journal away again. So no command can forget it: the journal is inside of what the command changes.

use super::hash::HashUndo;
use super::list::ListUndo;
use super::set::SetUndo;
use super::stream::StreamUndo;
use super::zset::ZSetUndo;
use totality_ds::Bytes;

/// Inverses of changes, to be applied from the last to the first.
#[derive(Debug, Clone)]
pub struct Journal<T> {
    inverses: Vec<T>,
    /// Bytes on the heap behind the inverses.
    heap: usize,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Journal { inverses: Vec::new(), heap: 0 }
    }
}

impl<T> Journal<T> {
    /// Notes the inverse of a change; `heap` bytes hang on it.
    pub(super) fn note(&mut self, inverse: T, heap: usize) {
        self.heap += heap;
        self.inverses.push(inverse);
    }

    /// The inverse of the change before.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        self.inverses.last_mut()
    }

    /// The inverses in the order in which they are to be applied.
    pub(super) fn into_inverses(self) -> impl Iterator<Item = T> {
        self.inverses.into_iter().rev()
    }

    /// Bytes that it holds. O(1).
    pub fn bytes(&self) -> usize {
        self.inverses.capacity() * size_of::<T>() + self.heap
    }
}

/// An inverse of a change of a long string.
#[derive(Debug, Clone)]
pub enum StrUndo {
    /// It had this many bytes; what is behind goes.
    Cut(usize),
    /// These bytes were there, from this offset on; the string grows when it was cut.
    Put(usize, Bytes),
}

/// The changes of one large value.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // one for each type
pub enum Changes {
    Str(Box<Journal<StrUndo>>),
    List(Box<Journal<ListUndo>>),
    Set(Box<Journal<SetUndo>>),
    Hash(Box<Journal<HashUndo>>),
    ZSet(Box<Journal<ZSetUndo>>),
    Stream(Box<StreamUndo>),
}

impl Changes {
    /// Bytes that it holds, nearly. O(1).
    pub fn bytes(&self) -> usize {
        match self {
            Changes::Str(journal) => journal.bytes(),
            Changes::List(journal) => journal.bytes(),
            Changes::Set(journal) => journal.bytes(),
            Changes::Hash(journal) => journal.bytes(),
            Changes::ZSet(journal) => journal.bytes(),
            Changes::Stream(undo) => undo.bytes(),
        }
    }
}

/// A string that is being edited in place. Reading goes through `Deref`.
pub struct StrEdit<'a> {
    bytes: &'a mut Bytes,
    journal: Option<&'a mut Journal<StrUndo>>,
}

impl std::ops::Deref for StrEdit<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl<'a> StrEdit<'a> {
    /// Edits `bytes` and notes the inverses in `journal`, if there is one.
    pub fn new(bytes: &'a mut Bytes, journal: Option<&'a mut Journal<StrUndo>>) -> Self {
        StrEdit { bytes, journal }
    }

    /// Keeps what is in a range, and how long the string is when the range goes beyond.
    fn keep(&mut self, start: usize, end: usize) {
        let Some(journal) = &mut self.journal else { return };
        let len = self.bytes.len();
        if end > len {
            journal.note(StrUndo::Cut(len), 0);
        }
        if start < end.min(len) {
            let old = Bytes::from(&self.bytes[start..end.min(len)]);
            let heap = old.heap_bytes();
            journal.note(StrUndo::Put(start, old), heap);
        }
    }

    /// Appends `s`.
    pub fn push_slice(&mut self, s: &[u8]) {
        self.keep(self.bytes.len(), self.bytes.len() + s.len());
        self.bytes.push_slice(s);
    }

    /// Sets the length: cuts, or fills with zero bytes.
    pub fn resize(&mut self, len: usize) {
        self.keep(len.min(self.bytes.len()), len.max(self.bytes.len()));
        self.bytes.resize(len);
    }

    /// Overwrites from `offset` on, filling a gap with zero bytes. An empty `s` changes nothing.
    pub fn write_at(&mut self, offset: usize, s: &[u8]) {
        if !s.is_empty() {
            self.keep(offset, offset + s.len());
            self.bytes.write_at(offset, s);
        }
    }

    /// The bytes of a range that lies within the string, to be changed.
    pub fn range_mut(&mut self, range: std::ops::Range<usize>) -> &mut [u8] {
        self.keep(range.start, range.end);
        &mut self.bytes.as_mut_slice()[range]
    }

    /// All of the content, to be changed at will: for short strings, as a long one is kept whole.
    pub fn whole<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let len = self.bytes.len();
        self.keep(0, len);
        if let Some(journal) = &mut self.journal {
            journal.note(StrUndo::Cut(len), 0);
        }
        self.bytes.edit(f)
    }
}

/// Takes back the changes of a long string.
pub(crate) fn undo_string(bytes: &mut Bytes, journal: Journal<StrUndo>) {
    for inverse in journal.into_inverses() {
        match inverse {
            StrUndo::Cut(len) => bytes.resize(len),
            StrUndo::Put(at, old) => bytes.write_at(at, &old),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edits_of_strings_are_taken_back(
            start in prop::collection::vec(any::<u8>(), 0..50),
            edits in prop::collection::vec((0u8..5, 0usize..80, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        ) {
            let mut bytes = Bytes::from(start.clone());
            let mut journal = Journal::default();
            for (what, n, data) in edits {
                let mut edit = StrEdit::new(&mut bytes, Some(&mut journal));
                match what {
                    0 => edit.push_slice(&data),
                    1 => edit.resize(n),
                    2 => edit.write_at(n, &data),
                    3 => {
                        let end = n.min(edit.len());
                        edit.range_mut(end / 2..end).fill(7);
                    }
                    _ => edit.whole(|v| { v.truncate(n); v.extend_from_slice(&data); }),
                }
            }
            undo_string(&mut bytes, journal);
            prop_assert_eq!(bytes.as_slice(), start.as_slice());
        }
    }
}
