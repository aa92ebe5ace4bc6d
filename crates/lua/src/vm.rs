//! The virtual machine as embedders see it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::call::{call_value, precall};
use crate::chunk::Chunk;
use crate::heap::{Code, Heap};
use crate::host::{Host, ValueRef};
use crate::instrument::Instrument;
use crate::native::{Env, ErrFunc, Interrupt, State};
use crate::protos::ProtoArena;
use crate::sandbox::SandboxBuilder;
use crate::strings::StrMark;
use crate::table::{Lazy, TABLE_COST, Table};
use crate::value::{FuncRef, Limit, LuaError, TableId, ThreadId, Value};
use crate::view::View;

/// Bounds of a VM. All sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A run's heap is collected when it grows past this (and then past twice of what was live); 0 collects whenever
    /// that is possible, which is good for tests only
    pub soft_bytes: usize,
    /// A run ends with [`Limit::Memory`] when its live heap is larger; 3 GiB at most
    pub max_bytes: usize,
    /// A run ends with [`Limit::StringLength`] when a string gets longer
    pub max_string: usize,
    /// Nested calls before a script sees `stack overflow`
    pub max_frames: usize,
    /// Nested host calls
    pub max_host_calls: u32,
    /// Loaded chunks are forgotten (and loaded again when needed) when they take more than this
    pub max_loaded_bytes: usize,
}

/// Code compiled in a run is swept when it takes more bytes than this, and then more than twice of what stayed.
pub(crate) const CODE_SOFT: usize = 256 << 10;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            soft_bytes: 4 << 20,
            max_bytes: 1 << 30,
            max_string: 512 << 20,
            max_frames: 20_000,
            max_host_calls: 64,
            max_loaded_bytes: 64 << 20,
        }
    }
}

/// What a script is given.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'a> {
    /// Elements of `KEYS`
    pub keys: &'a [&'a [u8]],
    /// Elements of `ARGV`
    pub argv: &'a [&'a [u8]],
}

/// Options of one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Events to report; none by default
    pub instrument: Instrument,
}

/// Why a run did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunError {
    /// The script raised an error: see [`Vm::error`]
    Raised,
    /// The host, or [`Interrupt::STOP`], ended it
    Stopped,
    /// It went past a limit
    Limit(Limit),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RunError::Raised => "the script raised an error",
            RunError::Stopped => "the script was stopped",
            RunError::Limit(l) => l.text(),
        })
    }
}

impl std::error::Error for RunError {}

/// A virtual machine: a sandbox, the chunks loaded into it, and the heap of the run.
///
/// [`Vm::run`] runs a chunk whose objects are gone when the next run begins. [`Vm::load`] and [`Vm::call`] serve
/// libraries of functions instead, whose heap lives on between calls: use a VM for one of the two.
pub struct Vm {
    st: State,
    protos: ProtoArena,
    interrupt: Interrupt,
    chunks: HashMap<usize, (Arc<Chunk>, u32), Spread>,
    last_chunk: (usize, u32),
    loaded_bytes: usize,
    max_loaded: usize,
    sandbox: StrMark,
    /// Stack slots of the results of the last run
    results: (usize, usize),
    error: Value,
    persistent: bool,
    /// Nothing ran since the last reset
    clean: bool,
}

/// Chunks are found by their address: multiplying spreads it enough.
#[derive(Clone, Copy, Default)]
struct Spread;

struct SpreadHasher(u64);

impl std::hash::BuildHasher for Spread {
    type Hasher = SpreadHasher;
    fn build_hasher(&self) -> SpreadHasher {
        SpreadHasher(0)
    }
}

impl std::hash::Hasher for SpreadHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x100_0000_01B3);
        }
    }
    fn write_usize(&mut self, n: usize) {
        self.0 = (n as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

/// Values looked at in results before KEYS and ARGV are filled to be sure.
const LOOK: usize = 64;

/// True when the host may find KEYS or ARGV, still unfilled, in a value: the run's inputs are gone when it looks.
fn reaches_inputs(st: &State, v: Value, budget: &mut usize) -> bool {
    let Value::Table(t) = v else { return false };
    let t = st.heap.table(t);
    let inner = t.nodes.iter().flat_map(|n| [n.key, n.val]).chain(t.array.iter().copied());
    t.lazy != Lazy::No
        || inner.filter(|v| matches!(v, Value::Table(_))).any(|v| {
            if *budget == 0 {
                return true;
            }
            *budget -= 1;
            reaches_inputs(st, v, budget)
        })
}

fn env<'a>(protos: &'a ProtoArena, inputs: Inputs<'a>, interrupt: &'a Interrupt) -> Env<'a> {
    Env { protos, keys: inputs.keys, argv: inputs.argv, interrupt: &interrupt.0 }
}

