//! The instrumented mode: events of a run for debuggers, tracers and coverage. Free when off.

use crate::host::{Reply, ValueRef};
use crate::native::State;
use crate::protos::ProtoArena;
use crate::view::View;

/// Which events a run reports. The default reports none, and then the interpreter has no code for them at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instrument {
    /// A new line is about to run.
    pub lines: bool,
    /// A Lua function is entered or left.
    pub calls: bool,
    /// End the run with [`crate::Limit::Steps`] after this many instructions; 0 = no bound. Deterministic, unlike a timer.
    pub max_steps: u64,
    /// Call [`crate::Host::tick`] every this many instructions; 0 = only when [`crate::Interrupt::TICK`] is set.
    pub tick_every: u64,
}

impl Instrument {
    pub(crate) fn is_on(&self) -> bool {
        self.lines || self.calls || self.max_steps != 0 || self.tick_every != 0
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The line is about to run.
    Line,
    /// A Lua function was entered.
    Call,
    /// A Lua function is about to return.
    Return,
    /// The code that the host answered with has run: see [`Event::outcome`].
    Evaluated,
}

/// What is to follow an event.
pub enum Then {
    /// The run goes on.
    Continue,
    /// It ends; nothing in the script can catch it.
    Stop,
    /// The last value of the reply is raised where the run is, as `error(value, 0)` would.
    Raise(Box<Reply>),
    /// This code runs first, in the script's globals and without events: as an expression or, where that does not
    /// compile, as statements. Then an event of the kind [`EventKind::Evaluated`] tells what came of it.
    Evaluate(Vec<u8>),
}

/// An event of the instrumented mode, with access to the script's state at that moment.
pub struct Event<'a> {
    /// What happened
    pub kind: EventKind,
    /// Name of the chunk as error messages show it
    pub chunk: &'a str,
    /// Current line, from 1
    pub line: u32,
    /// Of [`EventKind::Evaluated`]: the first result, or the text of the error
    pub outcome: Option<Result<ValueRef<'a>, &'a [u8]>>,
    pub(crate) st: &'a State,
    pub(crate) protos: &'a ProtoArena,
}

/// A local variable or upvalue of a frame.
pub struct Variable<'a> {
    /// Its name in the source
    pub name: &'a str,
    /// Its value at the moment
    pub value: ValueRef<'a>,
}

/// A frame of the script's stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameInfo<'a> {
    /// Name of the chunk; `[C]` for a function of the runtime or the host
    pub chunk: &'a str,
    /// Current line; 0 for a function of the runtime or the host
    pub line: u32,
    /// Line of the function's definition; 0 for the main chunk
    pub defined: u32,
}

impl<'a> Event<'a> {
    /// Number of frames on the running coroutine's stack.
    pub fn depth(&self) -> usize {
        self.st.frames.len()
    }

    /// Frame `level`, 0 being the running one.
    pub fn frame(&self, level: usize) -> Option<FrameInfo<'a>> {
        crate::debuginfo::frame_info(self.st, self.protos, level)
    }

    /// Name under which the function of frame `level` was called, where the code tells it.
    pub fn function_name(&self, level: usize) -> Option<Vec<u8>> {
        let index = self.st.frames.len().checked_sub(level + 1)?;
        crate::debuginfo::function_name(self.st, self.protos, index).map(|(_, name)| name)
    }

    /// The local variables in scope of frame `level`, in the order of their declaration.
    pub fn locals(&self, level: usize) -> Vec<Variable<'a>> {
        let view = View { heap: &self.st.heap };
        crate::debuginfo::locals(self.st, self.protos, level)
            .into_iter()
            .map(|(name, v)| Variable { name, value: view.value(v) })
            .collect()
    }

    /// The upvalues of the function in frame `level`.
    pub fn upvalues(&self, level: usize) -> Vec<Variable<'a>> {
        let view = View { heap: &self.st.heap };
        crate::debuginfo::upvalues(self.st, self.protos, level)
            .into_iter()
            .map(|(name, v)| Variable { name, value: view.value(v) })
            .collect()
    }

    /// A global variable, raw.
    pub fn global(&self, name: &[u8]) -> ValueRef<'a> {
        let view = View { heap: &self.st.heap };
        view.table_field(self.st.globals, name)
    }
}
