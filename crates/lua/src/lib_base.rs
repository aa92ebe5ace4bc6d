//! The basic library, as far as Redis offers it.

use crate::call::call_value;
use crate::chunk::{Chunk, CompileLimits};
use crate::heap::Code;
use crate::host::ValueRef;
use crate::lexer::{Fail, Feed};
use crate::native::{Ctx, Env, ErrFunc, NativeFn, PIECE, State, Stepper};
use crate::table::Lazy;
use crate::value::{Limit, LuaError, StrId, TableId, Value};

type R = Result<usize, LuaError>;

/// The functions in the order in which Lua registers them, which orders `pairs(_G)`.
pub(crate) const FUNCS: &[(&str, NativeFn)] = &[
    ("assert", assert),
    ("collectgarbage", collectgarbage),
    ("error", error),
    ("gcinfo", gcinfo),
    ("getmetatable", getmetatable),
    ("loadstring", loadstring),
    ("load", load),
    ("next", next),
    ("pcall", pcall),
    ("rawequal", rawequal),
    ("rawget", rawget),
    ("rawset", rawset),
    ("select", select),
    ("setmetatable", setmetatable),
    ("tonumber", tonumber),
    ("tostring", tostring_fn),
    ("type", type_fn),
    ("unpack", unpack),
    ("xpcall", xpcall),
    ("ipairs", ipairs),
    ("pairs", pairs),
];

/// The iterator that `ipairs` returns.
pub(crate) fn ipairs_next(c: &mut Ctx<'_>) -> R {
    let i = c.check_i32(2)?.wrapping_add(1);
    let t = c.check_table(1)?;
    let v = c.raw_geti(t, i64::from(i));
    if v.is_nil() {
        return Ok(0);
    }
    c.push(Value::Num(f64::from(i)));
    c.push(v);
    Ok(2)
}

/// C string of an argument: up to the first zero byte.
fn c_text(c: &mut Ctx<'_>, i: usize) -> Result<Vec<u8>, LuaError> {
    let s = c.check_str(i)?;
    Ok(crate::debuginfo::c_str(c.bytes(s)).to_vec())
}

fn assert(c: &mut Ctx<'_>) -> R {
    if !c.check_any(1)?.truthy() {
        let msg = if c.is_none_or_nil(2) { b"assertion failed!".to_vec() } else { c_text(c, 2)? };
        return Err(c.error_bytes(&msg));
    }
    for i in 1..=c.nargs() {
        let v = c.arg(i);
        c.push(v);
    }
    Ok(c.nargs())
}

fn collectgarbage(c: &mut Ctx<'_>) -> R {
    let opt = if c.is_none_or_nil(1) { b"collect".to_vec() } else { c_text(c, 1)? };
    let extra = c.opt_i32(2, 0)?;
    let out = match opt.as_slice() {
        b"collect" => {
            crate::gc::collect(c.st, c.env);
            Value::Num(0.0)
        }
        b"step" => Value::Bool(gc_step(c, extra)),
        b"count" => Value::Num((c.st.heap.used() + c.st.base_bytes) as f64 / 1024.0),
        b"stop" => {
            // The hard limit still collects.
            c.st.heap.gc_at = c.st.heap.mem.hard;
            Value::Num(0.0)
        }
        b"restart" => {
            c.st.heap.gc_at = c.st.heap.used().max(c.st.heap.soft);
            Value::Num(0.0)
        }
        b"setpause" => Value::Num(f64::from(std::mem::replace(&mut c.st.gc_params[0], extra))),
        b"setstepmul" => Value::Num(f64::from(std::mem::replace(&mut c.st.gc_params[1], extra))),
        other => {
            let msg = [b"invalid option '", other, b"'"].concat();
            return Err(c.arg_error_bytes(1, &msg));
        }
    };
    c.push(out);
    Ok(1)
}

