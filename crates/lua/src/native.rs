//! The state of a VM, and what a function written in Rust sees of it.
//!
//! # Writing a native function
//! Arguments are numbered from 1, as in Lua's messages. They stay on the stack during the call, so they are safe from
//! the collector; a value that is *not* an argument, was not pushed and is not reachable from one of these must not be
//! held across [`Ctx::call`] or [`Ctx::reserve`] (nothing else collects). Push the results and return their number.
//! Loops over data from the script call [`Ctx::step`] (or a [`Stepper`]) so that the run can be stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::buf::Buf;
use crate::heap::{Heap, UpVal};
use crate::host::{Host, Tick};
use crate::instrument::Instrument;
use crate::protos::ProtoArena;
use crate::table::{Lazy, SetError};
use crate::thread::Frame;
use crate::value::{FuncRef, Limit, LuaError, NativeId, StrId, TableId, ThreadId, Value, c_i64, fast_int};

/// A function written in Rust: pushes its results and returns how many.
pub(crate) type NativeFn = fn(&mut Ctx<'_>) -> Result<usize, LuaError>;

/// What a native function is.
#[derive(Clone, Copy)]
pub(crate) enum NativeKind {
    Rust(NativeFn),
    Host(u32),
}

/// What sees an error first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrFunc {
    /// Nobody: a `pcall` waits for it
    None,
    /// The bottom of the run: the position is recorded for the host
    Root,
    /// The handler of an `xpcall`
    Handler(Value),
}

/// Everything that changes while a script runs.
pub(crate) struct State {
    pub(crate) heap: Heap,
    /// Stack of the running coroutine
    pub(crate) stack: Vec<Value>,
    /// End of the running native function's values; end of multiple results
    pub(crate) top: usize,
    pub(crate) frames: Vec<Frame>,
    /// Open upvalues of the running coroutine: (stack slot, upvalue), ascending
    pub(crate) open: Vec<(u32, u32)>,
    pub(crate) current: ThreadId,
    pub(crate) c_calls: u32,
    /// `c_calls` at which the running coroutine was resumed: a yield needs `c_calls` to be there
    pub(crate) base_c_calls: u32,
    pub(crate) err_func: ErrFunc,
    pub(crate) globals: TableId,
    /// The globals while a library loads, when these are others
    pub(crate) load_globals: Option<TableId>,
    pub(crate) natives: Vec<NativeKind>,
    pub(crate) max_frames: usize,
    pub(crate) host_depth: u32,
    pub(crate) max_host_depth: u32,
    pub(crate) instrument: Instrument,
    pub(crate) steps: u64,
    pub(crate) last_line: (usize, u32),
    pub(crate) last_pc: usize,
    /// Bytes of the sandbox
    pub(crate) base_bytes: usize,
    /// Above this many bytes code that was compiled in the run is swept
    pub(crate) code_at: usize,
    /// The run was left to sweep code and is about to go on
    pub(crate) goes_on: bool,
    /// Bytes that `collectgarbage("step")` has worked through in this cycle
    pub(crate) gc_work: usize,
    /// `setpause`, `setstepmul`: kept, without effect
    pub(crate) gc_params: [i32; 2],
    /// `pcall` gives scripts the message of an error table with a field `err`, as on Redis
    pub(crate) redis_pcall: bool,
    /// Chunk source and line of the error that ended the run
    pub(crate) raised_at: Option<(String, i64)>,
    /// Registers of the generator behind `math.random`
    pub(crate) rand: [u32; 3],
    pub(crate) bufs: Vec<Buf>,
    /// The search used last, for a pattern that is used again and again. Its key is the pattern's id, with bit 32 for
    /// anchors
    pub(crate) search: Option<Box<crate::pattern::Search>>,
    pub(crate) reply: Option<Box<crate::host::Reply>>,
    /// Settings of `cjson`, reset with each run
    pub(crate) cjson: crate::lib_cjson::Settings,
    pub(crate) event_names: Vec<StrId>,
    pub(crate) pins: Vec<Value>,
    /// Handlers that an inner pcall or coroutine has set aside
    pub(crate) saved_handlers: Vec<Value>,
    /// KEYS and ARGV of the run
    pub(crate) inputs: [Option<TableId>; 2],
    /// Prototypes below belong to loaded chunks
    pub(crate) base_protos: u32,
    /// `next`, and the iterator of `ipairs`: a generic `for` runs them without a call
    /// What `pairs` returns: works as the global `next`, but is not the same function
    pub(crate) next_fn: NativeId,
    pub(crate) global_next: NativeId,
    pub(crate) ipairs_fn: NativeId,
    /// What `string.gmatch` returns closures of
    pub(crate) gmatch_fn: NativeId,
    /// An error handler runs because the stack of frames is full
    pub(crate) overflowing: bool,
    /// Chunks that `load` compiled in this run
    pub(crate) loaded: Vec<(StrId, Vec<u8>, u32)>,
}