/// A chunk that a VM has loaded: see [`Vm::loaded`].
#[derive(Debug, Clone, Copy)]
pub struct LoadedChunk((usize, u32));

impl Vm {
    /// A VM with the given globals.
    pub fn new(sandbox: &SandboxBuilder, limits: Limits) -> Vm {
        let heap = Heap::new(sandbox.seed, limits.max_bytes, limits.soft_bytes, limits.max_string);
        let mut st = State::empty(heap, limits.max_frames, limits.max_host_calls);
        // While the sandbox is built no limit applies.
        let hard = std::mem::replace(&mut st.heap.mem.hard, usize::MAX);
        sandbox.build(&mut st);
        let keys = TableId(st.heap.tables.len() as u32);
        let globals = st.globals;
        if sandbox.inputs {
            st.set_field(globals, "KEYS", Value::Table(keys));
            st.set_field(globals, "ARGV", Value::Table(TableId(keys.0 + 1)));
        }
        st.base_bytes = st.heap.used();
        if sandbox.locked {
            st.heap.seal();
        } else {
            // Scripts may change everything, so everything is collected like their own objects.
            st.heap.mem.used = 0;
        }
        st.heap.mem.hard = hard;
        st.heap.gc_at = st.heap.soft.min(hard);
        let sandbox_locked = sandbox.locked;
        let sandbox = st.heap.str_mark();
        let mut vm = Vm {
            st,
            protos: ProtoArena::new(),
            interrupt: Interrupt::new(),
            chunks: HashMap::default(),
            last_chunk: (0, 0),
            loaded_bytes: 0,
            max_loaded: limits.max_loaded_bytes,
            sandbox,
            results: (0, 0),
            error: Value::Nil,
            persistent: !sandbox_locked,
            clean: false,
        };
        vm.add_inputs(true);
        vm
    }

    /// The word that interrupts this VM's runs.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Uses another word, so that several VMs are interrupted together.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Changes the limit of a run's heap.
    pub fn set_max_bytes(&mut self, bytes: usize) {
        let heap = &mut self.st.heap;
        heap.mem.hard = bytes.min(crate::heap::MAX_HEAP);
        if self.clean {
            heap.gc_at = heap.soft.min(heap.mem.hard);
        }
    }

