//! The interpreter: one `match` over 8-byte instructions. The registers of a function are borrowed as an array of 256
//! once per call, so that 8-bit operands need no bounds checks; whatever may move the stack or call back takes the slow
//! way and borrows them anew.

use std::sync::atomic::Ordering;

use crate::call::{Called, handle, place_results, precall, safe_point};
use crate::heap::{Code, UpVal};
use crate::host::Host;
use crate::meta::{self, Event};
use crate::native::{Env, State, interrupted};
use crate::op::Op;
use crate::parser::fb_to_int;
use crate::table::Lazy;
use crate::thread::{Frame, NATIVE};
use crate::value::{Limit, LuaError, Value, fast_int};

type Window = [Value; 256];

#[inline(always)]
fn window(stack: &mut [Value], base: usize) -> &mut Window {
    match (&mut stack[base..base + 256]).try_into() {
        Ok(w) => w,
        Err(_) => unreachable!("the slice has 256 slots"),
    }
}

/// Copies a value in its two halves: a whole copy of one that was just written in halves stalls the processor.
#[inline(always)]
fn put(to: &mut Value, v: Value) {
    match v {
        Value::Num(n) => *to = Value::Num(n),
        Value::Table(t) => *to = Value::Table(t),
        v => *to = v,
    }
}

/// Runs from the topmost frame until it returns.
pub(crate) fn run(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    let depth = st.frames.len();
    if st.instrument.is_on() {
        execute::<true>(st, env, host, depth)
    } else {
        execute::<false>(st, env, host, depth)
    }
}

/// Runs until the frame at `depth` (counted from 1) has returned.
pub(crate) fn run_to(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    depth: usize,
) -> Result<(), LuaError> {
    if st.instrument.is_on() {
        execute::<true>(st, env, host, depth)
    } else {
        execute::<false>(st, env, host, depth)
    }
}