/// What stays the same during a run.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    pub(crate) protos: &'a ProtoArena,
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) argv: &'a [&'a [u8]],
    pub(crate) interrupt: &'a AtomicU32,
}

/// The word that ends or pauses a run from outside.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(pub(crate) Arc<AtomicU32>);

impl Interrupt {
    /// Asks the runtime to call [`Host::tick`] soon.
    pub const TICK: u32 = 1;
    /// Ends the run soon. Stays set until [`Interrupt::clear`].
    pub const STOP: u32 = 2;

    /// A word with no bit set.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Sets bits, from any thread.
    pub fn set(&self, bits: u32) {
        self.0.fetch_or(bits, Ordering::Relaxed);
    }

    /// Clears bits.
    pub fn clear(&self, bits: u32) {
        self.0.fetch_and(!bits, Ordering::Relaxed);
    }

    /// Does what the bits ask for, in a host function that takes long: ticks, or is told to end the run.
    pub fn obey(&self, host: &mut dyn Host) -> Tick {
        match self.get() {
            0 => Tick::Continue,
            _ if interrupted(&self.0, host).is_ok() => Tick::Continue,
            _ => Tick::Stop,
        }
    }

    /// The bits that are set.
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Bytes copied between two looks at the interrupt word.
pub(crate) const PIECE: usize = 256 << 10;

/// Appends bytes piece by piece.
pub(crate) fn append_pieces(
    bytes: &[u8],
    buf: &mut Vec<u8>,
    steps: &mut Stepper<'_>,
) -> Result<(), LuaError> {
    for piece in bytes.chunks(PIECE) {
        buf.extend_from_slice(piece);
        steps.look()?;
    }
    Ok(())
}

/// Tests the interrupt word while other parts of the VM are borrowed. See [`Ctx::parts`].
pub(crate) struct Stepper<'a> {
    interrupt: &'a AtomicU32,
    host: &'a mut dyn Host,
    budget: u32,
}

/// Library steps between two looks at the interrupt word.
const STEPS_PER_LOOK: u32 = 256;

impl<'a> Stepper<'a> {
    pub(crate) fn new(interrupt: &'a AtomicU32, host: &'a mut dyn Host) -> Stepper<'a> {
        Stepper { interrupt, host, budget: STEPS_PER_LOOK }
    }

    /// Counts `n` units of work (a byte compared, an element moved) and now and then looks at the interrupt word.
    #[inline]
    pub(crate) fn step(&mut self, n: u32) -> Result<(), LuaError> {
        if n < self.budget {
            self.budget -= n;
            return Ok(());
        }
        self.budget = STEPS_PER_LOOK;
        self.look()
    }

    #[inline]
    pub(crate) fn look(&mut self) -> Result<(), LuaError> {
        if self.interrupt.load(Ordering::Relaxed) == 0 {
            Ok(())
        } else {
            interrupted(self.interrupt, self.host)
        }
    }
}

/// The interrupt word is not 0: asks the host.
#[cold]
pub(crate) fn interrupted(word: &AtomicU32, host: &mut dyn Host) -> Result<(), LuaError> {
    let bits = word.load(Ordering::Relaxed);
    if bits & Interrupt::STOP != 0 {
        return Err(LuaError::Stop);
    }
    if bits & Interrupt::TICK != 0 {
        word.fetch_and(!Interrupt::TICK, Ordering::Relaxed);
        if host.tick() == Tick::Stop {
            return Err(LuaError::Stop);
        }
    }
    Ok(())
}

