//! The interpreter's side of the instrumented mode.

use crate::call::take_reply;
use crate::host::{Host, Tick};
use crate::instrument::{Event, EventKind, Then};
use crate::lib_base;
use crate::native::{Ctx, Env, State};
use crate::op::Op;
use crate::thread::NATIVE;
use crate::value::{Limit, LuaError, Value};
use crate::view::View;

/// Tells the host, and does what it answers. `free` is where the stack is free for code of its own.
fn send(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    kind: EventKind,
    (pc, free): (usize, usize),
) -> Result<(), LuaError> {
    let (mut kind, mut outcome) = (kind, None);
    st.materialise_inputs(env);
    loop {
        let Some(f) = st.frames.last() else { return Ok(()) };
        if f.proto == NATIVE {
            return Ok(());
        }
        let l = env.protos.get(f.proto);
        let view = View { heap: &st.heap };
        let shown = outcome.as_ref().map(|outcome: &Result<Value, Vec<u8>>| match outcome {
            Ok(value) => Ok(view.value(*value)),
            Err(text) => Err(text.as_slice()),
        });
        let event =
            Event { kind, chunk: &l.chunk.short, line: l.line(pc), outcome: shown, st, protos: env.protos };
        match host.event(event) {
            Then::Continue => return Ok(()),
            Then::Stop => return Err(LuaError::Stop),
            Then::Raise(reply) => {
                let top = std::mem::replace(&mut st.top, free);
                let n = take_reply(st, &reply, free, 0)?;
                let value = if n == 0 { Value::Nil } else { st.stack[st.top - 1] };
                st.top = top;
                return Err(LuaError::raise(value));
            }
            Then::Evaluate(code) => {
                outcome = Some(evaluate(st, env, host, &code, free)?);
                kind = EventKind::Evaluated;
            }
        }
    }
}

/// Runs code of the host's in the middle of the run, without events. Whatever it raises is its outcome.
fn evaluate(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    code: &[u8],
    free: usize,
) -> Result<Result<Value, Vec<u8>>, LuaError> {
    let instrument = std::mem::take(&mut st.instrument);
    let (top, line, pc) = (st.top, st.last_line, st.last_pc);
    if free + 300 > st.stack.len() {
        st.grow_stack(free + 300);
    }
    st.top = free;
    let outcome = lib_base::evaluate(&mut Ctx { st, env, host, base: free, nargs: 0 }, code);
    (st.instrument, st.top, st.last_line, st.last_pc) = (instrument, top, line, pc);
    outcome
}

/// A Lua function was entered.
pub(crate) fn entered(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    st.last_line = (usize::MAX, 0);
    // A run that was left to sweep code enters nothing when it goes on.
    let goes_on = std::mem::take(&mut st.goes_on);
    if !st.instrument.calls || goes_on {
        return Ok(());
    }
    let (pc, top) = st.frames.last().map_or((0, 0), |f| (f.pc as usize, f.top as usize));
    let free = st.top.max(top);
    send(st, env, host, EventKind::Call, (pc, free))
}

/// A Lua function is about to return.
pub(crate) fn leaving(st: &mut State, env: &Env<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
    if !st.instrument.calls {
        return Ok(());
    }
    let (pc, top) = st.frames.last().map_or((0, 0), |f| ((f.pc as usize).saturating_sub(1), f.top as usize));
    let free = st.top.max(top);
    send(st, env, host, EventKind::Return, (pc, free))
}

/// An instruction is about to run. `open` is where the open results of the one before end, if it has some.
pub(crate) fn instruction(
    st: &mut State,
    env: &Env<'_>,
    host: &mut dyn Host,
    pc: usize,
    open: usize,
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
    let (frame_top, proto) = (f.top as usize, env.protos.get(f.proto));
    let line = proto.line(pc);
    let (last_pc_depth, last_line) = st.last_line;
    let back = pc <= st.last_pc;
    st.last_pc = pc;
    if last_pc_depth == depth && last_line == line && !back {
        return Ok(());
    }
    st.last_line = (depth, line);
    let i = proto.code[pc];
    let takes_open = matches!(i.op, Op::Call | Op::TailCall | Op::Return | Op::SetList) && i.b == 0;
    let free = if takes_open { open.max(frame_top) } else { frame_top };
    send(st, env, host, EventKind::Line, (pc, free))
}
