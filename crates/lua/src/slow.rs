//! The interpreter's slow way: instructions in full generality, with conversions, metamethods and errors. They work on
//! the stack, not on borrowed registers, so they may call back into scripts.

use crate::call::{MAX_C_CALLS, NOWHERE, call_value, push_lua, result_in, run_error, safe_point};
use crate::heap::Code;
use crate::host::Host;
use crate::meta::{self, Event, Indexed};
use crate::native::{Env, State};
use crate::op::{Instr, Op};
use crate::parser::fb_to_int;
use crate::protos::Loaded;
use crate::table::Lazy;
use crate::value::{FuncRef, Limit, LuaError, TableId, Value, put};

/// An operand: its value, and its stack slot when it is a register.
type Operand = (Value, Option<usize>);

/// What the interpreter does after an instruction.
pub(crate) enum Next {
    /// The next one.
    Go,
    /// It jumps.
    Jump,
    /// It runs the frame that was pushed: a metamethod's.
    Enter,
}

/// Runs one instruction. `top` is the end of the frame, and the frame holds the position.
#[inline(never)]
pub(crate) fn instruction(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    proto: &Loaded,
    base: usize,
    i: Instr,
) -> Result<Next, LuaError> {
    let jump = |jumps: bool| if jumps { Next::Jump } else { Next::Go };
    let at = |n: u8| base + n as usize;
    let k = |d: u32| proto.k[d as usize];
    match i.op {
        Op::GetUpval | Op::SetUpval => {
            let Some(f) = st.frames.last() else { return Ok(Next::Go) };
            let c = st.heap.closures[f.closure as usize];
            let u = st.heap.up_pool[c.ups as usize + i.b as usize];
            if i.op == Op::GetUpval {
                st.stack[at(i.a)] = st.upval_get(u);
            } else {
                st.upval_set(u, st.stack[at(i.a)]);
            }
        }
        Op::GetGlobal => {
            let g = Value::Table(st.globals);
            st.stack[at(i.a)] = meta::index(st, env, host, g, k(i.d))?;
        }
        Op::SetGlobal => {
            let (g, v) = (Value::Table(st.globals), st.stack[at(i.a)]);
            meta::set_index(st, env, host, g, k(i.d), v, None)?;
        }
        Op::GetTable | Op::GetField | Op::GetTableK => {
            let t = st.stack[at(i.b)];
            let key = if i.op == Op::GetTable { st.stack[at(i.c)] } else { k(i.d) };
            let found = meta::find_index(st, env, t, key, Some(at(i.b)))?;
            return settle(st, env, host, found, key, at(i.a));
        }
        Op::SelfK => {
            let t = st.stack[at(i.b)];
            st.stack[at(i.a) + 1] = t;
            let found = meta::find_index(st, env, t, k(i.d), Some(at(i.b)))?;
            return settle(st, env, host, found, k(i.d), at(i.a));
        }
        Op::SetTable | Op::SetTableRK | Op::SetField | Op::SetFieldK => {
            let (key, v) = assigned(st, proto, base, i);
            let t = st.stack[at(i.a)];
            if let Some((tm, t)) = meta::assign(st, env, t, key, v, Some(at(i.a)))? {
                if enter(st, env, host, [tm, t, key, v], NOWHERE)? {
                    return Ok(Next::Enter);
                }
                meta::call_setter(st, env, host, [tm, t, key, v])?;
            }
            if st.heap.wants_gc() {
                safe_point(st, env)?;
            }
        }
        Op::NewTable => {
            crate::gc::collect(st, env);
            let t = st.heap.new_table(fb_to_int(i.b), fb_to_int(i.c));
            st.stack[at(i.a)] = Value::Table(t.ok_or(LuaError::Limit(Limit::Memory))?);
        }
        Op::Len => {
            let v = st.stack[at(i.b)];
            st.stack[at(i.a)] = meta::len(st, env, host, v, at(i.b))?;
        }
        Op::Eq => {
            return meta::equals(st, env, host, st.stack[at(i.a)], st.stack[at(i.b)])
                .map(|r| jump(r == (i.c != 0)));
        }
        Op::EqK => return Ok(jump(st.heap.raw_eq(st.stack[at(i.a)], k(u32::from(i.b))) == (i.c != 0))),
        Op::Lt | Op::LtRK | Op::LtKR | Op::Le | Op::LeRK | Op::LeKR => {
            let x = if matches!(i.op, Op::LtKR | Op::LeKR) { k(u32::from(i.a)) } else { st.stack[at(i.a)] };
            let y = if matches!(i.op, Op::LtRK | Op::LeRK) { k(u32::from(i.b)) } else { st.stack[at(i.b)] };
            let r = if matches!(i.op, Op::Lt | Op::LtRK | Op::LtKR) {
                meta::less_than(st, env, host, x, y)?
            } else {
                meta::less_equal(st, env, host, x, y)?
            };
            return Ok(jump(r == (i.c != 0)));
        }
        Op::ForPrep => {
            for_prep(st, env, at(i.a))?;
            return Ok(Next::Jump);
        }
        Op::TForLoop => return t_for_loop(st, env, host, at(i.a), i.c).map(jump),
        _ => {
            if let Some(event) = arithmetic(i.op) {
                let (x, y) = operands(st, proto, base, i);
                let found = meta::find_arith(st, env, event, x, y)?;
                return settle(st, env, host, found, y.0, at(i.a));
            } else {
                debug_assert!(false, "{:?} has no slow way", i.op);
            }
        }
    }
    Ok(Next::Go)
}

