//! One run of a script or function: what it may do, the run itself, its reply.

use super::convert::Bounds;
use super::debug::Debugger;
use super::header::ScriptFlags;
use super::host::{Deadline, Name, Run, RunCounts, ScriptHost};
use super::rollback::{self, Reason};
use super::trace::Trace;
use super::tracked::{NOWHERE, Outcome};
use super::{cache, convert};
use crate::busy::{Details, Running};
use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res};
use crate::execute;
use crate::obey;
use crate::propagate::Targets;
use crate::reply::Proto;
use crate::stats::Limited;
use crate::util::until_nul;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use totality_lua::{Chunk, Inputs, Instrument, LoadedChunk, RunError, RunOptions, ValueRef, Vm};

/// What is run.
pub enum Subject {
    /// A script of the cache.
    Script {
        /// Its SHA1, for messages.
        sha: cache::Sha,
        /// Its code.
        code: Code,
    },
    /// A function of a library.
    Function {
        /// The function's name.
        name: Vec<u8>,
    },
}

/// The code of a script.
pub enum Code {
    /// As EVAL's VM has it: nothing may come between finding it and the run.
    Loaded(LoadedChunk),
    /// To be loaded.
    Chunk(Arc<Chunk>),
}

/// What a script or function says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// Its flags.
    pub flags: ScriptFlags,
    /// Milliseconds that it may run; 0 when it says nothing.
    pub deadline_ms: u32,
    /// Its place among what is tracked, as of its last run.
    pub place: u32,
}

/// A dry run: whoever starts it takes everything back.
#[derive(Default)]
pub struct Dry {
    /// What was called.
    pub trace: Trace,
}

/// Runs a script or function and writes its result. `read_only` is what the `*_RO` commands ask for.
pub fn run(cx: &mut Cx<'_>, subject: Subject, traits: Traits, read_only: bool, numkeys: usize) -> Res {
    start(cx, subject, traits, read_only, (3, numkeys), Watch::None)
}

/// Runs a script step by step, as its debugger says.
pub fn run_debugged(
    cx: &mut Cx<'_>,
    subject: Subject,
    traits: Traits,
    read_only: bool,
    numkeys: usize,
    debugger: &mut Debugger,
) -> Res {
    start(cx, subject, traits, read_only, (3, numkeys), Watch::Debug(debugger))
}

/// Runs a script of SCRIPT EXPLAIN inside of a scope that the caller takes back, and notes what it calls.
pub fn run_dry(cx: &mut Cx<'_>, subject: Subject, traits: Traits, numkeys: usize, dry: &mut Dry) -> Res {
    start(cx, subject, traits, false, (4, numkeys), Watch::Trace(&mut dry.trace))
}