/// What a native function sees: its arguments, the heap, the host.
pub(crate) struct Ctx<'a> {
    pub(crate) st: &'a mut State,
    pub(crate) env: &'a Env<'a>,
    pub(crate) host: &'a mut dyn Host,
    /// Stack slot of argument 1
    pub(crate) base: usize,
    pub(crate) nargs: usize,
}

impl Ctx<'_> {
    // Arguments

    /// Number of arguments.
    #[inline]
    pub(crate) fn nargs(&self) -> usize {
        self.nargs
    }

    /// Argument `i` (from 1); nil when absent.
    #[inline]
    pub(crate) fn arg(&self, i: usize) -> Value {
        if i <= self.nargs { self.st.stack[self.base + i - 1] } else { Value::Nil }
    }

    /// True when argument `i` is absent ("no value").
    #[inline]
    pub(crate) fn is_none(&self, i: usize) -> bool {
        i > self.nargs
    }

    #[inline]
    pub(crate) fn is_none_or_nil(&self, i: usize) -> bool {
        self.arg(i).is_nil()
    }

    /// Replaces argument `i`, which must be present.
    pub(crate) fn set_arg(&mut self, i: usize, v: Value) {
        debug_assert!(i <= self.nargs);
        self.st.stack[self.base + i - 1] = v;
    }

    /// Any value, but it must be there: "value expected".
    pub(crate) fn check_any(&mut self, i: usize) -> Result<Value, LuaError> {
        if self.is_none(i) { Err(self.arg_error(i, "value expected")) } else { Ok(self.arg(i)) }
    }

    /// A number, or a string that converts to one.
    #[inline(always)]
    pub(crate) fn check_number(&mut self, i: usize) -> Result<f64, LuaError> {
        match self.arg_ref(i) {
            Some(&Value::Num(n)) => Ok(n),
            _ => self.check_number_slow(i),
        }
    }

    #[cold]
    #[inline(never)]
    fn check_number_slow(&mut self, i: usize) -> Result<f64, LuaError> {
        match self.to_number(self.arg(i)) {
            Some(n) => Ok(n),
            None => Err(self.type_error(i, "number")),
        }
    }

    /// Argument `i` in its place, if it is there.
    #[inline(always)]
    fn arg_ref(&self, i: usize) -> Option<&Value> {
        if i <= self.nargs { self.st.stack.get(self.base + i - 1) } else { None }
    }

    /// `luaL_checkinteger`: C's conversion to 64 bits.
    #[inline(always)]
    pub(crate) fn check_i64(&mut self, i: usize) -> Result<i64, LuaError> {
        if let Some(&Value::Num(n)) = self.arg_ref(i)
            && let Some(n) = fast_int(n)
        {
            return Ok(i64::from(n));
        }
        self.check_i64_slow(i)
    }

    #[inline(never)]
    fn check_i64_slow(&mut self, i: usize) -> Result<i64, LuaError> {
        self.check_number(i).map(c_i64)
    }

    #[inline(always)]
    pub(crate) fn opt_i64(&mut self, i: usize, default: i64) -> Result<i64, LuaError> {
        match self.arg_ref(i) {
            None | Some(Value::Nil) => Ok(default),
            _ => self.check_i64(i),
        }
    }

    /// `luaL_checkint`: the low 32 bits of `luaL_checkinteger`.
    #[inline(always)]
    pub(crate) fn check_i32(&mut self, i: usize) -> Result<i32, LuaError> {
        self.check_i64(i).map(|n| n as i32)
    }

    pub(crate) fn opt_i32(&mut self, i: usize, default: i32) -> Result<i32, LuaError> {
        if self.is_none_or_nil(i) { Ok(default) } else { self.check_i32(i) }
    }

    /// A string, or a number, which is converted in place.
    #[inline(always)]
    pub(crate) fn check_str(&mut self, i: usize) -> Result<StrId, LuaError> {
        match self.arg_ref(i) {
            Some(&Value::Str(s)) => Ok(s),
            _ => self.check_str_slow(i),
        }
    }

    #[cold]
    #[inline(never)]
    fn check_str_slow(&mut self, i: usize) -> Result<StrId, LuaError> {
        match self.arg(i) {
            Value::Num(n) => {
                let s = self.st.number_to_str(n);
                self.set_arg(i, Value::Str(s));
                Ok(s)
            }
            _ => Err(self.type_error(i, "string")),
        }
    }

    pub(crate) fn opt_str(&mut self, i: usize) -> Result<Option<StrId>, LuaError> {
        if self.is_none_or_nil(i) { Ok(None) } else { self.check_str(i).map(Some) }
    }

    pub(crate) fn check_table(&mut self, i: usize) -> Result<TableId, LuaError> {
        if let Value::Table(t) = self.arg(i) {
            self.touch(t);
            return Ok(t);
        }
        Err(self.type_error(i, "table"))
    }

    pub(crate) fn check_function(&mut self, i: usize) -> Result<Value, LuaError> {
        match self.arg(i) {
            v @ (Value::Func(_) | Value::Native(_)) => Ok(v),
            _ => Err(self.type_error(i, "function")),
        }
    }

    /// Lua's conversion of a value to a number (numbers and numeric strings).
    #[inline]
    pub(crate) fn to_number(&self, v: Value) -> Option<f64> {
        self.st.to_number(v)
    }

    // Results and the stack

    #[inline]
    pub(crate) fn push(&mut self, v: Value) {
        let top = self.st.top;
        // No call gets the value: it would have to be written in halves and read as a whole.
        if top >= self.st.stack.len() {
            self.st.grow_stack(top + 1);
        }
        self.st.stack[top] = v;
        self.st.top = top + 1;
    }

    /// Pushes a new string; fails when it is longer than the limits allow.
    pub(crate) fn push_str(&mut self, s: &[u8]) -> Result<(), LuaError> {
        self.st.check_len(s.len())?;
        // The id goes straight into the stack: values that pass through memory as a whole stall the processor.
        let id = self.st.heap.strs.intern(s);
        self.push(Value::Str(id));
        Ok(())
    }

    /// Number of values pushed since the call began (arguments not counted).
    pub(crate) fn pushed(&self) -> usize {
        self.st.top - self.base - self.nargs
    }

    /// Drops the topmost value and returns it.
    pub(crate) fn pop(&mut self) -> Value {
        self.st.top -= 1;
        self.st.stack[self.st.top]
    }

    /// The topmost value.
    pub(crate) fn peek(&self) -> Value {
        self.st.stack[self.st.top - 1]
    }

    pub(crate) fn drop_to(&mut self, pushed: usize) {
        self.st.top = self.base + self.nargs + pushed;
    }

    /// Fails with "stack overflow (msg)" when `n` more values would exceed what a C function may push (8000).
    pub(crate) fn check_stack(&mut self, n: usize, msg: &str) -> Result<(), LuaError> {
        if self.st.top + n - self.base > 8000 {
            return Err(self.error(&format!("stack overflow ({msg})")));
        }
        let need = self.st.top + n + 1;
        if need > self.st.stack.len() {
            self.st.grow_stack(need);
        }
        Ok(())
    }

    // Strings

    /// Bytes of a string.
    #[inline]
    pub(crate) fn bytes(&self, s: StrId) -> &[u8] {
        self.st.heap.strs.get(s)
    }

    /// A new string; fails when it is longer than the limits allow.
    #[inline]
    pub(crate) fn new_str(&mut self, s: &[u8]) -> Result<Value, LuaError> {
        self.st.check_len(s.len())?;
        Ok(Value::Str(self.st.heap.strs.intern(s)))
    }

    /// A new string from a buffer, which is emptied and may be given back with [`Ctx::give_buf`].
    pub(crate) fn new_str_from(&mut self, buf: &mut Buf) -> Result<Value, LuaError> {
        self.st.check_len(buf.len())?;
        if buf.len() > 64 << 10 {
            buf.shrink_to_fit();
            return Ok(Value::Str(self.st.heap.strs.intern_buf(std::mem::take(buf))));
        }
        let s = self.st.heap.strs.intern(buf);
        buf.clear();
        Ok(Value::Str(s))
    }

    /// Appends bytes `from..to` of a string to a buffer, piece by piece: copying hundreds of megabytes takes longer than
    /// a stop may.
    #[inline]
    pub(crate) fn append(
        &mut self,
        buf: &mut Vec<u8>,
        s: StrId,
        from: usize,
        to: usize,
    ) -> Result<(), LuaError> {
        if to - from <= PIECE {
            buf.extend_from_slice(&self.bytes(s)[from..to]);
            return Ok(());
        }
        buf.reserve(to - from);
        let (heap, mut steps) = self.parts();
        append_pieces(&heap.str(s)[from..to], buf, &mut steps)
    }

    /// Bytes `from..to` (from 0) of a string as a string.
    pub(crate) fn substr(&mut self, s: StrId, from: usize, to: usize) -> Result<Value, LuaError> {
        self.st.check_len(to.saturating_sub(from))?;
        if to.saturating_sub(from) > PIECE && to - from < self.bytes(s).len() {
            let mut buf = Buf::default();
            self.append(&mut buf, s, from, to)?;
            return Ok(Value::Str(self.st.heap.strs.intern_buf(buf)));
        }
        Ok(Value::Str(self.st.heap.strs.substr(s, from, to)))
    }

    /// An empty scratch buffer with some capacity.
    pub(crate) fn take_buf(&mut self) -> Buf {
        let mut buf = self.st.bufs.pop().unwrap_or_default();
        buf.clear();
        buf
    }

    /// Gives a scratch buffer back for later use.
    pub(crate) fn give_buf(&mut self, mut buf: Buf) {
        if buf.capacity() <= 64 << 10 && self.st.bufs.len() < 8 {
            buf.clear();
            self.st.bufs.push(buf);
        }
    }

    /// Fails when a string of `n` bytes would exceed the string limit or, with what the heap holds, the memory limit.
    /// Call it while a scratch buffer grows.
    #[inline]
    pub(crate) fn check_len(&self, n: usize) -> Result<(), LuaError> {
        self.st.check_len(n)
    }

    /// Makes room for `n` more bytes, collecting if that is needed. All values held must be on the stack.
    pub(crate) fn reserve(&mut self, n: usize) -> Result<(), LuaError> {
        if n > self.st.heap.max_string {
            return Err(LuaError::Limit(Limit::StringLength));
        }
        if !self.st.heap.fits(n) || self.st.heap.used() + n > self.st.heap.gc_at {
            crate::gc::collect(self.st, self.env);
            if !self.st.heap.fits(n) {
                return Err(LuaError::Limit(Limit::Memory));
            }
        }
        Ok(())
    }

    /// `tostring(v)`, with `__tostring`. The result is pushed by the caller if it must live across calls.
    pub(crate) fn tostring(&mut self, v: Value) -> Result<Value, LuaError> {
        crate::lib_base::tostring(self, v)
    }

    // Tables: raw access

    /// Must precede direct use of a table through `st.heap`: KEYS and ARGV are filled when first touched.
    #[inline]
    pub(crate) fn touch(&mut self, t: TableId) {
        if self.st.heap.tables[t.index()].lazy != Lazy::No {
            self.st.materialise(self.env, t);
        }
    }

    pub(crate) fn new_table(&mut self, narr: usize, nhash: usize) -> Result<TableId, LuaError> {
        self.st.heap.new_table(narr, nhash).ok_or(LuaError::Limit(Limit::Memory))
    }

    pub(crate) fn raw_get(&mut self, t: TableId, k: Value) -> Value {
        self.touch(t);
        self.st.heap.raw_get(t, k)
    }

    pub(crate) fn raw_geti(&mut self, t: TableId, i: i64) -> Value {
        self.touch(t);
        self.st.heap.tables[t.index()].get_int(i)
    }

    /// `lua_rawset`: fails on read-only tables and on nil and NaN keys.
    pub(crate) fn raw_set(&mut self, t: TableId, k: Value, v: Value) -> Result<(), LuaError> {
        self.touch(t);
        if self.st.heap.tables[t.index()].readonly {
            return Err(self.run_error("Attempt to modify a readonly table"));
        }
        match self.st.heap.raw_set(t, k, v) {
            Ok(()) => Ok(()),
            Err(SetError::NilKey) => Err(self.run_error("table index is nil")),
            Err(SetError::NanKey) => Err(self.run_error("table index is NaN")),
            Err(SetError::Memory) => Err(LuaError::Limit(Limit::Memory)),
        }
    }

    pub(crate) fn raw_seti(&mut self, t: TableId, i: i64, v: Value) -> Result<(), LuaError> {
        self.raw_set(t, Value::Num(i as f64), v)
    }

    /// Raw `#t`.
    pub(crate) fn raw_len(&mut self, t: TableId) -> usize {
        self.touch(t);
        self.st.heap.tables[t.index()].len()
    }

    /// The entry after position `cursor` (0 starts) in the order of `next`, with the position to go on from. Positions
    /// hold as long as no new key is assigned.
    pub(crate) fn entry_from(&mut self, t: TableId, cursor: usize) -> Option<(usize, Value, Value)> {
        self.touch(t);
        self.st.heap.tables[t.index()].entry_from(cursor)
    }

    /// Metatable of any value.
    pub(crate) fn metatable(&self, v: Value) -> Option<TableId> {
        self.st.metatable(v)
    }

    /// Metamethod `name` of a value; nil when it has none.
    pub(crate) fn metafield(&mut self, v: Value, name: &str) -> Value {
        match self.st.metatable(v) {
            Some(m) => {
                let k = Value::Str(self.st.heap.intern(name.as_bytes()));
                self.st.heap.raw_get(m, k)
            }
            None => Value::Nil,
        }
    }

    /// `t[k]` with metamethods.
    pub(crate) fn index(&mut self, t: Value, k: Value) -> Result<Value, LuaError> {
        crate::meta::index(self.st, self.env, self.host, t, k)
    }

    /// `a < b` with metamethods.
    pub(crate) fn less_than(&mut self, a: Value, b: Value) -> Result<bool, LuaError> {
        crate::meta::less_than(self.st, self.env, self.host, a, b)
    }

    // Calls

    /// Calls the function that was pushed before the topmost `nargs` values (which it replaces); results are left on
    /// the stack, exactly `nresults` of them, or all when it is -1. Returns how many there are.
    pub(crate) fn call(&mut self, nargs: usize, nresults: i32) -> Result<usize, LuaError> {
        let func = self.st.top - nargs - 1;
        crate::call::call_value(self.st, self.env, self.host, func, nargs, nresults)?;
        Ok(self.st.top - func)
    }

    /// A native closure over `values`, as a value.
    pub(crate) fn new_closure(&mut self, f: NativeFn, values: &[Value]) -> Value {
        let id = self.st.native_id(f);
        Value::Func(self.st.heap.new_native_closure(id, values))
    }

    /// Upvalue `i` (from 0) of the running native closure.
    pub(crate) fn upvalue(&self, i: usize) -> Value {
        match self.own_upvalue(i) {
            Some(UpVal::Closed(v)) => v,
            _ => Value::Nil,
        }
    }

    /// Ids of the running native closure's upvalues.
    #[inline]
    pub(crate) fn own_upvalues(&self) -> &[u32] {
        let Some(f) = self.own_closure() else { return &[] };
        let c = &self.st.heap.closures[f.index()];
        self.st.heap.up_pool.get(c.ups as usize..(c.ups + c.nups) as usize).unwrap_or_default()
    }

    fn own_closure(&self) -> Option<FuncRef> {
        match self.st.stack[self.base - 1] {
            Value::Func(f) => Some(f),
            _ => None,
        }
    }

    fn own_upvalue(&self, i: usize) -> Option<UpVal> {
        let c = self.st.heap.closures[self.own_closure()?.index()];
        if i >= c.nups as usize {
            return None;
        }
        let u = self.st.heap.up_pool[c.ups as usize + i];
        Some(self.st.heap.upvals[u as usize])
    }

    // Stopping

    /// Counts `n` units of work. For loops that hold no borrow of the heap; others use [`Ctx::parts`].
    #[inline]
    pub(crate) fn step(&mut self, _n: u32) -> Result<(), LuaError> {
        if self.env.interrupt.load(Ordering::Relaxed) == 0 {
            Ok(())
        } else {
            interrupted(self.env.interrupt, self.host)
        }
    }

    /// The heap and a stepper, borrowed side by side: for loops over a string's bytes.
    pub(crate) fn parts(&mut self) -> (&mut Heap, Stepper<'_>) {
        (&mut self.st.heap, Stepper::new(self.env.interrupt, self.host))
    }

    // Errors

    /// `luaL_error`: the message with the position of the Lua function that called this one.
    #[cold]
    pub(crate) fn error(&mut self, msg: &str) -> LuaError {
        self.error_bytes(msg.as_bytes())
    }

    #[cold]
    pub(crate) fn error_bytes(&mut self, msg: &[u8]) -> LuaError {
        let mut text = crate::debuginfo::where_prefix(self.st, self.env.protos, 1);
        text.extend_from_slice(msg);
        LuaError::raise(Value::Str(self.st.heap.intern(&text)))
    }

    /// `luaG_runerror` from within a native function: no position, because the running function is not Lua.
    #[cold]
    pub(crate) fn run_error(&mut self, msg: &str) -> LuaError {
        LuaError::raise(Value::Str(self.st.heap.intern(msg.as_bytes())))
    }

    /// `bad argument #i to 'f' (msg)`.
    #[cold]
    pub(crate) fn arg_error(&mut self, i: usize, msg: &str) -> LuaError {
        self.arg_error_bytes(i, msg.as_bytes())
    }

    #[cold]
    pub(crate) fn arg_error_bytes(&mut self, i: usize, msg: &[u8]) -> LuaError {
        let text = crate::debuginfo::arg_error_text(self.st, self.env.protos, i, msg);
        self.error_bytes(&text)
    }

    /// `bad argument #i to 'f' (T expected, got U)`.
    #[cold]
    pub(crate) fn type_error(&mut self, i: usize, expected: &str) -> LuaError {
        let got = if self.is_none(i) { "no value" } else { self.arg(i).type_name() };
        self.arg_error(i, &format!("{expected} expected, got {got}"))
    }
}

