//! Mark and sweep, for runs that outgrow their region and for libraries, whose heap lives on.

use crate::heap::{CLOSURE_COST, Code, Heap, UPVAL_COST, UpVal};
use crate::native::{Env, ErrFunc, State};
use crate::table::{TABLE_COST, Table};
use crate::thread::{Frame, NATIVE, Thread};
use crate::value::Value;

/// Mark bits, and what is marked but not yet looked into.
struct Marks {
    strs: Vec<u64>,
    tables: Vec<u64>,
    closures: Vec<u64>,
    upvals: Vec<u64>,
    threads: Vec<u64>,
    gray: Vec<Value>,
    weak: Vec<u32>,
}

fn bits(n: usize) -> Vec<u64> {
    vec![0; n.div_ceil(64)]
}

/// Sets a bit; true if it was clear.
fn set(bits: &mut [u64], i: usize) -> bool {
    let Some(w) = bits.get_mut(i / 64) else { return false };
    let m = 1u64 << (i % 64);
    let fresh = *w & m == 0;
    *w |= m;
    fresh
}

fn get(bits: &[u64], i: usize) -> bool {
    bits.get(i / 64).is_some_and(|w| w & (1 << (i % 64)) != 0)
}

impl Marks {
    fn value(&mut self, h: &Heap, v: Value) {
        match v {
            Value::Str(s) => {
                set(&mut self.strs, s.index());
            }
            Value::Table(t)
                if t.index() >= h.base.tables
                    && t.index() < h.tables.len()
                    && set(&mut self.tables, t.index()) =>
            {
                self.gray.push(v);
            }
            Value::Func(f)
                if f.index() >= h.base.closures
                    && f.index() < h.closures.len()
                    && set(&mut self.closures, f.index()) =>
            {
                self.gray.push(v);
            }
            Value::Thread(t) if set(&mut self.threads, t.0 as usize) => self.gray.push(v),
            _ => {}
        }
    }

    /// Looks into what is gray until nothing is. `running` is the stack of the coroutine that runs.
    fn propagate(&mut self, st: &State, mode: Option<crate::value::StrId>) {
        let h = &st.heap;
        while let Some(v) = self.gray.pop() {
            match v {
                Value::Table(t) => self.table(h, t.0, mode),
                Value::Func(f) => {
                    let c = h.closures[f.index()];
                    for &u in h.up_pool.get(c.ups as usize..(c.ups + c.nups) as usize).unwrap_or_default() {
                        self.upval(st, u);
                    }
                }
                Value::Thread(t) => {
                    if let Some(Some(t)) = h.threads.get(t.0 as usize) {
                        self.thread(h, t);
                    }
                }
                _ => {}
            }
        }
    }

    fn upval(&mut self, st: &State, u: u32) {
        if set(&mut self.upvals, u as usize) {
            let v = st.upval_get(u);
            self.value(&st.heap, v);
        }
    }

    fn thread(&mut self, h: &Heap, t: &Thread) {
        for v in t.stack.iter().take(live_top(&t.frames, t.top)) {
            self.value(h, *v);
        }
    }

    fn table(&mut self, h: &Heap, id: u32, mode: Option<crate::value::StrId>) {
        let t = &h.tables[id as usize];
        let (weak_k, weak_v) = weakness(h, t, mode);
        if let Some(m) = t.meta() {
            self.value(h, Value::Table(m));
        }
        if weak_k || weak_v {
            self.weak.push(id);
        }
        if !weak_v {
            for v in &t.array {
                self.value(h, *v);
            }
        }
        for n in &t.nodes {
            if n.val.is_nil() {
                // The key of an emptied entry may still be somebody's position in a traversal.
                if let Value::Str(_) = n.key {
                    self.value(h, n.key);
                }
                continue;
            }
            if !weak_k {
                self.value(h, n.key);
            }
            if !weak_v {
                self.value(h, n.val);
            }
        }
    }

    fn is_dead(&self, h: &Heap, v: Value) -> bool {
        match v {
            Value::Table(t) => t.index() >= h.base.tables && !get(&self.tables, t.index()),
            Value::Func(f) => f.index() >= h.base.closures && !get(&self.closures, f.index()),
            Value::Thread(t) => !get(&self.threads, t.0 as usize),
            _ => false,
        }
    }
}