/// Reads an entry: at once where the table has none and its `__index` is a function in Lua, else as any instruction.
#[inline(never)]
pub(crate) fn get(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    proto: &Loaded,
    base: usize,
    i: Instr,
) -> Result<Next, LuaError> {
    if let &Value::Table(id) = &st.stack[base + i.b as usize] {
        let key = if i.op == Op::GetTable { st.stack[base + i.c as usize] } else { proto.k[i.d as usize] };
        if let Some(f) = index_function(st, id)
            && matches!(plain_entry(st, id, key), Entry::None | Entry::Nil)
            && enter_lua(st, env, host, f, (id, key, None), result_in(base + i.a as usize))?
        {
            return Ok(Next::Enter);
        }
    }
    instruction(st, env, host, proto, base, i)
}

/// Assigns to an entry: at once where it is nil in its table and `__newindex` is a function in Lua, else as any
/// instruction.
#[inline(never)]
pub(crate) fn set(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    proto: &Loaded,
    base: usize,
    i: Instr,
) -> Result<Next, LuaError> {
    if let &Value::Table(id) = &st.stack[base + i.a as usize]
        && let Some(f) = new_index_function(st, id)
    {
        let (key, v) = assigned(st, proto, base, i);
        // Lua makes an entry before it looks for the metamethod, so one that is not there takes the long way.
        if matches!(plain_entry(st, id, key), Entry::Nil)
            && enter_lua(st, env, host, f, (id, key, Some(v)), NOWHERE)?
        {
            return Ok(Next::Enter);
        }
    }
    instruction(st, env, host, proto, base, i)
}

/// Key and value of an assignment to an entry.
#[inline(always)]
fn assigned(st: &State, proto: &Loaded, base: usize, i: Instr) -> (Value, Value) {
    let r = |n: u8| st.stack[base + n as usize];
    let k = |d: u32| proto.k[d as usize];
    match i.op {
        Op::SetTable => (r(i.b), r(i.c)),
        Op::SetTableRK => (r(i.b), k(i.d)),
        Op::SetField => (k(i.d), r(i.c)),
        _ => (k(i.d >> 16), k(i.d & 0xFFFF)),
    }
}

/// What a table has under a key.
enum Entry {
    /// Not looked for.
    Unknown,
    /// No entry.
    None,
    /// One that is nil.
    Nil,
    /// A value.
    Some,
}

/// What a table has under a number or a short string.
#[inline(always)]
fn plain_entry(st: &State, t: TableId, key: Value) -> Entry {
    let t = &st.heap.tables[t.index()];
    let found = match key {
        Value::Num(n) => t.number(n),
        Value::Str(s) => match st.heap.strs.known_hash(s) {
            Some(h) => t.short(s, h),
            None => return Entry::Unknown,
        },
        _ => return Entry::Unknown,
    };
    match found {
        None => Entry::None,
        Some(v) if v.is_nil() => Entry::Nil,
        Some(_) => Entry::Some,
    }
}

/// The `__index` of a table when it is a function.
#[inline]
fn index_function(st: &State, t: TableId) -> Option<FuncRef> {
    let table = &st.heap.tables[t.index()];
    let meta = table.meta().filter(|_| table.lazy == Lazy::No)?;
    match st.heap.tables[meta.index()].short(st.heap.index_name, st.heap.index_hash) {
        Some(&Value::Func(f)) => Some(f),
        _ => None,
    }
}

