//! What messages and debuggers tell about running code: positions, names of values, frames.

use crate::instrument::FrameInfo;
use crate::native::State;
use crate::op::{Instr, Op};
use crate::protos::{Loaded, ProtoArena};
use crate::thread::{Frame, NATIVE};
use crate::value::Value;

/// What `lua_getstack` finds at a level: a frame, or the ghost of a tail call.
pub(crate) enum Level {
    Frame(usize),
    TailCall,
}

/// Level 0 is the running function.
pub(crate) fn level(st: &State, level: usize) -> Option<Level> {
    let mut left = level as i64;
    let mut i = st.frames.len();
    while left > 0 && i > 1 {
        i -= 1;
        left -= 1;
        let f = &st.frames[i];
        if f.proto != NATIVE {
            left -= i64::from(f.tailcalls);
        }
    }
    if i == 0 || (left > 0) {
        None
    } else if left < 0 {
        Some(Level::TailCall)
    } else {
        Some(Level::Frame(i - 1))
    }
}

pub(crate) fn current_line(protos: &ProtoArena, f: &Frame) -> u32 {
    protos.get(f.proto).line((f.pc as usize).saturating_sub(1))
}

/// Chunk and line of the Lua function at a level; none when a native function or a lost tail call is there.
pub(crate) fn position_at_level<'a>(
    st: &'a State,
    protos: &'a ProtoArena,
    lv: usize,
) -> Option<(&'a str, u32)> {
    match level(st, lv)? {
        Level::Frame(i) if st.frames[i].proto != NATIVE => {
            let f = &st.frames[i];
            Some((&protos.get(f.proto).chunk.short, current_line(protos, f)))
        }
        _ => None,
    }
}

/// `luaL_where`: `chunk:line: `, or nothing.
pub(crate) fn where_prefix(st: &State, protos: &ProtoArena, lv: usize) -> Vec<u8> {
    match level(st, lv) {
        Some(Level::Frame(i)) if st.frames[i].proto != NATIVE => {
            let f = &st.frames[i];
            let mut text = protos.get(f.proto).chunk.short_bytes.to_vec();
            text.extend_from_slice(format!(":{}: ", current_line(protos, f)).as_bytes());
            text
        }
        _ => Vec::new(),
    }
}

/// Source and line that Redis's error handler reports: of the function that raised the error or, when that is not Lua,
/// of its caller.
pub(crate) fn raise_position(st: &State, protos: &ProtoArena, skip: usize) -> Option<(String, i64)> {
    let describe = |l: Level| match l {
        Level::TailCall => ("=(tail call)".to_owned(), -1),
        Level::Frame(i) if st.frames[i].proto == NATIVE => ("=[C]".to_owned(), -1),
        Level::Frame(i) => {
            let f = &st.frames[i];
            (protos.get(f.proto).chunk.source.to_string(), i64::from(current_line(protos, f)))
        }
    };
    let first = level(st, skip)?;
    if matches!(first, Level::Frame(i) if st.frames[i].proto == NATIVE) {
        return level(st, skip + 1).map(describe);
    }
    Some(describe(first))
}

/// Name of the local variable in register `reg` at instruction `pc`.
fn local_name(l: &Loaded, reg: u32, pc: u32) -> Option<&str> {
    let mut n = reg + 1;
    for v in &l.proto().locals {
        if v.start > pc {
            break;
        }
        if pc < v.end {
            n -= 1;
            if n == 0 {
                return Some(&v.name);
            }
        }
    }
    None
}

/// Index of the last instruction before `last_pc` that set register `reg`, found by running the code symbolically.
fn find_setter(l: &Loaded, last_pc: usize, reg: u32) -> Option<Instr> {
    let mut last = None;
    let mut pc = 0;
    while pc < last_pc {
        let i = l.code[pc];
        let a = u32::from(i.a);
        let sets = match i.op {
            Op::LoadNil => a <= reg && reg <= u32::from(i.b),
            Op::SelfK => reg == a || reg == a + 1,
            Op::Call | Op::TailCall => reg >= a,
            Op::TForLoop => reg >= a + 2,
            Op::SetUpval
            | Op::SetGlobal
            | Op::SetTable
            | Op::SetTableRK
            | Op::SetField
            | Op::SetFieldK
            | Op::Jmp
            | Op::Eq
            | Op::EqK
            | Op::Lt
            | Op::LtRK
            | Op::LtKR
            | Op::Le
            | Op::LeRK
            | Op::LeKR
            | Op::Return
            | Op::SetList
            | Op::Close => false,
            _ => a == reg,
        };
        if sets {
            last = Some(i);
        }
        if i.is_jump() {
            let dest = pc as i64 + 1 + i64::from(i.jump());
            if dest > pc as i64 && dest <= last_pc as i64 {
                pc = dest as usize;
                continue;
            }
        }
        pc += 1;
    }
    last
}

fn const_name(st: &State, l: &Loaded, k: u32) -> Vec<u8> {
    match l.k.get(k as usize) {
        Some(Value::Str(s)) => c_str(st.heap.str(*s)).to_vec(),
        _ => b"?".to_vec(),
    }
}