fn execute<const INSTR: bool>(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    depth: usize,
) -> Result<(), LuaError> {
    if INSTR {
        crate::trace::entered(st, env, host)?;
    }
    let word = env.interrupt;
    // A coroutine that goes on has more frames than the one that it ends with.
    let mut fr = st.frames[st.frames.len() - 1];
    'frame: loop {
        let fi = st.frames.len() - 1;
        let base = fr.base as usize;
        let proto = env.protos.get(fr.proto);
        let code: &[crate::op::Instr] = &proto.code;
        let k: &[Value] = &proto.k;
        let mut pc = fr.pc as usize;
        let mut ups = st.heap.closures[fr.closure as usize].ups as usize;
        let mut regs: &mut Window = window(&mut st.stack, base);

        // Calls something that may use the stack and fail; the registers are borrowed anew.
        macro_rules! slow {
            ($e:expr) => {{
                st.frames[fi].pc = pc as u32;
                st.top = fr.top as usize;
                match $e {
                    Ok(v) => {
                        ups = st.heap.closures[fr.closure as usize].ups as usize;
                        regs = window(&mut st.stack, base);
                        v
                    }
                    Err(e) => return Err(handle(st, env, host, e)),
                }
            }};
        }
        macro_rules! jump {
            ($i:expr) => {{
                let off = $i.jump();
                pc = (pc as isize + off as isize) as usize;
                if off < 0 && word.load(Ordering::Relaxed) != 0 {
                    slow!(interrupted(word, host));
                }
            }};
        }
        macro_rules! k {
            ($d:expr) => {
                k[$d as usize]
            };
        }
        macro_rules! arith {
            ($i:expr, $ev:expr, $x:expr, $y:expr, $sx:expr, $sy:expr, |$a:ident, $b:ident| $e:expr) => {{
                if let (&Value::Num($a), &Value::Num($b)) = (&$x, &$y) {
                    regs[$i.a as usize] = Value::Num($e);
                } else {
                    let (x, y) = ($x, $y);
                    let v = slow!(meta::arith(st, env, host, $ev, (x, $sx), (y, $sy)));
                    regs[$i.a as usize] = v;
                }
            }};
        }
        macro_rules! arith_rr {
            ($i:expr, $ev:expr, |$a:ident, $b:ident| $e:expr) => {
                arith!(
                    $i,
                    $ev,
                    regs[$i.b as usize],
                    regs[$i.c as usize],
                    Some(base + $i.b as usize),
                    Some(base + $i.c as usize),
                    |$a, $b| $e
                )
            };
        }
        macro_rules! arith_rk {
            ($i:expr, $ev:expr, |$a:ident, $b:ident| $e:expr) => {
                arith!($i, $ev, regs[$i.b as usize], k!($i.d), Some(base + $i.b as usize), None, |$a, $b| $e)
            };
        }
        macro_rules! arith_kr {
            ($i:expr, $ev:expr, |$a:ident, $b:ident| $e:expr) => {
                arith!($i, $ev, k!($i.d), regs[$i.c as usize], None, Some(base + $i.c as usize), |$a, $b| $e)
            };
        }
        macro_rules! compare {
            ($i:expr, $x:expr, $y:expr, $f:path, |$a:ident, $b:ident| $e:expr) => {{
                let r = if let (&Value::Num($a), &Value::Num($b)) = (&$x, &$y) {
                    $e
                } else {
                    let (x, y) = ($x, $y);
                    slow!($f(st, env, host, x, y))
                };
                if r == ($i.c != 0) {
                    jump!($i);
                }
            }};
        }
        // A value whose creation may have made a collection due.
        macro_rules! check_gc {
            () => {
                if st.heap.wants_gc() {
                    slow!(safe_point(st, env));
                }
            };
        }

        loop {
            let i = code[pc];
            if INSTR {
                // Open results of the instruction before end at `top`: it must stay.
                let top = st.top;
                slow!(crate::trace::instruction(st, env, host, pc));
                st.top = top;
            }
            pc += 1;
            match i.op {
                Op::Move => {
                    let v = regs[i.b as usize];
                    put(&mut regs[i.a as usize], v);
                }
                Op::LoadK => regs[i.a as usize] = k!(i.d),
                Op::LoadBool => {
                    regs[i.a as usize] = Value::Bool(i.b != 0);
                    pc += i.c as usize;
                }
                Op::LoadNil => {
                    for r in i.a..=i.b {
                        regs[r as usize] = Value::Nil;
                    }
                }
                Op::GetUpval => {
                    let u = st.heap.up_pool[ups + i.b as usize];
                    match st.heap.upvals[u as usize] {
                        UpVal::Closed(v) => put(&mut regs[i.a as usize], v),
                        UpVal::Open { thread, slot } if thread == st.current => {
                            let v = st.stack[slot as usize];
                            regs = window(&mut st.stack, base);
                            put(&mut regs[i.a as usize], v);
                        }
                        _ => {
                            let v = st.upval_get(u);
                            regs = window(&mut st.stack, base);
                            regs[i.a as usize] = v;
                        }
                    }
                }
                Op::SetUpval => {
                    let u = st.heap.up_pool[ups + i.b as usize];
                    match &mut st.heap.upvals[u as usize] {
                        UpVal::Closed(c) => put(c, regs[i.a as usize]),
                        UpVal::Open { thread, slot } if *thread == st.current => {
                            let slot = *slot as usize;
                            let v = st.stack[base + i.a as usize];
                            put(&mut st.stack[slot], v);
                            regs = window(&mut st.stack, base);
                        }
                        _ => {
                            let v = regs[i.a as usize];
                            st.upval_set(u, v);
                            regs = window(&mut st.stack, base);
                        }
                    }
                }
                Op::GetGlobal => {
                    let key = k!(i.d);
                    let v = if let Value::Str(s) = key {
                        let h = st.heap.strs.table_hash(s);
                        st.heap.tables[st.globals.index()].get_short(s, h)
                    } else {
                        Value::Nil
                    };
                    if v.is_nil() {
                        let g = Value::Table(st.globals);
                        let v = slow!(meta::index(st, env, host, g, key));
                        regs[i.a as usize] = v;
                    } else {
                        regs[i.a as usize] = v;
                    }
                }
                Op::SetGlobal => {
                    let (key, v) = (k!(i.d), regs[i.a as usize]);
                    let g = Value::Table(st.globals);
                    slow!(meta::set_index(st, env, host, g, key, v, None));
                }
                Op::GetTable => {
                    // Matching in place: copying a value whole that was just written in halves stalls the processor.
                    if let Value::Table(id) = regs[i.b as usize] {
                        let tab = &st.heap.tables[id.index()];
                        let v = match regs[i.c as usize] {
                            Value::Num(n) => match fast_int(n) {
                                Some(j) => match tab.array.get((j as usize).wrapping_sub(1)) {
                                    Some(v) => *v,
                                    None => tab.get_num(n),
                                },
                                None => tab.get_num(n),
                            },
                            Value::Str(s) if !s.is_long() => tab.get_short(s, st.heap.strs.table_hash(s)),
                            _ => Value::Nil,
                        };
                        if !v.is_nil() {
                            regs[i.a as usize] = v;
                            continue;
                        }
                    }
                    let (t, key) = (regs[i.b as usize], regs[i.c as usize]);
                    let v = slow!(meta::index_at(st, env, host, t, key, Some(base + i.b as usize)));
                    regs[i.a as usize] = v;
                }
                Op::GetField => {
                    if let (&Value::Table(id), &Value::Str(s)) = (&regs[i.b as usize], &k!(i.d))
                        && let Some(v) = st.heap.get_field(id, s)
                    {
                        regs[i.a as usize] = v;
                        continue;
                    }
                    let (t, key) = (regs[i.b as usize], k!(i.d));
                    let v = slow!(meta::index_at(st, env, host, t, key, Some(base + i.b as usize)));
                    regs[i.a as usize] = v;
                }
                Op::GetTableK => {
                    let (t, key) = (regs[i.b as usize], k!(i.d));
                    if let (&Value::Table(id), &Value::Num(n)) = (&t, &key) {
                        let v = st.heap.tables[id.index()].get_num(n);
                        if !v.is_nil() {
                            regs[i.a as usize] = v;
                            continue;
                        }
                    }
                    let v = slow!(meta::index_at(st, env, host, t, key, Some(base + i.b as usize)));
                    regs[i.a as usize] = v;
                }
                Op::SetTable | Op::SetTableRK => {
                    let v = if i.op == Op::SetTable { &regs[i.c as usize] } else { &k!(i.d) };
                    if let Value::Table(id) = regs[i.a as usize] {
                        let tab = &mut st.heap.tables[id.index()];
                        match regs[i.b as usize] {
                            Value::Num(n) if !tab.readonly => {
                                let plain = tab.meta_is_none();
                                if let Some(j) = fast_int(n)
                                    && let Some(slot) = tab.array.get_mut((j as usize).wrapping_sub(1))
                                    && (plain || !slot.is_nil())
                                {
                                    put(slot, *v);
                                    continue;
                                }
                            }
                            Value::Str(s) if !tab.readonly && !s.is_long() => {
                                let h = st.heap.strs.table_hash(s);
                                if let Some(n) = tab.find_short(s, h)
                                    && !tab.nodes[n].val.is_nil()
                                {
                                    tab.nodes[n].val = *v;
                                    continue;
                                }
                            }
                            _ => {}
                        }
                    }
                    let (t, key, v) = (regs[i.a as usize], regs[i.b as usize], *v);
                    slow!(meta::set_index(st, env, host, t, key, v, Some(base + i.a as usize)));
                    check_gc!();
                }
                Op::SetField | Op::SetFieldK => {
                    let (key, v) = if i.op == Op::SetField {
                        (&k!(i.d), &regs[i.c as usize])
                    } else {
                        (&k!(i.d >> 16), &k!(i.d & 0xFFFF))
                    };
                    if let (&Value::Table(id), &Value::Str(s)) = (&regs[i.a as usize], key)
                        && !s.is_long()
                    {
                        let h = st.heap.strs.table_hash(s);
                        let tab = &mut st.heap.tables[id.index()];
                        if !tab.readonly
                            && let Some(n) = tab.find_short(s, h)
                            && !tab.nodes[n].val.is_nil()
                        {
                            put(&mut tab.nodes[n].val, *v);
                            continue;
                        }
                    }
                    let (t, key, v) = (regs[i.a as usize], *key, *v);
                    slow!(meta::set_index(st, env, host, t, key, v, Some(base + i.a as usize)));
                    check_gc!();
                }
                Op::NewTable => {
                    let (na, nh) = (fb_to_int(i.b), fb_to_int(i.c));
                    let t = match st.heap.new_table(na, nh) {
                        Some(t) => t,
                        None => slow!(new_table_slow(st, env, na, nh)),
                    };
                    regs[i.a as usize] = Value::Table(t);
                    check_gc!();
                }
                Op::SelfK => {
                    let key = k!(i.d);
                    if let (&Value::Table(id), &Value::Str(s)) = (&regs[i.b as usize], &key)
                        && !s.is_long()
                        && let Some(v) = st.heap.get_field(id, s)
                    {
                        regs[i.a as usize + 1] = Value::Table(id);
                        regs[i.a as usize] = v;
                        continue;
                    }
                    let t = regs[i.b as usize];
                    regs[i.a as usize + 1] = t;
                    let v = slow!(meta::index_at(st, env, host, t, key, Some(base + i.b as usize)));
                    regs[i.a as usize] = v;
                }
                Op::Add => arith_rr!(i, Event::Add, |a, b| a + b),
                Op::Sub => arith_rr!(i, Event::Sub, |a, b| a - b),
                Op::Mul => arith_rr!(i, Event::Mul, |a, b| a * b),
                Op::Div => arith_rr!(i, Event::Div, |a, b| a / b),
                Op::Mod => arith_rr!(i, Event::Mod, |a, b| meta::lua_mod(a, b)),
                Op::Pow => arith_rr!(i, Event::Pow, |a, b| meta::pow(a, b)),
                Op::AddRK => arith_rk!(i, Event::Add, |a, b| a + b),
                Op::SubRK => arith_rk!(i, Event::Sub, |a, b| a - b),
                Op::MulRK => arith_rk!(i, Event::Mul, |a, b| a * b),
                Op::DivRK => arith_rk!(i, Event::Div, |a, b| a / b),
                Op::ModRK => arith_rk!(i, Event::Mod, |a, b| meta::lua_mod(a, b)),
                Op::PowRK => arith_rk!(i, Event::Pow, |a, b| meta::pow(a, b)),
                Op::AddKR => arith_kr!(i, Event::Add, |a, b| a + b),
                Op::SubKR => arith_kr!(i, Event::Sub, |a, b| a - b),
                Op::MulKR => arith_kr!(i, Event::Mul, |a, b| a * b),
                Op::DivKR => arith_kr!(i, Event::Div, |a, b| a / b),
                Op::ModKR => arith_kr!(i, Event::Mod, |a, b| meta::lua_mod(a, b)),
                Op::PowKR => arith_kr!(i, Event::Pow, |a, b| meta::pow(a, b)),
                Op::Unm => {
                    let v = regs[i.b as usize];
                    if let Value::Num(n) = v {
                        regs[i.a as usize] = Value::Num(-n);
                    } else {
                        let at = Some(base + i.b as usize);
                        let v = slow!(meta::arith(st, env, host, Event::Unm, (v, at), (v, at)));
                        regs[i.a as usize] = v;
                    }
                }
                Op::Not => regs[i.a as usize] = Value::Bool(!regs[i.b as usize].truthy()),
                Op::Len => {
                    let v = regs[i.b as usize];
                    if let Value::Table(t) = v {
                        let tab = &st.heap.tables[t.index()];
                        if tab.lazy == Lazy::No {
                            regs[i.a as usize] = Value::Num(tab.len() as f64);
                            continue;
                        }
                    }
                    let v = slow!(meta::len(st, env, host, v, base + i.b as usize));
                    regs[i.a as usize] = v;
                }
                Op::Concat => {
                    slow!(meta::concat(st, env, host, base + i.b as usize, base + i.c as usize));
                    regs[i.a as usize] = regs[i.b as usize];
                    check_gc!();
                }
                Op::Jmp => jump!(i),
                Op::Eq => {
                    let (x, y) = (regs[i.a as usize], regs[i.b as usize]);
                    let r = match (x, y) {
                        (Value::Num(a), Value::Num(b)) => a == b,
                        (Value::Table(a), Value::Table(b)) if a != b => {
                            slow!(meta::equals(st, env, host, x, y))
                        }
                        _ => st.heap.raw_eq(x, y),
                    };
                    if r == (i.c != 0) {
                        jump!(i);
                    }
                }
                Op::EqK => {
                    if st.heap.raw_eq(regs[i.a as usize], k!(i.b)) == (i.c != 0) {
                        jump!(i);
                    }
                }
                Op::Lt => compare!(i, regs[i.a as usize], regs[i.b as usize], meta::less_than, |a, b| a < b),
                Op::LtRK => compare!(i, regs[i.a as usize], k!(i.b), meta::less_than, |a, b| a < b),
                Op::LtKR => compare!(i, k!(i.a), regs[i.b as usize], meta::less_than, |a, b| a < b),
                Op::Le => {
                    compare!(i, regs[i.a as usize], regs[i.b as usize], meta::less_equal, |a, b| a <= b)
                }
                Op::LeRK => compare!(i, regs[i.a as usize], k!(i.b), meta::less_equal, |a, b| a <= b),
                Op::LeKR => compare!(i, k!(i.a), regs[i.b as usize], meta::less_equal, |a, b| a <= b),
                Op::Test => {
                    if regs[i.a as usize].truthy() == (i.c != 0) {
                        jump!(i);
                    }
                }
                Op::TestSet => {
                    let v = regs[i.b as usize];
                    if v.truthy() == (i.c != 0) {
                        regs[i.a as usize] = v;
                        jump!(i);
                    }
                }
                Op::Call => {
                    if word.load(Ordering::Relaxed) != 0 {
                        // Open arguments lie beyond the frame: `top` must stay.
                        st.frames[fi].pc = pc as u32;
                        interrupted(word, host)?;
                    }
                    let func = base + i.a as usize;
                    let nargs = if i.b != 0 { i.b as usize - 1 } else { st.top - func - 1 };
                    st.frames[fi].pc = pc as u32;
                    // The common case without detours: a Lua function of fixed parameters, and room for it.
                    if !INSTR
                        && let Value::Func(f) = st.stack[func]
                        && let Code::Lua(p) = st.heap.closures[f.index()].code
                    {
                        let l = env.protos.get(p);
                        let base = func + 1;
                        if !l.is_vararg && st.frames.len() < st.max_frames && base + 264 <= st.stack.len() {
                            for n in nargs..l.num_params as usize {
                                st.stack[base + n] = Value::Nil;
                            }
                            fr = Frame {
                                func: func as u32,
                                base: base as u32,
                                pc: 0,
                                proto: p,
                                closure: f.0,
                                nresults: i.c as i32 - 1,
                                tailcalls: 0,
                                top: (base + l.max_stack as usize) as u32,
                            };
                            st.frames.push(fr);
                            continue 'frame;
                        }
                    }
                    let site = (i.d as usize).checked_sub(1).and_then(|s| proto.sites.get(s));
                    match precall(st, env, host, func, nargs, i.c as i32 - 1, site) {
                        Ok(Called::Lua) => {
                            if INSTR {
                                crate::trace::entered(st, env, host)?;
                            }
                            fr = st.frames[st.frames.len() - 1];
                            continue 'frame;
                        }
                        Ok(Called::Done) => {
                            ups = st.heap.closures[fr.closure as usize].ups as usize;
                            regs = window(&mut st.stack, base);
                        }
                        Err(e) => return Err(e),
                    }
                }
                Op::TailCall => {
                    let func = base + i.a as usize;
                    let nargs = if i.b != 0 { i.b as usize - 1 } else { st.top - func - 1 };
                    st.frames[fi].pc = pc as u32;
                    if word.load(Ordering::Relaxed) != 0 {
                        interrupted(word, host)?;
                    }
                    match precall(st, env, host, func, nargs, -1, None) {
                        Ok(Called::Lua) => {
                            tail_call(st, fi);
                            if INSTR {
                                crate::trace::entered(st, env, host)?;
                            }
                            fr = st.frames[st.frames.len() - 1];
                            continue 'frame;
                        }
                        Ok(Called::Done) => {
                            ups = st.heap.closures[fr.closure as usize].ups as usize;
                            regs = window(&mut st.stack, base);
                        }
                        Err(e) => return Err(e),
                    }
                }
                Op::Return => {
                    let from = base + i.a as usize;
                    let n = if i.b != 0 { i.b as usize - 1 } else { st.top - from };
                    if INSTR {
                        st.frames[fi].pc = pc as u32;
                        crate::trace::leaving(st, env, host)?;
                    }
                    if !st.open.is_empty() {
                        st.close_upvals(base as u32);
                    }
                    st.frames.pop();
                    let func = fr.func as usize;
                    if n == 1 && fr.nresults == 1 {
                        let v = st.stack[from];
                        put(&mut st.stack[func], v);
                    } else {
                        place_results(st, func, from, n, fr.nresults);
                    }
                    if fi < depth {
                        return Ok(());
                    }
                    fr = st.frames[fi - 1];
                    continue 'frame;
                }
                Op::ForPrep => {
                    let a = i.a as usize;
                    let vals = [regs[a], regs[a + 1], regs[a + 2]];
                    let [init, limit, step] = slow!(for_prep(st, env, vals));
                    regs[a] = Value::Num(init - step);
                    regs[a + 1] = Value::Num(limit);
                    regs[a + 2] = Value::Num(step);
                    pc = (pc as isize + i.jump() as isize) as usize;
                }
                Op::ForLoop => {
                    let a = i.a as usize;
                    if let (Value::Num(idx), Value::Num(limit), Value::Num(step)) =
                        (regs[a], regs[a + 1], regs[a + 2])
                    {
                        let idx = idx + step;
                        if if step > 0.0 { idx <= limit } else { limit <= idx } {
                            regs[a] = Value::Num(idx);
                            regs[a + 3] = Value::Num(idx);
                            pc = (pc as isize + i.jump() as isize) as usize;
                            if word.load(Ordering::Relaxed) != 0 {
                                slow!(interrupted(word, host));
                            }
                        }
                    }
                }
                Op::TForLoop => {
                    let a = i.a as usize;
                    let f = regs[a];
                    // `next` and the iterator of `ipairs` need no call.
                    if let Value::Native(id) = f {
                        if id == st.next_fn || id == st.global_next {
                            if let (Value::Table(t), key) = (regs[a + 1], regs[a + 2]) {
                                let r = slow!(crate::lib_base::next_entry(st, env, t, key));
                                match r {
                                    Some((key, v)) => {
                                        regs[a + 2] = key;
                                        regs[a + 3] = key;
                                        if i.c >= 2 {
                                            regs[a + 4] = v;
                                            for r in 2..i.c as usize {
                                                regs[a + 3 + r] = Value::Nil;
                                            }
                                        }
                                        jump!(i);
                                    }
                                    None => {
                                        for r in 0..i.c as usize {
                                            regs[a + 3 + r] = Value::Nil;
                                        }
                                    }
                                }
                                continue;
                            }
                        } else if id == st.ipairs_fn
                            && let (Value::Table(t), Value::Num(n)) = (regs[a + 1], regs[a + 2])
                            && st.heap.tables[t.index()].lazy == Lazy::No
                        {
                            let v = st.heap.tables[t.index()].get_num(n + 1.0);
                            if !v.is_nil() {
                                regs[a + 2] = Value::Num(n + 1.0);
                                regs[a + 3] = Value::Num(n + 1.0);
                                if i.c >= 2 {
                                    regs[a + 4] = v;
                                    for r in 2..i.c as usize {
                                        regs[a + 3 + r] = Value::Nil;
                                    }
                                }
                                jump!(i);
                            } else {
                                for r in 0..i.c as usize {
                                    regs[a + 3 + r] = Value::Nil;
                                }
                            }
                            continue;
                        }
                    }
                    let cb = a + 3;
                    regs[cb] = f;
                    regs[cb + 1] = regs[a + 1];
                    regs[cb + 2] = regs[a + 2];
                    let nres = i32::from(i.c);
                    slow!(crate::call::call_value(st, env, host, base + cb, 2, nres));
                    let v = regs[cb];
                    if !v.is_nil() {
                        regs[a + 2] = v;
                        jump!(i);
                    }
                }
                Op::SetList => {
                    let a = i.a as usize;
                    let n = if i.b != 0 { i.b as usize } else { st.top - (base + a) - 1 };
                    if let Value::Table(t) = regs[a] {
                        slow!(set_list(st, env, t, base + a, n, i.d as usize));
                    }
                    check_gc!();
                }
                Op::Close => {
                    st.close_upvals((base + i.a as usize) as u32);
                    regs = window(&mut st.stack, base);
                }
                Op::Closure => {
                    let p = proto.inner[i.d as usize];
                    let l = env.protos.get(p);
                    let first = st.heap.up_pool.len();
                    for u in &l.ups {
                        let id = if u.in_stack {
                            st.find_upval((base + u.index as usize) as u32)
                        } else {
                            st.heap.up_pool[ups + u.index as usize]
                        };
                        st.heap.up_pool.push(id);
                    }
                    let f = st.heap.new_closure(Code::Lua(p), first);
                    regs = window(&mut st.stack, base);
                    regs[i.a as usize] = Value::Func(f);
                    check_gc!();
                }
                Op::Vararg => {
                    let from = fr.func as usize + 1 + proto.num_params as usize;
                    let n = base - from;
                    let a = base + i.a as usize;
                    let wanted = if i.b == 0 { n } else { i.b as usize - 1 };
                    if a + wanted + 256 > st.stack.len() {
                        st.grow_stack(a + wanted + 256);
                    }
                    for j in 0..wanted {
                        st.stack[a + j] = if j < n { st.stack[from + j] } else { Value::Nil };
                    }
                    if i.b == 0 {
                        st.top = a + n;
                    }
                    regs = window(&mut st.stack, base);
                }
            }
        }
    }
}