    /// Runs a chunk. The results, or the error value, stay readable until the next run.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run(
        &mut self,
        chunk: &Arc<Chunk>,
        inputs: Inputs<'_>,
        options: RunOptions,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        if !self.clean {
            self.reset();
        }
        if self.persistent {
            self.add_inputs(true);
            let globals = self.st.globals;
            for (name, t) in ["KEYS", "ARGV"].into_iter().zip(self.st.inputs) {
                self.st.set_field(globals, name, t.map_or(Value::Nil, Value::Table));
            }
        }
        let main = if self.persistent { self.keep_chunk(chunk)? } else { self.main_of(chunk)? };
        self.run_main(main, inputs, options, host)
    }

    #[inline]
    fn run_main(
        &mut self,
        main: u32,
        inputs: Inputs<'_>,
        options: RunOptions,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        let first = self.st.heap.up_pool.len();
        let f = self.st.heap.new_closure(Code::Lua(main), first);
        self.st.stack[0] = Value::Func(f);
        self.execute(inputs, options, host, 0)
    }

    /// What [`Vm::run_loaded`] runs, when the chunk was run before and the VM has it still. So whoever owns the chunk
    /// beside the VM need not share it for the run.
    #[inline]
    pub fn loaded(&mut self, chunk: &Arc<Chunk>) -> Option<LoadedChunk> {
        if self.persistent {
            return None;
        }
        let key = Arc::as_ptr(chunk) as usize;
        self.known(key).map(|main| LoadedChunk((key, main)))
    }

    /// Runs the chunk that [`Vm::loaded`] found last, as [`Vm::run`] does.
    ///
    /// # Errors
    /// See [`RunError`]; [`RunError::Stopped`] when another chunk was run or loaded since.
    pub fn run_loaded(
        &mut self,
        chunk: LoadedChunk,
        inputs: Inputs<'_>,
        options: RunOptions,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        if self.last_chunk != chunk.0 {
            return Err(RunError::Stopped);
        }
        if !self.clean {
            self.reset();
        }
        self.run_main(chunk.0.1, inputs, options, host)
    }

    /// Runs a chunk that defines a library; its objects stay. KEYS and ARGV are empty.
    ///
    /// # Errors
    /// See [`RunError`]; what was defined before the error stays.
    pub fn load(
        &mut self,
        chunk: &Arc<Chunk>,
        options: RunOptions,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        self.persistent = true;
        self.clear_run();
        let main = self.keep_chunk(chunk)?;
        let first = self.st.heap.up_pool.len();
        let f = self.st.heap.new_closure(Code::Lua(main), first);
        self.st.stack[0] = Value::Func(f);
        self.swap_globals();
        let ended = self.execute(Inputs::default(), options, host, 0);
        self.swap_globals();
        ended
    }

    /// Exchanges the globals of runs and those of loading.
    fn swap_globals(&mut self) {
        if let Some(other) = &mut self.st.load_globals {
            std::mem::swap(other, &mut self.st.globals);
        }
    }

    /// Keeps a function (and all that it reaches) alive for [`Vm::call`].
    pub fn pin(&mut self, f: FuncRef) {
        self.st.pins.push(Value::Func(f));
    }

    /// Lets a pinned function go.
    pub fn unpin(&mut self, f: FuncRef) {
        if let Some(i) = self.st.pins.iter().position(|v| v.same(Value::Func(f))) {
            self.st.pins.swap_remove(i);
        }
    }

    /// Calls a pinned function with two fresh tables of keys and arguments.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn call(
        &mut self,
        f: FuncRef,
        inputs: Inputs<'_>,
        options: RunOptions,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        self.clear_run();
        if self.st.heap.closures.get(f.index()).is_none_or(|c| c.code == Code::Free) {
            return Err(RunError::Limit(Limit::Memory));
        }
        self.st.stack[0] = Value::Func(f);
        for (i, lazy) in [Lazy::Keys, Lazy::Argv].into_iter().enumerate() {
            let id = self.st.heap.add_table(Table::for_inputs(lazy));
            self.st.inputs[i] = Some(id);
            self.st.stack[i + 1] = Value::Table(id);
        }
        let r = self.execute(inputs, options, host, 2);
        self.st.inputs = [None, None];
        r
    }

    fn execute(
        &mut self,
        inputs: Inputs<'_>,
        options: RunOptions,
        host: &mut dyn Host,
        nargs: usize,
    ) -> Result<(), RunError> {
        self.clean = false;
        let st = &mut self.st;
        st.top = nargs + 1;
        st.instrument = options.instrument;
        st.forget_search();
        if self.persistent && self.protos.late_bytes() > st.code_at {
            self.sweep_code(inputs);
        }
        let st = &mut self.st;
        let e = env(&self.protos, inputs, &self.interrupt);
        if self.persistent && st.heap.wants_gc() {
            crate::gc::collect(st, &e);
        }
        let mut r = call_value(st, &e, host, 0, nargs, -1);
        while let Err(LuaError::Yield) = r {
            self.sweep_code(inputs);
            r = self.go_on(inputs, host);
        }
        let st = &mut self.st;
        match r {
            Ok(()) => {
                self.results = (0, st.top);
                if st.stack[..st.top].iter().any(|v| reaches_inputs(st, *v, &mut { LOOK })) {
                    st.materialise_inputs(&env(&self.protos, inputs, &self.interrupt));
                }
                Ok(())
            }
            Err(e) => Err(self.failed(e, inputs)),
        }
    }

    /// Drops the code compiled in the run that nothing can reach any more. The run is at its bottom, or over: nothing
    /// holds a reference to code.
    #[cold]
    fn sweep_code(&mut self, inputs: Inputs<'_>) {
        crate::gc::collect(&mut self.st, &env(&self.protos, inputs, &self.interrupt));
        let freed = self.protos.sweep(crate::gc::live_protos(&self.st));
        self.st.heap.mem.used = self.st.heap.mem.used.saturating_sub(freed);
        self.st.code_at = CODE_SOFT.max(self.protos.late_bytes() * 2);
    }

    /// Goes on with the run that was left in a call of `load` or `loadstring`, which begins anew.
    #[cold]
    fn go_on(&mut self, inputs: Inputs<'_>, host: &mut dyn Host) -> Result<(), LuaError> {
        let st = &mut self.st;
        let e = env(&self.protos, inputs, &self.interrupt);
        let Some(f) = st.frames.pop() else { return Err(LuaError::Stop) };
        let nargs = st.top - f.base as usize;
        precall(st, &e, host, f.func as usize, nargs, f.nresults, None)?;
        st.goes_on = st.instrument.is_on();
        crate::exec::run_to(st, &e, host, 1)
    }

    #[cold]
    fn failed(&mut self, e: LuaError, inputs: Inputs<'_>) -> RunError {
        let st = &mut self.st;
        // Whatever coroutine it was in: the parts of the main one are back.
        debug_assert_eq!(st.current, ThreadId(0));
        match e {
            LuaError::Raised { value, .. } => {
                self.error = value;
                if reaches_inputs(st, value, &mut { LOOK }) {
                    st.materialise_inputs(&env(&self.protos, inputs, &self.interrupt));
                }
                RunError::Raised
            }
            LuaError::ErrErr => {
                self.error = Value::Str(st.heap.intern(b"error in error handling"));
                RunError::Raised
            }
            LuaError::Stop | LuaError::Yield => RunError::Stopped,
            LuaError::Limit(l) => RunError::Limit(l),
        }
    }

    /// Number of values that the last run returned.
    pub fn result_count(&self) -> usize {
        self.results.1 - self.results.0
    }

    /// Result `i` of the last run, from 0; nil past the end.
    pub fn result(&self, i: usize) -> ValueRef<'_> {
        let v = if i < self.result_count() { self.st.stack[self.results.0 + i] } else { Value::Nil };
        View { heap: &self.st.heap }.value(v)
    }

    /// The error value of the last run, when it was [`RunError::Raised`].
    pub fn error(&self) -> ValueRef<'_> {
        View { heap: &self.st.heap }.value(self.error)
    }

    /// What `tostring` says of an error value that is a function, a thread or a userdata.
    pub fn error_address(&self) -> Option<String> {
        crate::lib_base::address_of(self.error).map(|(kind, at)| format!("{kind}: {at:#x}"))
    }

    /// Source (with its leading `@` or `=`) and line where the last error was raised, as Redis's own error handler
    /// finds them: the raising function or, when that is not Lua, its caller. Line -1 when that is not Lua either.
    pub fn raised_at(&self) -> Option<(&str, i64)> {
        self.st.raised_at.as_ref().map(|(s, l)| (s.as_str(), *l))
    }

    /// Bytes that the last run's objects hold.
    pub fn used_bytes(&self) -> usize {
        self.st.heap.used()
    }

    /// Bytes of the sandbox and the loaded chunks.
    pub fn base_bytes(&self) -> usize {
        self.st.base_bytes + self.loaded_bytes
    }

    /// Drops all objects of the last run. Happens by itself when the next begins.
    #[inline]
    pub fn reset(&mut self) {
        if self.persistent {
            self.clear_run();
            return;
        }
        self.st.heap.reset(self.st.inputs.len());
        self.clear_run();
        if self.protos.len() > self.st.base_protos {
            self.protos.truncate(self.st.base_protos);
            self.st.loaded.clear();
        }
        self.add_inputs(true);
        self.clean = true;
    }

    /// The state between runs, objects apart.
    #[inline]
    fn clear_run(&mut self) {
        let st = &mut self.st;
        st.frames.clear();
        st.open.clear();
        st.top = 0;
        st.current = ThreadId(0);
        st.c_calls = 0;
        st.base_c_calls = 0;
        st.err_func = ErrFunc::Root;
        st.host_depth = 0;
        st.steps = 0;
        st.overflowing = false;
        st.saved_handlers.clear();
        st.code_at = CODE_SOFT;
        st.gc_work = 0;
        st.gc_params = [200, 200];
        st.cjson.reset();
        self.results = (0, 0);
        self.error = Value::Nil;
        if st.raised_at.is_some() {
            st.raised_at = None;
        }
        if st.stack.len() > 65_536 {
            st.stack = vec![Value::Nil; 1024];
        }
    }

    /// Makes the tables of KEYS and ARGV, which are the first two of a run.
    #[inline]
    fn add_inputs(&mut self, lazy: bool) {
        let first = self.st.heap.base.tables;
        for (i, which) in [Lazy::Keys, Lazy::Argv].into_iter().enumerate() {
            let lazy = if lazy { which } else { Lazy::No };
            // Those of the last run are used again: new ones cost more than many a script.
            let id = match self.st.heap.tables.get_mut(first + i) {
                Some(table) if !self.persistent => {
                    table.renew(lazy);
                    self.st.heap.mem.used += TABLE_COST;
                    TableId((first + i) as u32)
                }
                _ => self.st.heap.add_table(Table::for_inputs(lazy)),
            };
            self.st.inputs[i] = Some(id);
        }
    }

    #[inline]
    fn main_of(&mut self, chunk: &Arc<Chunk>) -> Result<u32, RunError> {
        let key = Arc::as_ptr(chunk) as usize;
        match self.known(key) {
            Some(main) => Ok(main),
            None => self.load_chunk(chunk, key),
        }
    }

    /// The main function of a chunk that is loaded; it becomes the last that was asked for.
    #[inline]
    fn known(&mut self, key: usize) -> Option<u32> {
        if self.last_chunk.0 != key {
            self.last_chunk = (key, self.chunks.get(&key)?.1);
        }
        Some(self.last_chunk.1)
    }

    /// Loads a chunk into a VM that keeps its heap.
    fn keep_chunk(&mut self, chunk: &Arc<Chunk>) -> Result<u32, RunError> {
        let key = Arc::as_ptr(chunk) as usize;
        if let Some((_, main)) = self.chunks.get(&key) {
            return Ok(*main);
        }
        let main = self.protos.load(chunk, &mut self.st.heap).ok_or(RunError::Limit(Limit::Memory))?;
        if self.protos.settle(&mut self.st.heap) {
            self.loaded_bytes += chunk.cost();
            self.chunks.insert(key, (chunk.clone(), main));
        }
        Ok(main)
    }

    #[cold]
    fn load_chunk(&mut self, chunk: &Arc<Chunk>, key: usize) -> Result<u32, RunError> {
        if self.loaded_bytes + chunk.size() > self.max_loaded {
            self.forget_chunks();
        }
        self.st.heap.reset(0);
        let Some(main) = self.protos.load(chunk, &mut self.st.heap) else {
            return Err(RunError::Limit(Limit::Memory));
        };
        self.st.heap.strs.seal();
        self.protos.settle(&mut self.st.heap);
        self.st.base_protos = self.protos.len();
        self.loaded_bytes += chunk.cost();
        self.chunks.insert(key, (chunk.clone(), main));
        self.last_chunk = (key, main);
        self.add_inputs(true);
        Ok(main)
    }

    /// Unloads all chunks. They are loaded again when they run.
    pub fn forget_chunks(&mut self) {
        if self.persistent {
            return;
        }
        self.clean = false;
        self.st.heap.reset(0);
        self.protos.truncate(0);
        self.st.base_protos = 0;
        self.st.heap.strs.rebase(self.sandbox);
        self.chunks.clear();
        self.last_chunk = (0, 0);
        self.loaded_bytes = 0;
        self.results = (0, 0);
        self.error = Value::Nil;
    }

    /// Sets the generator of `math.random` back to where a fresh VM begins.
    pub fn reset_random(&mut self) {
        self.st.rand = crate::lib_math::RAND_START;
    }

    /// The state of `math.random`, to hand on to another VM: on Redis one generator serves all scripts.
    pub fn random_state(&self) -> [u32; 3] {
        self.st.rand
    }

    /// Continues `math.random` from a state of another VM.
    pub fn set_random_state(&mut self, state: [u32; 3]) {
        self.st.rand = state;
    }
}