/// Messages are C strings: they end at the first zero byte.
pub(crate) fn c_str(s: &[u8]) -> &[u8] {
    s.split(|b| *b == 0).next().unwrap_or_default()
}

/// Kind and name of what register `reg` of a frame holds.
pub(crate) fn object_name(
    st: &State,
    protos: &ProtoArena,
    frame: &Frame,
    reg: u32,
) -> Option<(&'static str, Vec<u8>)> {
    if frame.proto == NATIVE {
        return None;
    }
    let l = protos.get(frame.proto);
    let mut reg = reg;
    let pc = (frame.pc as usize).saturating_sub(1);
    loop {
        if let Some(name) = local_name(l, reg, pc as u32) {
            return Some(("local", name.as_bytes().to_vec()));
        }
        let i = find_setter(l, pc, reg)?;
        return match i.op {
            Op::GetGlobal => Some(("global", const_name(st, l, i.d))),
            Op::Move if i.b < i.a => {
                reg = u32::from(i.b);
                continue;
            }
            Op::GetField | Op::GetTableK => Some(("field", const_name(st, l, i.d))),
            Op::GetTable => Some(("field", b"?".to_vec())),
            Op::GetUpval => {
                let name = l.proto().upval_names.get(i.b as usize);
                Some(("upvalue", name.map_or_else(|| b"?".to_vec(), |n| n.as_bytes().to_vec())))
            }
            Op::SelfK => Some(("method", const_name(st, l, i.d))),
            _ => None,
        };
    }
}

/// Name under which the function of frame `index` was called.
pub(crate) fn function_name(
    st: &State,
    protos: &ProtoArena,
    index: usize,
) -> Option<(&'static str, Vec<u8>)> {
    let f = &st.frames[index];
    if (f.proto != NATIVE && f.tailcalls > 0) || index == 0 {
        return None;
    }
    let caller = &st.frames[index - 1];
    if caller.proto == NATIVE {
        return None;
    }
    let i = protos.get(caller.proto).code[(caller.pc as usize).saturating_sub(1)];
    match i.op {
        Op::Call | Op::TailCall | Op::TForLoop => object_name(st, protos, caller, u32::from(i.a)),
        _ => None,
    }
}

/// `luaL_argerror` without the position.
pub(crate) fn arg_error_text(st: &State, protos: &ProtoArena, arg: usize, msg: &[u8]) -> Vec<u8> {
    let top = st.frames.len().saturating_sub(1);
    let name = function_name(st, protos, top);
    let mut arg = arg as i64;
    let mut out = Vec::new();
    if let Some(("method", n)) = &name {
        arg -= 1;
        if arg == 0 {
            for part in [b"calling '", n.as_slice(), b"' on bad self (", msg, b")"] {
                out.extend_from_slice(part);
            }
            return out;
        }
    }
    let name = name.as_ref().map_or(b"?".as_slice(), |(_, n)| n.as_slice());
    for part in [format!("bad argument #{arg} to '").as_bytes(), name, b"' (", msg, b")"] {
        out.extend_from_slice(part);
    }
    out
}

/// Describes frame `level` for debuggers.
pub(crate) fn frame_info<'a>(st: &'a State, protos: &'a ProtoArena, level: usize) -> Option<FrameInfo<'a>> {
    let f = st.frames.len().checked_sub(level + 1).map(|i| &st.frames[i])?;
    if f.proto == NATIVE {
        return Some(FrameInfo { chunk: "[C]", line: 0, defined: 0 });
    }
    let l = protos.get(f.proto);
    Some(FrameInfo { chunk: &l.chunk.short, line: current_line(protos, f), defined: l.proto().line })
}

/// Local variables in scope of frame `level`.
pub(crate) fn locals<'a>(st: &'a State, protos: &'a ProtoArena, level: usize) -> Vec<(&'a str, Value)> {
    let Some(f) = st.frames.len().checked_sub(level + 1).map(|i| &st.frames[i]) else {
        return Vec::new();
    };
    if f.proto == NATIVE {
        return Vec::new();
    }
    let l = protos.get(f.proto);
    let pc = f.pc.saturating_sub(1);
    l.proto()
        .locals
        .iter()
        .filter(|v| v.start <= pc && pc < v.end)
        .enumerate()
        .map(|(i, v)| (&*v.name, st.stack[f.base as usize + i]))
        .collect()
}

/// Upvalues of the function in frame `level`.
pub(crate) fn upvalues<'a>(st: &'a State, protos: &'a ProtoArena, level: usize) -> Vec<(&'a str, Value)> {
    let Some(f) = st.frames.len().checked_sub(level + 1).map(|i| &st.frames[i]) else {
        return Vec::new();
    };
    if f.proto == NATIVE {
        return Vec::new();
    }
    let l = protos.get(f.proto);
    let c = st.heap.closures[f.closure as usize];
    l.proto()
        .upval_names
        .iter()
        .enumerate()
        .filter_map(|(i, n)| {
            let u = *st.heap.up_pool.get(c.ups as usize + i)?;
            Some((&**n, st.upval_get(u)))
        })
        .collect()
}