/// The `__newindex` of a table that may be changed, when it is a function.
#[inline]
fn new_index_function(st: &State, t: TableId) -> Option<FuncRef> {
    let table = &st.heap.tables[t.index()];
    let meta = table.meta().filter(|_| table.lazy == Lazy::No && !table.readonly)?;
    let name = st.event_names[Event::NewIndex as usize];
    match st.heap.tables[meta.index()].short(name, st.heap.strs.known_hash(name)?) {
        Some(&Value::Func(f)) => Some(f),
        _ => None,
    }
}

/// Pushes the frame of a metamethod in Lua; see [`enter`].
#[inline(always)]
fn enter_lua(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    f: FuncRef,
    (t, key, value): (TableId, Value, Option<Value>),
    results: i32,
) -> Result<bool, LuaError> {
    let Code::Lua(p) = st.heap.closures[f.index()].code else { return Ok(false) };
    let top = st.top;
    // With room to spare: calls need it.
    let Some([func, first, second, third, ..]) = st.stack.get_mut(top..top + 40) else { return Ok(false) };
    if st.c_calls + 1 >= MAX_C_CALLS {
        return Ok(false);
    }
    *func = Value::Func(f);
    *first = Value::Table(t);
    put!(*second, key);
    let mut nargs = 2;
    if let Some(value) = value {
        put!(*third, value);
        nargs = 3;
    }
    st.top = top + 1 + nargs;
    st.c_calls += 1;
    push_lua(st, env, host, env.protos.get(p), p, f.0, top, nargs, results)?;
    Ok(true)
}

/// Puts what was found into a slot; a metamethod has to be called for it first.
fn settle(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    found: Indexed,
    second: Value,
    slot: usize,
) -> Result<Next, LuaError> {
    match found {
        Indexed::Value(v) => st.stack[slot] = v,
        Indexed::Call(tm, first) => {
            if enter(st, env, host, [tm, first, second], result_in(slot))? {
                return Ok(Next::Enter);
            }
            st.stack[slot] = meta::call_tm2(st, env, host, tm, first, second)?;
        }
    }
    Ok(Next::Go)
}

/// Pushes the frame of a metamethod, so that the interpreter runs it and comes back; false when it is not in Lua, or so
/// deep that an error is due. To scripts it is a call from C like any other.
fn enter<const N: usize>(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    call: [Value; N],
    results: i32,
) -> Result<bool, LuaError> {
    let Value::Func(f) = call[0] else { return Ok(false) };
    let Code::Lua(p) = st.heap.closures[f.index()].code else { return Ok(false) };
    if st.c_calls + 1 >= MAX_C_CALLS {
        return Ok(false);
    }
    let top = meta::place_call(st, call);
    st.c_calls += 1;
    push_lua(st, env, host, env.protos.get(p), p, f.0, top, N - 1, results)?;
    Ok(true)
}

fn arithmetic(op: Op) -> Option<Event> {
    Some(match op {
        Op::Add | Op::AddRK | Op::AddKR => Event::Add,
        Op::Sub | Op::SubRK | Op::SubKR => Event::Sub,
        Op::Mul | Op::MulRK | Op::MulKR => Event::Mul,
        Op::Div | Op::DivRK | Op::DivKR => Event::Div,
        Op::Mod | Op::ModRK | Op::ModKR => Event::Mod,
        Op::Pow | Op::PowRK | Op::PowKR => Event::Pow,
        Op::Unm => Event::Unm,
        _ => return None,
    })
}

/// The operands of an arithmetic instruction.
fn operands(st: &State, proto: &Loaded, base: usize, i: Instr) -> (Operand, Operand) {
    let reg = |n: u8| (st.stack[base + n as usize], Some(base + n as usize));
    let constant = || (proto.k[i.d as usize], None);
    match i.op {
        Op::AddRK | Op::SubRK | Op::MulRK | Op::DivRK | Op::ModRK | Op::PowRK => (reg(i.b), constant()),
        Op::AddKR | Op::SubKR | Op::MulKR | Op::DivKR | Op::ModKR | Op::PowKR => (constant(), reg(i.c)),
        Op::Unm => (reg(i.b), reg(i.b)),
        _ => (reg(i.b), reg(i.c)),
    }
}

