//! Operations with metamethods: the slow paths of the interpreter.

use crate::buf::Buf;
use crate::call::{call_value, run_error, run_error_bytes};
use crate::host::Host;
use crate::native::{Env, PIECE, State, Stepper, append_pieces};
use crate::table::{Lazy, SetError};
use crate::thread::NATIVE;
use crate::value::{Limit, LuaError, StrId, Value};

/// Metamethods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    Index,
    NewIndex,
    Eq,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Unm,
    Len,
    Lt,
    Le,
    Concat,
    Call,
}

/// Names by number of [`Event`].
pub(crate) const EVENT_NAMES: [&str; 15] = [
    "__index",
    "__newindex",
    "__eq",
    "__add",
    "__sub",
    "__mul",
    "__div",
    "__mod",
    "__pow",
    "__unm",
    "__len",
    "__lt",
    "__le",
    "__concat",
    "__call",
];

pub(crate) const MAX_LOOP: usize = 100;

/// Lua 5.1's modulo.
#[inline(always)]
pub(crate) fn lua_mod(a: f64, b: f64) -> f64 {
    a - floor(a / b) * b
}

/// `f64::floor` without a library call; the sign of zero is kept. Below 2^51 the addition of 1.5 · 2^52 leaves the
/// number rounded to an integer, which is the floor or one more.
#[inline(always)]
pub(crate) fn floor(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    if x.abs() < 2_251_799_813_685_248.0 && x != 0.0 {
        let near = (x + SHIFT) - SHIFT;
        return near - if near > x { 1.0 } else { 0.0 };
    }
    floor_slow(x)
}

#[cold]
fn floor_slow(x: f64) -> f64 {
    x.floor()
}

impl State {
    /// Metamethod of a table that is a metatable; remembers its absence.
    #[inline]
    pub(crate) fn fast_tm(&mut self, meta: crate::value::TableId, e: Event) -> Value {
        let t = &self.heap.tables[meta.index()];
        if t.absent & (1 << e as u32) != 0 {
            return Value::Nil;
        }
        let v = t
            .get_short(self.event_names[e as usize], self.heap.strs.table_hash(self.event_names[e as usize]));
        if v.is_nil() {
            self.heap.tables[meta.index()].absent |= 1 << e as u32;
        }
        v
    }
}

/// The metamethod of any value.
pub(crate) fn metamethod(st: &mut State, v: Value, e: Event) -> Value {
    match st.metatable(v) {
        Some(m) => st.fast_tm(m, e),
        None => Value::Nil,
    }
}

/// `attempt to <op> <kind> '<name>' (a T value)`; the name is that of the register at stack slot `slot`.
#[cold]
pub(crate) fn type_error_at(
    st: &mut State,
    env: &Env<'_>,
    v: Value,
    slot: Option<usize>,
    op: &str,
) -> LuaError {
    let t = v.type_name();
    let name = slot.and_then(|s| {
        let f = st.frames.last()?;
        let base = f.base as usize;
        if f.proto == NATIVE || s < base || s >= f.top as usize {
            return None;
        }
        crate::debuginfo::object_name(st, env.protos, f, (s - base) as u32)
    });
    let mut msg = format!("attempt to {op} ").into_bytes();
    match name {
        Some((kind, name)) => {
            msg.extend_from_slice(kind.as_bytes());
            msg.extend_from_slice(b" '");
            msg.extend_from_slice(&name);
            msg.extend_from_slice(format!("' (a {t} value)").as_bytes());
        }
        None => msg.extend_from_slice(format!("a {t} value").as_bytes()),
    }
    run_error_bytes(st, env, &msg)
}

/// Puts a function and its arguments above the running frame; the stack slot of the function.
#[inline(always)]
pub(crate) fn place_call<const N: usize>(st: &mut State, call: [Value; N]) -> usize {
    let top = st.top;
    if top + 40 > st.stack.len() {
        st.grow_stack(top + 40);
    }
    // One by one: a copy of what was just written stalls the processor.
    for (n, value) in call.into_iter().enumerate() {
        st.stack[top + n] = value;
    }
    st.top = top + N;
    top
}

/// Calls a metamethod with two values for one result. `top` is free to use.
pub(crate) fn call_tm2(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    f: Value,
    a: Value,
    b: Value,
) -> Result<Value, LuaError> {
    let top = place_call(st, [f, a, b]);
    call_value(st, env, host, top, 2, 1)?;
    st.top = top;
    Ok(st.stack[top])
}

/// `t[k]` with metamethods.
pub(crate) fn index(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    t: Value,
    k: Value,
) -> Result<Value, LuaError> {
    index_at(st, env, host, t, k, None)
}