/// The frame just pushed replaces the one below it.
fn tail_call(st: &mut State, fi: usize) {
    let old = st.frames[fi];
    let new = st.frames[fi + 1];
    if !st.open.is_empty() {
        st.close_upvals(old.base);
    }
    let from = new.func as usize;
    // Registers of the new function hold nothing yet but its parameters, and varargs lie below them.
    let used = new.top as usize - from;
    let to = old.func as usize;
    st.stack.copy_within(from..from + used, to);
    let f = &mut st.frames[fi];
    f.base = old.func + (new.base - new.func);
    f.pc = 0;
    f.proto = new.proto;
    f.closure = new.closure;
    f.tailcalls = old.tailcalls + 1;
    f.top = f.base + (new.top - new.base);
    st.frames.pop();
    debug_assert!(st.frames[fi].proto != NATIVE);
}

#[cold]
fn new_table_slow(
    st: &mut State,
    env: &Env<'_>,
    na: usize,
    nh: usize,
) -> Result<crate::value::TableId, LuaError> {
    crate::gc::collect(st, env);
    st.heap.new_table(na, nh).ok_or(LuaError::Limit(Limit::Memory))
}

fn for_prep(st: &mut State, env: &Env<'_>, v: [Value; 3]) -> Result<[f64; 3], LuaError> {
    let mut out = [0.0; 3];
    for (i, what) in ["initial value", "limit", "step"].into_iter().enumerate() {
        match st.to_number(v[i]) {
            Some(n) => out[i] = n,
            None => return Err(crate::call::run_error(st, env, &format!("'for' {what} must be a number"))),
        }
    }
    Ok(out)
}

/// Stores `n` values after stack slot `at` into a table, under `first` + 1 and on.
fn set_list(
    st: &mut State,
    env: &Env<'_>,
    t: crate::value::TableId,
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
    let _ = env;
    Ok(())
}