/// A step of `kb` kilobytes; true when it ends a cycle. Ours has no steps: they are counted, each by the bytes that
/// Lua's own works through, and the one that has been through the whole heap collects it.
fn gc_step(c: &mut Ctx<'_>, kb: i32) -> bool {
    const BYTES_PER_KB: usize = 2000;
    let heap = c.st.heap.used() + c.st.base_bytes;
    let work = usize::try_from(kb).map_or(heap, |kb| (kb + 1).saturating_mul(BYTES_PER_KB));
    c.st.gc_work = c.st.gc_work.saturating_add(work);
    let ends = c.st.gc_work >= heap;
    if ends {
        c.st.gc_work = 0;
        crate::gc::collect(c.st, c.env);
    }
    ends
}

fn gcinfo(c: &mut Ctx<'_>) -> R {
    let n = (c.st.heap.used() + c.st.base_bytes) >> 10;
    c.push(Value::Num(n as f64));
    Ok(1)
}

fn error(c: &mut Ctx<'_>) -> R {
    let level = c.opt_i32(2, 1)?;
    let v = c.arg(1);
    if level > 0 && matches!(v, Value::Str(_) | Value::Num(_)) {
        let prefix = crate::debuginfo::where_prefix(c.st, c.env.protos, level as usize);
        // A number becomes a string even when there is no position.
        if !prefix.is_empty() || matches!(v, Value::Num(_)) {
            let s = c.check_str(1)?;
            let mut text = prefix;
            text.extend_from_slice(c.bytes(s));
            let v = c.new_str(&text)?;
            return Err(LuaError::raise(v));
        }
    }
    Err(LuaError::raise(v))
}

fn getmetatable(c: &mut Ctx<'_>) -> R {
    let v = c.check_any(1)?;
    let out = match c.metatable(v) {
        None => Value::Nil,
        Some(m) => match c.metafield(v, "__metatable") {
            Value::Nil => Value::Table(m),
            protected => protected,
        },
    };
    c.push(out);
    Ok(1)
}

fn setmetatable(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let m = match c.arg(2) {
        Value::Nil if !c.is_none(2) => None,
        Value::Table(m) => Some(m),
        _ => return Err(c.arg_error(2, "nil or table expected")),
    };
    if !c.metafield(Value::Table(t), "__metatable").is_nil() {
        return Err(c.error("cannot change a protected metatable"));
    }
    if c.st.heap.tables[t.index()].readonly {
        return Err(c.run_error("Attempt to modify a readonly table"));
    }
    if let Some(m) = m {
        c.touch(m);
    }
    c.st.heap.tables[t.index()].set_meta(m);
    c.push(Value::Table(t));
    Ok(1)
}

pub(crate) fn next(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let key = c.arg(2);
    match next_entry(c.st, c.env, t, key)? {
        Some((k, v)) => {
            c.push(k);
            c.push(v);
            Ok(2)
        }
        None => {
            c.push(Value::Nil);
            Ok(1)
        }
    }
}

/// The entry after `key`.
pub(crate) fn next_entry(
    st: &mut State,
    env: &Env<'_>,
    t: TableId,
    key: Value,
) -> Result<Option<(Value, Value)>, LuaError> {
    if st.heap.tables[t.index()].lazy != Lazy::No {
        st.materialise(env, t);
    }
    let tab = &st.heap.tables[t.index()];
    match tab.position(&mut st.heap.strs, key) {
        Some(p) => Ok(tab.entry_from(p).map(|(_, k, v)| (k, v))),
        None => Err(LuaError::raise(Value::Str(st.heap.intern(b"invalid key to 'next'")))),
    }
}

fn pairs(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    c.push(Value::Native(c.st.next_fn));
    c.push(Value::Table(t));
    c.push(Value::Nil);
    Ok(3)
}

fn ipairs(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    c.push(Value::Native(c.st.ipairs_fn));
    c.push(Value::Table(t));
    c.push(Value::Num(0.0));
    Ok(3)
}

