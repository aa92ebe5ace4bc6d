//! Call frames and coroutines.

use crate::value::Value;

/// `Frame::proto` of a function written in Rust.
pub(crate) const NATIVE: u32 = u32::MAX;

/// One call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Stack slot of the function
    pub(crate) func: u32,
    /// First register (Lua) or argument (native)
    pub(crate) base: u32,
    /// Next instruction (Lua)
    pub(crate) pc: u32,
    /// Loaded prototype, or [`NATIVE`]
    pub(crate) proto: u32,
    /// The closure that runs (Lua)
    pub(crate) closure: u32,
    /// Results wanted; -1 = all
    pub(crate) nresults: i32,
    /// Tail calls that this frame replaced
    pub(crate) tailcalls: u32,
    /// Where a Lua frame ends, or how far a native frame's arguments reach
    pub(crate) top: u32,
}

/// What a coroutine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not yet started, or waiting in a yield
    Suspended,
    /// Running now
    Running,
    /// Has resumed another one
    Normal,
    /// Ended, by return or by error
    Dead,
}

/// Everything of a coroutine while it does not run; while it runs, its parts are in the `State`.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    /// (stack slot, upvalue) of open upvalues, ascending
    pub(crate) open: Vec<(u32, u32)>,
    pub(crate) top: usize,
    pub(crate) status: Status,
    pub(crate) started: bool,
}

impl Thread {
    /// Bytes that count for the limit.
    pub(crate) fn size(&self) -> usize {
        size_of::<Thread>()
            + self.stack.len() * size_of::<Value>()
            + self.frames.capacity() * size_of::<Frame>()
    }
}