/// Who looks on.
enum Watch<'a> {
    None,
    Trace(&'a mut Trace),
    Debug(&'a mut Debugger),
}

fn start(
    cx: &mut Cx<'_>,
    subject: Subject,
    traits: Traits,
    read_only: bool,
    (first, numkeys): (usize, usize),
    watch: Watch<'_>,
) -> Res {
    let flags = traits.flags;
    let (trace, debugger) = match watch {
        Watch::None => (None, None),
        Watch::Trace(trace) => (Some(trace), None),
        Watch::Debug(debugger) => (None, Some(debugger)),
    };
    let dry = trace.is_some();
    let options =
        RunOptions { instrument: Instrument { lines: debugger.is_some(), ..Instrument::default() } };
    let writes_nothing = read_only || flags.contains(ScriptFlags::NO_WRITES);
    let rollback = rollback::wanted(&cx.sv.config, flags)? && !writes_nothing;
    let oom = permit(cx, flags, read_only, rollback, dry)?;
    let may_wait = !writes_nothing && !dry && debugger.is_none() && may_wait(cx);
    let tentative = may_wait && !rollback;
    let (keys, argv) = cx.args[first..].split_at(numkeys);
    let inputs = Inputs { keys, argv };
    let name = match &subject {
        Subject::Script { sha, .. } => Name::Script(*sha),
        Subject::Function { name } => Name::Function(name),
    };
    let Some(mut vm) = take_vm(cx, &subject) else {
        return Err(CmdError::new("ERR A script cannot run another script"));
    };
    let (max_bytes, total_is_less) = max_bytes(cx, &subject);
    vm.set_max_bytes(max_bytes);
    let place = if dry { NOWHERE } else { enter(cx, &subject, traits.place) };
    if let Some(state) = cx.sv.scripts.random {
        vm.set_random_state(state);
    }
    let run = Run {
        flags,
        read_only: writes_nothing,
        oom,
        argv: cx.args,
        declared: keys,
        name,
        loading: None,
        rollback,
        stoppable: rollback || dry,
        trace,
        debugger,
        unlimited: cx.origin == Origin::Replay,
        deadline: deadline(cx, traits.deadline_ms),
        stopped: None,
        tentative,
        wrote: false,
        proto: Proto::Resp2,
        slot: keys
            .first()
            .filter(|_| cx.sv.config.cluster_enabled)
            .map(|key| totality_ds::crc::key_slot(key)),
        restricted: cx.sv.client(cx.client).is_some_and(|client| client.restricted),
        counts: RunCounts::default(),
        max_commands: match cx.sv.config.script_max_commands {
            0 => u64::MAX,
            _ if cx.origin == Origin::Replay => u64::MAX,
            max => max,
        },
        declared_set: None,
        registered: Vec::new(),
    };
    cx.sv.depth += 1;
    let function = matches!(subject, Subject::Function { .. });
    cx.sv.running = Some(Running {
        function,
        since_us: cx.sv.stamp,
        wrote: false,
        rollback: rollback || dry,
        client: cx.client,
        command: cx.command,
        commands: 0,
        writes: 0,
        details: (flags.contains(ScriptFlags::SECRET) && !dry).then(|| secrets(cx, numkeys)),
        slow: false,
        kill: false,
    });
    cx.sv.scripts.turn();
    let db = cx.ks.cur;
    let scopes = cx.ks.undo.depth();
    if rollback || tentative {
        cx.ks.open_scope();
    }
    cx.ks.may_put_off = may_wait;
    let mut host = ScriptHost { ks: cx.ks, sv: cx.sv, ticker: cx.ticker, client: cx.client, run };
    let ended = match &subject {
        Subject::Script { code: Code::Loaded(chunk), .. } => {
            vm.run_loaded(*chunk, inputs, options, &mut host)
        }
        Subject::Script { code: Code::Chunk(chunk), .. } => vm.run(chunk, inputs, options, &mut host),
        Subject::Function { name } => match host.sv.scripts.libraries.callback(name) {
            Some(callback) => vm.call(callback, inputs, RunOptions::default(), &mut host),
            None => Err(RunError::Stopped),
        },
    };
    let resp3 = host.run.proto == Proto::Resp3;
    let scope = rollback || host.run.tentative;
    let (stopped, counts, wrote) = (host.run.stopped, host.run.counts, host.run.wrote);
    cx.sv.scripts.turn();
    cx.sv.depth -= 1;
    cx.sv.running = None;
    cx.ks.cur = db;
    cx.ks.effects.set_targets(Targets::ALL);
    cx.ks.may_put_off = false;
    if cx.ks.put_off {
        while cx.ks.undo.depth() > scopes {
            cx.ks.take_back();
        }
        give_back(cx, &subject, vm);
        return Ok(());
    }
    cx.sv.scripts.random = Some(vm.random_state());
    let result = vm.result(0);
    let failure = failure(result, &ended, flags, stopped);
    close_scopes(cx, scopes + usize::from(scope), scope, failure.filter(|_| rollback));
    let error = match ended {
        Ok(()) => {
            let error = returned_error(result);
            let config = &cx.sv.config;
            let bounds =
                Bounds { bytes: config.script_max_reply_size, depth: config.script_max_reply_depth as usize };
            convert::write(result, resp3, &mut cx.reply, &mut cx.sv.stats, bounds);
            error
        }
        Err(RunError::Stopped) => {
            let nothing = if rollback || dry || !wrote { ", nothing was changed" } else { "" };
            let mut text = stop_text(cx, stopped, function, nothing, traits.deadline_ms);
            if stopped == Some(Reason::Kill)
                && let Some((source, line)) = vm.raised_at()
            {
                text.extend_from_slice(format!(" script: {name}, on {source}:{line}.").as_bytes());
            }
            cx.sv.stats.count_error(crate::stats::error_code(&text));
            cx.reply.error(&text);
            Some(crate::stats::error_code(&text).into())
        }
        Err(raised) => {
            if matches!(raised, RunError::Limit(_)) {
                cx.sv.stats.limited(if total_is_less { Limited::TotalMemory } else { Limited::Memory });
            }
            Some(report(cx, &vm, raised, name))
        }
    };
    if place != NOWHERE {
        cx.sv.scripts.tracker.finish(Outcome {
            slot: place,
            code: if error.is_none() { result_code(result) } else { None },
            error,
            rollback: failure.filter(|_| rollback),
            killed: stopped == Some(Reason::Kill),
            cpu_usec: cpu_usec(cx, counts.looked),
            commands: counts.commands,
            writes: counts.writes,
            bytes: vm.used_bytes(),
        });
    }
    give_back(cx, &subject, vm);
    Ok(())
}

/// Times that a client's script waits for a snapshot.
const WAITS: u8 = 64;

/// May the run be taken back, to run again when a snapshot has written what it was about to change?
#[inline]
fn may_wait(cx: &Cx<'_>) -> bool {
    cx.ks.has_snapshot()
        && cx.origin == Origin::Client
        && !cx.ks.undo.is_open()
        && cx.sv.clients.get(cx.client).is_some_and(|client| !client.primary && client.put_off < WAITS)
}

/// The place of a script or function among what is tracked.
#[inline]
fn enter(cx: &mut Cx<'_>, subject: &Subject, hint: u32) -> u32 {
    let max = cx.sv.config.script_stats_max_entries as usize;
    let scripts = &mut cx.sv.scripts;
    let place = match subject {
        Subject::Script { sha, .. } => {
            let cache = &scripts.cache;
            let meta = || cache.peek(sha).map(|script| script.meta.clone()).unwrap_or_default();
            scripts.tracker.enter_script(hint, sha, max, meta)
        }
        Subject::Function { name } => {
            let libraries = &scripts.libraries;
            let meta = || libraries.function(name).map(|function| function.meta.clone()).unwrap_or_default();
            scripts.tracker.enter_function(hint, name, max, meta)
        }
    };
    if place != hint {
        match subject {
            Subject::Script { sha, .. } => scripts.cache.set_place(sha, place),
            Subject::Function { name } => scripts.libraries.set_place(name, place),
        }
    }
    let ticket = scripts.tracker.ticket(place);
    if let Some(client) = cx.sv.clients.get_mut(cx.client) {
        client.script = Some(ticket);
    }
    place
}

/// Bytes of heap that a run may use, and whether it is the total of all scripts that says so.
fn max_bytes(cx: &Cx<'_>, subject: &Subject) -> (usize, bool) {
    let own = cx.sv.config.script_max_memory as usize;
    if cx.sv.config.script_max_total_memory == 0 {
        return (own, false);
    }
    let held = match subject {
        Subject::Function { name } => cx.sv.scripts.libraries.vm_bytes_of(name),
        Subject::Script { .. } => 0,
    };
    let left = cx.sv.scripts.room(&cx.sv.config).bytes.saturating_add(held);
    (own.min(left), left < own)
}

/// Values of the arguments that nobody may read in a log.
#[cold]
fn secrets(cx: &Cx<'_>, numkeys: usize) -> Box<Details> {
    let Some(meta) = cx.sv.scripts.meta_of(cx.command, cx.args[1]) else { return Box::default() };
    let hidden = |(i, _): &(usize, &&[u8])| meta.secret.hides(*i, numkeys);
    let secrets = cx.args.iter().enumerate().filter(hidden).map(|(_, arg)| Box::from(*arg)).collect();
    Box::new(Details { secrets, ..Details::default() })
}

/// Processor time of a run that was looked at: up to the first look it is taken to be wall time.
fn cpu_usec(cx: &Cx<'_>, looked: Option<(u64, u64)>) -> Option<u64> {
    let (at, cpu) = looked?;
    let rest = cx.sv.clock.cpu_us()?.saturating_sub(cpu);
    // The watchdog looks first after a millisecond or two.
    Some(at.saturating_sub(cx.ks.now_us) + rest)
}

/// The code of a reply: an integer, or the first element of an array.
fn result_code(result: ValueRef<'_>) -> Option<i64> {
    match result {
        ValueRef::Number(n) => Some(convert::truncate(n)),
        ValueRef::Table(table) => match table.index(1) {
            ValueRef::Number(n) => Some(convert::truncate(n)),
            _ => None,
        },
        _ => None,
    }
}

/// The first word of the error that a script returned.
#[inline]
fn returned_error(result: ValueRef<'_>) -> Option<Box<[u8]>> {
    let ValueRef::Table(table) = result else { return None };
    let ValueRef::Str(text) = table.field(b"err") else { return None };
    Some(crate::stats::error_code(text).into())
}

/// When a run is to end: the shorter of what the configuration and the script say.
fn deadline(cx: &Cx<'_>, own: u32) -> Deadline {
    let ms = deadline_ms(cx, own);
    if ms == 0 || cx.origin == Origin::Replay {
        return Deadline::NONE;
    }
    Deadline { at_us: cx.sv.stamp.saturating_add(ms.saturating_mul(1000)), ms }
}

fn deadline_ms(cx: &Cx<'_>, own: u32) -> u64 {
    [cx.sv.config.script_deadline_ms, u64::from(own)].into_iter().filter(|ms| *ms > 0).min().unwrap_or(0)
}

/// Why a run did not end well; `None` when it did.
#[inline]
fn failure(
    result: ValueRef<'_>,
    ended: &Result<(), RunError>,
    flags: ScriptFlags,
    stopped: Option<Reason>,
) -> Option<Reason> {
    match ended {
        Err(RunError::Raised) => Some(Reason::Error),
        Err(RunError::Stopped) => Some(stopped.unwrap_or(Reason::Kill)),
        Err(RunError::Limit(_)) => Some(Reason::Memory),
        Ok(()) if flags.contains(ScriptFlags::RAISED) => None,
        Ok(()) => match result {
            ValueRef::Table(table) if matches!(table.field(b"err"), ValueRef::Str(_)) => {
                Some(Reason::ErrorReply)
            }
            _ => None,
        },
    }
}

/// Ends the scopes that the run opened: savepoints that a stop left open, then `own` when there is one.
fn close_scopes(cx: &mut Cx<'_>, own: usize, scope: bool, failure: Option<Reason>) {
    while cx.ks.undo.depth() > own {
        cx.ks.take_back();
        cx.sv.stats.rollbacks.count(Reason::Savepoint);
    }
    match failure {
        _ if !scope => {}
        None => cx.ks.commit_scope(),
        Some(reason) => {
            cx.ks.take_back();
            cx.sv.stats.rollbacks.count(reason);
        }
    }
}

/// The error that tells of a stop.
#[cold]
fn stop_text(cx: &mut Cx<'_>, reason: Option<Reason>, function: bool, nothing: &str, own_ms: u32) -> Vec<u8> {
    match reason {
        Some(Reason::Deadline) => {
            format!("DEADLINE script exceeded {} ms, nothing was changed", deadline_ms(cx, own_ms))
                .into_bytes()
        }
        Some(Reason::Undo) => {
            let max = cx.sv.config.script_rollback_max_bytes;
            format!("UNDO script needs more than {max} bytes to be taken back{nothing}").into_bytes()
        }
        Some(Reason::Commands) => {
            cx.sv.stats.limited(Limited::Commands);
            let max = cx.sv.config.script_max_commands;
            format!("LIMIT script called more than {max} commands{nothing}").into_bytes()
        }
        _ if function => b"ERR Script killed by user with FUNCTION KILL...".to_vec(),
        _ => b"ERR Script killed by user with SCRIPT KILL...".to_vec(),
    }
}

/// What Redis judges before a script runs. Answers whether memory is over `maxmemory`.
fn permit(cx: &mut Cx<'_>, flags: ScriptFlags, read_only: bool, rollback: bool, dry: bool) -> Res<bool> {
    let oom = cx.sv.oom && !cx.ks.obeys;
    let stale = obey::is_stale(cx.sv);
    if flags.contains(ScriptFlags::COMPAT) {
        return if stale { Err(obey::PRIMARY_DOWN) } else { Ok(oom) };
    }
    if flags.contains(ScriptFlags::NO_CLUSTER) && cx.sv.config.cluster_enabled {
        return Err(CmdError::new("ERR Can not run script on cluster, 'no-cluster' flag is set."));
    }
    if stale && !flags.contains(ScriptFlags::ALLOW_STALE) {
        return Err(CmdError::new(
            "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag is not set on the script.",
        ));
    }
    if !dry && !cx.ks.obeys && obey::is_read_only(cx.sv) && !flags.contains(ScriptFlags::NO_WRITES) {
        return Err(CmdError::new("READONLY Can not run script with write flag on readonly replica"));
    }
    if read_only && !flags.contains(ScriptFlags::NO_WRITES) {
        return Err(CmdError::new("ERR Can not execute a script with write flag using *_ro command."));
    }
    if !dry && execute::lacks_replicas(cx.sv) && !flags.contains(ScriptFlags::NO_WRITES) {
        return Err(crate::error::NO_REPLICAS);
    }
    if let Some(why) = execute::cannot_save(cx.sv)
        && !flags.contains(ScriptFlags::NO_WRITES)
    {
        return Err(why.for_script());
    }
    // What can be taken back is judged before every command.
    if oom && !rollback && !flags.intersects(ScriptFlags::ALLOW_OOM | ScriptFlags::NO_WRITES) {
        return Err(CmdError::new(
            "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
        ));
    }
    Ok(oom)
}

fn take_vm(cx: &mut Cx<'_>, subject: &Subject) -> Option<Box<Vm>> {
    match subject {
        Subject::Function { name } => cx.sv.scripts.libraries.take_vm(name),
        Subject::Script { .. } => {
            if let Some(vm) = cx.sv.scripts.vm.take() {
                return Some(vm);
            }
            // While the VM is away a script is running, and scripts do not nest.
            let idle = cx.sv.scripts.runs.load(Ordering::Acquire).is_multiple_of(2);
            idle.then(|| cx.sv.scripts.new_vm(false, cx.sv.config.script_max_memory))
        }
    }
}

/// A heap of more bytes is freed elsewhere as a whole: that can take longer than the run did.
const LARGE_HEAP: usize = 4 << 20;

fn give_back(cx: &mut Cx<'_>, subject: &Subject, mut vm: Box<Vm>) {
    match subject {
        Subject::Function { name } => {
            vm.reset();
            cx.sv.scripts.libraries.give_back(name, vm);
        }
        Subject::Script { .. } if vm.used_bytes() > LARGE_HEAP => cx.ks.discard_other(vm),
        Subject::Script { .. } => {
            vm.reset();
            cx.sv.scripts.vm = Some(vm);
        }
    }
}

/// Writes the error that ended a run, with the place where it was raised, in Redis's form, and the name of a script
/// that has one. Answers the error's first word.
#[cold]
fn report(cx: &mut Cx<'_>, vm: &Vm, error: RunError, name: Name<'_>) -> Box<[u8]> {
    let mut counted = false;
    let mut text = match error {
        RunError::Raised => {
            let (text, ignore) = message(vm);
            counted = ignore;
            text
        }
        RunError::Stopped => b"ERR stopped".to_vec(),
        RunError::Limit(limit) => [b"ERR ", limit.text().as_bytes()].concat(),
    };
    if let Some((source, line)) = place(vm) {
        text.extend_from_slice(format!(" script: {name}, on {source}:{line}.").as_bytes());
    }
    if let Name::Script(sha) = name
        && let Some(script) = cx.sv.scripts.cache.peek(&sha).filter(|script| script.meta.tagged)
        && let Some(label) = script.meta.label()
    {
        text.extend_from_slice(format!(" ({label})").as_bytes());
    }
    let code = crate::stats::error_code(&text);
    if !counted {
        cx.sv.stats.count_custom_error(code);
    }
    cx.reply.error(&text);
    code.into()
}

/// The text of an error value, and whether the statistics have it already.
///
/// Redis's handler takes the field as a script would, and so finds one that a metatable gives; text ends at a zero byte.
pub(super) fn message(vm: &Vm) -> (Vec<u8>, bool) {
    match vm.error() {
        ValueRef::Table(table) => {
            let ignore = matches!(table.field(b"ignore_error_stats_update"), ValueRef::Bool(true));
            let text = string_of(table.inherited(b"err")).unwrap_or_else(|| b"ERR unknown error".to_vec());
            (until_nul(&text).to_vec(), ignore)
        }
        other => {
            let text = string_of(other).unwrap_or_else(|| match other {
                ValueRef::Bool(true) => b"true".to_vec(),
                ValueRef::Bool(false) => b"false".to_vec(),
                _ => vm.error_address().unwrap_or_else(|| other.type_name().to_owned()).into_bytes(),
            });
            ([b"ERR ", until_nul(&text)].concat(), false)
        }
    }
}

fn string_of(value: ValueRef<'_>) -> Option<Vec<u8>> {
    match value {
        ValueRef::Str(s) => Some(s.to_vec()),
        ValueRef::Number(n) => {
            let mut text = Vec::new();
            totality_lua::numfmt::number_to_string(n, &mut text);
            Some(text)
        }
        _ => None,
    }
}

/// Where the error was raised: what the runtime knows, else what the error table says itself.
fn place(vm: &Vm) -> Option<(String, String)> {
    if let Some((source, line)) = vm.raised_at() {
        return Some((source.to_owned(), line.to_string()));
    }
    let ValueRef::Table(table) = vm.error() else { return None };
    let source = string_of(table.field(b"source"))?;
    let line = string_of(table.field(b"line"))?;
    Some((String::from_utf8_lossy(&source).into_owned(), String::from_utf8_lossy(&line).into_owned()))
}
