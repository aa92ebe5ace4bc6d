//! Tables with Lua 5.1's own algorithm, so that `#t` and the order of `next` are what Redis shows: an array part sized
//! by the half-full rule and a hash part of a power of two with main positions and free slots taken from the end.

use crate::strings::Strings;
use crate::value::{TableId, Value, fast_int};

const MAX_BITS: usize = 26;
const MAX_ARRAY: u32 = 1 << MAX_BITS;
const NONE: u32 = u32::MAX;

/// What a table costs beside its parts, for accounting.
pub(crate) const TABLE_COST: usize = 72;

/// Exact accounting of the heap in bytes.
#[derive(Debug)]
pub(crate) struct Mem {
    /// Tables, closures, upvalues, threads and stacks of the run (strings count for themselves)
    pub(crate) used: usize,
    /// No single growth goes past this
    pub(crate) hard: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub(crate) key: Value,
    pub(crate) val: Value,
    next: u32,
}

const EMPTY: Node = Node { key: Value::Nil, val: Value::Nil, next: NONE };

/// Why a raw assignment failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetError {
    NilKey,
    NanKey,
    Memory,
}

/// Which of the run's inputs a table stands for while nothing has touched it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lazy {
    No,
    Keys,
    Argv,
}

pub(crate) struct Table {
    pub(crate) array: Vec<Value>,
    pub(crate) nodes: Vec<Node>,
    last_free: u32,
    meta: u32,
    /// Bit per [`crate::meta::Event`] known to be absent from this table as a metatable
    pub(crate) absent: u32,
    pub(crate) readonly: bool,
    pub(crate) lazy: Lazy,
    pub(crate) free: bool,
    /// Elements read one by one while [`Table::lazy`]
    pub(crate) peeks: u8,
}

impl Table {
    #[inline]
    pub(crate) fn new() -> Table {
        Table {
            array: Vec::new(),
            nodes: Vec::new(),
            last_free: 0,
            meta: NONE,
            absent: 0,
            readonly: false,
            lazy: Lazy::No,
            free: false,
            peeks: 0,
        }
    }

    /// A table that stands for inputs of the run.
    #[inline]
    pub(crate) fn for_inputs(lazy: Lazy) -> Table {
        Table { lazy, ..Table::new() }
    }

    /// Makes a new table of an old one. Memory of a small array is kept.
    #[inline]
    pub(crate) fn renew(&mut self, lazy: Lazy) {
        const SMALL: usize = 64;
        let mut array = std::mem::take(&mut self.array);
        if array.capacity() > SMALL {
            array = Vec::new();
        }
        array.clear();
        *self = Table { array, lazy, ..Table::new() };
    }

    pub(crate) fn with_capacity(narr: usize, nhash: usize, mem: &mut Mem) -> Option<Table> {
        let mut t = Table::new();
        if narr > 0 || nhash > 0 {
            let size = narr * size_of::<Value>()
                + if nhash > 0 { nhash.next_power_of_two() * size_of::<Node>() } else { 0 };
            if mem.used.saturating_add(size) > mem.hard {
                return None;
            }
            mem.used += size;
            t.array = vec![Value::Nil; narr];
            t.set_node_vector(nhash);
        }
        Some(t)
    }

    #[inline]
    pub(crate) fn meta(&self) -> Option<TableId> {
        if self.meta == NONE { None } else { Some(TableId(self.meta)) }
    }

    #[inline]
    pub(crate) fn meta_is_none(&self) -> bool {
        self.meta == NONE
    }

    pub(crate) fn set_meta(&mut self, m: Option<TableId>) {
        self.meta = m.map_or(NONE, |m| m.0);
    }

    /// Bytes of the parts.
    pub(crate) fn parts_size(&self) -> usize {
        self.array.len() * size_of::<Value>() + self.nodes.len() * size_of::<Node>()
    }

