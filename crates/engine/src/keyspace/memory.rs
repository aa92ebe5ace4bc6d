//! Exact accounting of the data set's memory, and what is to be freed elsewhere.

use super::volatile::Mark;
use super::{Entry, Keyspace};
use crate::value::Value;
use totality_ds::Dict;

/// What takes long to free. The owner of the engine takes it with [`Keyspace::take_garbage`] and drops it where that
/// does not hurt.
#[derive(Default)]
pub struct Garbage {
    values: Vec<Value>,
    tables: Vec<Dict<Entry>>,
    marks: Vec<Dict<Mark>>,
    /// What is no value.
    other: Vec<Box<dyn std::any::Any + Send>>,
}

impl Garbage {
    /// True when there is nothing to free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.tables.is_empty() && self.marks.is_empty() && self.other.is_empty()
    }

    /// Number of values: those of emptied databases are all counted.
    pub fn objects(&self) -> u64 {
        self.values.len() as u64 + self.tables.iter().map(|table| table.len() as u64).sum::<u64>()
    }

    /// Frees everything bit by bit and says after each bit how many values are gone.
    pub fn free(self, gone: &mut dyn FnMut(u64)) {
        for value in self.values {
            drop(value);
            gone(1);
        }
        for slice in self.tables.into_iter().flat_map(Dict::into_slices) {
            let objects = slice.len() as u64;
            drop(slice);
            gone(objects);
        }
    }

    /// Drops a value, or keeps it when that could take long.
    #[inline]
    pub(super) fn discard(&mut self, value: Value) {
        if value.is_big() {
            self.values.push(value);
        }
    }

    /// Adds something large that is no value.
    pub(crate) fn push_other(&mut self, other: Box<dyn std::any::Any + Send>) {
        self.other.push(other);
    }

    pub(super) fn push_marks(&mut self, marks: Dict<Mark>) {
        self.marks.push(marks);
    }

    pub(super) fn push_table(&mut self, table: Dict<Entry>, marks: Dict<Mark>) {
        self.tables.push(table);
        self.marks.push(marks);
    }
}

impl super::Db {
    /// Bytes that the tables take, without keys and values. O(1).
    pub fn table_bytes(&self) -> usize {
        self.dict.mem_bytes() + self.volatile.mem_bytes() + self.timed.mem_bytes()
    }
}

impl Keyspace {
    /// Bytes that keys, values and tables take.
    pub fn used_memory(&self) -> usize {
        let tables =
            |db: &super::Db| db.used + db.dict.mem_bytes() + db.volatile.mem_bytes() + db.timed.mem_bytes();
        self.dbs[..self.in_use].iter().map(tables).sum()
    }

    /// The same, counted again from scratch: O(N) for N keys. For tests.
    pub fn recount_memory(&self) -> usize {
        let heap =
            |db: &super::Db| db.dict.iter().map(|e| e.key.heap_bytes() + e.value.recount()).sum::<usize>();
        let tables = |db: &super::Db| db.dict.mem_bytes() + db.volatile.mem_bytes() + db.timed.recount();
        self.dbs.iter().map(|db| heap(db) + tables(db)).sum()
    }

    /// True when something waits to be freed by the owner.
    #[inline]
    pub fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    /// What takes long to free; the owner drops it where it does not hurt.
    pub fn take_garbage(&mut self) -> Garbage {
        std::mem::take(&mut self.garbage)
    }

    /// Puts something large that is no value aside.
    pub(crate) fn discard_other(&mut self, other: Box<dyn std::any::Any + Send>) {
        self.garbage.push_other(other);
    }

    /// Drops a value, or puts it aside when that could take long.
    #[inline]
    pub(crate) fn discard(&mut self, value: Value) {
        self.garbage.discard(value);
    }
}

impl Entry {
    /// Bytes beyond the entry's place in the table.
    #[inline]
    pub(crate) fn heap(&self) -> usize {
        self.key.heap_bytes() + self.value.mem()
    }
}
