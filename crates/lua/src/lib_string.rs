//! `string`: everything but `format`, which is in [`crate::lib_format`].

use crate::buf::Buf;
use crate::heap::UpVal;
use crate::native::{Ctx, NativeFn, NativeKind, State};
use crate::numfmt;
use crate::pattern::{self, Captured, Found, PatternError, Search};
use crate::value::{LuaError, StrId, Value, fast_int};

/// Steps of matching between two looks at the interrupt word: a few microseconds.
const FUEL: u32 = 2_000;
/// Bytes copied or converted between two looks at the interrupt word.
const PIECE: usize = 64 << 10;
/// Captures longer than this make room first, so that garbage is collected before memory is short.
const LARGE: usize = 4 << 10;
/// What `string.dump` gives: the head of a compiled chunk, which nothing loads. Redis takes no compiled code either.
const DUMP: &[u8] = b"\x1bLuaQ\0\x01\x04\x08\x04\x08\0";

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("byte", byte),
    ("char", char),
    ("dump", dump),
    ("find", find),
    ("format", crate::lib_format::format),
    ("gfind", gmatch),
    ("gmatch", gmatch),
    ("gsub", gsub),
    ("len", len),
    ("lower", lower),
    ("match", match_),
    ("rep", rep),
    ("reverse", reverse),
    ("sub", sub),
    ("upper", upper),
];

/// Adds the library and makes it the `__index` of strings.
pub(crate) fn open(st: &mut State) {
    let lib = st.new_lib("string", FUNCTIONS);
    st.gmatch_fn = st.add_native(NativeKind::Rust(gmatch_next));
    // The old name is the same function, not a second one.
    let name = Value::Str(st.heap.intern(b"gmatch"));
    let gmatch = st.heap.raw_get(lib, name);
    st.set_field(lib, "gfind", gmatch);
    let meta = st.heap.add_table(crate::table::Table::new());
    st.set_field(meta, "__index", Value::Table(lib));
    st.heap.string_meta = Some(meta);
}

/// A position counted from the end when negative.
#[inline]
fn relative(pos: i64, len: usize) -> i64 {
    let pos = if pos < 0 { pos.wrapping_add(len as i64 + 1) } else { pos };
    pos.max(0)
}

/// Pushes a buffer as a string and gives the buffer back.
pub(crate) fn push_buf(ctx: &mut Ctx<'_>, mut buf: Buf) -> Result<usize, LuaError> {
    if buf.len() <= LARGE {
        ctx.push_str(&buf)?;
    } else {
        let s = ctx.new_str_from(&mut buf)?;
        ctx.push(s);
    }
    ctx.give_buf(buf);
    Ok(1)
}

/// Pushes bytes `from..to` of a string.
fn push_part(ctx: &mut Ctx<'_>, s: StrId, from: usize, to: usize) -> Result<(), LuaError> {
    if to - from > LARGE {
        ctx.reserve(to - from)?;
    }
    let part = ctx.substr(s, from, to)?;
    ctx.push(part);
    Ok(())
}

/// A length or position. 32 bits convert faster than 64.
#[inline]
fn number(n: usize) -> Value {
    Value::Num(i32::try_from(n).map_or(n as f64, f64::from))
}

fn push_number(ctx: &mut Ctx<'_>, n: usize) {
    ctx.push(number(n));
}

fn len(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let n = ctx.st.heap.strs.len(s);
    push_number(ctx, n);
    Ok(1)
}

fn sub(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let len = ctx.st.heap.strs.len(s);
    let start = relative(ctx.check_i64(2)?, len).max(1);
    let end = relative(ctx.opt_i64(3, -1)?, len).min(len as i64);
    if start <= end {
        push_part(ctx, s, start as usize - 1, end as usize)?;
    } else {
        ctx.push_str(b"")?;
    }
    Ok(1)
}

/// Appends `f` of the bytes of a string to a buffer, piece by piece.
fn convert(ctx: &mut Ctx<'_>, f: impl Fn(&[u8], &mut Vec<u8>), backwards: bool) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let len = ctx.bytes(s).len();
    if len > LARGE {
        ctx.reserve(len)?;
    }
    let mut buf = ctx.take_buf();
    let mut done = 0;
    while done < len {
        let n = PIECE.min(len - done);
        let range = if backwards { len - done - n..len - done } else { done..done + n };
        f(&ctx.bytes(s)[range], &mut buf);
        done += n;
        ctx.step(n as u32)?;
    }
    push_buf(ctx, buf)
}

fn reverse(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    convert(ctx, |bytes, out| out.extend(bytes.iter().rev()), true)
}

fn lower(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    convert(ctx, |bytes, out| out.extend(bytes.iter().map(u8::to_ascii_lowercase)), false)
}

