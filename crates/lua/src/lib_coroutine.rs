//! Coroutines. Each has a stack of its own; `resume` runs it on Rust's stack, and a yield unwinds to there.

use crate::call::{Called, MAX_C_CALLS, place_results, precall};
use crate::heap::UpVal;
use crate::native::{Ctx, ErrFunc, NativeFn, State};
use crate::thread::{NATIVE, Status, Thread};
use crate::value::{LuaError, ThreadId, Value, put};

type R = Result<usize, LuaError>;

/// In the order in which Lua registers them.
pub(crate) const FUNCS: &[(&str, NativeFn)] = &[
    ("create", create),
    ("resume", resume),
    ("running", running),
    ("status", status),
    ("wrap", wrap),
    ("yield", yield_fn),
];

fn check_coroutine(c: &mut Ctx<'_>) -> Result<ThreadId, LuaError> {
    match c.arg(1) {
        Value::Thread(t) => Ok(t),
        _ => Err(c.arg_error(1, "coroutine expected")),
    }
}

fn new_thread(c: &mut Ctx<'_>, f: Value) -> Result<ThreadId, LuaError> {
    let t = Thread {
        stack: vec![f],
        frames: Vec::new(),
        open: Vec::new(),
        top: 1,
        status: Status::Suspended,
        started: false,
    };
    if !c.st.heap.fits(t.size()) {
        return Err(LuaError::Limit(crate::value::Limit::Memory));
    }
    Ok(c.st.heap.new_thread(t))
}

fn lua_function(c: &mut Ctx<'_>) -> Result<Value, LuaError> {
    match c.arg(1) {
        v @ Value::Func(_) if c.st.is_lua(v) => Ok(v),
        _ => Err(c.arg_error(1, "Lua function expected")),
    }
}

fn create(c: &mut Ctx<'_>) -> R {
    let f = lua_function(c)?;
    let t = new_thread(c, f)?;
    c.push(Value::Thread(t));
    Ok(1)
}

fn wrap(c: &mut Ctx<'_>) -> R {
    let f = lua_function(c)?;
    let t = new_thread(c, f)?;
    let w = c.new_closure(wrap_call, &[Value::Thread(t)]);
    c.push(w);
    Ok(1)
}

fn wrap_call(c: &mut Ctx<'_>) -> R {
    let Some(&UpVal::Closed(Value::Thread(t))) =
        c.own_upvalues().first().map(|u| &c.st.heap.upvals[*u as usize])
    else {
        return Ok(0);
    };
    match resume_thread(c, t, 1)? {
        Ok(n) => Ok(n),
        Err(v) => {
            if matches!(v, Value::Str(_) | Value::Num(_)) {
                let mut text = crate::debuginfo::where_prefix(c.st, c.env.protos, 1);
                match v {
                    Value::Num(n) => crate::numfmt::number_to_string(n, &mut text),
                    Value::Str(s) => text.extend_from_slice(c.bytes(s)),
                    _ => {}
                }
                let v = c.new_str(&text)?;
                return Err(LuaError::raise(v));
            }
            Err(LuaError::raise(v))
        }
    }
}

fn resume(c: &mut Ctx<'_>) -> R {
    let t = check_coroutine(c)?;
    let at = c.st.top;
    c.push(Value::Bool(true));
    match resume_thread(c, t, 2)? {
        Ok(n) => {
            // The results were pushed after the `true`.
            Ok(n + 1)
        }
        Err(v) => {
            c.st.top = at;
            c.push(Value::Bool(false));
            c.push(v);
            Ok(2)
        }
    }
}

fn running(c: &mut Ctx<'_>) -> R {
    let v = if c.st.current.0 == 0 { Value::Nil } else { Value::Thread(c.st.current) };
    c.push(v);
    Ok(1)
}

fn status_of(st: &State, t: ThreadId) -> Status {
    if t == st.current {
        return Status::Running;
    }
    match st.heap.threads.get(t.0 as usize) {
        Some(Some(t)) => t.status,
        _ => Status::Dead,
    }
}

fn status(c: &mut Ctx<'_>) -> R {
    let t = check_coroutine(c)?;
    let s = match status_of(c.st, t) {
        Status::Suspended => "suspended",
        Status::Running => "running",
        Status::Normal => "normal",
        Status::Dead => "dead",
    };
    c.push_str(s.as_bytes())?;
    Ok(1)
}

fn yield_fn(c: &mut Ctx<'_>) -> R {
    if c.st.c_calls > c.st.base_c_calls {
        return Err(c.run_error("attempt to yield across metamethod/C-call boundary"));
    }
    Err(LuaError::Yield)
}

/// Puts a coroutine's parts into the state, and the state's into the box it came in.
fn swap(st: &mut State, t: &mut Thread) {
    std::mem::swap(&mut st.stack, &mut t.stack);
    std::mem::swap(&mut st.frames, &mut t.frames);
    std::mem::swap(&mut st.open, &mut t.open);
    std::mem::swap(&mut st.top, &mut t.top);
}