    fn set_node_vector(&mut self, n: usize) {
        if n == 0 {
            self.nodes = Vec::new();
            self.last_free = 0;
        } else {
            let size = n.next_power_of_two();
            self.nodes = vec![EMPTY; size];
            self.last_free = size as u32;
        }
    }

    #[inline]
    fn hash_mod(&self, h: u32) -> usize {
        (h % ((self.nodes.len() as u32).wrapping_sub(1) | 1)) as usize
    }

    #[inline]
    fn hash_num(&self, n: f64) -> usize {
        if n == 0.0 {
            return 0;
        }
        let bits = n.to_bits();
        self.hash_mod((bits as u32).wrapping_add((bits >> 32) as u32))
    }

    /// Main position of a key; the hash part is not empty.
    #[inline]
    fn main_pos(&self, strs: &mut Strings, key: Value) -> usize {
        let mask = self.nodes.len() - 1;
        match key {
            Value::Num(n) => self.hash_num(n),
            Value::Str(s) => strs.table_hash(s) as usize & mask,
            Value::Bool(b) => usize::from(b) & mask,
            Value::Table(t) => self.hash_mod(t.0.wrapping_mul(0x9E37_79B1) >> 4),
            Value::Func(f) => self.hash_mod(f.0.wrapping_mul(0x85EB_CA6B) >> 4),
            Value::Native(f) => self.hash_mod(f.0.wrapping_mul(0xC2B2_AE35) >> 4),
            Value::Thread(t) => self.hash_mod(t.0.wrapping_mul(0x27D4_EB2F) >> 4),
            Value::Light(l) => self.hash_mod(l),
            Value::Nil | Value::Dead => 0,
        }
    }

    /// `t[s]` for an interned string with its table hash.
    #[inline]
    pub(crate) fn get_short(&self, s: crate::value::StrId, hash: u32) -> Value {
        let mut i = hash as usize & self.nodes.len().wrapping_sub(1);
        while let Some(n) = self.nodes.get(i) {
            if let Value::Str(k) = n.key
                && k == s
            {
                return n.val;
            }
            i = n.next as usize;
        }
        Value::Nil
    }

    /// Value of the entry of an interned string.
    #[inline(always)]
    pub(crate) fn short(&self, s: crate::value::StrId, hash: u32) -> Option<&Value> {
        let mut i = hash as usize & self.nodes.len().wrapping_sub(1);
        while let Some(n) = self.nodes.get(i) {
            if let Value::Str(k) = n.key
                && k == s
            {
                return Some(&n.val);
            }
            i = n.next as usize;
        }
        None
    }

    /// The same, to be assigned.
    #[inline(always)]
    pub(crate) fn short_mut(&mut self, s: crate::value::StrId, hash: u32) -> Option<&mut Value> {
        let i = self.find_short(s, hash)?;
        // The entry of a metamethod may be empty until now.
        self.absent = 0;
        self.nodes.get_mut(i).map(|n| &mut n.val)
    }

    /// Value of the entry of a number.
    #[inline(always)]
    pub(crate) fn number(&self, n: f64) -> Option<&Value> {
        if let Some(i) = fast_int(n)
            && let Some(v) = self.array.get((i as usize).wrapping_sub(1))
        {
            return Some(v);
        }
        self.nodes.get(self.find_num(n)?).map(|n| &n.val)
    }

    /// The same, to be assigned.
    #[inline(always)]
    pub(crate) fn number_mut(&mut self, n: f64) -> Option<&mut Value> {
        let i = match fast_int(n) {
            Some(i) => (i as usize).wrapping_sub(1),
            None => usize::MAX,
        };
        if i < self.array.len() {
            return self.array.get_mut(i);
        }
        let at = self.find_num(n)?;
        self.nodes.get_mut(at).map(|n| &mut n.val)
    }