fn rawequal(c: &mut Ctx<'_>) -> R {
    let a = c.check_any(1)?;
    let b = c.check_any(2)?;
    let eq = c.st.heap.raw_eq(a, b);
    c.push(Value::Bool(eq));
    Ok(1)
}

fn rawget(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let k = c.check_any(2)?;
    let v = c.raw_get(t, k);
    c.push(v);
    Ok(1)
}

fn rawset(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let k = c.check_any(2)?;
    let v = c.check_any(3)?;
    c.raw_set(t, k, v)?;
    c.push(Value::Table(t));
    Ok(1)
}

fn select(c: &mut Ctx<'_>) -> R {
    let n = c.nargs() as i64;
    if let Value::Str(s) = c.arg(1)
        && c.bytes(s).first() == Some(&b'#')
    {
        c.push(Value::Num((n - 1) as f64));
        return Ok(1);
    }
    let mut i = i64::from(c.check_i32(1)?);
    if i < 0 {
        i += n;
    } else if i > n {
        i = n;
    }
    if i < 1 {
        return Err(c.arg_error(1, "index out of range"));
    }
    // The values are on top of the stack already.
    Ok((n - i) as usize)
}

fn type_fn(c: &mut Ctx<'_>) -> R {
    let name = c.check_any(1)?.type_name();
    let v = c.st.heap.intern(name.as_bytes());
    c.push(Value::Str(v));
    Ok(1)
}

fn tonumber(c: &mut Ctx<'_>) -> R {
    let base = c.opt_i32(2, 10)?;
    let n = if base == 10 {
        let v = c.check_any(1)?;
        c.to_number(v)
    } else {
        let s = c.check_str(1)?;
        if !(2..=36).contains(&base) {
            return Err(c.arg_error(2, "base out of range"));
        }
        crate::numparse::str_to_number_base(c.bytes(s), base as u32)
    };
    c.push(n.map_or(Value::Nil, Value::Num));
    Ok(1)
}

fn tostring_fn(c: &mut Ctx<'_>) -> R {
    let v = c.check_any(1)?;
    let s = tostring(c, v)?;
    c.push(s);
    Ok(1)
}

/// An address as C prints it, made from a handle: stable, distinct, and telling nothing of the process.
fn address(kind: u64, id: u32) -> u64 {
    0x5581_0000_0000 + (kind << 28) + u64::from(id) * 64 + 0x2a0
}

/// The kind and the address of a value that has one.
pub(crate) fn address_of(v: Value) -> Option<(&'static str, u64)> {
    Some(match v {
        Value::Table(t) => ("table", address(1, t.0)),
        Value::Func(f) => ("function", address(2, f.0)),
        Value::Native(f) => ("function", address(3, f.0)),
        Value::Thread(t) => ("thread", address(4, t.0)),
        Value::Light(l) if l != 0 => ("userdata", address(5, l)),
        _ => return None,
    })
}

/// `tostring(v)`.
pub(crate) fn tostring(c: &mut Ctx<'_>, v: Value) -> Result<Value, LuaError> {
    let tm = match c.metatable(v) {
        Some(_) => c.metafield(v, "__tostring"),
        None => Value::Nil,
    };
    if !tm.is_nil() {
        c.push(tm);
        c.push(v);
        c.call(1, 1)?;
        return Ok(c.pop());
    }
    let (kind, at) = match v {
        Value::Num(n) => return Ok(Value::Str(c.st.number_to_str(n))),
        Value::Str(_) => return Ok(v),
        Value::Bool(b) => return c.new_str(if b { b"true" } else { b"false" }),
        Value::Nil | Value::Dead => return c.new_str(b"nil"),
        Value::Light(0) => return c.new_str(b"userdata: (nil)"),
        _ => address_of(v).unwrap_or_default(),
    };
    c.new_str(format!("{kind}: {at:#x}").as_bytes())
}

