//! The interpreter: one `match` over 8-byte instructions. The registers of a function are borrowed as an array of 256
//! once per call, so that 8-bit operands need no bounds checks. Only what ends quickly is done here: everything else
//! leaves the `match` for [`crate::slow`], which may move the stack or call back; the registers are borrowed anew after
//! it. So the loop holds few values, and the compiler keeps them in registers.

use std::sync::atomic::Ordering;

use crate::call::{
    Called, MAX_C_CALLS, handle, native_rust, native_rust_inline, place_results, precall, safe_point,
    shift_varargs,
};
use crate::heap::{Code, UpVal};
use crate::host::Host;
use crate::meta;
use crate::native::{Env, NativeKind, State, interrupted};
use crate::op::Op;
use crate::parser::fb_to_int;
use crate::protos::Name;
use crate::slow;
use crate::table::Lazy;
use crate::thread::{Frame, NATIVE};
use crate::value::{LuaError, Value, fast_int, put};

type Window = [Value; 256];

/// The stack below a frame, where the locals of enclosing functions and the variable arguments are, and the frame's
/// registers.
#[inline(always)]
fn split(stack: &mut [Value], base: usize) -> (&mut [Value], &mut Window) {
    let (low, high) = stack.split_at_mut(base);
    match high.first_chunk_mut() {
        Some(w) => (low, w),
        None => unreachable!("every frame has 256 slots of the stack"),
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
    'frame: loop {
        let fr = st.frames[st.frames.len() - 1];
        let mut base = fr.base as usize;
        let mut proto = env.protos.get(fr.proto);
        let mut code: &[crate::op::Instr] = &proto.code;
        let mut pc = fr.pc as usize;
        let mut ups = st.heap.closures[fr.closure as usize].ups as usize;
        let mut regs: &mut Window = split(&mut st.stack, base).1;

        // What a call must find in the frame; `top` stays, as open arguments lie beyond the frame.
        macro_rules! save_pc {
            () => {
                if let Some(f) = st.frames.last_mut() {
                    f.pc = pc as u32;
                }
            };
        }
        macro_rules! save {
            () => {
                if let Some(f) = st.frames.last_mut() {
                    f.pc = pc as u32;
                    st.top = f.top as usize;
                }
            };
        }
        // After anything that may have moved the stack or collected garbage.
        macro_rules! reload_registers {
            () => {
                if let Some(f) = st.frames.last() {
                    ups = st.heap.closures[f.closure as usize].ups as usize;
                }
                regs = split(&mut st.stack, base).1;
            };
        }
        // The same with the position: if it lived across calls it would live in memory all the time.
        macro_rules! reload {
            () => {
                if let Some(f) = st.frames.last() {
                    pc = f.pc as usize;
                }
                reload_registers!();
            };
        }
        macro_rules! k {
            ($d:expr) => {
                proto.k[$d as usize]
            };
        }
        macro_rules! r {
            ($a:expr) => {
                regs[$a as usize]
            };
        }

        'next: loop {
            let i = &code[pc];
            if INSTR {
                // Open results of the instruction before end at `top`: it must stay.
                let top = st.top;
                save!();
                if let Err(e) = crate::trace::instruction(st, env, host, pc, top) {
                    return Err(handle(st, env, host, e));
                }
                st.top = top;
                reload_registers!();
            }
            pc += 1;
            macro_rules! arith {
                ($x:expr, $y:expr, |$a:ident, $b:ident| $e:expr) => {
                    if let (&Value::Num($a), &Value::Num($b)) = (&$x, &$y) {
                        r!(i.a) = Value::Num($e);
                        continue 'next;
                    }
                };
            }
            macro_rules! rr {
                (|$a:ident, $b:ident| $e:expr) => {
                    arith!(r!(i.b), r!(i.c), |$a, $b| $e)
                };
            }
            macro_rules! rk {
                (|$a:ident, $b:ident| $e:expr) => {
                    arith!(r!(i.b), k!(i.d), |$a, $b| $e)
                };
            }
            macro_rules! kr {
                (|$a:ident, $b:ident| $e:expr) => {
                    arith!(k!(i.d), r!(i.c), |$a, $b| $e)
                };
            }
            // Ways out of the match: `continue` when the instruction is done, `break 'jump` when it jumps, `break
            // 'gc` when a collection may be due. Otherwise
            // the slow way does it.
            'gc: {
                'jump: {
                    macro_rules! compare {
                        ($x:expr, $y:expr, |$a:ident, $b:ident| $e:expr) => {
                            if let (&Value::Num($a), &Value::Num($b)) = (&$x, &$y) {
                                if ($e) == (i.c != 0) {
                                    break 'jump;
                                }
                                continue 'next;
                            }
                        };
                    }
                    // The mathematical library is called, so registers are borrowed anew.
                    macro_rules! pow {
                        ($x:expr, $y:expr) => {
                            if let (&Value::Num(a), &Value::Num(b)) = (&$x, &$y) {
                                save_pc!();
                                let n = meta::pow(a, b);
                                reload!();
                                r!(i.a) = Value::Num(n);
                                continue 'next;
                            }
                        };
                    }
                    macro_rules! order {
                        (|$o:ident| $e:expr) => {
                            if let (&Value::Str(a), &Value::Str(b)) = (&r!(i.a), &r!(i.b)) {
                                save_pc!();
                                let $o = st.heap.strs.compare(a, b);
                                reload!();
                                if ($e) == (i.c != 0) {
                                    break 'jump;
                                }
                                continue 'next;
                            }
                        };
                    }
                    macro_rules! equal {
                        ($y:expr) => {{
                            let equal = match (&r!(i.a), &$y) {
                                (Value::Num(a), Value::Num(b)) => Some(a == b),
                                (Value::Str(a), Value::Str(b)) if !a.is_long() => Some(a == b),
                                (Value::Table(a), Value::Table(b)) if a == b => Some(true),
                                (Value::Str(_), Value::Str(_)) | (Value::Table(_), Value::Table(_)) => None,
                                (a, b) => Some(a.same(*b)),
                            };
                            if let Some(equal) = equal {
                                if equal == (i.c != 0) {
                                    break 'jump;
                                }
                                continue 'next;
                            }
                        }};
                    }
                    match i.op {
                        Op::Move => {
                            put!(r!(i.a), r!(i.b));
                            continue 'next;
                        }
                        Op::LoadK => {
                            r!(i.a) = k!(i.d);
                            continue 'next;
                        }
                        Op::LoadBool => {
                            r!(i.a) = Value::Bool(i.b != 0);
                            pc += i.c as usize;
                            continue 'next;
                        }
                        Op::LoadNil => {
                            for n in i.a..=i.b {
                                r!(n) = Value::Nil;
                            }
                            continue 'next;
                        }
                        Op::GetUpval => {
                            let u = st.heap.up_pool[ups + i.b as usize];
                            let up = &st.heap.upvals[u as usize];
                            if let UpVal::Closed(v) = up {
                                put!(r!(i.a), *v);
                                continue 'next;
                            }
                            if let &UpVal::Open { thread, slot } = up
                                && thread == st.current
                            {
                                let low;
                                (low, regs) = split(&mut st.stack, base);
                                if let Some(v) = low.get(slot as usize) {
                                    put!(r!(i.a), *v);
                                    continue 'next;
                                }
                            }
                        }
                        Op::SetUpval => {
                            let u = st.heap.up_pool[ups + i.b as usize];
                            let up = &mut st.heap.upvals[u as usize];
                            if let UpVal::Closed(v) = up {
                                put!(*v, r!(i.a));
                                continue 'next;
                            }
                            if let &mut UpVal::Open { thread, slot } = up
                                && thread == st.current
                            {
                                let low;
                                (low, regs) = split(&mut st.stack, base);
                                if let Some(v) = low.get_mut(slot as usize) {
                                    put!(*v, r!(i.a));
                                    continue 'next;
                                }
                            }
                        }
                        Op::GetGlobal => {
                            let Name { s, hash } = proto.names[i.d as usize];
                            if let Some(v) = st.heap.tables[st.globals.index()].short(s, hash)
                                && !v.is_nil()
                            {
                                put!(r!(i.a), *v);
                                continue 'next;
                            }
                        }
                        Op::SetGlobal => {
                            let Name { s, hash } = proto.names[i.d as usize];
                            let tab = &mut st.heap.tables[st.globals.index()];
                            if !tab.readonly
                                && let Some(slot) = tab.short_mut(s, hash)
                                && !slot.is_nil()
                            {
                                put!(*slot, r!(i.a));
                                continue 'next;
                            }
                        }
                        Op::GetTable => {
                            // Matching in place: copying a value whole that was just written in halves stalls the
                            // processor.
                            if let &Value::Table(id) = &r!(i.b) {
                                let tab = &st.heap.tables[id.index()];
                                let v = match r!(i.c) {
                                    Value::Num(n) => tab.number(n),
                                    Value::Str(s) => match st.heap.strs.known_hash(s) {
                                        Some(h) => tab.short(s, h),
                                        None => None,
                                    },
                                    _ => None,
                                };
                                if let Some(v) = v
                                    && !v.is_nil()
                                {
                                    put!(r!(i.a), *v);
                                    continue 'next;
                                }
                            }
                        }
                        Op::GetField => {
                            if let &Value::Table(id) = &r!(i.b) {
                                let Name { s, hash } = proto.names[i.d as usize];
                                let tab = &st.heap.tables[id.index()];
                                if let Some(v) = tab.short(s, hash)
                                    && !v.is_nil()
                                {
                                    put!(r!(i.a), *v);
                                    continue 'next;
                                }
                                if let Some(v) = st.heap.inherited(tab, s, hash) {
                                    put!(r!(i.a), *v);
                                    continue 'next;
                                }
                            }
                        }
                        Op::GetTableK => {
                            if let (&Value::Table(id), &Value::Num(n)) = (&r!(i.b), &k!(i.d)) {
                                let v = st.heap.tables[id.index()].get_num(n);
                                if !v.is_nil() {
                                    r!(i.a) = v;
                                    continue 'next;
                                }
                                // The first use of KEYS or ARGV, which nearly every script makes.
                                if st.heap.tables[id.index()].lazy != Lazy::No {
                                    save_pc!();
                                    let v = st.index_inputs(env, id, Value::Num(n));
                                    reload!();
                                    if !v.is_nil() {
                                        r!(i.a) = v;
                                        continue 'next;
                                    }
                                }
                            }
                        }
                        Op::SelfK => {
                            let Name { s, hash } = proto.names[i.d as usize];
                            match r!(i.b) {
                                Value::Table(id) => {
                                    let tab = &st.heap.tables[id.index()];
                                    let v = match tab.short(s, hash) {
                                        Some(v) if !v.is_nil() => Some(v),
                                        _ => st.heap.inherited(tab, s, hash),
                                    };
                                    if let Some(v) = v {
                                        r!(i.a.wrapping_add(1)) = Value::Table(id);
                                        put!(r!(i.a), *v);
                                        continue 'next;
                                    }
                                }
                                Value::Str(object) => {
                                    if let Some(v) = st.heap.string_method(s, hash) {
                                        r!(i.a.wrapping_add(1)) = Value::Str(object);
                                        put!(r!(i.a), *v);
                                        continue 'next;
                                    }
                                }
                                _ => {}
                            }
                        }
                        Op::SetTable | Op::SetTableRK => {
                            let v = if i.op == Op::SetTable { &r!(i.c) } else { &k!(i.d) };
                            if let &Value::Table(id) = &r!(i.a) {
                                let tab = &mut st.heap.tables[id.index()];
                                match r!(i.b) {
                                    Value::Num(n) if !tab.readonly => {
                                        let plain = tab.meta_is_none();
                                        if let Some(slot) = tab.number_mut(n)
                                            && (plain || !slot.is_nil())
                                        {
                                            put!(*slot, *v);
                                            continue 'next;
                                        }
                                    }
                                    Value::Str(s) if !tab.readonly => {
                                        let plain = tab.meta_is_none();
                                        if let Some(h) = st.heap.strs.known_hash(s)
                                            && let Some(slot) = tab.short_mut(s, h)
                                            && (plain || !slot.is_nil())
                                        {
                                            put!(*slot, *v);
                                            continue 'next;
                                        }
                                    }
                                    _ => {}
                                }
                            }
                        }
                        Op::SetField | Op::SetFieldK => {
                            let (name, v) = if i.op == Op::SetField {
                                (i.d, &r!(i.c))
                            } else {
                                (i.d >> 16, &k!(i.d & 0xFFFF))
                            };
                            if let &Value::Table(id) = &r!(i.a) {
                                let Name { s, hash } = proto.names[name as usize];
                                let tab = &mut st.heap.tables[id.index()];
                                let plain = tab.meta_is_none();
                                if !tab.readonly
                                    && let Some(slot) = tab.short_mut(s, hash)
                                    && (plain || !slot.is_nil())
                                {
                                    put!(*slot, *v);
                                    continue 'next;
                                }
                            }
                        }
                        Op::NewTable => {
                            save_pc!();
                            let t = st.heap.new_table(fb_to_int(i.b), fb_to_int(i.c));
                            reload!();
                            if let Some(t) = t {
                                r!(i.a) = Value::Table(t);
                                break 'gc;
                            }
                        }
                        Op::Add => rr!(|a, b| a + b),
                        Op::Sub => rr!(|a, b| a - b),
                        Op::Mul => rr!(|a, b| a * b),
                        Op::Div => rr!(|a, b| a / b),
                        Op::Mod => rr!(|a, b| meta::lua_mod(a, b)),
                        Op::AddRK => rk!(|a, b| a + b),
                        Op::SubRK => rk!(|a, b| a - b),
                        Op::MulRK => rk!(|a, b| a * b),
                        Op::DivRK => rk!(|a, b| a / b),
                        Op::ModRK => rk!(|a, b| meta::lua_mod(a, b)),
                        Op::AddKR => kr!(|a, b| a + b),
                        Op::SubKR => kr!(|a, b| a - b),
                        Op::MulKR => kr!(|a, b| a * b),
                        Op::DivKR => kr!(|a, b| a / b),
                        Op::ModKR => kr!(|a, b| meta::lua_mod(a, b)),
                        Op::Unm => {
                            if let &Value::Num(n) = &r!(i.b) {
                                r!(i.a) = Value::Num(-n);
                                continue 'next;
                            }
                        }
                        Op::Not => {
                            r!(i.a) = Value::Bool(!r!(i.b).truthy());
                            continue 'next;
                        }
                        Op::Len => match r!(i.b) {
                            Value::Table(t) => {
                                let tab = &st.heap.tables[t.index()];
                                if tab.lazy == Lazy::No {
                                    save_pc!();
                                    let n = tab.len();
                                    reload!();
                                    r!(i.a) = Value::Num(n as f64);
                                    continue 'next;
                                }
                            }
                            Value::Str(s) => {
                                r!(i.a) = Value::Num(st.heap.strs.len(s) as f64);
                                continue 'next;
                            }
                            _ => {}
                        },
                        Op::Concat => {
                            save!();
                            let (from, to) = (base + i.b as usize, base + i.c as usize);
                            if let Err(e) = meta::concat(st, env, host, from, to) {
                                return Err(handle(st, env, host, e));
                            }
                            reload!();
                            put!(r!(i.a), r!(i.b));
                            break 'gc;
                        }
                        Op::Jmp => break 'jump,
                        Op::Eq => equal!(r!(i.b)),
                        Op::EqK => equal!(k!(i.b)),
                        Op::Lt => {
                            compare!(r!(i.a), r!(i.b), |a, b| a < b);
                            order!(|o| o.is_lt());
                        }
                        Op::LtRK => compare!(r!(i.a), k!(i.b), |a, b| a < b),
                        Op::LtKR => compare!(k!(i.a), r!(i.b), |a, b| a < b),
                        Op::Le => {
                            compare!(r!(i.a), r!(i.b), |a, b| a <= b);
                            order!(|o| o.is_le());
                        }
                        Op::LeRK => compare!(r!(i.a), k!(i.b), |a, b| a <= b),
                        Op::LeKR => compare!(k!(i.a), r!(i.b), |a, b| a <= b),
                        Op::Test => {
                            if r!(i.a).truthy() == (i.c != 0) {
                                break 'jump;
                            }
                            continue 'next;
                        }
                        Op::TestSet => {
                            if r!(i.b).truthy() == (i.c != 0) {
                                put!(r!(i.a), r!(i.b));
                                break 'jump;
                            }
                            continue 'next;
                        }
                        Op::Call => {
                            save_pc!();
                            if word.load(Ordering::Relaxed) != 0 {
                                interrupted(word, host)?;
                            }
                            let func = base + i.a as usize;
                            let nargs = if i.b != 0 { i.b as usize - 1 } else { st.top - func - 1 };
                            let wanted = i32::from(i.c) - 1;
                            match r!(i.a) {
                                // A Lua function, and room for it.
                                Value::Func(f) if !INSTR => {
                                    let c = st.heap.closures[f.index()];
                                    if let Code::Lua(p) = c.code {
                                        let l = env.protos.get(p);
                                        if st.frames.len() < st.max_frames && func + 265 <= st.stack.len() {
                                            base = func + 1;
                                            if l.is_vararg {
                                                base = shift_varargs(st, l, func, nargs)?;
                                            }
                                            proto = l;
                                            code = &l.code;
                                            pc = 0;
                                            ups = c.ups as usize;
                                            st.frames.push(Frame {
                                                func: func as u32,
                                                base: base as u32,
                                                pc: 0,
                                                proto: p,
                                                closure: f.0,
                                                nresults: wanted,
                                                tailcalls: 0,
                                                top: (base + l.max_stack as usize) as u32,
                                            });
                                            regs = split(&mut st.stack, base).1;
                                            if !l.is_vararg {
                                                for n in nargs..l.num_params as usize {
                                                    regs[n & 255] = Value::Nil;
                                                }
                                            }
                                            continue 'next;
                                        }
                                    }
                                }
                                Value::Native(id) => {
                                    if let NativeKind::Rust(f) = st.natives[id.0 as usize] {
                                        match native_rust_inline(st, env, host, f, func, nargs, wanted) {
                                            Ok(()) => {}
                                            Err(LuaError::Yield) => return Err(LuaError::Yield),
                                            Err(e) => return Err(e),
                                        }
                                        reload!();
                                        continue 'next;
                                    }
                                }
                                _ => {}
                            }
                            let site = (i.d as usize).checked_sub(1).and_then(|s| proto.sites.get(s));
                            match precall(st, env, host, func, nargs, wanted, site)? {
                                Called::Lua => {
                                    if INSTR {
                                        crate::trace::entered(st, env, host)?;
                                    }
                                    continue 'frame;
                                }
                                Called::Done => {
                                    reload!();
                                    continue 'next;
                                }
                            }
                        }
                        Op::TailCall => {
                            save_pc!();
                            let func = base + i.a as usize;
                            let nargs = if i.b != 0 { i.b as usize - 1 } else { st.top - func - 1 };
                            if word.load(Ordering::Relaxed) != 0 {
                                interrupted(word, host)?;
                            }
                            if !INSTR && replace_frame(st, env, func, nargs) {
                                continue 'frame;
                            }
                            let site = (i.d as usize).checked_sub(1).and_then(|s| proto.sites.get(s));
                            match precall(st, env, host, func, nargs, -1, site)? {
                                Called::Lua => {
                                    let new = st.frames.last().map_or(NATIVE, |f| f.proto);
                                    tail_call(st, env.protos.get(new).num_params as usize);
                                    if INSTR {
                                        crate::trace::entered(st, env, host)?;
                                    }
                                    continue 'frame;
                                }
                                Called::Done => {
                                    reload!();
                                    continue 'next;
                                }
                            }
                        }
                        Op::Return => {
                            if INSTR {
                                save_pc!();
                                crate::trace::leaving(st, env, host)?;
                            }
                            if let Some((slot, _)) = st.open.last()
                                && *slot as usize >= base
                            {
                                st.close_upvals(base as u32);
                            }
                            let from = base + i.a as usize;
                            let n = if i.b != 0 { i.b as usize - 1 } else { st.top - from };
                            let Some(fr) = st.frames.pop() else { return Ok(()) };
                            let func = fr.func as usize;
                            if fr.nresults == 1 && n == 1 {
                                put!(st.stack[func], st.stack[from]);
                            } else if fr.nresults != 0 {
                                place_results(st, func, from, n, fr.nresults);
                            }
                            if st.frames.len() < depth {
                                return Ok(());
                            }
                            continue 'frame;
                        }
                        Op::ForLoop1 => {
                            let a = i.a;
                            if let (Value::Num(at), Value::Num(limit)) = (&r!(a), &r!(a.wrapping_add(1))) {
                                let at = *at + 1.0;
                                if at <= *limit {
                                    r!(a) = Value::Num(at);
                                    r!(a.wrapping_add(3)) = Value::Num(at);
                                    break 'jump;
                                }
                            }
                            continue 'next;
                        }
                        Op::ForLoop => {
                            // None of the operands is near the last register, so they do not wrap.
                            let a = i.a;
                            if let (Value::Num(at), Value::Num(limit)) = (&r!(a), &r!(a.wrapping_add(1))) {
                                let limit = *limit;
                                let (at, more) = if let Value::Num(step) = &r!(a.wrapping_add(2)) {
                                    let at = at + step;
                                    (at, if *step > 0.0 { at <= limit } else { limit <= at })
                                } else {
                                    (*at, false)
                                };
                                if more {
                                    r!(a) = Value::Num(at);
                                    r!(a.wrapping_add(3)) = Value::Num(at);
                                    break 'jump;
                                }
                            }
                            continue 'next;
                        }
                        Op::SetList => {
                            let at = base + i.a as usize;
                            let n = if i.b != 0 { i.b as usize } else { st.top - at - 1 };
                            if let &Value::Table(t) = &r!(i.a) {
                                save!();
                                if let Err(e) = slow::set_list(st, t, at, n, i.d as usize) {
                                    return Err(handle(st, env, host, e));
                                }
                                reload!();
                            }
                            break 'gc;
                        }
                        Op::Close => {
                            save_pc!();
                            st.close_upvals((base + i.a as usize) as u32);
                            reload!();
                            continue 'next;
                        }
                        Op::Closure => {
                            save_pc!();
                            let f = slow::closure(st, env, proto.inner[i.d as usize], base, ups);
                            reload!();
                            r!(i.a) = Value::Func(f);
                            break 'gc;
                        }
                        Op::Vararg => {
                            let func = st.frames.last().map_or(base, |f| f.func as usize + 1);
                            let from = func + proto.num_params as usize;
                            let have = base.saturating_sub(from);
                            // A fixed number of them has room among the registers, as a few more have.
                            if i.b != 0 || i.a as usize + have <= 250 {
                                let count = if i.b != 0 { i.b as usize - 1 } else { have };
                                let low;
                                (low, regs) = split(&mut st.stack, base);
                                for n in 0..count {
                                    let to = &mut regs[(i.a as usize + n) & 255];
                                    match low.get(from + n) {
                                        Some(v) => put!(*to, *v),
                                        None => *to = Value::Nil,
                                    }
                                }
                                if i.b == 0 {
                                    st.top = base + i.a as usize + have;
                                }
                                continue 'next;
                            }
                            save_pc!();
                            slow::all_varargs(st, proto.num_params, base + i.a as usize);
                            reload!();
                            continue 'next;
                        }
                        Op::TForLoop => {
                            let a = i.a;
                            if let (&Value::Native(f), &Value::Table(t)) = (&r!(a), &r!(a.wrapping_add(1)))
                                && i.c <= 2
                            {
                                // The array part for `next` and the iterator of `ipairs`, which is empty in KEYS and
                                // ARGV before their use. `next` has no entry 0 to go on from.
                                let next = f == st.next_fn || f == st.global_next;
                                let at = match r!(a.wrapping_add(2)) {
                                    Value::Num(n) if next => fast_int(n).filter(|n| *n >= 1),
                                    Value::Num(n) if f == st.ipairs_fn => fast_int(n),
                                    Value::Nil if next => Some(0),
                                    _ => None,
                                };
                                if let Some(at) = at
                                    && let Some(v) = st.heap.tables[t.index()].array.get(at as usize)
                                    && !v.is_nil()
                                {
                                    let key = f64::from(at) + 1.0;
                                    r!(a.wrapping_add(2)) = Value::Num(key);
                                    r!(a.wrapping_add(3)) = Value::Num(key);
                                    if i.c == 2 {
                                        put!(r!(a.wrapping_add(4)), *v);
                                    }
                                    break 'jump;
                                }
                            }
                            // A function in Rust, as that of `gmatch`, needs no second interpreter.
                            if let &Value::Func(f) = &r!(a)
                                && let Code::Native(id) = st.heap.closures[f.index()].code
                                && let NativeKind::Rust(f) = st.natives[id.0 as usize]
                                && st.c_calls < MAX_C_CALLS / 2
                            {
                                for n in 0..3 {
                                    put!(r!(a.wrapping_add(3 + n)), r!(a.wrapping_add(n)));
                                }
                                save!();
                                st.c_calls += 1;
                                native_rust(st, env, host, f, base + a as usize + 3, 2, i32::from(i.c))?;
                                st.c_calls -= 1;
                                reload!();
                                if r!(a.wrapping_add(3)).is_nil() {
                                    continue 'next;
                                }
                                put!(r!(a.wrapping_add(2)), r!(a.wrapping_add(3)));
                                break 'jump;
                            }
                        }
                        Op::Pow => pow!(r!(i.b), r!(i.c)),
                        Op::PowRK => pow!(r!(i.b), k!(i.d)),
                        Op::PowKR => pow!(k!(i.d), r!(i.c)),
                        Op::ForPrep => {}
                    }
                    save!();
                    let next = match i.op {
                        Op::GetField | Op::GetTable | Op::GetTableK => {
                            slow::get(st, env, host, proto, base, *i)
                        }
                        Op::SetField | Op::SetFieldK | Op::SetTable | Op::SetTableRK => {
                            slow::set(st, env, host, proto, base, *i)
                        }
                        _ => slow::instruction(st, env, host, proto, base, *i),
                    };
                    match next {
                        Ok(slow::Next::Go) => {
                            reload!();
                            continue 'next;
                        }
                        Ok(slow::Next::Jump) => {
                            reload!();
                        }
                        Ok(slow::Next::Enter) => {
                            if INSTR {
                                crate::trace::entered(st, env, host)?;
                            }
                            continue 'frame;
                        }
                        Err(e) => return Err(handle(st, env, host, e)),
                    }
                }
                let off = i.jump();
                pc = pc.wrapping_add_signed(off as isize);
                if off >= 0 || word.load(Ordering::Relaxed) == 0 {
                    continue 'next;
                }
                save!();
                if let Err(e) = interrupted(word, host) {
                    return Err(handle(st, env, host, e));
                }
                reload!();
                continue 'next;
            }
            if st.heap.wants_gc() {
                save!();
                if let Err(e) = safe_point(st, env) {
                    return Err(handle(st, env, host, e));
                }
                reload!();
            }
        }
    }
}