    /// Position of the entry of an interned string.
    #[inline]
    pub(crate) fn find_short(&self, s: crate::value::StrId, hash: u32) -> Option<usize> {
        let mut i = hash as usize & self.nodes.len().wrapping_sub(1);
        while let Some(n) = self.nodes.get(i) {
            if let Value::Str(k) = n.key
                && k == s
            {
                return Some(i);
            }
            i = n.next as usize;
        }
        None
    }

    #[inline]
    fn find_num(&self, n: f64) -> Option<usize> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut i = self.hash_num(n);
        while let Some(node) = self.nodes.get(i) {
            if let Value::Num(k) = node.key
                && k == n
            {
                return Some(i);
            }
            i = node.next as usize;
        }
        None
    }

    fn find(&self, strs: &mut Strings, key: Value) -> Option<usize> {
        if self.nodes.is_empty() {
            return None;
        }
        match key {
            Value::Str(s) if !s.is_long() => self.find_short(s, strs.table_hash(s)),
            Value::Num(n) => self.find_num(n),
            Value::Nil => None,
            Value::Str(s) => {
                let mut i = strs.table_hash(s) as usize & (self.nodes.len() - 1);
                while let Some(node) = self.nodes.get(i) {
                    if let Value::Str(k) = node.key
                        && strs.eq_long(k, s)
                    {
                        return Some(i);
                    }
                    i = node.next as usize;
                }
                None
            }
            _ => {
                let mut i = self.main_pos(strs, key);
                while let Some(node) = self.nodes.get(i) {
                    if node.key.same(key) {
                        return Some(i);
                    }
                    i = node.next as usize;
                }
                None
            }
        }
    }

    /// Raw read.
    #[inline]
    pub(crate) fn get(&self, strs: &mut Strings, key: Value) -> Value {
        match key {
            Value::Num(n) => self.get_num(n),
            Value::Str(s) if !s.is_long() => {
                if self.nodes.is_empty() {
                    return Value::Nil;
                }
                self.get_short(s, strs.table_hash(s))
            }
            _ => self.find(strs, key).map_or(Value::Nil, |i| self.nodes[i].val),
        }
    }

    #[inline]
    pub(crate) fn get_num(&self, n: f64) -> Value {
        if let Some(i) = fast_int(n)
            && let Some(v) = self.array.get((i as usize).wrapping_sub(1))
        {
            return *v;
        }
        self.find_num(n).map_or(Value::Nil, |i| self.nodes[i].val)
    }

    #[inline]
    pub(crate) fn get_int(&self, i: i64) -> Value {
        if let Some(v) = self.array.get((i as usize).wrapping_sub(1)) {
            return *v;
        }
        self.find_num(i as f64).map_or(Value::Nil, |i| self.nodes[i].val)
    }

    /// Raw read without caching a hash, for shared access.
    pub(crate) fn get_shared(&self, strs: &Strings, key: Value) -> Value {
        match key {
            Value::Num(n) => self.get_num(n),
            Value::Str(s) => {
                let mut i = strs.table_hash_shared(s) as usize & self.nodes.len().wrapping_sub(1);
                while let Some(node) = self.nodes.get(i) {
                    if let Value::Str(k) = node.key
                        && strs.eq_long(k, s)
                    {
                        return node.val;
                    }
                    i = node.next as usize;
                }
                Value::Nil
            }
            _ => Value::Nil,
        }
    }

    /// Raw write.
    pub(crate) fn set(
        &mut self,
        strs: &mut Strings,
        mem: &mut Mem,
        key: Value,
        val: Value,
    ) -> Result<(), SetError> {
        match key {
            Value::Num(n) => {
                if let Some(i) = fast_int(n)
                    && let Some(slot) = self.array.get_mut((i as usize).wrapping_sub(1))
                {
                    *slot = val;
                    return Ok(());
                }
                if n.is_nan() {
                    return Err(SetError::NanKey);
                }
            }
            Value::Nil => return Err(SetError::NilKey),
            _ => {}
        }
        if let Some(i) = self.find(strs, key) {
            self.nodes[i].val = val;
            return Ok(());
        }
        self.insert_new(strs, mem, key, val)
    }

    /// Writes under a key that is known to have no entry.
    fn insert_new(
        &mut self,
        strs: &mut Strings,
        mem: &mut Mem,
        key: Value,
        val: Value,
    ) -> Result<(), SetError> {
        let slot = if self.nodes.is_empty() { None } else { self.new_key(strs, key) };
        match slot {
            Some(i) => {
                self.nodes[i].val = val;
                Ok(())
            }
            None => {
                self.rehash(strs, mem, key)?;
                self.set(strs, mem, key, val)
            }
        }
    }

    /// Takes an entry for `key`, moving a colliding entry out of its main position when it is not at home there.
    fn new_key(&mut self, strs: &mut Strings, key: Value) -> Option<usize> {
        let mut mp = self.main_pos(strs, key);
        if !self.nodes[mp].val.is_nil() {
            let n = self.free_pos()?;
            let mut other = self.main_pos(strs, self.nodes[mp].key);
            if other != mp {
                while self.nodes[other].next as usize != mp {
                    other = self.nodes[other].next as usize;
                }
                self.nodes[other].next = n as u32;
                self.nodes[n] = self.nodes[mp];
                self.nodes[mp].next = NONE;
                self.nodes[mp].val = Value::Nil;
            } else {
                self.nodes[n].next = self.nodes[mp].next;
                self.nodes[mp].next = n as u32;
                mp = n;
            }
        }
        self.nodes[mp].key = key;
        Some(mp)
    }

    fn free_pos(&mut self) -> Option<usize> {
        while self.last_free > 0 {
            self.last_free -= 1;
            if self.nodes[self.last_free as usize].key.is_nil() {
                return Some(self.last_free as usize);
            }
        }
        None
    }

    fn rehash(&mut self, strs: &mut Strings, mem: &mut Mem, extra: Value) -> Result<(), SetError> {
        let mut nums = [0u32; MAX_BITS + 1];
        let mut narray = self.count_array(&mut nums);
        let mut total = narray;
        for n in &self.nodes {
            if !n.val.is_nil() {
                narray += count_int(n.key, &mut nums);
                total += 1;
            }
        }
        narray += count_int(extra, &mut nums);
        total += 1;
        let (size, in_array) = compute_sizes(&nums, narray);
        self.resize(strs, mem, size as usize, (total - in_array) as usize)
    }

    fn count_array(&self, nums: &mut [u32; MAX_BITS + 1]) -> u32 {
        let mut total = 0;
        let mut start = 0;
        for (lg, count) in nums.iter_mut().enumerate() {
            let limit = (1usize << lg).min(self.array.len());
            if start >= limit && start >= self.array.len() {
                break;
            }
            let c = self.array[start.min(limit)..limit].iter().filter(|v| !v.is_nil()).count() as u32;
            *count += c;
            total += c;
            start = limit.max(start);
        }
        total
    }

    /// Gives the parts new sizes and puts every entry where it then belongs.
    pub(crate) fn resize(
        &mut self,
        strs: &mut Strings,
        mem: &mut Mem,
        narr: usize,
        nhash: usize,
    ) -> Result<(), SetError> {
        let before = self.parts_size();
        let hash_size = if nhash == 0 { 0 } else { nhash.next_power_of_two() };
        let after = narr * size_of::<Value>() + hash_size * size_of::<Node>();
        if after > before && mem.used.saturating_add(after - before) > mem.hard {
            return Err(SetError::Memory);
        }
        mem.used = (mem.used + after).saturating_sub(before);
        let old_len = self.array.len();
        if narr > old_len {
            self.array.reserve_exact(narr - old_len);
            self.array.resize(narr, Value::Nil);
        }
        let old_nodes = std::mem::take(&mut self.nodes);
        self.set_node_vector(nhash);
        if narr < old_len {
            let gone: Vec<Value> = self.array.drain(narr..).collect();
            self.array.shrink_to_fit();
            for (i, v) in gone.into_iter().enumerate().filter(|(_, v)| !v.is_nil()) {
                self.set(strs, mem, Value::Num((narr + i + 1) as f64), v)?;
            }
        }
        for n in old_nodes.iter().rev() {
            if !n.val.is_nil() {
                self.set(strs, mem, n.key, n.val)?;
            }
        }
        Ok(())
    }

    /// `#t`. Not for inlining: in a large function the compiler makes the search free of branches, and so slower.
    #[inline(never)]
    pub(crate) fn len(&self) -> usize {
        let j = self.array.len();
        match self.array.last() {
            Some(v) if v.is_nil() => {
                let (mut i, mut j) = (0, j);
                while j - i > 1 {
                    let m = (i + j) / 2;
                    if self.array[m - 1].is_nil() {
                        j = m;
                    } else {
                        i = m;
                    }
                }
                i
            }
            _ if self.nodes.is_empty() => j,
            _ => self.unbound_search(j),
        }
    }

    #[inline(never)]
    fn unbound_search(&self, start: usize) -> usize {
        let mut i = start as i64;
        let mut j = i + 1;
        while !self.get_int(j).is_nil() {
            i = j;
            j *= 2;
            if j > i64::from(i32::MAX) {
                let mut i = 1;
                while !self.get_int(i).is_nil() {
                    i += 1;
                }
                return (i - 1) as usize;
            }
        }
        while j - i > 1 {
            let m = (i + j) / 2;
            if self.get_int(m).is_nil() {
                j = m;
            } else {
                i = m;
            }
        }
        i as usize
    }

    /// Position of `key` in the order of `next`, counted from 1; `None` for a key that is not in the table.
    pub(crate) fn position(&self, strs: &mut Strings, key: Value) -> Option<usize> {
        match key {
            Value::Nil => return Some(0),
            Value::Num(n) => {
                if let Some(i) = fast_int(n)
                    && i > 0
                    && i as usize <= self.array.len()
                {
                    return Some(i as usize);
                }
            }
            _ => {}
        }
        self.find(strs, key).map(|i| self.array.len() + i + 1)
    }

    /// First entry at or after `position` with a value, and the position after it.
    #[inline]
    pub(crate) fn entry_from(&self, position: usize) -> Option<(usize, Value, Value)> {
        let mut i = position;
        while let Some(v) = self.array.get(i) {
            i += 1;
            if !v.is_nil() {
                return Some((i, Value::Num(i as f64), *v));
            }
        }
        let first = i - self.array.len();
        for (j, n) in self.nodes.get(first..)?.iter().enumerate() {
            if !n.val.is_nil() {
                return Some((i + j + 1, n.key, n.val));
            }
        }
        None
    }
}

fn count_int(key: Value, nums: &mut [u32; MAX_BITS + 1]) -> u32 {
    if let Value::Num(n) = key
        && let Some(i) = fast_int(n)
        && i > 0
        && i as u32 <= MAX_ARRAY
    {
        nums[ceil_log2(i as u32)] += 1;
        return 1;
    }
    0
}

fn ceil_log2(n: u32) -> usize {
    if n <= 1 { 0 } else { (32 - (n - 1).leading_zeros()) as usize }
}

/// Largest size n such that more than half of 1..n is in use; and how many of the candidates go into the array.
fn compute_sizes(nums: &[u32; MAX_BITS + 1], candidates: u32) -> (u32, u32) {
    let (mut a, mut na, mut n) = (0u32, 0, 0);
    let mut two_to = 1u32;
    for &c in nums {
        if two_to / 2 >= candidates {
            break;
        }
        if c > 0 {
            a += c;
            if a > two_to / 2 {
                n = two_to;
                na = a;
            }
        }
        if a == candidates {
            break;
        }
        two_to = two_to.wrapping_mul(2);
    }
    (n, na)
}