/// As [`index`]; `slot` is where the indexed value is, for the message.
pub(crate) fn index_at(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    t: Value,
    k: Value,
    slot: Option<usize>,
) -> Result<Value, LuaError> {
    match find_index(st, env, t, k, slot)? {
        Indexed::Value(v) => Ok(v),
        Indexed::Call(tm, t) => call_tm2(st, env, host, tm, t, k),
    }
}

/// What `t[k]` comes to.
pub(crate) enum Indexed {
    /// A value.
    Value(Value),
    /// A metamethod is to be called, with this value and the key.
    Call(Value, Value),
}

/// `t[k]` up to the call of a metamethod.
pub(crate) fn find_index(
    st: &mut State,
    env: &Env<'_>,
    t: Value,
    k: Value,
    slot: Option<usize>,
) -> Result<Indexed, LuaError> {
    let mut t = t;
    for i in 0..MAX_LOOP {
        let tm = if let Value::Table(id) = t {
            let v = if st.heap.tables[id.index()].lazy == Lazy::No {
                st.heap.raw_get(id, k)
            } else {
                st.index_inputs(env, id, k)
            };
            if !v.is_nil() {
                return Ok(Indexed::Value(v));
            }
            let Some(m) = st.heap.tables[id.index()].meta() else {
                return Ok(Indexed::Value(Value::Nil));
            };
            let tm = st.fast_tm(m, Event::Index);
            if tm.is_nil() {
                return Ok(Indexed::Value(Value::Nil));
            }
            tm
        } else {
            let tm = metamethod(st, t, Event::Index);
            if tm.is_nil() {
                return Err(type_error_at(st, env, t, slot.filter(|_| i == 0), "index"));
            }
            tm
        };
        if matches!(tm, Value::Func(_) | Value::Native(_)) {
            return Ok(Indexed::Call(tm, t));
        }
        t = tm;
    }
    Err(run_error(st, env, "loop in gettable"))
}

/// Raw assignment with Lua's errors; on lack of memory collects once.
pub(crate) fn raw_assign(
    st: &mut State,
    env: &Env<'_>,
    t: crate::value::TableId,
    k: Value,
    v: Value,
) -> Result<(), LuaError> {
    match st.heap.raw_set(t, k, v) {
        Ok(()) => Ok(()),
        Err(SetError::NilKey) => Err(run_error(st, env, "table index is nil")),
        Err(SetError::NanKey) => Err(run_error(st, env, "table index is NaN")),
        Err(SetError::Memory) => {
            crate::gc::collect(st, env);
            st.heap.raw_set(t, k, v).map_err(|_| LuaError::Limit(Limit::Memory))
        }
    }
}

/// `t[k] = v` with metamethods.
pub(crate) fn set_index(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    t: Value,
    k: Value,
    v: Value,
    slot: Option<usize>,
) -> Result<(), LuaError> {
    match assign(st, env, t, k, v, slot)? {
        Some((tm, t)) => call_setter(st, env, host, [tm, t, k, v]),
        None => Ok(()),
    }
}

/// Calls a metamethod with a value, a key and what is to be there.
pub(crate) fn call_setter(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    call: [Value; 4],
) -> Result<(), LuaError> {
    let top = place_call(st, call);
    call_value(st, env, host, top, 3, 0)?;
    st.top = top;
    Ok(())
}

/// `t[k] = v` up to the call of a metamethod: that, and the value to call it with.
pub(crate) fn assign(
    st: &mut State,
    env: &Env<'_>,
    t: Value,
    k: Value,
    v: Value,
    slot: Option<usize>,
) -> Result<Option<(Value, Value)>, LuaError> {
    let mut t = t;
    for i in 0..MAX_LOOP {
        let tm = if let Value::Table(id) = t {
            if st.heap.tables[id.index()].lazy != Lazy::No {
                st.materialise(env, id);
            }
            if st.heap.tables[id.index()].readonly {
                return Err(run_error(st, env, "Attempt to modify a readonly table"));
            }
            let tm = match st.heap.tables[id.index()].meta() {
                None => Value::Nil,
                Some(m) => st.fast_tm(m, Event::NewIndex),
            };
            if tm.is_nil() || !st.heap.raw_get(id, k).is_nil() {
                return raw_assign(st, env, id, k, v).map(|()| None);
            }
            // Lua takes the entry before it looks for the metamethod.
            raw_assign(st, env, id, k, Value::Nil)?;
            tm
        } else {
            let tm = metamethod(st, t, Event::NewIndex);
            if tm.is_nil() {
                return Err(type_error_at(st, env, t, slot.filter(|_| i == 0), "index"));
            }
            tm
        };
        if matches!(tm, Value::Func(_) | Value::Native(_)) {
            return Ok(Some((tm, t)));
        }
        t = tm;
    }
    Err(run_error(st, env, "loop in settable"))
}