fn unpack(c: &mut Ctx<'_>) -> R {
    let t = c.check_table(1)?;
    let i = c.opt_i32(2, 1)?;
    let e = if c.is_none_or_nil(3) { c.raw_len(t) as i32 } else { c.check_i32(3)? };
    if i > e {
        return Ok(0);
    }
    let n = i64::from(e) - i64::from(i) + 1;
    if n >= i64::from(i32::MAX) || n as usize + c.nargs() > 8000 {
        return Err(c.error("too many results to unpack"));
    }
    let need = c.st.top + n as usize + 1;
    if need > c.st.stack.len() {
        c.st.grow_stack(need);
    }
    for j in 0..n {
        let v = c.st.heap.tables[t.index()].get_int(i64::from(i) + j);
        c.push(v);
    }
    Ok(n as usize)
}

// Protected calls

/// Runs `f` as a protected call under `handler`. `Err` only for what a script cannot catch.
pub(crate) fn protected(
    c: &mut Ctx<'_>,
    handler: ErrFunc,
    func: usize,
    nargs: usize,
) -> Result<Result<(), Value>, LuaError> {
    let st = &mut *c.st;
    let (frames, c_calls, host_depth) = (st.frames.len(), st.c_calls, st.host_depth);
    let outer = std::mem::replace(&mut st.err_func, handler);
    if let ErrFunc::Handler(h) = outer {
        st.saved_handlers.push(h);
    }
    let r = call_value(st, c.env, c.host, func, nargs, -1);
    if let ErrFunc::Handler(_) = outer {
        st.saved_handlers.pop();
    }
    st.err_func = outer;
    let value = match r {
        Ok(()) => return Ok(Ok(())),
        Err(LuaError::Raised { value, .. }) => value,
        Err(LuaError::ErrErr) => Value::Str(st.heap.intern(b"error in error handling")),
        Err(e) => return Err(e),
    };
    st.unwind(frames, c_calls, func);
    st.host_depth = host_depth;
    st.top = func;
    Ok(Err(value))
}

fn pcall(c: &mut Ctx<'_>) -> R {
    if c.nargs() == 0 && c.st.redis_pcall {
        // Redis's own `pcall` does not check for a function and calls what it finds on the stack.
        c.push(Value::Bool(false));
        c.push_str(b"attempt to call a boolean value")?;
        return Ok(2);
    }
    c.check_any(1)?;
    Ok(pcall_results(c)?.0)
}

/// Calls the first argument with the others and gives true and the results, or false and the error: their number, and
/// whether the call ended well. The function and its arguments are called where they are; the first result takes the
/// place of the running function, which is not needed any more.
fn pcall_results(c: &mut Ctx<'_>) -> Result<(usize, bool), LuaError> {
    let (at, n) = (c.base - 1, c.nargs());
    match protected(c, ErrFunc::None, at + 1, n - 1)? {
        Ok(()) => {
            c.st.stack[at] = Value::Bool(true);
            Ok((c.st.top - at, true))
        }
        Err(v) => {
            c.st.stack[at] = Value::Bool(false);
            c.push(v);
            if let Value::Table(_) = v
                && c.st.redis_pcall
            {
                // Redis hands scripts the message of its error tables.
                let k = Value::Str(c.st.heap.intern(b"err"));
                let msg = c.index(v, k)?;
                if matches!(msg, Value::Str(_) | Value::Num(_)) {
                    c.pop();
                }
                // What is no message stays behind the table as a third result, as there.
                c.push(msg);
            }
            Ok((c.st.top - at, false))
        }
    }
}

/// A `pcall` after which the host takes back what the call changed, if it failed.
pub(crate) fn savepoint(c: &mut Ctx<'_>) -> R {
    c.check_any(1)?;
    if let Err(text) = c.host.begin_scope() {
        return Err(c.error(&text));
    }
    // An error that nothing can catch ends the run, and with it the host ends its scopes.
    let (n, fine) = pcall_results(c)?;
    c.host.end_scope(fine);
    Ok(n)
}