/// Resumes `t` with the arguments from `first` on. Pushes what it yields or returns and gives their number, or the
/// value of its error.
fn resume_thread(c: &mut Ctx<'_>, t: ThreadId, first: usize) -> Result<Result<usize, Value>, LuaError> {
    let status = status_of(c.st, t);
    if status != Status::Suspended {
        let what = match status {
            Status::Running => "running",
            Status::Normal => "normal",
            _ => "dead",
        };
        let v = c.new_str(format!("cannot resume {what} coroutine").as_bytes())?;
        return Ok(Err(v));
    }
    if c.st.c_calls >= MAX_C_CALLS {
        let v = c.new_str(b"C stack overflow")?;
        return Ok(Err(v));
    }
    let Some(mut boxed) = c.st.heap.threads[t.0 as usize].take() else {
        return Ok(Err(Value::Nil));
    };
    let nargs = (c.nargs() + 1).saturating_sub(first);
    let from = c.base + first - 1;
    let need = boxed.top + nargs + 320;
    if need > boxed.stack.len() {
        c.st.heap.mem.used += (need - boxed.stack.len()) * size_of::<Value>();
        boxed.stack.resize(need, Value::Nil);
    }
    for i in 0..nargs {
        let at = boxed.top + i;
        put!(boxed.stack[at], c.st.stack[from + i]);
    }
    boxed.top += nargs;
    let started = std::mem::replace(&mut boxed.started, true);
    boxed.status = Status::Normal;
    let resumer = c.st.current;
    swap(c.st, &mut boxed);
    c.st.heap.threads[resumer.0 as usize] = Some(boxed);
    c.st.current = t;
    let saved = Saved {
        c_calls: c.st.c_calls,
        base: c.st.base_c_calls,
        err_func: std::mem::replace(&mut c.st.err_func, ErrFunc::None),
        overflowing: std::mem::replace(&mut c.st.overflowing, false),
        host_depth: c.st.host_depth,
    };
    if let ErrFunc::Handler(h) = saved.err_func {
        c.st.saved_handlers.push(h);
    }
    c.st.c_calls += 1;
    c.st.base_c_calls = c.st.c_calls;
    let r = run_thread(c, nargs, started);
    leave(c, t, resumer, &saved, r)
}

struct Saved {
    c_calls: u32,
    base: u32,
    err_func: ErrFunc,
    overflowing: bool,
    host_depth: u32,
}

/// Starts the coroutine in the state, or goes on after its yield, until it yields, ends or fails. Its values are then
/// the topmost ones; the result is their number.
fn run_thread(c: &mut Ctx<'_>, nargs: usize, started: bool) -> Result<usize, LuaError> {
    let (st, env) = (&mut *c.st, c.env);
    if !started {
        let func = st.top - nargs - 1;
        if let Called::Lua = precall(st, env, c.host, func, nargs, -1, None)? {
            crate::exec::run_to(st, env, c.host, 1)?;
        }
        return Ok(st.top - func);
    }
    // Finish the call of `yield`: the arguments are its results.
    let Some(f) = st.frames.pop() else {
        return Ok(nargs);
    };
    debug_assert_eq!(f.proto, NATIVE);
    let from = st.top - nargs;
    place_results(st, f.func as usize, from, nargs, f.nresults);
    if st.frames.is_empty() {
        return Ok(st.top - f.func as usize);
    }
    match crate::exec::run_to(st, env, c.host, 1) {
        Ok(()) => {}
        Err(LuaError::Yield) => return Err(LuaError::Yield),
        Err(e) => return Err(e),
    }
    // The main function of a coroutine is always at slot 0.
    Ok(st.top)
}

/// Gives control back to the resumer, with the coroutine's values.
fn leave(
    c: &mut Ctx<'_>,
    t: ThreadId,
    resumer: ThreadId,
    saved: &Saved,
    r: Result<usize, LuaError>,
) -> Result<Result<usize, Value>, LuaError> {
    let st = &mut *c.st;
    let (n, status) = match r {
        Ok(n) => (n, Status::Dead),
        Err(LuaError::Yield) => {
            // The values are the arguments of the native frame of `yield`.
            let n = st.frames.last().map_or(0, |f| st.top - f.base as usize);
            (n, Status::Suspended)
        }
        Err(_) => (0, Status::Dead),
    };
    st.top -= n;
    if status == Status::Dead {
        st.close_upvals(0);
        st.frames.clear();
    }
    let Some(mut boxed) = st.heap.threads[resumer.0 as usize].take() else {
        return Err(LuaError::Stop);
    };
    swap(st, &mut boxed);
    boxed.status = status;
    if st.top + n + 40 > st.stack.len() {
        st.grow_stack(st.top + n + 40);
    }
    for i in 0..n {
        put!(st.stack[st.top + i], boxed.stack[boxed.top + i]);
    }
    if status == Status::Dead {
        let freed = boxed.stack.len() * size_of::<Value>();
        st.heap.mem.used = st.heap.mem.used.saturating_sub(freed);
        boxed.stack = Vec::new();
        boxed.top = 0;
    }
    st.heap.threads[t.0 as usize] = Some(boxed);
    st.current = resumer;
    st.c_calls = saved.c_calls;
    st.base_c_calls = saved.base;
    st.err_func = saved.err_func;
    st.overflowing = saved.overflowing;
    st.host_depth = saved.host_depth;
    if let ErrFunc::Handler(_) = saved.err_func {
        st.saved_handlers.pop();
    }
    match r {
        Ok(_) | Err(LuaError::Yield) => {
            st.top += n;
            Ok(Ok(n))
        }
        Err(LuaError::Raised { value, .. }) => Ok(Err(value)),
        Err(LuaError::ErrErr) => Ok(Err(Value::Str(st.heap.intern(b"error in error handling")))),
        Err(e) => Err(e),
    }
}
