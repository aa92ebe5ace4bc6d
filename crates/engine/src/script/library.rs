//! Functions: libraries of named functions, each with a VM of its own that lives as long as the library.

use super::header::{self, ScriptFlags};
use super::host::{Deadline, Name, Run, RunCounts, ScriptHost};
use super::meta::Meta;
use super::run::Traits;
use super::tracked::NOWHERE;
use super::{cache, run};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::reply::Proto;
use crate::stats::Limited;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use totality_lua::{FuncRef, RunError, RunOptions, Vm};

/// Time that a library may take to load, as in Redis.
const LOAD_TIMEOUT_US: u64 = 500_000;

/// A function of a library.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name, unique among all libraries.
    pub name: Vec<u8>,
    /// What it is for.
    pub description: Option<Vec<u8>>,
    /// Its flags.
    pub flags: ScriptFlags,
    /// Milliseconds that it may run; 0 when the comment above it says nothing.
    pub deadline_ms: u32,
    /// What it says of itself.
    pub meta: Arc<Meta>,
    /// Its place among what is tracked.
    pub(super) place: u32,
    callback: FuncRef,
}

impl Function {
    /// What a run of it needs to know.
    pub fn traits(&self) -> Traits {
        Traits { flags: self.flags, deadline_ms: self.deadline_ms, place: self.place }
    }
}

/// A library.
pub struct Library {
    /// Its name.
    pub name: Vec<u8>,
    /// Its code, the `#!` line included.
    pub code: Box<[u8]>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Bytes of the VM with the library's objects, as of the last run.
    vm_bytes: usize,
    /// Away while one of its functions runs.
    vm: Option<Box<Vm>>,
}

/// All libraries.
#[derive(Default)]
pub struct Libraries {
    by_name: BTreeMap<Vec<u8>, Library>,
    /// Library by function; names of functions are the same in any case, so they stand here in lower case.
    functions: HashMap<Vec<u8>, Vec<u8>>,
    /// Bytes of names, texts and code.
    text_bytes: usize,
    /// Bytes of all VMs.
    vm_bytes: usize,
}

impl Library {
    /// Bytes of names, texts and code.
    fn text_bytes(&self) -> usize {
        let function = |f: &Function| {
            size_of::<Function>()
                + 2 * f.name.len()
                + f.description.as_ref().map_or(0, Vec::len)
                + f.meta.bytes()
        };
        size_of::<Library>()
            + self.name.len()
            + self.code.len()
            + self.functions.iter().map(function).sum::<usize>()
    }
}

impl Libraries {
    /// Number of libraries.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// True without libraries.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Number of functions.
    pub fn function_count(&self) -> usize {
        self.by_name.values().map(|library| library.functions.len()).sum()
    }

    /// Bytes of names, texts and code of all libraries.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Bytes of the VMs of all libraries.
    pub fn vm_bytes(&self) -> usize {
        self.vm_bytes
    }

