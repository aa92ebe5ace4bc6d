//! The interpreter's side of the instrumented mode.

use crate::host::{Host, Tick};
use crate::instrument::{Event, EventKind};
use crate::native::{Env, State};
use crate::thread::NATIVE;
use crate::value::{Limit, LuaError};

fn send(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    kind: EventKind,
    pc: usize,
) -> Result<(), LuaError> {
    let Some(f) = st.frames.last() else { return Ok(()) };
    if f.proto == NATIVE {
        return Ok(());
    }
    let l = env.protos.get(f.proto);
    let event = Event { kind, chunk: &l.chunk.short, line: l.line(pc), st, protos: env.protos };
    if host.event(event) == Tick::Stop { Err(LuaError::Stop) } else { Ok(()) }
}

/// A Lua function was entered.
pub(crate) fn entered(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    st.last_line = (usize::MAX, 0);
    // A run that was left to sweep code enters nothing when it goes on.
    let goes_on = std::mem::take(&mut st.goes_on);
    if !st.instrument.calls || goes_on {
        return Ok(());
    }
    let pc = st.frames.last().map_or(0, |f| f.pc as usize);
    send(st, env, host, EventKind::Call, pc)
}

/// A Lua function is about to return.
pub(crate) fn leaving(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    if !st.instrument.calls {
        return Ok(());
    }
    let pc = st.frames.last().map_or(0, |f| (f.pc as usize).saturating_sub(1));
    send(st, env, host, EventKind::Return, pc)
}

/// An instruction is about to run.
pub(crate) fn instruction(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    pc: usize,
) -> Result<(), LuaError> {
    st.steps += 1;
    let i = st.instrument;
    if i.max_steps != 0 && st.steps > i.max_steps {
        return Err(LuaError::Limit(Limit::Steps));
    }
    if i.tick_every != 0 && st.steps.is_multiple_of(i.tick_every) && host.tick() == Tick::Stop {
        return Err(LuaError::Stop);
    }
    if !i.lines {
        return Ok(());
    }
    let depth = st.frames.len();
    let Some(f) = st.frames.last_mut() else { return Ok(()) };
    // Frames keep the next instruction; the event shows the one about to run.
    f.pc = pc as u32 + 1;
    let line = env.protos.get(f.proto).line(pc);
    let (last_pc_depth, last_line) = st.last_line;
    let back = pc <= st.last_pc;
    st.last_pc = pc;
    if last_pc_depth == depth && last_line == line && !back {
        return Ok(());
    }
    st.last_line = (depth, line);
    send(st, env, host, EventKind::Line, pc)
}