fn xpcall(c: &mut Ctx<'_>) -> R {
    let handler = c.check_any(2)?;
    let f = c.arg(1);
    let at = c.st.top;
    c.push(Value::Bool(true));
    c.push(f);
    match protected(c, ErrFunc::Handler(handler), at + 1, 0)? {
        Ok(()) => Ok(c.st.top - at),
        Err(v) => {
            c.st.stack[at] = Value::Bool(false);
            c.push(v);
            Ok(2)
        }
    }
}

// Loading

/// Where the pieces of a source come from.
#[derive(Clone, Copy)]
enum Pieces {
    /// A string, from an offset on: a large one is read in pieces, so that a stop need not wait for a copy of it.
    Of { text: StrId, at: usize },
    /// The script's function, which `load` was given.
    From(Value),
}

/// Lets a compilation be stopped, and gives it its source.
struct Source<'c, 'a> {
    c: &'c mut Ctx<'a>,
    pieces: Pieces,
}

impl Feed for Source<'_, '_> {
    fn step(&mut self, _: usize) -> Result<(), LuaError> {
        Stepper::new(self.c.env.interrupt, self.c.host).look()
    }

    fn more(&mut self, levels: u32, src: &mut Vec<u8>) -> Result<bool, Fail> {
        self.step(0).map_err(Fail::Halt)?;
        let c = &mut *self.c;
        let reader = match &mut self.pieces {
            Pieces::From(reader) => *reader,
            Pieces::Of { text, at } => {
                let rest = &c.bytes(*text)[*at..];
                let piece = &rest[..rest.len().min(PIECE)];
                src.extend_from_slice(piece);
                *at += piece.len();
                return Ok(!piece.is_empty());
            }
        };
        let func = c.st.top;
        c.push(reader);
        // The parser's levels count: a reader may load in its turn.
        let c_calls = std::mem::replace(&mut c.st.c_calls, levels);
        let called = protected(c, ErrFunc::None, func, 0);
        c.st.c_calls = c_calls;
        let piece = match called.map_err(Fail::Halt)? {
            Ok(()) if c.st.top > func => c.st.stack[func],
            Ok(()) => Value::Nil,
            Err(v) => return Err(Fail::Halt(LuaError::raise(v))),
        };
        c.st.top = func;
        let s = match piece {
            Value::Nil => return Ok(false),
            Value::Str(s) => s,
            Value::Num(n) => c.st.number_to_str(n),
            _ => return Err(Fail::Halt(c.error("reader function must return a string"))),
        };
        let len = c.bytes(s).len();
        c.append(src, s, 0, len).map_err(Fail::Halt)?;
        let more = len > 0;
        c.check_len(src.len()).map_err(Fail::Halt)?;
        Ok(more)
    }
}

/// When code that was compiled in the run takes more than the threshold, asks [`crate::Vm`] to sweep it: no reference
/// into it may be held then, so the run is left at its bottom and goes on with this call. Deeper down code is only kept.
fn sweep_code(c: &mut Ctx<'_>) -> Result<(), LuaError> {
    let bottom = c.st.c_calls == 1 && c.st.current.0 == 0;
    if bottom && c.env.protos.late_bytes() > c.st.code_at { Err(LuaError::Yield) } else { Ok(()) }
}

/// Compiles a source; pushes the function, or nil and a message.
fn compile(c: &mut Ctx<'_>, pieces: Pieces, name: &[u8]) -> R {
    let limits = CompileLimits {
        max_source: c.st.heap.max_string,
        max_code: c.st.heap.mem.hard.saturating_sub(c.st.heap.used()),
    };
    let depth = c.st.c_calls;
    let r = Chunk::compile_named(None, name, limits, depth, &mut Source { c, pieces });
    let chunk = match r {
        Ok(chunk) => chunk,
        Err(Fail::Syntax(msg)) => {
            c.push(Value::Nil);
            c.push_str(&msg)?;
            return Ok(2);
        }
        Err(Fail::Halt(LuaError::Raised { value, .. })) => {
            c.push(Value::Nil);
            c.push(value);
            return Ok(2);
        }
        Err(Fail::Halt(e)) => return Err(e),
    };
    let Some(p) = c.env.protos.load(&chunk, &mut c.st.heap) else {
        return Err(LuaError::Limit(Limit::Memory));
    };
    push_main(c, p);
    Ok(1)
}