/// Whether a table's keys and values are weak.
fn weakness(h: &Heap, t: &Table, mode: Option<crate::value::StrId>) -> (bool, bool) {
    let (Some(m), Some(mode)) = (t.meta(), mode) else {
        return (false, false);
    };
    match h.table(m).get_shared(&h.strs, Value::Str(mode)) {
        Value::Str(s) => {
            let s = crate::debuginfo::c_str(h.str(s));
            (s.contains(&b'k'), s.contains(&b'v'))
        }
        _ => (false, false),
    }
}

/// Frees everything that the run can no longer reach, and sets the next threshold.
pub(crate) fn collect(st: &mut State, env: &Env<'_>) {
    let mode = st.heap.strs.lookup(b"__mode");
    // They are found by the ids of strings, which may be others' afterwards.
    st.loaded.clear();
    clear_dead(&mut st.stack, &st.frames, st.top);
    for t in st.heap.threads.iter_mut().flatten() {
        clear_dead(&mut t.stack, &t.frames, t.top);
    }
    let mut m = Marks {
        strs: bits(st.heap.strs.count()),
        tables: bits(st.heap.tables.len()),
        closures: bits(st.heap.closures.len()),
        upvals: bits(st.heap.upvals.len()),
        threads: bits(st.heap.threads.len()),
        gray: Vec::new(),
        weak: Vec::new(),
    };
    mark_roots(st, env, &mut m);
    m.propagate(st, mode);
    clear_weak(&mut st.heap, &mut m, mode);
    sweep(st, &m);
    let h = &mut st.heap;
    let used = h.used();
    if h.soft == 0 {
        // For tests: every safe point collects.
        h.gc_at = 0;
        return;
    }
    h.gc_at = (used * 2).max(h.soft).min(h.mem.hard).max(used + (used >> 4)).min(h.mem.hard.max(1));
}

/// End of what a stack holds for its frames. While a native function runs, the registers of its caller from the call
/// on are dead.
fn live_top(frames: &[Frame], top: usize) -> usize {
    match frames.last() {
        Some(f) if f.proto != NATIVE => top.max(f.top as usize),
        _ => top,
    }
}

/// Empties the dead registers above `live_top`: what they hold would come back to life with a later call.
fn clear_dead(stack: &mut [Value], frames: &[Frame], top: usize) {
    let from = live_top(frames, top);
    let end = frames.iter().rev().take(64).map(|f| f.top as usize).fold(from, usize::max) + 8;
    let end = end.min(stack.len());
    if let Some(dead) = stack.get_mut(from..end) {
        dead.fill(Value::Nil);
    }
}

/// Prototypes that something can still run, after a collection: those of closures and of frames.
pub(crate) fn live_protos(st: &State) -> impl Iterator<Item = u32> {
    let h = &st.heap;
    let closures = h.closures.iter().filter_map(|c| match c.code {
        Code::Lua(p) => Some(p),
        _ => None,
    });
    let waiting = h.threads.iter().flatten().flat_map(|t| &t.frames);
    closures.chain(st.frames.iter().chain(waiting).map(|f| f.proto).filter(|p| *p != NATIVE))
}

fn mark_roots(st: &State, env: &Env<'_>, m: &mut Marks) {
    let h = &st.heap;
    for v in st.stack.iter().take(live_top(&st.frames, st.top)) {
        m.value(h, *v);
    }
    for f in &st.frames {
        if f.proto != NATIVE {
            m.value(h, Value::Func(crate::value::FuncRef(f.closure)));
        }
    }
    for (i, t) in h.threads.iter().enumerate() {
        // Coroutines that wait for the running one are reachable through Rust's stack.
        if let Some(t) = t
            && (t.status == crate::thread::Status::Normal || i == 0)
            && set(&mut m.threads, i)
        {
            m.thread(h, t);
        }
    }
    m.value(h, Value::Thread(st.current));
    if let ErrFunc::Handler(v) = st.err_func {
        m.value(h, v);
    }
    for v in st.saved_handlers.iter().chain(&st.pins) {
        m.value(h, *v);
    }
    m.value(h, Value::Table(st.globals));
    if let Some(globals) = st.load_globals {
        m.value(h, Value::Table(globals));
    }
    for t in [h.string_meta, st.cjson.array_mt()].into_iter().flatten() {
        m.value(h, Value::Table(t));
    }
    for s in &st.event_names {
        m.value(h, Value::Str(*s));
    }
    for t in st.inputs.into_iter().flatten() {
        m.value(h, Value::Table(t));
    }
    for p in st.base_protos..env.protos.len() {
        for v in env.protos.constants(p) {
            m.value(h, *v);
        }
    }
}

