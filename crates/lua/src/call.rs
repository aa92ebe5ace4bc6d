//! Calls: frames, native functions, host functions, error handlers.

use std::sync::atomic::AtomicU32;

use crate::heap::{Code, UpVal};
use crate::host::{Args, Flow, Host};
use crate::native::{Ctx, Env, ErrFunc, NativeFn, NativeKind, State};
use crate::protos::Loaded;
use crate::reply::Op;
use crate::thread::{Frame, NATIVE};
use crate::value::{Limit, LuaError, TableId, Value, put};
use crate::view::{View, Where};

/// Nested calls through Rust (Lua 5.1's `LUAI_MAXCCALLS`).
pub(crate) const MAX_C_CALLS: u32 = 200;

/// Slots from which on the size of the stack is compared with the limit in calls.
const LARGE_STACK: usize = 1 << 16;

/// What became of a call.
pub(crate) enum Called {
    /// A frame for Lua code was pushed
    Lua,
    /// A native function ran; its results are in place
    Done,
}

/// Calls the value at stack slot `func` with the `nargs` values after it, and runs it to its end. Results replace the
/// function; with `nresults` = -1 all of them, up to `top`.
pub(crate) fn call_value(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    st.c_calls += 1;
    if st.c_calls >= MAX_C_CALLS {
        if st.c_calls == MAX_C_CALLS {
            let e = run_error(st, env, "C stack overflow");
            let e = handle(st, env, host, e);
            st.c_calls -= 1;
            return Err(e);
        } else if st.c_calls >= MAX_C_CALLS + MAX_C_CALLS / 8 {
            return Err(LuaError::ErrErr);
        }
    }
    if let Called::Lua = precall(st, env, host, func, nargs, nresults, None)? {
        crate::exec::run(st, env, host)?;
    }
    st.c_calls -= 1;
    // A fixed number of results: the caller expects `top` just after them.
    if nresults >= 0 {
        st.top = func + nresults as usize;
    }
    Ok(())
}

/// Results wanted of a frame that the interpreter entered for a metamethod: none.
pub(crate) const NOWHERE: i32 = i32::MIN;

/// The same: one, in this stack slot.
pub(crate) fn result_in(slot: usize) -> i32 {
    -2 - slot as i32
}

/// Begins a call: pushes a frame for a Lua function, or runs a native one.
#[inline]
pub(crate) fn precall(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    func: usize,
    nargs: usize,
    nresults: i32,
    site: Option<&AtomicU32>,
) -> Result<Called, LuaError> {
    match st.stack[func] {
        Value::Func(f) => {
            let c = st.heap.closures[f.index()];
            match c.code {
                Code::Lua(p) => {
                    push_lua(st, env, host, env.protos.get(p), p, f.0, func, nargs, nresults)?;
                    Ok(Called::Lua)
                }
                Code::Native(id) => {
                    native(st, env, host, st.natives[id.0 as usize], func, nargs, nresults, site)
                }
                Code::Free => Err(LuaError::Stop),
            }
        }
        Value::Native(id) => native(st, env, host, st.natives[id.0 as usize], func, nargs, nresults, site),
        _ => call_other(st, env, host, func, nargs, nresults),
    }
}