/// Compiles and runs code that a debugger gives, as an expression or else as statements: its first result, or what went
/// wrong. `Err` only for what nothing can catch.
pub(crate) fn evaluate(c: &mut Ctx<'_>, code: &[u8]) -> Result<Result<Value, Vec<u8>>, LuaError> {
    const NAME: &[u8] = b"@ldb_eval";
    let at = c.st.top;
    let text = c.st.heap.intern(&[b"return ", code].concat());
    let mut pushed = compile(c, Pieces::Of { text, at: 0 }, NAME)?;
    if pushed == 2 {
        c.st.top = at;
        let text = c.st.heap.intern(code);
        pushed = compile(c, Pieces::Of { text, at: 0 }, NAME)?;
    }
    if pushed == 2 {
        let message = c.peek();
        return Ok(Err(error_text(c, message)));
    }
    match protected(c, ErrFunc::None, at, 0)? {
        Ok(()) if c.st.top > at => Ok(Ok(c.st.stack[at])),
        Ok(()) => Ok(Ok(Value::Nil)),
        Err(value) => Ok(Err(error_text(c, value))),
    }
}

/// The text of an error value; of an error table, that of its field `err`.
fn error_text(c: &mut Ctx<'_>, value: Value) -> Vec<u8> {
    let view = crate::view::View { heap: &c.st.heap };
    let text = match view.value(value) {
        ValueRef::Table(table) => table.field(b"err"),
        other => other,
    };
    match text {
        ValueRef::Str(s) => s.to_vec(),
        ValueRef::Number(n) => {
            let mut text = Vec::new();
            crate::numfmt::number_to_string(n, &mut text);
            text
        }
        other => other.type_name().as_bytes().to_vec(),
    }
}

fn push_main(c: &mut Ctx<'_>, p: u32) {
    let first = c.st.heap.up_pool.len();
    let f = c.st.heap.new_closure(Code::Lua(p), first);
    c.push(Value::Func(f));
}

/// Bytes of a chunk's name that are kept.
const NAME_MAX: usize = 4096;

fn loadstring(c: &mut Ctx<'_>) -> R {
    let s = c.check_str(1)?;
    let name = match c.opt_str(2)? {
        Some(n) => n,
        None => s,
    };
    // By default the name is the text; no more of it is ever shown.
    let name = c.bytes(name);
    let name = crate::debuginfo::c_str(&name[..name.len().min(NAME_MAX)]).to_vec();
    // The same text again, as in a loop, is compiled once per run.
    if let Some((_, _, p)) = c.st.loaded.iter().find(|(id, n, _)| *id == s && *n == name) {
        let p = *p;
        push_main(c, p);
        return Ok(1);
    }
    sweep_code(c)?;
    let n = compile(c, Pieces::Of { text: s, at: 0 }, &name)?;
    if n == 1
        && !s.is_long()
        && c.st.loaded.len() < 64
        && let Value::Func(f) = c.peek()
        && let Code::Lua(p) = c.st.heap.closures[f.index()].code
    {
        c.st.loaded.push((s, name, p));
    }
    Ok(n)
}

fn load(c: &mut Ctx<'_>) -> R {
    let name = if c.is_none_or_nil(2) { b"=(load)".to_vec() } else { c_text(c, 2)? };
    let f = c.check_function(1)?;
    sweep_code(c)?;
    compile(c, Pieces::From(f), &name)
}