/// Makes the three values of a numeric `for` at stack slot `a` numbers; the first is one step before the start.
fn for_prep(st: &mut State, env: &Env<'_>, a: usize) -> Result<(), LuaError> {
    let mut v = [0.0; 3];
    for (n, what) in ["initial value", "limit", "step"].into_iter().enumerate() {
        match st.to_number(st.stack[a + n]) {
            Some(number) => v[n] = number,
            None => return Err(run_error(st, env, &format!("'for' {what} must be a number"))),
        }
    }
    st.stack[a] = Value::Num(v[0] - v[2]);
    st.stack[a + 1] = Value::Num(v[1]);
    st.stack[a + 2] = Value::Num(v[2]);
    Ok(())
}

/// One turn of a generic `for` whose three values are at stack slot `a`; true when the loop goes on.
fn t_for_loop(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    a: usize,
    wanted: u8,
) -> Result<bool, LuaError> {
    let wanted = wanted as usize;
    // `next` and the iterator of `ipairs` need no call.
    if let (Value::Native(id), Value::Table(t)) = (st.stack[a], st.stack[a + 1]) {
        let entry = if id == st.next_fn || id == st.global_next {
            Some(crate::lib_base::next_entry(st, env, t, st.stack[a + 2])?)
        } else if id == st.ipairs_fn
            && let Value::Num(n) = st.stack[a + 2]
            && st.heap.tables[t.index()].lazy == Lazy::No
        {
            let v = st.heap.tables[t.index()].get_num(n + 1.0);
            Some(if v.is_nil() { None } else { Some((Value::Num(n + 1.0), v)) })
        } else {
            None
        };
        match entry {
            Some(Some((key, v))) => {
                let to = &mut st.stack[a + 2..a + 3 + wanted.max(1)];
                to[0] = key;
                to[1] = key;
                if wanted >= 2 {
                    to[2] = v;
                    to[3..].fill(Value::Nil);
                }
                return Ok(true);
            }
            Some(None) => {
                st.stack[a + 3..a + 3 + wanted].fill(Value::Nil);
                return Ok(false);
            }
            None => {}
        }
    }
    for n in 0..3 {
        put!(st.stack[a + 3 + n], st.stack[a + n]);
    }
    call_value(st, env, host, a + 3, 2, wanted as i32)?;
    if st.stack[a + 3].is_nil() {
        return Ok(false);
    }
    put!(st.stack[a + 2], st.stack[a + 3]);
    Ok(true)
}

/// Stores `n` values after stack slot `at` into a table, under `first` + 1 and on.
pub(crate) fn set_list(
    st: &mut State,
    t: TableId,
    at: usize,
    n: usize,
    first: usize,
) -> Result<(), LuaError> {
    let last = first + n;
    let tab = &mut st.heap.tables[t.index()];
    if last > tab.array.len() {
        let hash = tab.nodes.len();
        let lent = st.heap.strs.bytes;
        st.heap.mem.used += lent;
        let r = st.heap.tables[t.index()].resize(&mut st.heap.strs, &mut st.heap.mem, last, hash);
        st.heap.mem.used -= lent;
        r.map_err(|_| LuaError::Limit(Limit::Memory))?;
    }
    let State { heap, stack, .. } = st;
    heap.tables[t.index()].array[first..last].copy_from_slice(&stack[at + 1..at + 1 + n]);
    Ok(())
}

/// A closure of prototype `p` in the frame at `base`, whose own upvalues begin at `ups`.
pub(crate) fn closure(st: &mut State, env: &Env<'_>, p: u32, base: usize, ups: usize) -> FuncRef {
    let first = st.heap.up_pool.len();
    for u in &env.protos.get(p).ups {
        let id = if u.in_stack {
            st.find_upval((base + u.index as usize) as u32)
        } else {
            st.heap.up_pool[ups + u.index as usize]
        };
        st.heap.up_pool.push(id);
    }
    st.heap.new_closure(Code::Lua(p), first)
}

/// Copies all variable arguments of the running function to stack slot `a`, up to `top`.
pub(crate) fn all_varargs(st: &mut State, params: u8, a: usize) {
    let Some(&f) = st.frames.last() else { return };
    let from = f.func as usize + 1 + params as usize;
    let n = f.base as usize - from;
    if a + n + 256 > st.stack.len() {
        st.grow_stack(a + n + 256);
    }
    for j in 0..n {
        put!(st.stack[a + j], st.stack[from + j]);
    }
    st.top = a + n;
}