    /// All libraries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Library> {
        self.by_name.values()
    }

    /// The function of this name.
    pub fn function(&self, name: &[u8]) -> Option<&Function> {
        let library = self.by_name.get(self.owner(name)?)?;
        let functions = &library.functions;
        // Of names that differ in case only, which one library may have, the exact one is meant.
        let exact = functions.iter().find(|f| f.name == name);
        exact.or_else(|| functions.iter().find(|f| f.name.eq_ignore_ascii_case(name)))
    }

    fn owner(&self, function: &[u8]) -> Option<&Vec<u8>> {
        self.functions.get(function).or_else(|| self.functions.get(&function.to_ascii_lowercase()))
    }

    /// Notes the place of a function among what is tracked.
    pub(super) fn set_place(&mut self, name: &[u8], place: u32) {
        let Some(owner) = self.owner(name).cloned() else { return };
        let functions = self.by_name.get_mut(&owner).into_iter().flat_map(|library| &mut library.functions);
        if let Some(function) = functions.into_iter().find(|f| f.name == name) {
            function.place = place;
        }
    }

    /// Bytes that a library's VM holds.
    pub(super) fn vm_bytes_of(&self, function: &[u8]) -> usize {
        self.owner(function).and_then(|owner| self.by_name.get(owner)).map_or(0, |library| library.vm_bytes)
    }

    pub(super) fn callback(&self, name: &[u8]) -> Option<FuncRef> {
        self.function(name).map(|f| f.callback)
    }

    pub(super) fn take_vm(&mut self, function: &[u8]) -> Option<Box<Vm>> {
        let owner = self.owner(function)?.clone();
        self.by_name.get_mut(&owner)?.vm.take()
    }

    pub(super) fn give_back(&mut self, function: &[u8], vm: Box<Vm>) {
        let owner = self.owner(function).cloned();
        if let Some(library) = owner.and_then(|name| self.by_name.get_mut(&name)) {
            let bytes = bytes_of(&vm);
            self.vm_bytes = self.vm_bytes - library.vm_bytes + bytes;
            library.vm_bytes = bytes;
            library.vm = Some(vm);
        }
    }

    /// FUNCTION DELETE; false when there is no such library.
    pub fn delete(&mut self, name: &[u8]) -> bool {
        let Some(library) = self.by_name.remove(name) else { return false };
        for function in &library.functions {
            self.functions.remove(&function.name.to_ascii_lowercase());
        }
        self.text_bytes -= library.text_bytes();
        self.vm_bytes -= library.vm_bytes;
        true
    }

    /// FUNCTION FLUSH.
    pub fn flush(&mut self) {
        *self = Libraries::default();
    }

    /// Adds a library.
    ///
    /// # Errors
    /// When there is one of its name, unless it is to be replaced, or another has a function of the same name. Nothing
    /// is changed then.
    pub fn join(&mut self, library: Library, replace: bool) -> Res {
        if !replace && self.by_name.contains_key(&library.name) {
            return Err(exists(&library.name));
        }
        self.judge(&library, |owner| *owner == library.name)?;
        self.insert(library);
        Ok(())
    }

    /// Adds all libraries of another set.
    ///
    /// # Errors
    /// As for [`Libraries::join`].
    pub fn join_all(&mut self, others: Libraries, replace: bool) -> Res {
        for library in others.by_name.values() {
            if !replace && self.by_name.contains_key(&library.name) {
                return Err(CmdError::owned(
                    [b"ERR Library ", library.name.as_slice(), b" already exists"].concat(),
                ));
            }
            self.judge(library, |owner| others.by_name.contains_key(owner))?;
        }
        // First all old ones go: a function may move to another library.
        for name in others.by_name.keys() {
            self.delete(name);
        }
        others.by_name.into_values().for_each(|library| self.insert(library));
        Ok(())
    }

    /// Refuses a library with a function whose name another library has, unless that one goes.
    fn judge(&self, library: &Library, goes: impl Fn(&Vec<u8>) -> bool) -> Res {
        for function in &library.functions {
            if self.owner(&function.name).is_some_and(|owner| !goes(owner)) {
                let text = [b"ERR Function ", function.name.as_slice(), b" already exists"].concat();
                return Err(CmdError::owned(text));
            }
        }
        Ok(())
    }

    fn insert(&mut self, library: Library) {
        self.delete(&library.name);
        for function in &library.functions {
            self.functions.insert(function.name.to_ascii_lowercase(), library.name.clone());
        }
        self.text_bytes += library.text_bytes();
        self.vm_bytes += library.vm_bytes;
        self.by_name.insert(library.name.clone(), library);
    }
}

/// Bytes of a VM: its sandbox and what the library keeps.
fn bytes_of(vm: &Vm) -> usize {
    vm.base_bytes() + vm.used_bytes()
}

