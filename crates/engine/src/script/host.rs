//! The script's outside: `redis.call` and the rest of the `redis` table.

use super::api;
use super::cache::Sha;
use super::debug::Debugger;
use super::header::ScriptFlags;
use super::rollback::Reason;
use super::trace::{self, Called, Trace};
use crate::acl;
use crate::busy::{self, Busy};
use crate::client::ClientId;
use crate::cluster;
use crate::commands::connection::client::HIDDEN;
use crate::commands::{self, Command};
use crate::config::UndeclaredKeys;
use crate::cx::Origin;
use crate::engine::Ticker;
use crate::error::CmdError;
use crate::execute::{self, Call};
use crate::frame::Frame;
use crate::keyspace::Keyspace;
use crate::obey;
use crate::reply::{Proto, Reply, TreeBuilder};
use crate::spec::Flags;
use crate::state::{LogLevel, ServerState};
use smallvec::SmallVec;
use std::collections::HashSet;
use totality_lua::host::Reply as LuaReply;
use totality_lua::instrument::{Event, Then};
use totality_lua::{Args, Flow, FuncRef, Host, HostFn, Tick, ValueRef};

/// What holds for one run.
pub struct Run<'a> {
    /// Flags of the script or function.
    pub flags: ScriptFlags,
    /// It may not write: `*_RO`, or the flag `no-writes`.
    pub read_only: bool,
    /// Memory was over `maxmemory` when it began.
    pub oom: bool,
    /// The command that started it.
    pub argv: &'a [&'a [u8]],
    /// The keys that the caller declared.
    pub declared: &'a [&'a [u8]],
    /// What runs, for messages.
    pub name: Name<'a>,
    /// The text of the library that is loading: it may register functions, and call nothing.
    pub loading: Option<&'a [u8]>,
    /// What it writes is taken back when it does not end well.
    pub rollback: bool,
    /// It may be stopped though it wrote.
    pub stoppable: bool,
    /// Where its commands are noted, in a dry run.
    pub trace: Option<&'a mut Trace>,
    /// Who debugs it.
    pub debugger: Option<&'a mut Debugger>,
    /// Deadlines and the undo log's limit do not count: what is replayed happened already.
    pub unlimited: bool,
    /// When it is to be stopped, if it can be.
    pub deadline: Deadline,
    /// Why it was stopped.
    pub stopped: Option<Reason>,
    /// A scope is open around it only so that it can be put off; see [`Keyspace::put_off`].
    pub tentative: bool,
    /// A write command was called.
    pub wrote: bool,
    /// Protocol that replies of `redis.call` are shaped by.
    pub proto: Proto,
    /// In cluster mode: the slot of the script's keys, known from the first.
    pub slot: Option<u16>,
    /// The caller's user may not do everything.
    pub restricted: bool,
    /// What is counted of it.
    pub counts: RunCounts,
    /// Commands that it may call.
    pub max_commands: u64,
    /// The declared keys once more, when they are many.
    pub declared_set: Option<HashSet<&'a [u8]>>,
    /// Functions that the library registered.
    pub registered: Vec<Registered>,
}

/// What is counted of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunCounts {
    /// Commands that it called.
    pub commands: u64,
    /// Write commands among them.
    pub writes: u64,
    /// When it was first looked at: wall time and processor time, in microseconds.
    pub looked: Option<(u64, u64)>,
}

/// Bytes that taking back a run may need which is no all-or-nothing one: it is to take no long time.
const TENTATIVE: usize = 2 << 20;

/// What a script accessed when no argument names it.
const UNNAMED: &str = "keys that it did not declare";

/// More declared keys than this are looked up in a set.
const FEW_KEYS: usize = 16;

/// When a run is to end.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Microseconds since the Unix epoch; `u64::MAX` for never.
    pub at_us: u64,
    /// Milliseconds that it has.
    pub ms: u64,
}

impl Deadline {
    /// No deadline.
    pub const NONE: Deadline = Deadline { at_us: u64::MAX, ms: 0 };
}