fn upper(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    convert(ctx, |bytes, out| out.extend(bytes.iter().map(u8::to_ascii_uppercase)), false)
}

fn rep(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let n = ctx.check_i32(2)?;
    let len = ctx.bytes(s).len();
    if n <= 0 || len == 0 {
        ctx.push_str(b"")?;
        return Ok(1);
    }
    let total = len.saturating_mul(n as usize);
    if total > LARGE {
        ctx.reserve(total)?;
    }
    let mut buf = ctx.take_buf();
    buf.reserve_exact(total);
    ctx.append(&mut buf, s, 0, len)?;
    while buf.len() < total {
        // Doubles what is there, in pieces of a size that lets the run be stopped.
        let whole = (PIECE / len).max(1) * len;
        let n = buf.len().min(whole).min(total - buf.len());
        if n <= crate::native::PIECE {
            buf.extend_from_within(..n);
        } else {
            // What is repeated is large itself.
            ctx.append(&mut buf, s, 0, n)?;
        }
        ctx.step(n as u32)?;
    }
    push_buf(ctx, buf)
}

fn byte(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let len = ctx.st.heap.strs.len(s);
    let first = relative(ctx.opt_i64(2, 1)?, len);
    let last = relative(ctx.opt_i64(3, first)?, len).min(len as i64);
    let first = first.max(1);
    if first > last {
        return Ok(0);
    }
    let n = (last - first + 1) as usize;
    if n == 1 {
        let b = ctx.bytes(s)[first as usize - 1];
        ctx.push(Value::Num(f64::from(b)));
        return Ok(1);
    }
    ctx.check_stack(n, "string slice too long")?;
    for i in 0..n {
        let b = ctx.bytes(s)[first as usize - 1 + i];
        ctx.push(Value::Num(f64::from(b)));
    }
    Ok(n)
}

fn char(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let n = ctx.nargs();
    if n == 1
        && let Value::Num(c) = ctx.arg(1)
        && let Some(c @ 0..=255) = fast_int(c)
    {
        let id = ctx.st.heap.strs.one_byte(c as u8);
        ctx.push(Value::Str(id));
        return Ok(1);
    }
    let mut buf = ctx.take_buf();
    for i in 1..=n {
        match u8::try_from(ctx.check_i32(i)?) {
            Ok(b) => buf.push(b),
            Err(_) => return Err(ctx.arg_error(i, "invalid value")),
        }
    }
    push_buf(ctx, buf)
}

fn dump(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let f = ctx.check_function(1)?;
    let lua = match f {
        Value::Func(f) => matches!(ctx.st.heap.closures[f.index()].code, crate::heap::Code::Lua(_)),
        _ => false,
    };
    if !lua {
        return Err(ctx.error("unable to dump given function"));
    }
    ctx.push_str(DUMP)?;
    Ok(1)
}

/// Runs a search to its end, pausing for the interrupt word.
fn search(
    ctx: &mut Ctx<'_>,
    search: &mut Search,
    s: StrId,
    p: StrId,
) -> Result<Option<(usize, usize)>, LuaError> {
    loop {
        let strs = &ctx.st.heap.strs;
        match search.run(strs.get(s), strs.get(p)) {
            Ok(Found::At(from, to)) => return Ok(Some((from, to))),
            Ok(Found::Nowhere) => return Ok(None),
            Ok(Found::Pause) => {
                ctx.step(FUEL)?;
                search.refuel(FUEL);
            }
            Err(e) => return Err(ctx.error(e)),
        }
    }
}

/// A search with a pattern from the script; the one used last if it was for the same pattern.
#[inline]
fn new_search(ctx: &mut Ctx<'_>, p: StrId, from: usize, anchors: bool) -> Box<Search> {
    let key = u64::from(p.0) | u64::from(anchors) << 32;
    let mut search = match ctx.st.search.take() {
        Some(s) if s.key == key => s,
        kept => prepare_search(ctx, kept, p, anchors, key),
    };
    search.restart(from);
    search.refuel(FUEL);
    search
}

#[inline(never)]
fn prepare_search(
    ctx: &Ctx<'_>,
    kept: Option<Box<Search>>,
    p: StrId,
    anchors: bool,
    key: u64,
) -> Box<Search> {
    let mut search = match kept {
        Some(mut s) => {
            s.prepare(ctx.bytes(p), anchors);
            s
        }
        None => Box::new(Search::new(ctx.bytes(p), 0, anchors)),
    };
    search.key = key;
    search
}

/// Keeps a search for the next call.
#[inline]
fn keep_search(ctx: &mut Ctx<'_>, search: Box<Search>) {
    if search.is_small() {
        ctx.st.search = Some(search);
    }
}