/// A tail call of a Lua function without varargs: it takes the frame over. False when it is something else.
#[inline]
fn replace_frame(st: &mut State, env: &Env<'_>, func: usize, nargs: usize) -> bool {
    let Value::Func(f) = st.stack[func] else { return false };
    let Code::Lua(proto) = st.heap.closures[f.index()].code else { return false };
    let new = env.protos.get(proto);
    let Some(&old) = st.frames.last() else { return false };
    if new.is_vararg {
        return false;
    }
    if !st.open.is_empty() {
        st.close_upvals(old.base);
    }
    // The stack is long enough: the frame begins where the old one did.
    let (to, params) = (old.func as usize, new.num_params as usize);
    for n in 0..=nargs.min(params) {
        put!(st.stack[to + n], st.stack[func + n]);
    }
    for n in nargs..params {
        st.stack[to + 1 + n] = Value::Nil;
    }
    if let Some(frame) = st.frames.last_mut() {
        frame.base = old.func + 1;
        frame.pc = 0;
        frame.proto = proto;
        frame.closure = f.0;
        frame.tailcalls = old.tailcalls + 1;
        frame.top = frame.base + u32::from(new.max_stack);
    }
    true
}

/// The frame just pushed replaces the one below it.
fn tail_call(st: &mut State, params: usize) {
    let Some(new) = st.frames.pop() else { return };
    let Some(&old) = st.frames.last() else { return };
    if !st.open.is_empty() {
        st.close_upvals(old.base);
    }
    let from = new.func as usize;
    // Registers of the new function hold nothing yet but its parameters, and the `arg` of a function with varargs, which
    // lie below them.
    let used = (new.base - new.func) as usize + params + 1;
    let to = old.func as usize;
    if used > 16 {
        st.stack.copy_within(from..from + used, to);
    } else {
        for n in 0..used {
            put!(st.stack[to + n], st.stack[from + n]);
        }
    }
    debug_assert!(old.proto != NATIVE);
    if let Some(f) = st.frames.last_mut() {
        f.base = old.func + (new.base - new.func);
        f.pc = 0;
        f.proto = new.proto;
        f.closure = new.closure;
        f.tailcalls = old.tailcalls + 1;
        f.top = f.base + (new.top - new.base);
    }
}