/// Name of what runs; rendered only when a message needs it.
#[derive(Debug, Clone, Copy)]
pub enum Name<'a> {
    /// A script, by its SHA1.
    Script(Sha),
    /// A function.
    Function(&'a [u8]),
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Script(sha) => sha.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Name::Function(name) => f.write_str(&String::from_utf8_lossy(name)),
        }
    }
}

/// A function that a library registered.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Its name.
    pub name: Vec<u8>,
    /// What to call.
    pub callback: FuncRef,
    /// What it is for.
    pub description: Option<Vec<u8>>,
    /// Its flags.
    pub flags: ScriptFlags,
    /// Milliseconds that it may run; 0 when nothing says so.
    pub deadline_ms: u32,
    /// The line that registered it.
    pub line: u32,
}

/// The host of one run.
pub struct ScriptHost<'a> {
    pub(super) ks: &'a mut Keyspace,
    pub(super) sv: &'a mut ServerState,
    pub(super) ticker: &'a mut dyn Ticker,
    pub(super) client: ClientId,
    pub(super) run: Run<'a>,
}

impl Host for ScriptHost<'_> {
    #[inline]
    fn call(&mut self, id: HostFn, args: Args<'_>, reply: &mut LuaReply) -> Flow {
        match id {
            api::CALL => self.command(args, reply, true),
            api::PCALL => self.command(args, reply, false),
            _ => api::call(self, id, args, reply),
        }
    }

    /// The engine knows no CPU time: `os.clock` counts the seconds since the server started.
    fn clock(&mut self) -> f64 {
        self.sv.clock.now_us().saturating_sub(self.sv.started_us) as f64 / 1e6
    }

    fn tick(&mut self) -> Tick {
        if self.run.counts.looked.is_none() {
            self.run.counts.looked = self.sv.clock.cpu_us().map(|cpu| (self.sv.clock.now_us(), cpu));
        }
        if let Some(run) = &mut self.sv.running {
            (run.commands, run.writes) = (self.run.counts.commands, self.run.counts.writes);
        }
        self.look_around();
        if self.sv.running.as_ref().is_some_and(|run| run.kill) {
            return self.stop(Reason::Kill);
        }
        if self.run.deadline.at_us != u64::MAX && self.sv.clock.now_us() > self.run.deadline.at_us {
            return self.past_deadline();
        }
        Tick::Continue
    }

    fn event(&mut self, event: Event<'_>) -> Then {
        self.debug_event(&event)
    }

    fn begin_scope(&mut self) -> Result<(), String> {
        if self.sv.config.script_rollback == 0 {
            return Err("savepoints are switched off by script-rollback never".to_owned());
        }
        self.stay();
        self.ks.open_scope();
        Ok(())
    }

    fn end_scope(&mut self, keep: bool) {
        if keep {
            self.ks.commit_scope();
        } else {
            self.ks.take_back();
            self.sv.stats.rollbacks.count(Reason::Savepoint);
        }
    }
}

fn text_of(error: &CmdError) -> String {
    String::from_utf8_lossy(error.text()).into_owned()
}