/// Pushes capture `i`.
fn push_capture(
    ctx: &mut Ctx<'_>,
    s: StrId,
    captured: Result<Captured, PatternError>,
) -> Result<(), LuaError> {
    match captured {
        Ok(Captured::Range(from, to)) => push_part(ctx, s, from, to),
        Ok(Captured::Position(p)) => {
            push_number(ctx, p);
            Ok(())
        }
        Err(e) => Err(ctx.error(e)),
    }
}

/// Pushes all captures; without any, the whole match when `whole` says so.
fn push_captures(
    ctx: &mut Ctx<'_>,
    search: &Search,
    s: StrId,
    range: (usize, usize),
    whole: bool,
) -> Result<usize, LuaError> {
    let matcher = search.matcher();
    let n = if matcher.captures() == 0 && whole { 1 } else { matcher.captures() };
    ctx.check_stack(n, "too many captures")?;
    for i in 0..n {
        push_capture(ctx, s, matcher.capture(i, range))?;
    }
    Ok(n)
}

fn find(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    find_aux(ctx, true)
}

fn match_(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    find_aux(ctx, false)
}

fn find_aux(ctx: &mut Ctx<'_>, find: bool) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let p = ctx.check_str(2)?;
    let len = ctx.bytes(s).len();
    let init = ((relative(ctx.opt_i64(3, 1)?, len) - 1).max(0) as usize).min(len);
    if find && (ctx.arg(4).truthy() || pattern::is_plain(ctx.bytes(p))) {
        return find_plain(ctx, s, p, init);
    }
    let mut kept = new_search(ctx, p, init, true);
    let engine = &mut *kept;
    let n = match search(ctx, engine, s, p)? {
        Some((from, to)) if find => {
            push_number(ctx, from + 1);
            push_number(ctx, to);
            push_captures(ctx, engine, s, (from, to), false)? + 2
        }
        Some(range) => push_captures(ctx, engine, s, range, true)?,
        None => {
            ctx.push(Value::Nil);
            1
        }
    };
    keep_search(ctx, kept);
    Ok(n)
}

fn find_plain(ctx: &mut Ctx<'_>, s: StrId, p: StrId, mut from: usize) -> Result<usize, LuaError> {
    loop {
        match pattern::find_plain(ctx.bytes(s), ctx.bytes(p), from) {
            Ok(Some(at)) => {
                let n = ctx.bytes(p).len();
                push_number(ctx, at + 1);
                push_number(ctx, at + n);
                return Ok(2);
            }
            Ok(None) => {
                ctx.push(Value::Nil);
                return Ok(1);
            }
            Err(next) => {
                from = next;
                ctx.step(PIECE as u32)?;
            }
        }
    }
}

fn gmatch(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let p = ctx.check_str(2)?;
    let next = ctx.st.gmatch_fn;
    // The position is no number of Lua's, which would have to be converted at every step. Scripts do not see it.
    let values = [Value::Str(s), Value::Str(p), Value::Light(0)];
    let f = ctx.st.heap.new_native_closure(next, &values);
    ctx.push(Value::Func(f));
    Ok(1)
}

fn gmatch_next(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let &[s, p, at] = ctx.own_upvalues() else { return Ok(0) };
    let up = |u: u32| &ctx.st.heap.upvals[u as usize];
    let (&UpVal::Closed(Value::Str(s)), &UpVal::Closed(Value::Str(p)), &UpVal::Closed(Value::Light(from))) =
        (up(s), up(p), up(at))
    else {
        return Ok(0);
    };
    let mut kept = new_search(ctx, p, from as usize, false);
    let engine = &mut *kept;
    let Some((from, to)) = search(ctx, engine, s, p)? else {
        keep_search(ctx, kept);
        return Ok(0);
    };
    let next = if to == from { to + 1 } else { to };
    ctx.st.heap.upvals[at as usize] = UpVal::Closed(Value::Light(next as u32));
    let n = push_captures(ctx, engine, s, (from, to), true)?;
    keep_search(ctx, kept);
    Ok(n)
}

/// What replaces a match.
#[derive(Clone, Copy)]
enum Replacement {
    /// A text without `%`
    Plain(StrId),
    Text(StrId),
    Function(Value),
    Table(Value),
}