/// FUNCTION LOAD: runs the library's code, which registers its functions. Answers the library's name.
///
/// # Errors
/// In Redis's words: what is wrong with the code, or which names exist already. Nothing is changed then.
pub fn load(cx: &mut Cx<'_>, code: &[u8], replace: bool) -> Res<Vec<u8>> {
    let (name, _) = header::parse_library(code)?;
    if !replace && cx.sv.scripts.libraries.by_name.contains_key(&name) {
        return Err(exists(&name));
    }
    let library = build(cx, code)?;
    cx.sv.scripts.libraries.join(library, replace)?;
    Ok(name)
}

fn exists(name: &[u8]) -> CmdError {
    CmdError::owned([b"ERR Library '", name, b"' already exists"].concat())
}

/// Runs a library's code, without putting it among the others.
///
/// # Errors
/// In Redis's words, what is wrong with the code.
pub fn build(cx: &mut Cx<'_>, code: &[u8]) -> Res<Library> {
    let (name, start) = header::parse_library(code)?;
    let room = cx.sv.scripts.room(&cx.sv.config);
    let judged = room.judge_size(code.len());
    if judged.is_err() {
        cx.sv.stats.limited(Limited::Size);
    }
    judged?;
    let chunk = cache::compile(&code[start..], "@user_function").map_err(|message| {
        CmdError::owned([b"ERR Error compiling function: ", message.as_slice()].concat())
    })?;
    let mut vm = cx.sv.scripts.new_vm(true, cx.sv.config.script_max_memory);
    let run = Run {
        flags: ScriptFlags::NO_WRITES,
        read_only: true,
        oom: false,
        argv: &[],
        declared: &[],
        name: Name::Function(&name),
        loading: Some(&code[start..]),
        rollback: false,
        stoppable: true,
        trace: None,
        debugger: None,
        unlimited: false,
        deadline: Deadline { at_us: cx.sv.clock.now_us() + LOAD_TIMEOUT_US, ms: LOAD_TIMEOUT_US / 1000 },
        stopped: None,
        tentative: false,
        wrote: false,
        proto: Proto::Resp2,
        slot: None,
        restricted: false,
        counts: RunCounts::default(),
        max_commands: u64::MAX,
        declared_set: None,
        registered: Vec::new(),
    };
    let runs = cx.sv.scripts.run_counter();
    runs.fetch_add(1, Ordering::Release);
    let mut host = ScriptHost { ks: cx.ks, sv: cx.sv, ticker: cx.ticker, client: cx.client, run };
    let ended = vm.load(&chunk, RunOptions::default(), &mut host);
    let registered = std::mem::take(&mut host.run.registered);
    runs.fetch_add(1, Ordering::Release);
    if let Err(error) = ended {
        let text = match error {
            RunError::Raised => run::message(&vm).0,
            RunError::Stopped => b"ERR FUNCTION LOAD timeout".to_vec(),
            RunError::Limit(limit) => {
                cx.sv.stats.limited(Limited::Memory);
                limit.text().as_bytes().to_vec()
            }
        };
        return Err(CmdError::owned([b"ERR Error registering functions: ", text.as_slice()].concat()));
    }
    if room.bytes < bytes_of(&vm) + code.len() {
        cx.sv.stats.limited(Limited::TotalMemory);
        return Err(room.full());
    }
    if registered.is_empty() {
        return Err(CmdError::new("ERR No functions registered"));
    }
    let mut functions = Vec::with_capacity(registered.len());
    for function in registered {
        vm.pin(function.callback);
        let meta = Meta::of_function(&code[start..], &function.name, function.line);
        let mut flags = function.flags;
        flags.set(ScriptFlags::SECRET, !meta.secret.is_empty());
        functions.push(Function {
            name: function.name,
            description: function.description,
            flags,
            deadline_ms: function.deadline_ms,
            meta: Arc::new(meta),
            place: NOWHERE,
            callback: function.callback,
        });
    }
    Ok(Library { name, code: code.into(), functions, vm_bytes: bytes_of(&vm), vm: Some(vm) })
}