impl ScriptHost<'_> {
    /// Serves other clients once the run is slow.
    pub(super) fn look_around(&mut self) {
        if busy::look(self.sv, self.run.name, self.run.argv) {
            self.ticker.tick(&mut Busy { ks: self.ks, sv: self.sv });
        }
        if let (Some(debugger), Some(run)) = (&mut self.run.debugger, &self.sv.running) {
            debugger.note_time(self.sv.stamp.saturating_sub(run.since_us), &self.sv.config);
        }
    }

    pub(super) fn stop(&mut self, reason: Reason) -> Tick {
        self.run.stopped = Some(reason);
        Tick::Stop
    }

    /// The deadline has passed: stops what can be stopped without leaving half of its work behind.
    #[cold]
    fn past_deadline(&mut self) -> Tick {
        if !self.run.wrote || self.run.stoppable {
            return self.stop(Reason::Deadline);
        }
        let ms = self.run.deadline.ms;
        self.run.deadline = Deadline::NONE;
        let text = format!(
            "Script {} is past its deadline of {ms} ms; it has written and is not all-or-nothing, so it goes on",
            self.run.name
        );
        self.sv.log(LogLevel::Warning, text);
        Tick::Continue
    }

    /// `redis.call` and `redis.pcall`.
    pub(super) fn command(&mut self, args: Args<'_>, reply: &mut LuaReply, raise: bool) -> Flow {
        if self.run.debugger.is_some() {
            return self.debugged_command(args, reply, raise);
        }
        self.run.counts.commands += 1;
        if self.run.counts.commands > self.run.max_commands {
            self.run.stopped = Some(Reason::Commands);
            return Flow::Stop;
        }
        let mut scratch = Scratch::new();
        let mut argv = Argv::new();
        if let Err(text) = arguments(args, &mut scratch, &mut argv) {
            return fail(reply, text, raise);
        }
        match self.admit(&argv, Some(args)) {
            Ok(command) => {
                if self.run.trace.is_some() {
                    return self.traced(command, &argv, args, reply, raise);
                }
                let call = Call { id: self.client, argv: &argv, command, origin: Origin::Script };
                let sink = Reply::lua(reply, self.run.proto);
                let fine = execute::call(self.ks, self.sv, call, sink, self.ticker);
                if self.ks.undo.is_open() && self.must_stop() {
                    return Flow::Stop;
                }
                if !fine && raise { Flow::Raise } else { Flow::Return }
            }
            Err(Refused { command, text }) => {
                self.refuse(command, &text, reply);
                if raise { Flow::Raise } else { Flow::Return }
            }
        }
    }

    /// Behind a command in a scope: is the run to end, since it is put off or needs too much to be taken back?
    fn must_stop(&mut self) -> bool {
        if self.ks.put_off {
            return true;
        }
        if self.run.tentative {
            if self.ks.undo.bytes() > TENTATIVE {
                self.stay();
            }
            return false;
        }
        let over = self.ks.undo.is_over() && !self.run.unlimited;
        if over {
            self.run.stopped = Some(Reason::Undo);
        }
        over
    }

    /// What the run did stays: it cannot be put off any longer.
    fn stay(&mut self) {
        if std::mem::take(&mut self.run.tentative) {
            self.ks.commit_scope();
            self.ks.may_put_off = false;
        }
    }

    /// `redis.call` of a dry run: notes what was called, answered and changed.
    #[cold]
    fn traced(
        &mut self,
        command: &'static Command,
        argv: &[&[u8]],
        args: Args<'_>,
        reply: &mut LuaReply,
        raise: bool,
    ) -> Flow {
        let (keys, written) = trace::keys_of(command, argv);
        let db = self.ks.cur;
        let before: Vec<Frame> = written.iter().map(|key| trace::preview(self.ks, db, key)).collect();
        let start = self.sv.clock.now_us();
        let mut tree = TreeBuilder::default();
        let call = Call { id: self.client, argv, command, origin: Origin::Script };
        let sink = Reply::tree(&mut tree, self.run.proto);
        let fine = execute::call(self.ks, self.sv, call, sink, self.ticker);
        let usec = self.sv.clock.now_us().saturating_sub(start);
        let answer = tree.finish().unwrap_or(Frame::Null);
        Reply::lua(reply, self.run.proto).frame(&answer);
        let changes = written.iter().zip(before).map(|(key, before)| {
            let after = trace::preview(self.ks, db, key);
            (db, key.to_vec(), before, after)
        });
        let called = Called {
            line: args.position().map_or(0, |(_, line)| line),
            argv: trace::shorten_argv(argv),
            reply: trace::shorten(&answer),
            usec,
            keys: keys.iter().map(|key| (key.to_vec(), self.run.declared.contains(key))).collect(),
            written: changes.filter(|(_, _, before, after)| before != after).collect(),
        };
        if let Some(trace) = &mut self.run.trace
            && trace.has_room()
        {
            trace.commands.push(called);
        }
        if self.ks.undo.is_over() {
            self.run.stopped = Some(Reason::Undo);
            return Flow::Stop;
        }
        if !fine && raise { Flow::Raise } else { Flow::Return }
    }

    /// Finds the command and judges whether the script may call it.
    #[inline]
    pub(super) fn admit(
        &mut self,
        argv: &[&[u8]],
        args: Option<Args<'_>>,
    ) -> Result<&'static Command, Refused> {
        let command = match args.and_then(|args| args.site_cache()) {
            Some(site) => match site.load(std::sync::atomic::Ordering::Relaxed) {
                0 => {
                    let command = commands::lookup_renamed(argv[0], &self.sv.config.renames);
                    let number = command.map_or(0, |command| u32::from(command.id) + 1);
                    site.store(number, std::sync::atomic::Ordering::Relaxed);
                    command
                }
                number => commands::all().get(number as usize - 1),
            },
            None => commands::lookup_renamed(argv[0], &self.sv.config.renames),
        };
        let refused = |command, text: &str| Err(Refused { command, text: text.to_owned() });
        let Some(mut command) = command else {
            return refused(None, "ERR Unknown command called from script");
        };
        if !command.spec.subs.is_empty() && argv.len() > 1 {
            match commands::with_subcommand(command, argv) {
                Ok(sub) => command = sub,
                Err(_) => return refused(None, "ERR Unknown command called from script"),
            }
        }
        if !command.spec.accepts(argv.len()) {
            return refused(Some(command), "ERR Wrong number of args calling command from script");
        }
        let flags = command.spec.flags;
        if flags.contains(Flags::NOSCRIPT) && self.sv.deny_in_scripts {
            return refused(Some(command), "ERR This Redis command is not allowed from script");
        }
        if flags.contains(Flags::NO_ROLLBACK) {
            self.stay();
        }
        if self.ks.undo.is_open() && flags.contains(Flags::NO_ROLLBACK) {
            return Err(Refused { command: Some(command), text: execute::not_in_scope(command) });
        }
        if self.run.restricted {
            self.permit(command, argv)?;
        }
        let writes = flags.contains(Flags::WRITE);
        if self.run.read_only && (writes || flags.contains(Flags::MAY_REPLICATE)) {
            return refused(Some(command), "ERR Write commands are not allowed from read-only scripts.");
        }
        if !self.ks.obeys && !self.sv.repl.is_primary() {
            if writes && obey::is_read_only(self.sv) {
                return Err(Refused { command: Some(command), text: text_of(&obey::READ_ONLY) });
            }
            if !flags.contains(Flags::STALE) && obey::is_stale(self.sv) {
                return refused(Some(command), "ERR Can not execute the command on a stale replica");
            }
        }
        if writes && !self.run.wrote && self.run.trace.is_none() && execute::lacks_replicas(self.sv) {
            return refused(Some(command), "NOREPLICAS Not enough good replicas to write.");
        }
        if writes
            && !self.run.wrote
            && !self.ks.obeys
            && let Some(why) = execute::cannot_save(self.sv)
        {
            return Err(Refused { command: Some(command), text: text_of(&why.for_command()) });
        }
        let may_grow = self.run.flags.contains(ScriptFlags::ALLOW_OOM);
        // What can be taken back is judged before every command, the rest before its first write.
        let over = if self.run.rollback {
            flags.contains(Flags::DENYOOM) && execute::over_memory(self.ks, self.sv)
        } else {
            self.run.oom && !self.run.wrote
        };
        if over && !may_grow && flags.contains(Flags::DENYOOM) {
            return refused(Some(command), "OOM command not allowed when used memory > 'maxmemory'.");
        }
        if self.sv.config.cluster_enabled {
            self.check_slot(command, argv)?;
        }
        if self.sv.config.script_undeclared_keys != 0 {
            self.check_declared(command, argv, args)?;
        }
        if writes {
            self.run.counts.writes += 1;
            if !self.run.wrote {
                self.run.wrote = true;
                if let Some(run) = &mut self.sv.running {
                    run.wrote = true;
                }
            }
        }
        Ok(command)
    }

    /// What the caller's user may not do, the script may not do either.
    #[cold]
    fn permit(&mut self, command: &'static Command, argv: &[&[u8]]) -> Result<(), Refused> {
        let Some(user) = self.sv.clients.get(self.client).map(|client| client.user.clone()) else {
            return Err(Refused { command: Some(command), text: "ERR client is gone".to_owned() });
        };
        let around = acl::Around::of(self.sv, self.ks.cur);
        let Err(denial) = acl::check(&user, command, argv, around) else { return Ok(()) };
        acl::deny(self.ks, self.sv, self.client, command, argv, denial, acl::Place::Script);
        let text = acl::denial_text(&user, command, argv, denial, false);
        let text = format!("ERR ACL failure in script: {}", String::from_utf8_lossy(&text));
        Err(Refused { command: Some(command), text })
    }

    /// Cluster mode: one call's keys are in one slot, and a script stays in the slot of its first key unless it has the
    /// rules of servers before 7.0 or the flag `allow-cross-slot-keys`.
    #[cold]
    fn check_slot(&mut self, command: &'static Command, argv: &[&[u8]]) -> Result<(), Refused> {
        let refused = |text: String| Err(Refused { command: Some(command), text });
        let Ok(slot) = cluster::slot_of(command, argv, None) else {
            return refused(format!(
                "ERR Command '{}' in script attempted to access keys that don't hash to the same slot",
                command.full_name
            ));
        };
        let free = ScriptFlags::COMPAT.union(ScriptFlags::ALLOW_CROSS_SLOT_KEYS);
        if slot.is_none() || self.run.flags.intersects(free) {
            return Ok(());
        }
        if self.run.slot.is_some_and(|first| slot != Some(first)) {
            return refused(
                "ERR Script attempted to access keys that do not hash to the same slot".to_owned(),
            );
        }
        self.run.slot = slot;
        Ok(())
    }

    /// What `script-undeclared-keys` says of a key that the caller did not declare.
    #[cold]
    fn check_declared(
        &mut self,
        command: &'static Command,
        argv: &[&[u8]],
        args: Option<Args<'_>>,
    ) -> Result<(), Refused> {
        let Some(key) = self.undeclared(command, argv) else { return Ok(()) };
        self.sv.stats.undeclared_keys += 1;
        let (chunk, line) = args.and_then(|args| args.position()).unwrap_or(("?", 0));
        let text = |what: String| {
            format!("Script {} accessed {what} by '{}' at {chunk}:{line}", self.run.name, command.full_name)
        };
        let named = |key: &[u8]| format!("undeclared key '{}'", String::from_utf8_lossy(key));
        if self.sv.config.undeclared_keys() == UndeclaredKeys::Deny {
            let text = text(key.map_or_else(|| UNNAMED.to_owned(), named));
            return Err(Refused { command: Some(command), text: format!("ERR {text}") });
        }
        // The line of the script tells where to look.
        let hide = self.sv.config.hide_user_data_from_log;
        let text = text(match key {
            Some(_) if hide => named(HIDDEN.as_bytes()),
            Some(key) => named(key),
            None => UNNAMED.to_owned(),
        });
        self.sv.log(LogLevel::Warning, text);
        Ok(())
    }

    /// What a command accesses that the caller did not declare: a key, or keys that no argument names.
    fn undeclared<'k>(&mut self, command: &'static Command, argv: &[&'k [u8]]) -> Option<Option<&'k [u8]>> {
        // These see or change keys that no argument names.
        const ALL_KEYS: [&str; 7] =
            ["clusterscan", "flushall", "flushdb", "keys", "randomkey", "scan", "swapdb"];
        if ALL_KEYS.contains(&command.spec.name) {
            return Some(None);
        }
        // Arguments that make no sense have no keys: the command itself will say what is wrong.
        let keys = crate::keys::find(command.spec, argv).ok()?;
        let keys = keys.iter().map(|(at, _)| argv[*at]);
        let by_pattern = crate::keys::by_pattern(command.spec, argv);
        for key in keys.chain(by_pattern) {
            if !self.is_declared(key) {
                return Some(Some(key));
            }
        }
        None
    }

    fn is_declared(&mut self, key: &[u8]) -> bool {
        let declared = self.run.declared;
        if declared.len() <= FEW_KEYS {
            return declared.contains(&key);
        }
        self.run.declared_set.get_or_insert_with(|| declared.iter().copied().collect()).contains(key)
    }

    #[cold]
    pub(super) fn refuse(&mut self, command: Option<&Command>, text: &str, reply: &mut LuaReply) {
        self.sv.stats.count_error(text.split(' ').next().unwrap_or("").as_bytes());
        if let Some(command) = command {
            self.sv.stats.commands[command.id as usize].rejected += 1;
        }
        Reply::lua(reply, self.run.proto).error(text.as_bytes());
    }
}