fn gsub(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let s = ctx.check_str(1)?;
    let p = ctx.check_str(2)?;
    let len = ctx.bytes(s).len();
    let most = ctx.opt_i32(4, (len as i64 + 1) as i32)?;
    let with = match ctx.arg(3) {
        Value::Num(_) | Value::Str(_) => {
            let text = ctx.check_str(3)?;
            if memchr::memchr(b'%', ctx.bytes(text)).is_some() {
                Replacement::Text(text)
            } else {
                Replacement::Plain(text)
            }
        }
        f @ (Value::Func(_) | Value::Native(_)) => Replacement::Function(f),
        t @ Value::Table(_) => Replacement::Table(t),
        _ => return Err(ctx.arg_error(3, "string/function/table expected")),
    };
    let mut kept = new_search(ctx, p, 0, true);
    let engine = &mut *kept;
    let mut buf = ctx.take_buf();
    let (mut at, mut n) = (0usize, 0i32);
    while n < most {
        engine.restart(at);
        let Some((from, to)) = search(ctx, engine, s, p)? else { break };
        append(ctx, &mut buf, s, at, from)?;
        n += 1;
        replace(ctx, engine, &mut buf, s, (from, to), with)?;
        at = to;
        if to == from {
            if from >= len {
                break;
            }
            buf.push(ctx.bytes(s)[from]);
            at = from + 1;
        }
        if engine.anchored() {
            break;
        }
    }
    keep_search(ctx, kept);
    append(ctx, &mut buf, s, at, len)?;
    push_buf(ctx, buf)?;
    ctx.push(Value::Num(f64::from(n)));
    Ok(2)
}

/// Appends bytes `from..to` of a string within the limits.
#[inline]
fn append(ctx: &mut Ctx<'_>, buf: &mut Vec<u8>, s: StrId, from: usize, to: usize) -> Result<(), LuaError> {
    ctx.check_len(buf.len() + (to - from))?;
    ctx.append(buf, s, from, to)
}

fn replace(
    ctx: &mut Ctx<'_>,
    engine: &Search,
    buf: &mut Vec<u8>,
    s: StrId,
    range: (usize, usize),
    with: Replacement,
) -> Result<(), LuaError> {
    let value = match with {
        Replacement::Plain(text) => {
            let n = ctx.bytes(text).len();
            return append(ctx, buf, text, 0, n);
        }
        Replacement::Text(text) => return expand(ctx, engine, buf, s, range, text),
        Replacement::Function(f) => {
            ctx.push(f);
            let n = push_captures(ctx, engine, s, range, true)?;
            lent(ctx, buf, |ctx| ctx.call(n, 1))?;
            ctx.pop()
        }
        Replacement::Table(t) => {
            push_capture(ctx, s, engine.matcher().capture(0, range))?;
            let key = ctx.peek();
            let v = lent(ctx, buf, |ctx| ctx.index(t, key))?;
            ctx.pop();
            v
        }
    };
    match value {
        Value::Nil | Value::Bool(false) => append(ctx, buf, s, range.0, range.1),
        Value::Str(r) => {
            let n = ctx.bytes(r).len();
            append(ctx, buf, r, 0, n)
        }
        Value::Num(n) => {
            numfmt::number_to_string(n, buf);
            Ok(())
        }
        other => Err(ctx.error(&format!("invalid replacement value (a {})", other.type_name()))),
    }
}

/// Counts a large buffer as memory of the run while code of the script runs, which may fill buffers of its own.
fn lent<T>(
    ctx: &mut Ctx<'_>,
    buf: &[u8],
    f: impl FnOnce(&mut Ctx<'_>) -> Result<T, LuaError>,
) -> Result<T, LuaError> {
    if buf.len() <= PIECE {
        return f(ctx);
    }
    ctx.st.heap.mem.used += buf.len();
    let result = f(ctx);
    ctx.st.heap.mem.used = ctx.st.heap.mem.used.saturating_sub(buf.len());
    result
}

/// Appends a replacement text in which `%1` stands for a capture.
fn expand(
    ctx: &mut Ctx<'_>,
    engine: &Search,
    buf: &mut Vec<u8>,
    s: StrId,
    range: (usize, usize),
    text: StrId,
) -> Result<(), LuaError> {
    let mut at = 0;
    loop {
        let bytes = &ctx.bytes(text)[at..];
        let Some(n) = memchr::memchr(b'%', bytes) else {
            let end = at + bytes.len();
            return append(ctx, buf, text, at, end);
        };
        // Behind a `%` at the end of the text stands C's zero byte, which is copied.
        let c = bytes.get(n + 1).copied();
        append(ctx, buf, text, at, at + n)?;
        at += n + 2;
        match c {
            Some(b'0') => append(ctx, buf, s, range.0, range.1)?,
            Some(digit @ b'1'..=b'9') => match engine.matcher().capture(usize::from(digit - b'1'), range) {
                Ok(Captured::Range(from, to)) => append(ctx, buf, s, from, to)?,
                Ok(Captured::Position(p)) => numfmt::integer_to_string(p as i64, buf),
                Err(e) => return Err(ctx.error(e)),
            },
            Some(c) => buf.push(c),
            None => {
                buf.push(0);
                return Ok(());
            }
        }
    }
}
