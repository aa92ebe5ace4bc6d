//! The heap: one arena per kind of object, handles as indices, exact accounting.
//!
//! Objects below the base marks belong to the sandbox and live as long as the VM. All others belong to the run: they are
//! truncated when it ends, or, in a library, swept by [`crate::gc`].

use crate::strings::{StrMark, Strings};
use crate::table::{Lazy, Mem, SetError, TABLE_COST, Table};
use crate::thread::Thread;
use crate::value::{FuncRef, NativeId, StrId, TableId, ThreadId, Value};

pub(crate) const CLOSURE_COST: usize = 24;
pub(crate) const UPVAL_COST: usize = 16;
/// Offsets of short strings have 32 bits, so no heap may be larger.
pub(crate) const MAX_HEAP: usize = 3 << 30;

/// What a closure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Number of a loaded prototype
    Lua(u32),
    Native(NativeId),
    /// A collected slot
    Free,
}

/// A function with upvalues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closure {
    pub(crate) code: Code,
    /// First of its upvalue ids in `Heap::up_pool`
    pub(crate) ups: u32,
    pub(crate) nups: u32,
}

/// An upvalue: the local it captured while that lives, then the value itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UpVal {
    Open { thread: ThreadId, slot: u32 },
    Closed(Value),
    Free,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Base {
    pub(crate) tables: usize,
    pub(crate) closures: usize,
    pub(crate) up_pool: usize,
    pub(crate) upvals: usize,
    pub(crate) threads: usize,
}

pub(crate) struct Heap {
    pub(crate) strs: Strings,
    pub(crate) mem: Mem,
    pub(crate) tables: Vec<Table>,
    pub(crate) closures: Vec<Closure>,
    pub(crate) up_pool: Vec<u32>,
    pub(crate) upvals: Vec<UpVal>,
    pub(crate) threads: Vec<Option<Box<Thread>>>,
    pub(crate) free_tables: Vec<u32>,
    pub(crate) free_closures: Vec<u32>,
    pub(crate) free_upvals: Vec<u32>,
    pub(crate) free_threads: Vec<u32>,
    pub(crate) base: Base,
    /// Above this many bytes the next safe point collects
    pub(crate) gc_at: usize,
    /// Least threshold of the collector
    pub(crate) soft: usize,
    /// Longest string, bytes
    pub(crate) max_string: usize,
    /// The string `__index`
    pub(crate) index_name: StrId,
    /// Its table hash
    pub(crate) index_hash: u32,
    /// Metatable of strings
    pub(crate) string_meta: Option<TableId>,
}

impl Heap {
    pub(crate) fn new(seed: u64, hard: usize, soft: usize, max_string: usize) -> Heap {
        Heap {
            strs: Strings::new(seed),
            mem: Mem { used: 0, hard: hard.min(MAX_HEAP) },
            tables: Vec::new(),
            closures: Vec::new(),
            up_pool: Vec::new(),
            upvals: Vec::new(),
            threads: Vec::new(),
            free_tables: Vec::new(),
            free_closures: Vec::new(),
            free_upvals: Vec::new(),
            free_threads: Vec::new(),
            base: Base::default(),
            gc_at: soft,
            soft,
            max_string: max_string.min(1 << 31),
            index_name: StrId(0),
            index_hash: 0,
            string_meta: None,
        }
    }

