//! Exact accounting of the data set's memory.

use super::{Entry, Keyspace};

impl Keyspace {
    /// Bytes that keys, values and tables take.
    pub fn used_memory(&self) -> usize {
        self.dbs.iter().map(|db| db.used + db.dict.mem_bytes()).sum()
    }

    /// Values whose freeing may take long; the owner drops them where it does not hurt.
    pub fn take_garbage(&mut self) -> Vec<crate::value::Value> {
        std::mem::take(&mut self.garbage)
    }

    /// Drops a value, or puts it aside when that could take long.
    pub(crate) fn discard(&mut self, value: crate::value::Value) {
        if value.is_big() {
            self.garbage.push(value);
        }
    }
}

impl Entry {
    /// Bytes beyond the entry's place in the table.
    #[inline]
    pub(crate) fn heap(&self) -> usize {
        self.key.heap_bytes() + self.value.mem()
    }
}
