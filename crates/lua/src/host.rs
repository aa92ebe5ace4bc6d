//! The boundary between the runtime and whoever embeds it.
//!
//! The runtime knows no Redis. Everything outside a script is reached through [`Host`]: the functions that an
//! embedder registered (`redis.call`, `redis.log`, …) and the periodic [`Host::tick`]. Arguments are *lent*: a
//! string argument is a slice into the runtime's own store, valid for the call. Results go through [`Reply`],
//! which is a flat list of operations that the runtime turns into values when the call returns.

use crate::instrument::Then;
pub use crate::reply::Reply;
use std::sync::atomic::AtomicU32;

/// Number under which a host function was registered with [`crate::SandboxBuilder`]. The host gives it meaning.
pub type HostFn = u32;

/// The embedder's side of a run.
pub trait Host {
    /// A script called the host function `id`. Write the results (or the error value) to `reply`.
    fn call(&mut self, id: HostFn, args: Args<'_>, reply: &mut Reply) -> Flow;

    /// Called on the script's stack when [`crate::Interrupt::TICK`] is set, at a backward jump, a call, or inside a
    /// long library loop. A `Stop` ends the run; no code of the script runs after it.
    fn tick(&mut self) -> Tick {
        Tick::Continue
    }

    /// A script calls the function that [`crate::SandboxBuilder::savepoint`] added: what it changes from now on may have
    /// to be taken back.
    ///
    /// # Errors
    /// The message that is raised when that cannot be.
    fn begin_scope(&mut self) -> Result<(), String> {
        Err("savepoints are not available".to_owned())
    }

    /// Ends the innermost scope; `keep` tells whether its changes stay. Not called when the run ends meanwhile.
    fn end_scope(&mut self, _keep: bool) {}

    /// Seconds of processor time, for `os.clock`. A host without a clock keeps the default.
    fn clock(&mut self) -> f64 {
        0.0
    }

    /// An event of the instrumented mode. Never called when [`crate::RunOptions::instrument`] is off.
    fn event(&mut self, _event: crate::instrument::Event<'_>) -> Then {
        Then::Continue
    }
}

/// How a host call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The values in the reply are the call's results.
    Return,
    /// The last value in the reply is raised as an error value, as `error(value, 0)` would.
    Raise,
    /// The run ends here; nothing in the script can catch it.
    Stop,
}

/// Answer of [`Host::tick`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// Go on.
    Continue,
    /// End the run; nothing in the script can catch it.
    Stop,
}

/// The arguments of one host call.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    pub(crate) view: crate::view::View<'a>,
    pub(crate) values: &'a [crate::value::Value],
    pub(crate) site: Option<&'a AtomicU32>,
    pub(crate) at: crate::view::Where<'a>,
}

impl<'a> Args<'a> {
    /// Number of arguments.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True when the function was called without arguments.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Argument `i`, counted from 0. `None` past the end (Lua's "no value").
    #[inline]
    pub fn get(&self, i: usize) -> Option<ValueRef<'a>> {
        self.values.get(i).map(|v| self.view.value(*v))
    }

    /// A cell that belongs to the constant string given as argument 0 at this call site, zero at first. The host may
    /// keep there what it found for the name (`redis.call('GET', …)`: the command's number + 1), so that the look-up
    /// is done once per compiled script. `None` when argument 0 is computed.
    #[inline]
    pub fn site_cache(&self) -> Option<&'a AtomicU32> {
        self.site
    }

    /// Name of the chunk and line of the Lua function that called the host, if there is one.
    pub fn position(&self) -> Option<(&'a str, u32)> {
        self.at.position()
    }
}

/// A value of the script, lent.
#[derive(Clone, Copy)]
pub enum ValueRef<'a> {
    /// `nil`
    Nil,
    /// `true` or `false`
    Bool(bool),
    /// A number
    Number(f64),
    /// A string's bytes
    Str(&'a [u8]),
    /// A table
    Table(TableRef<'a>),
    /// A function; kept past the call only by hosts that load libraries (see [`crate::Vm::pin`])
    Function(crate::value::FuncRef),
    /// Anything else, with Lua's name of its type (`thread`, `userdata`)
    Other(&'static str),
}

impl<'a> ValueRef<'a> {
    /// Lua's name of the type: `nil`, `boolean`, `number`, `string`, `table`, `function`, …
    pub fn type_name(&self) -> &'static str {
        match self {
            ValueRef::Nil => "nil",
            ValueRef::Bool(_) => "boolean",
            ValueRef::Number(_) => "number",
            ValueRef::Str(_) => "string",
            ValueRef::Table(_) => "table",
            ValueRef::Function(_) => "function",
            ValueRef::Other(name) => name,
        }
    }
}

/// A table of the script, lent. All access is raw: metamethods do not run.
#[derive(Clone, Copy)]
pub struct TableRef<'a> {
    pub(crate) view: crate::view::View<'a>,
    pub(crate) table: crate::value::TableId,
}

impl<'a> TableRef<'a> {
    /// `rawget(t, i)`
    pub fn index(&self, i: i64) -> ValueRef<'a> {
        self.view.table_index(self.table, i)
    }

    /// `rawget(t, name)`
    pub fn field(&self, name: &[u8]) -> ValueRef<'a> {
        self.view.table_field(self.table, name)
    }

    /// The field `name` as a script would find it through metatables whose `__index` is a table. Functions are not
    /// called, and a chain longer than Lua follows gives nil.
    pub fn inherited(&self, name: &[u8]) -> ValueRef<'a> {
        self.view.inherited(self.table, name)
    }

    /// `#t`, raw
    pub fn len(&self) -> usize {
        self.view.table_len(self.table)
    }

    /// True when `#t` is 0
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pair after position `cursor` in the order of `next` (0 starts), with the cursor to go on from.
    pub fn next(&self, cursor: usize) -> Option<(usize, ValueRef<'a>, ValueRef<'a>)> {
        self.view.table_next(self.table, cursor)
    }

    /// An identity for detecting a table that holds itself.
    pub fn id(&self) -> u64 {
        self.table.to_u64()
    }
}