impl State {
    /// Lua's conversion of a value to a number.
    #[inline]
    pub(crate) fn to_number(&self, v: Value) -> Option<f64> {
        match v {
            Value::Num(n) => Some(n),
            Value::Str(s) => crate::numparse::str_to_number(self.heap.str(s)),
            _ => None,
        }
    }

    pub(crate) fn number_to_str(&mut self, n: f64) -> StrId {
        let mut buf = self.bufs.pop().unwrap_or_default();
        buf.clear();
        crate::numfmt::number_to_string(n, &mut buf);
        let s = self.heap.intern(&buf);
        self.bufs.push(buf);
        s
    }

    #[inline]
    pub(crate) fn metatable(&self, v: Value) -> Option<TableId> {
        match v {
            Value::Table(t) => self.heap.tables[t.index()].meta(),
            Value::Str(_) => self.heap.string_meta,
            _ => None,
        }
    }

    #[cold]
    pub(crate) fn materialise(&mut self, env: &Env<'_>, t: TableId) {
        if let Some(items) = self.inputs_of(env, t) {
            self.heap.materialise(t, items);
        }
    }

    /// The inputs that a table stands for while nothing has filled it.
    pub(crate) fn inputs_of<'a>(&self, env: &Env<'a>, t: TableId) -> Option<&'a [&'a [u8]]> {
        match self.heap.tables[t.index()].lazy {
            Lazy::Keys => Some(env.keys),
            Lazy::Argv => Some(env.argv),
            Lazy::No => None,
        }
    }

    /// `t[k]` of a table that stands for inputs. A long one is filled only when several of its elements were read.
    #[inline(never)]
    pub(crate) fn index_inputs(&mut self, env: &Env<'_>, t: TableId, k: Value) -> Value {
        const FEW: usize = 8;
        if let Some(items) = self.inputs_of(env, t) {
            let peeks = usize::from(self.heap.tables[t.index()].peeks);
            if let Value::Num(n) = k
                && let Some(i) = fast_int(n)
                && items.len() > FEW
                && peeks < FEW
            {
                self.heap.tables[t.index()].peeks += 1;
                return match items.get((i as usize).wrapping_sub(1)) {
                    Some(s) => Value::Str(self.heap.intern(s)),
                    None => Value::Nil,
                };
            }
            self.heap.materialise(t, items);
        }
        self.heap.raw_get(t, k)
    }

    /// Fails when a string of `n` bytes is beyond the limits.
    #[inline]
    pub(crate) fn check_len(&self, n: usize) -> Result<(), LuaError> {
        if n <= 1024 {
            return Ok(());
        }
        if n > self.heap.max_string {
            return Err(LuaError::Limit(Limit::StringLength));
        }
        if self.heap.fits(n) { Ok(()) } else { Err(LuaError::Limit(Limit::Memory)) }
    }

    /// Ids of strings may stand for others from now on.
    pub(crate) fn forget_search(&mut self) {
        if let Some(s) = &mut self.search {
            s.key = u64::MAX;
        }
    }

    /// Makes the stack at least `need` + 256 slots long.
    #[cold]
    pub(crate) fn grow_stack(&mut self, need: usize) {
        let len = self.stack.len();
        let new = (need + 256).max(len + len / 2).max(1024);
        self.heap.mem.used += (new - len) * size_of::<Value>();
        self.stack.resize(new, Value::Nil);
    }

    /// Number of a native function, registering it if it is new.
    pub(crate) fn native_id(&mut self, f: NativeFn) -> NativeId {
        for (i, n) in self.natives.iter().enumerate() {
            if let NativeKind::Rust(g) = n
                && std::ptr::fn_addr_eq(*g, f)
            {
                return NativeId(i as u32);
            }
        }
        self.add_native(NativeKind::Rust(f))
    }

    /// Always a new number, so that two functions are never equal to a script.
    pub(crate) fn add_native(&mut self, n: NativeKind) -> NativeId {
        self.natives.push(n);
        NativeId(self.natives.len() as u32 - 1)
    }

    /// For building the sandbox: `t[name] = v`.
    pub(crate) fn set_field(&mut self, t: TableId, name: &str, v: Value) {
        let k = Value::Str(self.heap.intern(name.as_bytes()));
        let r = self.heap.raw_set(t, k, v);
        debug_assert!(r.is_ok());
    }

    /// For building the sandbox: adds functions to a table.
    pub(crate) fn set_funcs(&mut self, t: TableId, funcs: &[(&str, NativeFn)]) {
        for (name, f) in funcs {
            let id = self.add_native(NativeKind::Rust(*f));
            self.set_field(t, name, Value::Native(id));
        }
    }

    /// For building the sandbox: a new global table with functions, as large as they need (`luaL_register`): the size
    /// decides the order in which a script sees them.
    pub(crate) fn new_lib(&mut self, name: &str, funcs: &[(&str, NativeFn)]) -> TableId {
        let table = crate::table::Table::with_capacity(0, funcs.len(), &mut self.heap.mem);
        let t = self.heap.add_table(table.unwrap_or_else(crate::table::Table::new));
        self.set_funcs(t, funcs);
        self.set_field(self.globals, name, Value::Table(t));
        t
    }

    /// As [`State::new_lib`], with a table that grows with its functions (`lua_newtable`).
    pub(crate) fn new_lib_growing(&mut self, name: &str, funcs: &[(&str, NativeFn)]) -> TableId {
        let t = self.heap.add_table(crate::table::Table::new());
        self.set_funcs(t, funcs);
        self.set_field(self.globals, name, Value::Table(t));
        t
    }
}

