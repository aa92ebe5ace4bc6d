//! Shared access to the heap for hosts, during a call and on the results of a run.

use crate::heap::Heap;
use crate::host::{TableRef, ValueRef};
use crate::native::State;
use crate::protos::ProtoArena;
use crate::value::{TableId, Value};

/// A look at the heap.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) heap: &'a Heap,
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn value(self, v: Value) -> ValueRef<'a> {
        match v {
            Value::Nil | Value::Dead => ValueRef::Nil,
            Value::Bool(b) => ValueRef::Bool(b),
            Value::Num(n) => ValueRef::Number(n),
            Value::Str(s) => ValueRef::Str(self.heap.strs.get(s)),
            Value::Table(table) => ValueRef::Table(TableRef { view: self, table }),
            Value::Func(f) => ValueRef::Function(f),
            Value::Native(_) => ValueRef::Other("function"),
            Value::Thread(_) => ValueRef::Other("thread"),
            Value::Light(_) => ValueRef::Other("userdata"),
        }
    }

    pub(crate) fn table_index(self, t: TableId, i: i64) -> ValueRef<'a> {
        self.value(self.heap.table(t).get_int(i))
    }

    pub(crate) fn table_field(self, t: TableId, name: &[u8]) -> ValueRef<'a> {
        if self.heap.table(t).nodes.is_empty() {
            return ValueRef::Nil;
        }
        match self.heap.strs.lookup(name) {
            Some(id) => self.value(self.heap.table(t).get_shared(&self.heap.strs, Value::Str(id))),
            None if name.len() > crate::strings::MAX_INTERNED => self.scan_for(t, name),
            None => ValueRef::Nil,
        }
    }

    /// As [`Self::table_field`], through tables that are the `__index` of metatables.
    pub(crate) fn inherited(self, mut t: TableId, name: &[u8]) -> ValueRef<'a> {
        for _ in 0..crate::meta::MAX_LOOP {
            let found = self.table_field(t, name);
            if !matches!(found, ValueRef::Nil) {
                return found;
            }
            let Some(meta) = self.heap.table(t).meta() else { return ValueRef::Nil };
            match self.table_field(meta, b"__index") {
                ValueRef::Table(next) => t = next.table,
                _ => return ValueRef::Nil,
            }
        }
        ValueRef::Nil
    }

    fn scan_for(self, t: TableId, name: &[u8]) -> ValueRef<'a> {
        for n in &self.heap.table(t).nodes {
            if let Value::Str(k) = n.key
                && self.heap.strs.get(k) == name
            {
                return self.value(n.val);
            }
        }
        ValueRef::Nil
    }

    pub(crate) fn table_len(self, t: TableId) -> usize {
        self.heap.table(t).len()
    }

    pub(crate) fn table_next(self, t: TableId, cursor: usize) -> Option<(usize, ValueRef<'a>, ValueRef<'a>)> {
        let (next, k, v) = self.heap.table(t).entry_from(cursor)?;
        Some((next, self.value(k), self.value(v)))
    }
}

/// Where the script is; looked up only when asked for.
#[derive(Clone, Copy)]
pub(crate) struct Where<'a> {
    pub(crate) st: &'a State,
    pub(crate) protos: &'a ProtoArena,
}

impl<'a> Where<'a> {
    /// Chunk and line of the Lua function that called the running host function.
    pub(crate) fn position(self) -> Option<(&'a str, u32)> {
        crate::debuginfo::position_at_level(self.st, self.protos, 1)
    }
}
