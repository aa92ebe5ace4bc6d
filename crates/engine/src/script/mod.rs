//! Scripts and functions: the cache, the libraries, the binding of the Lua runtime to the data.

mod api;
pub mod cache;
mod convert;
mod debug;
pub mod header;
mod host;
mod library;
pub mod meta;
pub mod rollback;
mod run;
mod trace;
pub mod tracked;

pub use cache::{Cache, Cached, Sha};
pub use debug::{Debugger, debug, no_debugging};
pub use header::ScriptFlags;
pub use library::{Function, Libraries, Library, build as build_library, load as load_library};
pub use meta::Meta;
pub use rollback::{Reason, Rollbacks};
pub use run::{Code, Dry, Subject, Traits, run, run_debugged, run_dry};
pub use trace::{Called, Trace};
pub(crate) use trace::{preview, write_changes};

use crate::commands::Command;
use crate::config::Config;
use crate::spec::Flags;
use crate::state::ServerState;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use totality_lua::{Interrupt, Limits, Vm};

/// What the script or function that a command runs says of itself; `None` when it is not known.
fn flags_of(sv: &ServerState, command: &Command, subject: Option<&[u8]>) -> Option<ScriptFlags> {
    let subject = subject?;
    match command.spec.name {
        "eval" | "eval_ro" => header::parse(subject).ok().map(|header| header.flags),
        "evalsha" | "evalsha_ro" => {
            cache::parse_hex(subject).and_then(|sha| sv.scripts.cache.peek(&sha)).map(|script| script.flags)
        }
        _ => sv.scripts.libraries.function(subject).map(|function| function.flags),
    }
}

/// True when the script or function that a command runs says of itself that it never writes.
pub fn declares_no_writes(sv: &ServerState, command: &Command, subject: Option<&[u8]>) -> bool {
    flags_of(sv, command, subject).is_some_and(|flags| flags.contains(ScriptFlags::NO_WRITES))
}

/// The flags of a command; one that runs a script is as the script says, so that the gate judges it before it runs.
pub fn command_flags(sv: &ServerState, command: &Command, subject: Option<&[u8]>) -> Flags {
    let own = command.spec.flags;
    if !own.contains(Flags::SCRIPT) {
        return own;
    }
    let Some(flags) = flags_of(sv, command, subject).filter(|flags| !flags.contains(ScriptFlags::COMPAT))
    else {
        return own;
    };
    let said = Flags::STALE.union(Flags::DENYOOM).union(Flags::WRITE).union(Flags::MAY_REPLICATE);
    let mut all = own.difference(said);
    all.set(Flags::STALE, flags.contains(ScriptFlags::ALLOW_STALE));
    all.set(Flags::WRITE, !flags.contains(ScriptFlags::NO_WRITES));
    // What can be taken back is judged before every command of its own.
    let judged_later = rollback::wanted(&sv.config, flags) == Ok(true);
    let may_pass = flags.intersects(ScriptFlags::ALLOW_OOM | ScriptFlags::NO_WRITES) || judged_later;
    all.set(Flags::DENYOOM, !may_pass);
    all
}

/// Compiled scripts and libraries, and the VM that runs EVAL.
#[derive(Default)]
pub struct Scripts {
    /// Scripts by their SHA1.
    pub cache: Cache,
    /// Functions.
    pub libraries: Libraries,
    /// What ran.
    pub tracker: tracked::Tracker,
    /// The VM of EVAL, made when the first script runs; away while it runs.
    vm: Option<Box<Vm>>,
    /// State of `math.random`: one generator serves all scripts, as in Redis.
    random: Option<[u32; 3]>,
    /// The word that interrupts a run, shared by all VMs.
    interrupt: Interrupt,
    /// Runs so far that are over, times two, plus one while one is on. The watchdog looks at it.
    runs: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

impl Scripts {
    /// Bytes that scripts, libraries and their VMs take. O(1).
    pub fn memory(&self) -> usize {
        self.cache.memory()
            + self.eval_vm_bytes()
            + self.libraries.text_bytes()
            + self.libraries.vm_bytes()
            + self.tracker.bytes()
    }

    /// How much more scripts may hold.
    pub fn room(&self, config: &Config) -> cache::Room {
        let total = config.script_max_total_memory;
        let bytes = if total == 0 { usize::MAX } else { (total as usize).saturating_sub(self.memory()) };
        let entries = config.script_cache_max_entries as usize;
        cache::Room { entries, size: config.script_max_size, bytes, total }
    }

    /// What the script or function that `command` runs says of itself; `subject` is the command's first argument.
    pub fn meta_of(&self, command: &Command, subject: &[u8]) -> Option<Arc<Meta>> {
        let cached = |sha: &Sha| self.cache.peek(sha).map(|script| script.meta.clone());
        match command.spec.name {
            "eval" | "eval_ro" => {
                Some(cached(&cache::sha_of(subject)).unwrap_or_else(|| Arc::new(Meta::of_script(subject))))
            }
            "evalsha" | "evalsha_ro" => cached(&cache::parse_hex(subject)?),
            _ => self.libraries.function(subject).map(|function| function.meta.clone()),
        }
    }

    /// Bytes of EVAL's VM: its sandbox and the scripts that are loaded into it.
    pub fn eval_vm_bytes(&self) -> usize {
        self.vm.as_ref().map_or(0, |vm| vm.base_bytes())
    }

    /// Number of scripts in the cache.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// True without scripts in the cache.
    pub fn is_empty(&self) -> bool {
        self.cache.is_empty()
    }

    /// Number of functions.
    pub fn functions(&self) -> usize {
        self.libraries.function_count()
    }

    /// Number of libraries.
    pub fn libraries(&self) -> usize {
        self.libraries.len()
    }

    /// SCRIPT FLUSH.
    pub fn flush(&mut self) {
        self.cache.flush();
        if let Some(vm) = &mut self.vm {
            vm.forget_chunks();
        }
    }

    /// What a run of a cached script needs: its code, as a VM has it where one does, and what it says of itself.
    #[inline]
    pub(crate) fn find(&mut self, sha: &Sha) -> Option<(Code, Traits)> {
        let script = self.cache.get(sha)?;
        let loaded = self.vm.as_mut().and_then(|vm| vm.loaded(&script.chunk));
        let code = loaded.map_or_else(|| Code::Chunk(script.chunk.clone()), Code::Loaded);
        Some((code, script.traits()))
    }

    /// The word that interrupts runs: a watchdog sets `TICK` in it, SCRIPT KILL sets `STOP`.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Odd while a run is on; changes with every run.
    pub fn run_counter(&self) -> std::sync::Arc<std::sync::atomic::AtomicU64> {
        self.runs.clone()
    }

    /// A run begins or ends. Nobody else writes the counter, so it takes no locked instruction.
    #[inline]
    fn turn(&self) {
        self.runs.store(self.runs.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// State of `math.random`, to be set back after a dry run.
    pub(crate) fn random_state(&self) -> Option<[u32; 3]> {
        self.random
    }

    /// Sets the state of `math.random`.
    pub(crate) fn set_random_state(&mut self, state: Option<[u32; 3]>) {
        self.random = state;
    }

    fn new_vm(&self, library: bool, max_memory: u64) -> Box<Vm> {
        let limits = Limits { max_bytes: max_memory as usize, ..Limits::default() };
        let mut vm = Box::new(Vm::new(&api::sandbox(library), limits));
        vm.set_interrupt(self.interrupt.clone());
        vm
    }
}