fn clear_weak(h: &mut Heap, m: &mut Marks, mode: Option<crate::value::StrId>) {
    for id in std::mem::take(&mut m.weak) {
        let (weak_k, weak_v) = weakness(h, &h.tables[id as usize], mode);
        let mut t = std::mem::replace(&mut h.tables[id as usize], Table::new());
        if weak_v {
            for v in &mut t.array {
                if m.is_dead(h, *v) {
                    *v = Value::Nil;
                }
            }
        }
        for n in &mut t.nodes {
            if n.val.is_nil() {
                if m.is_dead(h, n.key) {
                    n.key = Value::Dead;
                }
                continue;
            }
            if (weak_k && m.is_dead(h, n.key)) || (weak_v && m.is_dead(h, n.val)) {
                n.val = Value::Nil;
                n.key = Value::Dead;
                continue;
            }
            // Strings are values: what stays keeps them.
            for v in [n.key, n.val] {
                if let Value::Str(s) = v {
                    set(&mut m.strs, s.index());
                }
            }
        }
        for v in &t.array {
            if let Value::Str(s) = v {
                set(&mut m.strs, s.index());
            }
        }
        h.tables[id as usize] = t;
    }
}

fn sweep(st: &mut State, m: &Marks) {
    let h = &mut st.heap;
    let base = h.base;
    // Upvalues that outlive their coroutine take its value with them.
    for i in base.threads..h.threads.len() {
        if get(&m.threads, i) {
            continue;
        }
        if let Some(t) = h.threads[i].take() {
            h.mem.used = h.mem.used.saturating_sub(t.size());
            for (slot, u) in &t.open {
                let v = t.stack.get(*slot as usize).copied().unwrap_or(Value::Nil);
                h.upvals[*u as usize] = UpVal::Closed(v);
            }
            h.free_threads.push(i as u32);
        }
    }
    for i in base.tables..h.tables.len() {
        let t = &mut h.tables[i];
        if get(&m.tables, i) {
            for n in &mut t.nodes {
                let dead = match n.key {
                    Value::Table(k) => k.index() >= base.tables && !get(&m.tables, k.index()),
                    Value::Func(k) => k.index() >= base.closures && !get(&m.closures, k.index()),
                    Value::Thread(k) => !get(&m.threads, k.0 as usize),
                    _ => false,
                };
                if dead && n.val.is_nil() {
                    n.key = Value::Dead;
                }
            }
        } else if !t.free {
            h.mem.used = h.mem.used.saturating_sub(TABLE_COST + t.parts_size());
            *t = Table::new();
            t.free = true;
            h.free_tables.push(i as u32);
        }
    }
    for i in base.closures..h.closures.len() {
        let c = &mut h.closures[i];
        if !get(&m.closures, i) && c.code != Code::Free {
            h.mem.used = h.mem.used.saturating_sub(CLOSURE_COST + c.nups as usize * 4);
            c.code = Code::Free;
            c.nups = 0;
            h.free_closures.push(i as u32);
        }
    }
    for i in base.upvals..h.upvals.len() {
        if get(&m.upvals, i) {
            continue;
        }
        match h.upvals[i] {
            // Open ones are in their coroutine's list still.
            UpVal::Open { .. } | UpVal::Free => {}
            UpVal::Closed(_) => {
                h.upvals[i] = UpVal::Free;
                h.mem.used = h.mem.used.saturating_sub(UPVAL_COST);
                h.free_upvals.push(i as u32);
            }
        }
    }
    compact_pool(h);
    h.strs.sweep(|i| get(&m.strs, i));
    st.bufs.truncate(2);
    st.forget_search();
}

/// Moves the upvalue lists of living closures together.
fn compact_pool(h: &mut Heap) {
    let mut pool = Vec::with_capacity(h.up_pool.len());
    pool.extend_from_slice(&h.up_pool[..h.base.up_pool]);
    for c in &mut h.closures[h.base.closures..] {
        if c.code != Code::Free {
            let at = pool.len() as u32;
            pool.extend_from_slice(&h.up_pool[c.ups as usize..(c.ups + c.nups) as usize]);
            c.ups = at;
        }
    }
    h.up_pool = pool;
}