impl State {
    /// Value of an upvalue, wherever it is.
    pub(crate) fn upval_get(&self, u: u32) -> Value {
        match self.heap.upvals[u as usize] {
            UpVal::Closed(v) => v,
            UpVal::Open { thread, slot } if thread == self.current => self.stack[slot as usize],
            UpVal::Open { thread, slot } => {
                let t = self.heap.threads.get(thread.0 as usize).and_then(|t| t.as_ref());
                t.and_then(|t| t.stack.get(slot as usize)).copied().unwrap_or(Value::Nil)
            }
            UpVal::Free => Value::Nil,
        }
    }

    /// Assigns an upvalue, wherever it is.
    pub(crate) fn upval_set(&mut self, u: u32, v: Value) {
        match self.heap.upvals[u as usize] {
            UpVal::Closed(_) => self.heap.upvals[u as usize] = UpVal::Closed(v),
            UpVal::Open { thread, slot } if thread == self.current => self.stack[slot as usize] = v,
            UpVal::Open { thread, slot } => {
                if let Some(t) = self.heap.threads.get_mut(thread.0 as usize).and_then(|t| t.as_mut())
                    && let Some(s) = t.stack.get_mut(slot as usize)
                {
                    *s = v;
                }
            }
            UpVal::Free => {}
        }
    }
}