/// A call that the gate does not let through.
pub(super) struct Refused {
    pub(super) command: Option<&'static Command>,
    pub(super) text: String,
}

/// Writes `{err = text}` as the value to return or raise.
pub(super) fn fail(reply: &mut LuaReply, text: &str, raise: bool) -> Flow {
    reply.table(0, 1);
    reply.key(b"err");
    reply.str(text.as_bytes());
    reply.end();
    if raise { Flow::Raise } else { Flow::Return }
}

/// Room for the digits of number arguments.
pub(super) type Scratch = SmallVec<[u8; 64]>;

/// The arguments of a call.
pub(super) type Argv<'a> = SmallVec<[&'a [u8]; 8]>;

/// Fills `argv`, which is empty, with the arguments of a call as bytes: strings as they are, numbers as Redis prints them.
///
/// # Errors
/// When there are none, or one is neither a string nor a number.
#[inline]
pub(super) fn arguments<'a>(
    args: Args<'a>,
    scratch: &'a mut Scratch,
    argv: &mut Argv<'a>,
) -> Result<(), &'static str> {
    if args.is_empty() {
        return Err("ERR Please specify at least one argument for this call");
    }
    for i in 0..args.len() {
        match args.get(i) {
            Some(ValueRef::Str(s)) => argv.push(s),
            _ => {
                argv.clear();
                return with_numbers(args, scratch, argv);
            }
        }
    }
    Ok(())
}