/// `__call`.
#[cold]
fn call_other(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<Called, LuaError> {
    let v = st.stack[func];
    let tm = crate::meta::metamethod(st, v, crate::meta::Event::Call);
    if !matches!(tm, Value::Func(_) | Value::Native(_)) {
        let e = crate::meta::type_error_at(st, env, v, Some(func), "call");
        return Err(handle(st, env, host, e));
    }
    let end = func + nargs + 1;
    if end + 1 >= st.stack.len() {
        st.grow_stack(end + 1);
    }
    st.stack.copy_within(func..end, func + 1);
    st.stack[func] = tm;
    st.top = end + 1;
    precall(st, env, host, func, nargs + 1, nresults, None)
}

#[allow(clippy::too_many_arguments)]
#[inline]
pub(crate) fn push_lua(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    l: &Loaded,
    proto: u32,
    closure: u32,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    if st.frames.len() >= st.max_frames {
        overflow(st, env, host)?;
    }
    let params = l.num_params as usize;
    let mut base = func + 1;
    if !l.is_vararg {
        let need = base + 256 + 8;
        if need > st.stack.len() {
            st.grow_stack(need);
            if !st.heap.fits(0) {
                return Err(LuaError::Limit(Limit::Memory));
            }
        }
        let mut n = nargs;
        while n < params {
            st.stack[base + n] = Value::Nil;
            n += 1;
        }
    } else {
        base = shift_varargs(st, l, func, nargs)?;
    }
    st.frames.push(Frame {
        func: func as u32,
        base: base as u32,
        pc: 0,
        proto,
        closure,
        nresults,
        tailcalls: 0,
        top: (base + l.max_stack as usize) as u32,
    });
    Ok(())
}

/// Moves the fixed parameters above the variable ones, and makes the `arg` table if the function wants it.
pub(crate) fn shift_varargs(
    st: &mut State,
    l: &Loaded,
    func: usize,
    nargs: usize,
) -> Result<usize, LuaError> {
    let params = l.num_params as usize;
    let mut actual = nargs;
    let need = func + nargs + params + 256 + 16;
    if need > st.stack.len() {
        st.grow_stack(need);
    }
    // Arguments that grow from call to call reach no safe point.
    if st.stack.len() > LARGE_STACK && !st.heap.fits(0) {
        return Err(LuaError::Limit(Limit::Memory));
    }
    while actual < params {
        st.stack[func + 1 + actual] = Value::Nil;
        actual += 1;
    }
    let arg = if l.needs_arg {
        let n = actual - params;
        let t = st.heap.new_table(n, 1).ok_or(LuaError::Limit(Limit::Memory))?;
        for i in 0..n {
            let v = st.stack[func + 1 + params + i];
            st.heap.tables[t.index()].array[i] = v;
        }
        let k = st.heap.intern(b"n");
        // Fits: the table was made with room for it.
        if st.heap.raw_set(t, Value::Str(k), Value::Num(n as f64)).is_err() {
            return Err(LuaError::Limit(Limit::Memory));
        }
        Some(t)
    } else {
        None
    };
    let base = func + 1 + actual;
    for i in 0..params {
        put!(st.stack[base + i], st.stack[func + 1 + i]);
        st.stack[func + 1 + i] = Value::Nil;
    }
    // A function that uses `...` has a local `arg` too, which stays nil.
    st.stack[base + params] = arg.map_or(Value::Nil, Value::Table);
    Ok(base)
}

/// The stack of frames is full: a Lua error, or the end if handlers keep on.
#[cold]
fn overflow(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    if st.overflowing {
        if st.frames.len() >= st.max_frames + 4000 {
            return Err(LuaError::ErrErr);
        }
        return Ok(());
    }
    let e = run_error(st, env, "stack overflow");
    st.overflowing = true;
    let e = handle(st, env, host, e);
    st.overflowing = false;
    Err(e)
}

#[allow(clippy::too_many_arguments)]
#[inline]
fn native(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    kind: NativeKind,
    func: usize,
    nargs: usize,
    nresults: i32,
    site: Option<&AtomicU32>,
) -> Result<Called, LuaError> {
    match kind {
        NativeKind::Rust(f) => native_rust(st, env, host, f, func, nargs, nresults)?,
        NativeKind::Host(id) => native_host(st, env, host, id, func, nargs, nresults, site)?,
    }
    Ok(Called::Done)
}

/// Pushes the frame of a native function.
#[inline(always)]
fn enter_native(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    if st.frames.len() >= st.max_frames {
        overflow(st, env, host)?;
    }
    let base = func + 1;
    let top = base + nargs;
    if top + 40 > st.stack.len() {
        st.grow_stack(top + 40);
    }
    st.top = top;
    st.frames.push(Frame {
        func: func as u32,
        base: base as u32,
        pc: 0,
        proto: NATIVE,
        closure: 0,
        nresults,
        tailcalls: 0,
        top: top as u32,
    });
    Ok(())
}

/// Drops the frame of a native function and puts its results in place.
#[inline(always)]
fn leave_native(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    r: Result<usize, LuaError>,
    func: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    let n = match r {
        Ok(n) => n,
        // Made anew, as an error copied whole after it was written in parts stalls the processor.
        Err(LuaError::Yield) => return Err(LuaError::Yield),
        Err(e) => return Err(handle(st, env, host, e)),
    };
    st.frames.pop();
    if n == 1 && nresults == 1 {
        let from = st.top - 1;
        put!(st.stack[func], st.stack[from]);
    } else {
        place_results(st, func, st.top - n, n, nresults);
    }
    if st.heap.wants_gc() {
        safe_point(st, env)?;
    }
    Ok(())
}

/// Calls a function of a library with the `nargs` values after stack slot `func`.
#[inline(never)]
pub(crate) fn native_rust(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    f: NativeFn,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    native_rust_inline(st, env, host, f, func, nargs, nresults)
}

/// The same for the interpreter's loop, where the call saves a good part of the time of a short function.
#[inline(always)]
pub(crate) fn native_rust_inline(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    f: NativeFn,
    func: usize,
    nargs: usize,
    nresults: i32,
) -> Result<(), LuaError> {
    enter_native(st, env, host, func, nargs, nresults)?;
    let r = f(&mut Ctx { st, env, host, base: func + 1, nargs });
    leave_native(st, env, host, r, func, nresults)
}

#[allow(clippy::too_many_arguments)]
fn native_host(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    id: u32,
    func: usize,
    nargs: usize,
    nresults: i32,
    site: Option<&AtomicU32>,
) -> Result<(), LuaError> {
    enter_native(st, env, host, func, nargs, nresults)?;
    let r = call_host(st, env, host, id, func + 1, nargs, site);
    leave_native(st, env, host, r, func, nresults)
}

/// Moves `n` results from `from` to `to`, as many as wanted.
#[inline]
pub(crate) fn place_results(st: &mut State, to: usize, from: usize, n: usize, wanted: i32) {
    if wanted < -1 {
        // A metamethod that the interpreter entered by itself.
        st.c_calls -= 1;
        st.top = to;
        if wanted != NOWHERE {
            st.stack[(-2 - wanted) as usize] = if n > 0 { st.stack[from] } else { Value::Nil };
        }
        return;
    }
    if wanted < 0 {
        st.top = to + n;
        if n == 1 {
            put!(st.stack[to], st.stack[from]);
        } else if n > 8 {
            st.stack.copy_within(from..from + n, to);
        } else if from != to {
            for i in 0..n {
                put!(st.stack[to + i], st.stack[from + i]);
            }
        }
        return;
    }
    let wanted = wanted as usize;
    for i in 0..wanted {
        if i < n {
            put!(st.stack[to + i], st.stack[from + i]);
        } else {
            st.stack[to + i] = Value::Nil;
        }
    }
}

/// A place where all live values are on the stack: collects, and ends the run when that does not help.
#[cold]
pub(crate) fn safe_point(st: &mut State, env: &Env<'_>) -> Result<(), LuaError> {
    crate::gc::collect(st, env);
    if st.heap.used() > st.heap.mem.hard { Err(LuaError::Limit(Limit::Memory)) } else { Ok(()) }
}

/// An error at the current position, as the interpreter raises it.
#[cold]
pub(crate) fn run_error(st: &mut State, env: &Env<'_>, msg: &str) -> LuaError {
    run_error_bytes(st, env, msg.as_bytes())
}

#[cold]
pub(crate) fn run_error_bytes(st: &mut State, env: &Env<'_>, msg: &[u8]) -> LuaError {
    let mut text = crate::debuginfo::where_prefix(st, env.protos, 0);
    text.extend_from_slice(msg);
    LuaError::raise(Value::Str(st.heap.intern(&text)))
}

/// Shows a fresh error to the handler in charge, while the stack is as the error left it.
#[cold]
pub(crate) fn handle(st: &mut State, env: &Env<'_>, host: &mut dyn Host, e: LuaError) -> LuaError {
    let LuaError::Raised { value, handled: false } = e else {
        // Where a run was stopped is known here only: nothing of it is left later.
        if matches!(e, LuaError::Stop) && st.raised_at.is_none() {
            st.raised_at = crate::debuginfo::raise_position(st, env.protos, 0);
        }
        return e;
    };
    match st.err_func {
        ErrFunc::None => e,
        ErrFunc::Root => {
            st.raised_at = crate::debuginfo::raise_position(st, env.protos, 0);
            LuaError::Raised { value, handled: true }
        }
        ErrFunc::Handler(h) => {
            if !matches!(h, Value::Func(_) | Value::Native(_)) {
                return LuaError::ErrErr;
            }
            let top = match st.frames.last() {
                Some(f) if f.proto != NATIVE => st.top.max(f.top as usize),
                _ => st.top,
            };
            if top + 300 > st.stack.len() {
                st.grow_stack(top + 300);
            }
            st.stack[top] = h;
            st.stack[top + 1] = value;
            st.top = top + 2;
            match call_value(st, env, host, top, 1, 1) {
                Ok(()) => LuaError::Raised { value: st.stack[top], handled: true },
                Err(e) => e,
            }
        }
    }
}

/// Gives the call to the host and turns its reply into values.
fn call_host(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    id: u32,
    base: usize,
    nargs: usize,
    site: Option<&AtomicU32>,
) -> Result<usize, LuaError> {
    if st.host_depth >= st.max_host_depth {
        return Err(LuaError::Limit(Limit::HostCalls));
    }
    if st.stack[base..base + nargs].iter().any(|v| matches!(v, Value::Table(_))) {
        st.materialise_inputs(env);
    }
    // Away during the call: a host that calls back gets another.
    let mut reply = st.reply.take().unwrap_or_default();
    reply.clear();
    st.host_depth += 1;
    let flow = {
        let st: &State = st;
        let args = Args {
            view: View { heap: &st.heap },
            values: &st.stack[base..base + nargs],
            site,
            at: Where { st, protos: env.protos },
        };
        host.call(id, args, &mut reply)
    };
    st.host_depth -= 1;
    let r = if flow == Flow::Stop { Err(LuaError::Stop) } else { take_reply(st, &reply, base, nargs) };
    if reply.size() <= 1 << 20 {
        st.reply = Some(reply);
    }
    let n = r?;
    if flow == Flow::Raise {
        let value = if n == 0 { Value::Nil } else { st.stack[st.top - 1] };
        return Err(LuaError::raise(value));
    }
    Ok(n)
}

/// A table of a reply that is being filled.
struct Open {
    table: TableId,
    array: Vec<Value>,
    key: Option<Value>,
    /// The next value is a key.
    as_key: bool,
}

/// Pushes the values of a reply.
pub(crate) fn take_reply(
    st: &mut State,
    reply: &crate::reply::Reply,
    base: usize,
    nargs: usize,
) -> Result<usize, LuaError> {
    if reply.bytes.len() > 1024 && !st.heap.fits(reply.size()) {
        return Err(LuaError::Limit(Limit::Memory));
    }
    // Most replies are one value.
    let value = match reply.ops[..] {
        [Op::Nil] => Value::Nil,
        [Op::Bool(b)] => Value::Bool(b),
        [Op::Number(n)] => Value::Num(n),
        [Op::Str(a, b)] => {
            Value::Str(st.heap.intern(reply.bytes.get(a as usize..b as usize).unwrap_or_default()))
        }
        _ => return take_values(st, reply, base, nargs),
    };
    push(st, value);
    Ok(1)
}

/// Pushes a value above the topmost.
#[inline]
fn push(st: &mut State, value: Value) {
    let top = st.top;
    if top + 40 > st.stack.len() {
        st.grow_stack(top + 40);
    }
    st.stack[top] = value;
    st.top = top + 1;
}

/// Pushes any number of values of any kind.
fn take_values(
    st: &mut State,
    reply: &crate::reply::Reply,
    base: usize,
    nargs: usize,
) -> Result<usize, LuaError> {
    let before = st.top;
    let mut open: Vec<Open> = Vec::new();
    for op in &reply.ops {
        let v = match *op {
            Op::Nil => Value::Nil,
            Op::Bool(b) => Value::Bool(b),
            Op::Number(n) => Value::Num(n),
            Op::Str(a, b) => {
                Value::Str(st.heap.intern(reply.bytes.get(a as usize..b as usize).unwrap_or_default()))
            }
            Op::Key(a, b) => {
                let k =
                    Value::Str(st.heap.intern(reply.bytes.get(a as usize..b as usize).unwrap_or_default()));
                if let Some(o) = open.last_mut() {
                    o.key = Some(k);
                }
                continue;
            }
            Op::KeyNumber(n) => {
                if let Some(o) = open.last_mut() {
                    o.key = Some(Value::Num(n));
                }
                continue;
            }
            Op::AsKey => {
                if let Some(o) = open.last_mut() {
                    o.as_key = true;
                }
                continue;
            }
            Op::Table(array, named) => {
                // Only a look at the limit: the size of the hash part must grow entry by entry, as the order of its
                // entries follows from that.
                if !st.heap.fits(named as usize * size_of::<crate::table::Node>()) {
                    return Err(LuaError::Limit(Limit::Memory));
                }
                let table = st.heap.new_table(0, 0).ok_or(LuaError::Limit(Limit::Memory))?;
                open.push(Open {
                    table,
                    array: Vec::with_capacity((array as usize).min(1 << 16).next_power_of_two()),
                    key: None,
                    as_key: false,
                });
                continue;
            }
            Op::End => match open.pop() {
                Some(o) => Value::Table(close_table(st, o)?),
                None => continue,
            },
            Op::Arg(i) if (i as usize) < nargs => st.stack[base + i as usize],
            Op::Arg(_) => Value::Nil,
        };
        match open.last_mut() {
            Some(o) if o.as_key => {
                o.as_key = false;
                o.key = Some(v);
            }
            Some(o) => match o.key.take() {
                Some(Value::Nil) => {}
                Some(Value::Num(n)) if n.is_nan() => {}
                Some(k) => {
                    let t = o.table;
                    st.heap.raw_set(t, k, v).map_err(|_| LuaError::Limit(Limit::Memory))?;
                }
                None => o.array.push(v),
            },
            None => push(st, v),
        }
    }
    Ok(st.top - before)
}

/// Gives a table its array part, of the size that filling it item by item would have led to.
fn close_table(st: &mut State, o: Open) -> Result<TableId, LuaError> {
    if o.array.is_empty() {
        return Ok(o.table);
    }
    let Open { table, mut array, .. } = o;
    if st.heap.tables[table.index()].array.is_empty() && !array.iter().any(|v| v.is_nil()) {
        let size = array.len().next_power_of_two();
        let bytes = size * size_of::<Value>();
        if !st.heap.fits(bytes) {
            return Err(LuaError::Limit(Limit::Memory));
        }
        st.heap.mem.used += bytes;
        array.reserve_exact(size - array.len());
        array.resize(size, Value::Nil);
        st.heap.tables[table.index()].array = array;
        return Ok(table);
    }
    for (i, v) in array.into_iter().enumerate() {
        st.heap.raw_set(table, Value::Num((i + 1) as f64), v).map_err(|_| LuaError::Limit(Limit::Memory))?;
    }
    Ok(table)
}

impl State {
    /// Fills KEYS and ARGV if nothing has touched them yet.
    pub(crate) fn materialise_inputs(&mut self, env: &Env<'_>) {
        for t in self.inputs.into_iter().flatten() {
            self.materialise(env, t);
        }
    }

    /// The upvalue of a stack slot of the running coroutine.
    pub(crate) fn find_upval(&mut self, slot: u32) -> u32 {
        let at = self.open.partition_point(|(s, _)| *s < slot);
        if let Some((s, u)) = self.open.get(at)
            && *s == slot
        {
            return *u;
        }
        let u = self.heap.new_upval(UpVal::Open { thread: self.current, slot });
        self.open.insert(at, (slot, u));
        u
    }

    /// Closes the upvalues of stack slots from `level` on.
    #[inline]
    pub(crate) fn close_upvals(&mut self, level: u32) {
        while let Some((slot, u)) = self.open.last().copied() {
            if slot < level {
                break;
            }
            self.heap.upvals[u as usize] = UpVal::Closed(self.stack[slot as usize]);
            self.open.pop();
        }
    }

    /// Unwinds to a protected call after an error: frames, C levels, upvalues.
    pub(crate) fn unwind(&mut self, frames: usize, c_calls: u32, level: usize) {
        self.frames.truncate(frames);
        self.c_calls = c_calls;
        self.close_upvals(level as u32);
        self.overflowing = false;
    }
}