/// Plain arithmetic on numbers.
#[inline]
pub(crate) fn arith_num(e: Event, a: f64, b: f64) -> f64 {
    match e {
        Event::Add => a + b,
        Event::Sub => a - b,
        Event::Mul => a * b,
        Event::Div => a / b,
        Event::Mod => lua_mod(a, b),
        Event::Pow => pow(a, b),
        _ => -a,
    }
}

/// C's `pow`, with a short way for squares.
#[inline]
pub(crate) fn pow(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

/// Arithmetic on anything: strings convert. Up to the call of a metamethod.
pub(crate) fn find_arith(
    st: &mut State,
    env: &Env<'_>,
    e: Event,
    a: (Value, Option<usize>),
    b: (Value, Option<usize>),
) -> Result<Indexed, LuaError> {
    if let (Some(x), Some(y)) = (st.to_number(a.0), st.to_number(b.0)) {
        return Ok(Indexed::Value(Value::Num(arith_num(e, x, y))));
    }
    let mut tm = metamethod(st, a.0, e);
    if tm.is_nil() {
        tm = metamethod(st, b.0, e);
    }
    if tm.is_nil() {
        let bad = if st.to_number(a.0).is_none() { a } else { b };
        return Err(type_error_at(st, env, bad.0, bad.1, "perform arithmetic on"));
    }
    Ok(Indexed::Call(tm, a.0))
}

/// `#v`
pub(crate) fn len(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    v: Value,
    slot: usize,
) -> Result<Value, LuaError> {
    match v {
        Value::Table(t) => {
            let n = st.inputs_of(env, t).map_or_else(|| st.heap.table(t).len(), <[_]>::len);
            Ok(Value::Num(n as f64))
        }
        Value::Str(s) => Ok(Value::Num(st.heap.strs.len(s) as f64)),
        _ => {
            let tm = metamethod(st, v, Event::Len);
            if tm.is_nil() {
                return Err(type_error_at(st, env, v, Some(slot), "get length of"));
            }
            call_tm2(st, env, host, tm, v, Value::Nil)
        }
    }
}

/// The metamethod that two values share.
fn common_tm(st: &mut State, a: Value, b: Value, e: Event) -> Value {
    let (Some(m1), Some(m2)) = (st.metatable(a), st.metatable(b)) else {
        return Value::Nil;
    };
    let tm1 = st.fast_tm(m1, e);
    if tm1.is_nil() || m1 == m2 {
        return tm1;
    }
    let tm2 = st.fast_tm(m2, e);
    if st.heap.raw_eq(tm1, tm2) { tm1 } else { Value::Nil }
}

/// `a == b` with metamethods.
pub(crate) fn equals(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    a: Value,
    b: Value,
) -> Result<bool, LuaError> {
    if st.heap.raw_eq(a, b) {
        return Ok(true);
    }
    if !matches!((a, b), (Value::Table(_), Value::Table(_))) {
        return Ok(false);
    }
    let tm = common_tm(st, a, b, Event::Eq);
    if tm.is_nil() {
        return Ok(false);
    }
    call_tm2(st, env, host, tm, a, b).map(Value::truthy)
}

#[cold]
fn order_error(st: &mut State, env: &Env<'_>, a: Value, b: Value) -> LuaError {
    let (t1, t2) = (a.type_name(), b.type_name());
    let msg = if t1.as_bytes()[2] == t2.as_bytes()[2] {
        format!("attempt to compare two {t1} values")
    } else {
        format!("attempt to compare {t1} with {t2}")
    };
    run_error(st, env, &msg)
}

/// What both values share for an order comparison; `None` when they share nothing.
fn order_tm(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    a: Value,
    b: Value,
    e: Event,
) -> Result<Option<bool>, LuaError> {
    let tm1 = metamethod(st, a, e);
    if tm1.is_nil() {
        return Ok(None);
    }
    let tm2 = metamethod(st, b, e);
    if !st.heap.raw_eq(tm1, tm2) {
        return Ok(None);
    }
    call_tm2(st, env, host, tm1, a, b).map(|v| Some(v.truthy()))
}

/// `a < b` with metamethods.
pub(crate) fn less_than(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    a: Value,
    b: Value,
) -> Result<bool, LuaError> {
    match (a, b) {
        (Value::Num(x), Value::Num(y)) => Ok(x < y),
        (Value::Str(x), Value::Str(y)) => Ok(st.heap.strs.compare(x, y).is_lt()),
        _ if a.type_name() != b.type_name() => Err(order_error(st, env, a, b)),
        _ => match order_tm(st, env, host, a, b, Event::Lt)? {
            Some(r) => Ok(r),
            None => Err(order_error(st, env, a, b)),
        },
    }
}

/// `a <= b` with metamethods.
pub(crate) fn less_equal(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    a: Value,
    b: Value,
) -> Result<bool, LuaError> {
    match (a, b) {
        (Value::Num(x), Value::Num(y)) => Ok(x <= y),
        (Value::Str(x), Value::Str(y)) => Ok(st.heap.strs.compare(x, y).is_le()),
        _ if a.type_name() != b.type_name() => Err(order_error(st, env, a, b)),
        _ => {
            if let Some(r) = order_tm(st, env, host, a, b, Event::Le)? {
                return Ok(r);
            }
            match order_tm(st, env, host, b, a, Event::Lt)? {
                Some(r) => Ok(!r),
                None => Err(order_error(st, env, a, b)),
            }
        }
    }
}

/// Appends the text of a string or number; false for anything else.
fn append(st: &State, v: Value, out: &mut Vec<u8>) -> bool {
    match v {
        Value::Str(s) => out.extend_from_slice(st.heap.str(s)),
        Value::Num(n) => crate::numfmt::number_to_string(n, out),
        _ => return false,
    }
    true
}

fn text_len(st: &State, v: Value) -> Option<usize> {
    match v {
        Value::Str(s) => Some(st.heap.strs.len(s)),
        Value::Num(_) => Some(0),
        _ => None,
    }
}

/// Concatenates the stack slots `from..=to`; the result is left in `from`.
pub(crate) fn concat(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    from: usize,
    to: usize,
) -> Result<(), LuaError> {
    if let Some(s) = join_short(st, from, to) {
        st.stack[from] = Value::Str(s);
        return Ok(());
    }
    let mut last = to;
    while last > from {
        let (a, b) = (st.stack[last - 1], st.stack[last]);
        if text_len(st, a).is_none() || text_len(st, b).is_none() {
            let mut tm = metamethod(st, a, Event::Concat);
            if tm.is_nil() {
                tm = metamethod(st, b, Event::Concat);
            }
            if tm.is_nil() {
                let bad = if text_len(st, a).is_some() { last } else { last - 1 };
                return Err(type_error_at(st, env, st.stack[bad], Some(bad), "concatenate"));
            }
            st.stack[last - 1] = call_tm2(st, env, host, tm, a, b)?;
            last -= 1;
            continue;
        }
        let mut first = last - 1;
        while first > from && text_len(st, st.stack[first - 1]).is_some() {
            first -= 1;
        }
        let s = join(st, env, host, first, last)?;
        st.stack[first] = Value::Str(s);
        last = first;
    }
    Ok(())
}

/// Joins stack slots that hold only strings into one that is interned, without a buffer. The values are looked at where
/// they are: copies of what was just written stall the processor.
#[inline]
fn join_short(st: &mut State, first: usize, last: usize) -> Option<StrId> {
    let mut buf = [0; crate::strings::MAX_INTERNED];
    let mut n = 0;
    for v in st.stack.get(first..=last)? {
        let &Value::Str(s) = v else { return None };
        let piece = st.heap.str(s);
        let to = buf.get_mut(n..n + piece.len())?;
        to.copy_from_slice(piece);
        n += piece.len();
    }
    Some(st.heap.intern(&buf[..n]))
}

/// Joins stack slots that hold only strings and numbers.
fn join(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    first: usize,
    last: usize,
) -> Result<StrId, LuaError> {
    let total: usize = (first..=last).filter_map(|i| text_len(st, st.stack[i])).sum();
    if total > 1024 && (st.check_len(total).is_err() || st.heap.used() + total > st.heap.gc_at) {
        if total > st.heap.max_string {
            return Err(LuaError::Limit(Limit::StringLength));
        }
        crate::gc::collect(st, env);
        st.check_len(total)?;
    }
    let mut buf =
        if total > 64 << 10 { Buf::with_capacity(total) } else { st.bufs.pop().unwrap_or_default() };
    buf.clear();
    let mut steps = Stepper::new(env.interrupt, host);
    for i in first..=last {
        match st.stack[i] {
            Value::Str(s) if st.heap.strs.len(s) > PIECE => {
                append_pieces(st.heap.str(s), &mut buf, &mut steps)?
            }
            v => {
                append(st, v, &mut buf);
            }
        }
    }
    if buf.len() > 64 << 10 {
        return Ok(st.heap.strs.intern_buf(buf));
    }
    let s = st.heap.intern(&buf);
    st.bufs.push(buf);
    Ok(s)
}

#[cfg(test)]
mod tests {
    #[test]
    fn floor_is_the_library_s() {
        let edges =
            [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1e15, -1e15 - 0.5, 4_503_599_627_370_495.5, 1e300, -1e300];
        for x in
            edges.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, -f64::MIN_POSITIVE])
        {
            assert_eq!(super::floor(x).to_bits(), x.floor().to_bits(), "{x}");
        }
        assert!(super::floor(f64::NAN).is_nan());
    }
}