/// The same where not all are strings.
fn with_numbers<'a>(
    args: Args<'a>,
    scratch: &'a mut Scratch,
    argv: &mut Argv<'a>,
) -> Result<(), &'static str> {
    let mut numbers: SmallVec<[(u32, u32); 4]> = SmallVec::new();
    for i in 0..args.len() {
        match args.get(i) {
            Some(ValueRef::Str(_)) => {}
            Some(ValueRef::Number(n)) => {
                let start = scratch.len() as u32;
                digits(n, scratch);
                numbers.push((start, scratch.len() as u32));
            }
            _ => return Err("ERR Command arguments must be strings or integers"),
        }
    }
    let scratch: &'a [u8] = scratch;
    let mut next = numbers.iter();
    for i in 0..args.len() {
        match args.get(i) {
            Some(ValueRef::Str(s)) => argv.push(s),
            _ => {
                let (start, end) = next.next().copied().unwrap_or((0, 0));
                argv.push(&scratch[start as usize..end as usize]);
            }
        }
    }
    Ok(())
}

/// A number as an argument: an integer where it is one of up to 2^62, else the shortest digits.
fn digits(n: f64, out: &mut Scratch) {
    const SAFE: f64 = (1u64 << 62) as f64;
    let whole = n as i64;
    if whole as f64 == n && (-SAFE..=SAFE).contains(&n) {
        out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    } else {
        if n.is_nan() && n.is_sign_negative() {
            out.push(b'-');
        }
        let mut text = SmallVec::new();
        crate::util::format_double(n, &mut text);
        out.extend_from_slice(&text);
    }
}