    /// Bytes that the run holds.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.mem.used + self.strs.bytes
    }

    #[inline]
    pub(crate) fn wants_gc(&self) -> bool {
        self.used() > self.gc_at
    }

    /// True when `more` bytes fit under the hard limit.
    #[inline]
    pub(crate) fn fits(&self, more: usize) -> bool {
        self.used().saturating_add(more) <= self.mem.hard
    }

    #[inline]
    pub(crate) fn str(&self, id: StrId) -> &[u8] {
        self.strs.get(id)
    }

    #[inline]
    pub(crate) fn intern(&mut self, s: &[u8]) -> StrId {
        self.strs.intern(s)
    }

    #[inline]
    pub(crate) fn table(&self, t: TableId) -> &Table {
        &self.tables[t.index()]
    }

    pub(crate) fn new_table(&mut self, narr: usize, nhash: usize) -> Option<TableId> {
        let t = if narr == 0 && nhash == 0 {
            Table::new()
        } else {
            Table::with_capacity(narr, nhash, &mut self.mem)?
        };
        Some(self.add_table(t))
    }

    pub(crate) fn add_table(&mut self, t: Table) -> TableId {
        self.mem.used += TABLE_COST;
        match self.free_tables.pop() {
            Some(i) => {
                self.tables[i as usize] = t;
                TableId(i)
            }
            None => {
                self.tables.push(t);
                TableId(self.tables.len() as u32 - 1)
            }
        }
    }

    /// What a string has under an interned name, when that takes no call.
    #[inline]
    pub(crate) fn string_method(&self, s: StrId, h: u32) -> Option<&Value> {
        let m = self.string_meta?;
        match self.tables[m.index()].short(self.index_name, self.index_hash) {
            Some(&Value::Table(t)) => self.tables[t.index()].short(s, h).filter(|v| !v.is_nil()),
            _ => None,
        }
    }

    /// `t[s]` for an interned string that `t` itself does not have, through `__index` tables; `None` when a function must
    /// be called or the answer is an error.
    #[inline(always)]
    pub(crate) fn inherited<'a>(&'a self, t: &'a Table, s: StrId, h: u32) -> Option<&'a Value> {
        let mut t = t;
        for _ in 0..16 {
            // A long name comes without its hash.
            if t.lazy != Lazy::No || s.is_long() {
                return None;
            }
            let Some(m) = t.meta() else {
                return Some(&Value::Nil);
            };
            match self.tables[m.index()].short(self.index_name, self.index_hash) {
                Some(&Value::Table(next)) => t = &self.tables[next.index()],
                None | Some(Value::Nil) => return Some(&Value::Nil),
                _ => return None,
            }
            if let Some(v) = t.short(s, h)
                && !v.is_nil()
            {
                return Some(v);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn raw_get(&mut self, t: TableId, key: Value) -> Value {
        self.tables[t.index()].get(&mut self.strs, key)
    }

    #[inline]
    pub(crate) fn raw_set(&mut self, t: TableId, key: Value, val: Value) -> Result<(), SetError> {
        let used = self.strs.bytes;
        // Strings count for themselves: lend their share to the limit while the table grows.
        self.mem.used += used;
        let r = self.tables[t.index()].set(&mut self.strs, &mut self.mem, key, val);
        self.mem.used -= used;
        self.tables[t.index()].absent = 0;
        r
    }

    /// Equality without metamethods.
    #[inline]
    pub(crate) fn raw_eq(&self, a: Value, b: Value) -> bool {
        match (a, b) {
            (Value::Str(x), Value::Str(y)) => x == y || (x.is_long() && self.strs.eq_long(x, y)),
            _ => a.same(b),
        }
    }

    #[inline]
    pub(crate) fn new_upval(&mut self, u: UpVal) -> u32 {
        self.mem.used += UPVAL_COST;
        match self.free_upvals.pop() {
            Some(i) => {
                self.upvals[i as usize] = u;
                i
            }
            None => {
                self.upvals.push(u);
                self.upvals.len() as u32 - 1
            }
        }
    }

    /// A closure whose upvalue ids are those pushed to `up_pool` from `first` on.
    #[inline]
    pub(crate) fn new_closure(&mut self, code: Code, first: usize) -> FuncRef {
        let nups = self.up_pool.len() - first;
        self.mem.used += CLOSURE_COST + nups * 4;
        let c = Closure { code, ups: first as u32, nups: nups as u32 };
        match self.free_closures.pop() {
            Some(i) => {
                self.closures[i as usize] = c;
                FuncRef(i)
            }
            None => {
                self.closures.push(c);
                FuncRef(self.closures.len() as u32 - 1)
            }
        }
    }

    /// A native closure that owns `values`.
    pub(crate) fn new_native_closure(&mut self, id: NativeId, values: &[Value]) -> FuncRef {
        let first = self.up_pool.len();
        for v in values {
            let u = self.new_upval(UpVal::Closed(*v));
            self.up_pool.push(u);
        }
        self.new_closure(Code::Native(id), first)
    }

    pub(crate) fn new_thread(&mut self, t: Thread) -> ThreadId {
        self.mem.used += t.size();
        let t = Some(Box::new(t));
        match self.free_threads.pop() {
            Some(i) => {
                self.threads[i as usize] = t;
                ThreadId(i)
            }
            None => {
                self.threads.push(t);
                ThreadId(self.threads.len() as u32 - 1)
            }
        }
    }

    /// Makes all objects permanent. Must not be called during a run.
    pub(crate) fn seal(&mut self) {
        self.strs.seal();
        self.base = Base {
            tables: self.tables.len(),
            closures: self.closures.len(),
            up_pool: self.up_pool.len(),
            upvals: self.upvals.len(),
            threads: self.threads.len(),
        };
        self.mem.used = 0;
    }

    /// Drops the objects of the run but its first `keep` tables.
    #[inline]
    pub(crate) fn reset(&mut self, keep: usize) {
        self.strs.reset();
        self.tables.truncate(self.base.tables + keep);
        self.closures.truncate(self.base.closures);
        self.up_pool.truncate(self.base.up_pool);
        self.upvals.truncate(self.base.upvals);
        self.threads.truncate(self.base.threads);
        self.mem.used = 0;
        self.gc_at = self.soft.min(self.mem.hard);
        if !self.free_tables.is_empty()
            || !self.free_closures.is_empty()
            || !self.free_upvals.is_empty()
            || !self.free_threads.is_empty()
        {
            self.free_tables = Vec::new();
            self.free_closures = Vec::new();
            self.free_upvals = Vec::new();
            self.free_threads = Vec::new();
        }
        trim(&mut self.tables, self.base.tables);
        trim(&mut self.closures, self.base.closures);
        trim(&mut self.up_pool, self.base.up_pool);
        trim(&mut self.upvals, self.base.upvals);
        trim(&mut self.threads, self.base.threads);
    }

    pub(crate) fn str_mark(&self) -> StrMark {
        self.strs.base()
    }

    /// Fills a table that stands for inputs of the run with its elements.
    pub(crate) fn materialise(&mut self, t: TableId, items: &[&[u8]]) {
        // The size that filling it item by item would lead to.
        let size = if items.is_empty() { 0 } else { items.len().next_power_of_two() };
        let mut array = std::mem::take(&mut self.tables[t.index()].array);
        array.reserve_exact(size);
        for s in items {
            array.push(Value::Str(self.strs.intern(s)));
        }
        array.resize(size, Value::Nil);
        self.mem.used += array.len() * size_of::<Value>();
        let table = &mut self.tables[t.index()];
        table.array = array;
        table.lazy = Lazy::No;
    }
}

/// Gives memory of an unusually large run back.
#[inline]
fn trim<T>(v: &mut Vec<T>, base: usize) {
    if v.capacity() > base * 2 + 65_536 {
        v.shrink_to(base + 1024);
    }
}
