//! The execute gate: every command passes here, whoever gives it. Look-up, arity, rights, state, statistics, slow log
//! and propagation happen here and nowhere else.

use crate::acl::{self, Around, Denial, Place, Reason, User};
use crate::blocked;
use crate::client::{Client, ClientId, Multi, Queued, ReplyMode};
use crate::cluster::{self, CROSS_SLOT};
use crate::commands::{self, Command};
use crate::cx::{Cx, Origin};
use crate::engine::{After, Outgoing, Ticker};
use crate::error::{CmdError, NO_AUTH, NO_REPLICAS, OOM, Res};
use crate::evict::{self, Room};
use crate::keyspace::Keyspace;
use crate::loading;
use crate::obey;
use crate::propagate::Unit;
use crate::record;
use crate::replication;
use crate::reply::{Proto, Reply};
use crate::spec::{Flags, Group, KeyFlags};
use crate::state::{Held, LogLevel, ServerState};
use crate::tracking;
use smallvec::SmallVec;
use std::sync::Arc;

/// Runs one command of a client as a unit of execution of its own.
pub fn client_command(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    id: ClientId,
    argv: &[&[u8]],
    mut reply: Reply<'_>,
    ticker: &mut dyn Ticker,
) -> After {
    ks.begin_unit(sv.stamp);
    ks.effects.apart = false;
    ks.effects.actor = Some(id);
    sv.stats.processed += 1;
    let now = ks.now;
    let Some(client) = sv.clients.get_mut(id) else { return After::Close };
    if !client.postponed {
        client.put_off = 0;
    }
    ks.cur = client.db;
    ks.no_touch = client.no_touch;
    ks.sees_all = client.import_source && ks.import_mode;
    ks.obeys = client.primary;
    client.last_ms = now;
    client.postponed = false;

    let sent = sv.outgoing.len();
    let admitted = admit(ks, sv, id, argv);
    if sv.outgoing.len() > sent {
        tell_first(sv, id, sent, &mut reply);
    }
    match admitted {
        Ok(Admitted::Postpone) => {
            sv.stats.processed -= 1;
            if let Some(client) = sv.clients.get_mut(id) {
                client.postponed = true;
            }
            return After::Postponed;
        }
        Ok(Admitted::Run(command)) => {
            if let Some(client) = sv.clients.get_mut(id) {
                client.last_command = Some(command);
            }
            call(ks, sv, Call { id, argv, command, origin: Origin::Client }, reply, ticker);
            if ks.put_off {
                return put_off(ks, sv, id);
            }
            if let Some(request) = sv.block_request.take() {
                blocked::begin(ks, sv, id, command, argv, request);
            }
        }
        Ok(Admitted::Queue(command)) => {
            queue(sv, id, command, argv);
            reply.simple("QUEUED");
        }
        Err(error) if argv[0].eq_ignore_ascii_case(b"exec") => {
            // An EXEC that may not run discards the transaction and says so; one that asks for keys of several slots
            // says only that.
            let error = if error == CROSS_SLOT || error.code() == b"REDIRECT" {
                error
            } else {
                let text = error.text();
                let text = text.strip_prefix(b"ERR ").unwrap_or(text);
                CmdError::owned([b"EXECABORT Transaction discarded because of: ", text].concat())
            };
            reject(sv, id, argv, &error);
            if let Some(client) = sv.clients.get_mut(id) {
                client.multi = None;
            }
            ks.watch.unwatch(id);
            reply.error(error.text());
        }
        Err(_) if is_web(argv[0]) && !ks.obeys => refuse_web(ks, sv, id),
        Err(error) => {
            if ks.obeys {
                note_divergence(sv, &argv[0].escape_ascii().to_string(), error.text());
            } else if sv.clients.get(id).is_some_and(|client| client.replica) {
                note_unexpected(
                    sv,
                    ("primary", "replica"),
                    &argv[0].escape_ascii().to_string(),
                    error.text(),
                );
            }
            reject(sv, id, argv, &error);
            reply.error(error.text());
        }
    }
    finish_unit(ks, sv);
    if ks.effects.tracking
        && let Some(client) = sv.clients.get_mut(id)
    {
        tracking::after_command(client);
    }
    match sv.clients.get(id) {
        Some(client) if client.blocked => After::Blocked,
        Some(client) if !client.close => After::Continue,
        _ => After::Close,
    }
}

/// A script was taken back, since a snapshot has to write first what it was about to change.
#[cold]
fn put_off(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) -> After {
    ks.put_off = false;
    sv.stats.processed -= 1;
    if let Some(client) = sv.clients.get_mut(id) {
        client.postponed = true;
        client.put_off = client.put_off.saturating_add(1);
    }
    // Keys past their deadline that it came across are gone all the same.
    finish_unit(ks, sv);
    After::Postponed
}

/// The words with which web browsers begin a request or say where to.
fn is_web(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}

/// Ends the connection of a web browser without an answer: a page that its user looks at may have made it send commands
/// in the body of a request. The log is told once a minute.
#[cold]
fn refuse_web(ks: &Keyspace, sv: &mut ServerState, id: ClientId) {
    if let Some(client) = sv.clients.get_mut(id) {
        client.close = true;
    }
    sv.outgoing.push_back(Outgoing::Kill { client: id, after_reply: false });
    if sv.web_told.is_none_or(|told| ks.now >= told.saturating_add(60_000)) {
        sv.web_told = Some(ks.now);
        sv.log(
            LogLevel::Warning,
            "Possible SECURITY ATTACK detected: a client sent POST or Host:, as a web browser does that was made to \
             send commands to this server. Its connection is closed.",
        );
    }
}

/// What a client is told because keys were evicted before its command comes before the reply: it may be of a key that
/// the command is about.
#[cold]
fn tell_first(sv: &mut ServerState, id: ClientId, sent: usize, reply: &mut Reply<'_>) {
    if sv.clients.get(id).is_none_or(|client| client.reply_mode != ReplyMode::On) {
        return;
    }
    for outgoing in sv.outgoing.split_off(sent) {
        match &outgoing {
            Outgoing::Reply { client, bytes } if *client == id && reply.message(bytes) => {}
            _ => sv.outgoing.push_back(outgoing),
        }
    }
}

enum Admitted {
    Run(&'static Command),
    Queue(&'static Command),
    Postpone,
}

/// Does the command change values in place? One that overwrites or removes them as a whole leaves them to the snapshot,
/// and need not wait.
fn edits(command: &Command, how: KeyFlags) -> bool {
    // These may answer the old value and put it away as a whole all the same.
    let whole = matches!(command.spec.name, "set" | "getset" | "getdel");
    !whole && !how.intersects(KeyFlags::RO.union(KeyFlags::OW).union(KeyFlags::RM))
}

/// While a snapshot is made: does the command change a large value in place that is not yet written? Of EXEC, what is
/// queued decides. What scripts do is not known before they run, but within a transaction they cannot be taken back: there
/// the keys that they declare count.
#[cold]
fn awaits_snapshot(
    ks: &mut Keyspace,
    sv: &ServerState,
    client: &Client,
    command: &Command,
    argv: &[&[u8]],
) -> bool {
    let Some(multi) = &client.multi else {
        return command.spec.flags.contains(Flags::WRITE) && edits_owed(ks, command, argv);
    };
    if command.spec.name != "exec" || multi.abort {
        return false;
    }
    let cur = ks.cur;
    let waits = multi.queue.iter().any(|queued| {
        let args: SmallVec<[&[u8]; 8]> = queued.argv.iter().map(|arg| &**arg).collect();
        if queued.command.full_name == "select" {
            let db = args.get(1).and_then(|db| crate::util::parse_i64(db));
            ks.cur =
                db.and_then(|db| usize::try_from(db).ok()).filter(|db| *db < ks.dbs().len()).unwrap_or(cur);
        }
        let flags = queued.command.spec.flags;
        let script = flags.contains(Flags::SCRIPT)
            && !crate::script::declares_no_writes(sv, queued.command, args.get(1).copied());
        (script || flags.contains(Flags::WRITE)) && edits_owed(ks, queued.command, &args)
    });
    ks.cur = cur;
    waits
}

fn edits_owed(ks: &mut Keyspace, command: &Command, argv: &[&[u8]]) -> bool {
    let keys = crate::keys::find(command.spec, argv).unwrap_or_default();
    let mut changed = keys.iter().filter(|(_, how)| edits(command, *how));
    changed.any(|(at, _)| ks.awaits_snapshot(argv[*at]))
}

/// Finds the command and judges whether it may run now.
fn admit(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId, argv: &[&[u8]]) -> Res<Admitted> {
    let command = commands::resolve_renamed(argv, &sv.config.renames)?;
    let flags = command.spec.flags;
    let Some(client) = sv.clients.get(id) else { return Err(NO_AUTH) };
    if !client.authenticated && !flags.contains(Flags::NO_AUTH) && !sv.acl.is_open() {
        return Err(NO_AUTH);
    }
    if client.restricted
        && let Err(denied) = permit(ks, sv, client, command, argv)
    {
        return Err(denied.note(ks, sv, id, command, argv));
    }
    if sv.config.cluster_enabled {
        cluster::slot_of(command, argv, client.multi.as_deref())?;
    }
    if let Some(loading) = &sv.persist.loading
        && loading::refuses(loading, client, command)
    {
        return Err(loading::LOADING);
    }
    if let Some(run) = &sv.running
        && !flags.contains(Flags::ALLOW_BUSY)
    {
        return Err(run.busy());
    }
    if client.multi.is_some() && flags.contains(Flags::NO_MULTI) {
        return Err(CmdError::owned(format!(
            "ERR Command '{}' not allowed inside a transaction",
            command.full_name
        )));
    }
    let obeys = client.primary;
    if sv.running.is_none() && sv.persist.loading.is_none() {
        sv.oom = sv.config.maxmemory > 0 && evict::make_room(ks, sv) == Room::No;
        if sv.oom && !obeys && may_grow(sv, id, command, argv) {
            return Err(OOM);
        }
        if ks.effects.tracking {
            tracking::limit(ks, sv);
        }
    }
    let Some(client) = sv.clients.get(id) else { return Err(NO_AUTH) };
    let subscribed = client.subscribed() > 0 && client.proto == Proto::Resp2;
    if subscribed && !flags.contains(Flags::SUBSCRIBED) {
        return Err(CmdError::owned(format!(
            "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
            command.full_name
        )));
    }
    // What a replica sends is not held up by CLIENT PAUSE, so it may not reach the data. To Redis a monitor is one.
    if (client.replica || client.monitor)
        && flags.intersects(Flags::WRITE.union(Flags::READONLY).union(Flags::MAY_REPLICATE))
    {
        return Err(CmdError::new("ERR Replica can't interact with the keyspace"));
    }
    if ks.paused && !client.replica && !client.primary {
        let pause = sv.pause.filter(|pause| pause.until > ks.now);
        let held = pause.is_some() || sv.held.any();
        if held && (pause.is_some_and(|pause| pause.all) || may_write(sv, client, command, argv)) {
            return Ok(Admitted::Postpone);
        }
    }
    if ks.has_snapshot() && awaits_snapshot(ks, sv, client, command, argv) {
        return Ok(Admitted::Postpone);
    }
    if obeys {
        let queues = client.multi.is_some() && !flags.contains(Flags::IMMEDIATE);
        if cannot_save(sv).is_some() {
            write_without_disk(ks, sv, command)?;
        }
        return Ok(if queues { Admitted::Queue(command) } else { Admitted::Run(command) });
    }
    if !sv.repl.is_primary() {
        if obey::must_wait(sv, client, command, argv) {
            return Ok(Admitted::Postpone);
        }
        obey::judge(sv, client, command, argv)?;
    }
    if lacks_replicas(sv) {
        let queued = client.multi.as_ref().filter(|_| command.spec.name == "exec");
        let writes = |command: &Command| command.spec.flags.contains(Flags::WRITE);
        let own = crate::script::command_flags(sv, command, argv.get(1).copied());
        if own.contains(Flags::WRITE)
            || queued.is_some_and(|multi| multi.queue.iter().any(|q| writes(q.command)))
        {
            return Err(NO_REPLICAS);
        }
    }
    if let Some(why) = cannot_save(sv) {
        let queued = client.multi.as_ref().filter(|_| command.spec.name == "exec");
        let writes = |command: &Command| command.spec.flags.contains(Flags::WRITE);
        if writes(command)
            || command.spec.name == "ping"
            || queued.is_some_and(|multi| multi.queue.iter().any(|q| writes(q.command)))
        {
            return Err(why.for_command());
        }
    }
    let queues = client.multi.is_some() && !flags.contains(Flags::IMMEDIATE);
    Ok(if queues { Admitted::Queue(command) } else { Admitted::Run(command) })
}

/// True for commands that are refused when there is no memory left; of EXEC, what is queued decides.
#[cold]
fn may_grow(sv: &ServerState, id: ClientId, command: &Command, argv: &[&[u8]]) -> bool {
    let grows = |command: &Command| command.spec.flags.contains(Flags::DENYOOM);
    let queued =
        sv.clients.get(id).and_then(|client| client.multi.as_ref()).filter(|_| command.spec.name == "exec");
    let own = crate::script::command_flags(sv, command, argv.get(1).copied());
    own.contains(Flags::DENYOOM) || queued.is_some_and(|multi| multi.queue.iter().any(|q| grows(q.command)))
}

/// Ends CLIENT PAUSE.
pub(crate) fn unpause(ks: &mut Keyspace, sv: &mut ServerState) {
    if sv.pause.take().is_some() {
        resume(ks, sv);
    }
}

/// Lets writes wait, or no longer, because of a failover or a shutdown.
pub fn hold(ks: &mut Keyspace, sv: &mut ServerState, held: Held) {
    let before = std::mem::replace(&mut sv.held, held);
    ks.paused = sv.pause.is_some() || held.any();
    if before.any() && !held.any() {
        resume(ks, sv);
    }
}

/// Some of what made commands wait is over: those that still may not run wait on.
fn resume(ks: &mut Keyspace, sv: &mut ServerState) {
    ks.paused = sv.pause.is_some() || sv.held.any();
    sv.outgoing.push_back(Outgoing::Unpaused);
    blocked::look_again(ks);
}

/// Large values of a snapshot are written: those who waited to change them may go on.
pub fn resume_writers(ks: &mut Keyspace, sv: &mut ServerState) {
    if ks.take_snapshot_moved() {
        sv.outgoing.push_back(Outgoing::Unpaused);
        blocked::look_again(ks);
        finish_unit(ks, sv);
    }
}

/// True when `min-replicas-to-write` forbids writing: too few replicas acknowledge in time.
#[inline]
pub fn lacks_replicas(sv: &ServerState) -> bool {
    let least = sv.config.min_replicas_to_write;
    least > 0 && sv.config.min_replicas_max_lag > 0 && sv.repl.is_primary() && (sv.repl.good as u64) < least
}

/// Why nothing may be written: what is written could be lost.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CannotSave<'a> {
    /// The last snapshot failed.
    Snapshot,
    /// The append-only file could not be written.
    Log(&'a str),
}

/// Why nothing may be written, if so.
#[inline]
pub(crate) fn cannot_save(sv: &ServerState) -> Option<CannotSave<'_>> {
    if !sv.persist.save_ok && sv.config.stop_writes_on_bgsave_error && !sv.config.save.is_empty() {
        return Some(CannotSave::Snapshot);
    }
    sv.persist.log.error.as_deref().map(CannotSave::Log)
}

impl CannotSave<'_> {
    pub(crate) fn for_command(self) -> CmdError {
        match self {
            CannotSave::Snapshot => CmdError::new(
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.",
            ),
            CannotSave::Log(why) => CmdError::owned(format!("MISCONF Errors writing to the AOF file: {why}")),
        }
    }

    /// For a script that may write.
    pub(crate) fn for_script(self) -> CmdError {
        match self {
            CannotSave::Snapshot => CmdError::new(
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only scripts.",
            ),
            CannotSave::Log(why) => CmdError::owned(format!(
                "MISCONF Redis is configured to persist data to AOF, but it's currently unable to persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only scripts. AOF error: {why}"
            )),
        }
    }
}

/// Says whether anybody replays commands.
pub fn update_recording(ks: &mut Keyspace, sv: &ServerState) {
    ks.effects.recording = sv.repl.collects() || sv.persist.logs();
}

/// A command that the client's user may not run.
struct Denied {
    denial: Denial,
    place: Place,
    user: Arc<User>,
}

impl Denied {
    /// Notes it in the log and makes the error.
    #[cold]
    fn note(
        self,
        ks: &Keyspace,
        sv: &mut ServerState,
        id: ClientId,
        command: &'static Command,
        argv: &[&[u8]],
    ) -> CmdError {
        if let Some(client) = sv.clients.get_mut(id) {
            // What was refused is the last that the client gave.
            client.last_command = Some(command);
        }
        acl::deny(ks, sv, id, command, argv, self.denial, self.place);
        let text = acl::denial_text(&self.user, command, argv, self.denial, false);
        CmdError::owned([b"NOPERM ", text.as_slice()].concat())
    }
}

/// Refuses what the client's user may not do.
#[cold]
fn permit(
    ks: &Keyspace,
    sv: &ServerState,
    client: &Client,
    command: &'static Command,
    argv: &[&[u8]],
) -> Result<(), Denied> {
    let (db, place) = match &client.multi {
        Some(multi) => (selected(multi, ks.cur), Place::Multi),
        None => (ks.cur, Place::TopLevel),
    };
    acl::check(&client.user, command, argv, Around::of(sv, db)).map_err(|denial| Denied {
        denial,
        place,
        user: client.user.clone(),
    })
}

/// The database that is selected when the next command of a transaction will run.
fn selected(multi: &Multi, now: usize) -> usize {
    let last = multi.queue.iter().rev().find(|q| q.command.full_name == "select");
    let db = last.and_then(|q| crate::util::parse_i64(q.argv.get(1)?));
    db.and_then(|db| usize::try_from(db).ok()).unwrap_or(now)
}

/// Judges a command of a transaction when it runs: rights may have changed since it was queued.
pub(crate) fn permit_queued(ks: &Keyspace, sv: &mut ServerState, id: ClientId, queued: &Queued) -> Res {
    let Some(client) = sv.clients.get(id) else { return Err(NO_AUTH) };
    if !client.restricted {
        return Ok(());
    }
    let user = client.user.clone();
    let argv: Vec<&[u8]> = queued.argv.iter().map(|arg| &**arg).collect();
    let Err(denial) = acl::check(&user, queued.command, &argv, Around::of(sv, ks.cur)) else { return Ok(()) };
    acl::deny(ks, sv, id, queued.command, &argv, denial, Place::Multi);
    let why = match denial {
        Denial { reason: Reason::Command, .. } => "no permission to execute the command or subcommand",
        Denial { reason: Reason::Key, .. } => "no permission to touch the specified keys",
        Denial { reason: Reason::Channel, .. } => {
            "no permission to access one of the channels used as arguments"
        }
        Denial { reason: Reason::Database | Reason::Script, .. } => "no permission",
    };
    Err(CmdError::owned(format!(
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: {why}"
    )))
}

/// True for commands that CLIENT PAUSE WRITE holds back; of EXEC, what is queued decides.
fn may_write(sv: &ServerState, client: &Client, command: &Command, argv: &[&[u8]]) -> bool {
    let writes = |command: &Command, subject: Option<&[u8]>| {
        let flags = command.spec.flags;
        flags.intersects(Flags::WRITE.union(Flags::MAY_REPLICATE))
            && !(flags.contains(Flags::SCRIPT) && crate::script::declares_no_writes(sv, command, subject))
    };
    match &client.multi {
        Some(multi) if command.spec.name == "exec" => {
            multi.queue.iter().any(|q| writes(q.command, q.argv.get(1).map(|arg| &**arg)))
        }
        _ => writes(command, argv.get(1).copied()),
    }
}

/// The error of a command that a rollback scope refuses.
#[cold]
pub(crate) fn not_in_scope(command: &Command) -> String {
    let name = command.full_name.to_ascii_uppercase().replace('|', " ");
    format!("ERR {name} is not allowed in a rollback scope")
}

/// True when memory is over `maxmemory` at this moment, without an attempt to evict anything.
pub fn over_memory(ks: &Keyspace, sv: &ServerState) -> bool {
    sv.config.maxmemory > 0 && !evict::ignores(sv) && evict::used(ks, sv) > sv.config.maxmemory
}

/// Counts a command that did not run and spoils the open transaction.
fn reject(sv: &mut ServerState, id: ClientId, argv: &[&[u8]], error: &CmdError) {
    sv.stats.count_error(error.code());
    if let Ok(command) = commands::resolve_any_arity(argv) {
        sv.stats.commands[command.id as usize].rejected += 1;
        if let Some(client) = sv.clients.get_mut(id) {
            client.last_command = Some(command);
        }
    }
    if let Some(multi) = sv.clients.get_mut(id).and_then(|c| c.multi.as_mut()) {
        multi.abort = true;
    }
}

fn queue(sv: &mut ServerState, id: ClientId, command: &'static Command, argv: &[&[u8]]) {
    let Some(multi) = sv.clients.get_mut(id).and_then(|c| c.multi.as_mut()) else { return };
    let Multi { queue, bytes, abort } = &mut **multi;
    if *abort {
        // EXEC will refuse anyway; what would have been queued costs no memory.
        return;
    }
    *bytes += argv.iter().map(|arg| arg.len() + size_of::<Box<[u8]>>()).sum::<usize>();
    queue.push(Queued { command, argv: argv.iter().map(|arg| Box::from(*arg)).collect() });
}

/// A command that may run.
pub struct Call<'a> {
    /// On whose behalf.
    pub id: ClientId,
    /// Its arguments, the name first.
    pub argv: &'a [&'a [u8]],
    /// The command.
    pub command: &'static Command,
    /// Who called.
    pub origin: Origin,
}

/// Runs a command that was admitted: statistics, slow log, propagation. True when it ended without an error.
pub fn call(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    call: Call<'_>,
    reply: Reply<'_>,
    ticker: &mut dyn Ticker,
) -> bool {
    let Call { id, argv, command, origin } = call;
    let by_slot = if sv.config.cluster_slot_stats_enabled && origin == Origin::Client {
        cluster::counted(sv, id, command, argv)
    } else {
        None
    };
    let start = sv.stamp;
    let dirty = ks.dirty;
    let db = ks.cur;
    let outer = std::mem::replace(&mut ks.effects.rewritten, false);
    // EXEC is shown after what it runs, and RESET not to the monitor that it ends.
    let monitored = !sv.monitors.is_empty();
    let shown_last = monitored && matches!(command.spec.name, "exec" | "reset");
    if monitored && !sv.running_again && !shown_last {
        crate::stats::feed_monitors(ks, sv, id, argv, command, origin);
    }
    let written = reply.written();
    let now = ks.now;
    if ks.obeys && command.spec.group == Group::Hash {
        // Fields are as deleted as the primary says, like keys.
        ks.now = 0;
    }
    let mut cx = Cx { ks, sv, args: argv, reply, client: id, origin, command, ticker };
    let result = (command.spec.handler)(&mut cx);
    let failed = match result {
        Ok(()) => false,
        Err(error) => {
            cx.sv.stats.count_error(error.code());
            cx.reply.error(error.text());
            if cx.ks.obeys {
                note_divergence(cx.sv, &command.full_name, error.text());
            }
            true
        }
    };
    let Cx { ks, sv, reply, .. } = cx;
    if shown_last {
        crate::stats::feed_monitors(ks, sv, id, argv, command, origin);
    }
    // A script that ends with an error wrote it as its reply.
    let replied = !failed && reply.errors() > 0;
    let failed = failed || replied;
    if ks.obeys {
        ks.now = now;
        if replied {
            note_divergence(sv, &command.full_name, b"an error in its reply");
        }
    }
    // SAVE and others set it to zero: that is no change.
    if ks.dirty > dirty
        && ks.effects.recording
        && !ks.effects.rewritten
        && !command.spec.flags.intersects(Flags::SCRIPT.union(Flags::NO_PROPAGATE))
    {
        ks.effects.command(db, argv);
    }
    ks.effects.rewritten = outer;
    if ks.put_off {
        // It counts when it runs again.
        sv.stamp = sv.clock.now_us();
        return true;
    }
    if ks.effects.tracking {
        tracking::note_reads(ks, sv, id, command, argv);
    }
    sv.stamp = sv.clock.now_us();
    if sv.block_request.is_some() {
        // It counts when it ends.
        return true;
    }
    let usec = sv.stamp.saturating_sub(start);
    if std::mem::take(&mut ks.snapshot_held_up) {
        sv.latency.note(sv.config.latency_monitor_threshold, "snapshot-value", usec, sv.stamp);
    }
    let bytes = reply.written().zip(written).map(|(after, before)| after.saturating_sub(before));
    if let Some((slot, input)) = by_slot {
        let (net_in, net_out) = (input as u64, bytes.unwrap_or(0) as u64);
        sv.cluster.usage.add(slot, cluster::SlotUse { cpu_us: usec, net_in, net_out });
    }
    record::ended(sv, record::Ended { id, argv, command, usec, failed, reply: bytes });
    !failed
}

/// The primary did what cannot be done here: the data sets differ.
#[cold]
fn note_divergence(sv: &mut ServerState, command: &str, error: &[u8]) {
    note_unexpected(sv, ("replica", "primary"), command, error);
    if sv.config.propagation_error_behavior > 0 && sv.config.replica_read_only {
        let why = format!(
            "This replica panicked sending an error to its primary after processing the command '{command}'"
        );
        sv.outgoing.push_back(Outgoing::Fatal { why });
    }
}

/// Milliseconds between two lines about writes that the disk does not take.
const DISK_LINES_MS: i64 = 10_000;

/// The primary sends a command while nothing can be written to the disk: a replica that is not told otherwise ends, since
/// it would not be what it is taken for.
#[cold]
fn write_without_disk(ks: &Keyspace, sv: &mut ServerState, command: &Command) -> Result<(), CmdError> {
    let ping = command.spec.name == "ping";
    if !command.spec.flags.contains(Flags::WRITE) && !ping {
        return Ok(());
    }
    if !sv.config.replica_ignore_disk_write_errors && !ping {
        let why = "Replica was unable to write command to disk.";
        sv.outgoing.push_back(Outgoing::Fatal { why: why.to_owned() });
        return Err(CmdError::owned(format!("ERR {why}")));
    }
    if ks.now >= sv.persist.warned_ms + DISK_LINES_MS {
        sv.persist.warned_ms = ks.now;
        let text = "Replica is applying a command even though it is unable to write to disk.";
        sv.log(LogLevel::Warning, text);
    }
    Ok(())
}

/// An error on a link between servers, where nobody reads it.
#[cold]
fn note_unexpected(sv: &mut ServerState, (from, to): (&str, &str), command: &str, error: &[u8]) {
    sv.stats.unexpected_errors += 1;
    let error = error[..error.len().min(4096)].escape_ascii().to_string().replace("\\'", "'");
    let text = format!(
        "== CRITICAL == This {from} is sending an error to its {to}: '{error}' after processing the command '{command}'"
    );
    sv.log(LogLevel::Warning, text);
}

/// Ends a unit of execution: releases its effects.
#[inline]
pub fn finish_unit(ks: &mut Keyspace, sv: &mut ServerState) {
    if sv.depth == 0 && !ks.effects.is_empty() {
        release(ks, sv);
        if ks.effects.has_ready() {
            blocked::serve(ks, sv);
        }
    }
}

/// May a command that waited run again?
pub(crate) enum Readmit {
    /// It may.
    Yes,
    /// Not now.
    Later,
    /// It may not: rights or memory changed meanwhile.
    No(CmdError),
}

/// Judges a command that waited as if it came now.
pub(crate) fn readmit(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId, argv: &[&[u8]]) -> Readmit {
    match admit(ks, sv, id, argv) {
        Ok(Admitted::Postpone) => Readmit::Later,
        Ok(_) => Readmit::Yes,
        Err(error) => {
            reject(sv, id, argv, &error);
            Readmit::No(error)
        }
    }
}

/// Hands out the effects of a unit, those waiting for keys aside.
pub(crate) fn release(ks: &mut Keyspace, sv: &mut ServerState) {
    // Most units have none, and their vectors need not be moved to and fro.
    if ks.effects.has_commands() {
        let unit = ks.effects.take_commands();
        send_unit(sv, &unit, ks.effects.actor);
        ks.effects.reuse(unit);
    }
    ks.effects.apart = false;
    let tracks = ks.effects.take_tracks();
    if !tracks.is_empty() {
        tracking::release(ks, sv, tracks);
    }
    for message in ks.effects.take_published() {
        crate::pubsub::deliver(sv, &message);
    }
}

/// Appends a unit to the stream and to what waits for the append-only file.
fn send_unit(sv: &mut ServerState, unit: &Unit, actor: Option<ClientId>) {
    if sv.persist.logs() {
        let log = &mut sv.persist.log;
        let before = log.buffer.len();
        if sv.config.aof_timestamp_enabled {
            let now = (sv.stamp / 1_000_000) as i64;
            if now > log.stamp {
                log.stamp = now;
                log.buffer.extend_from_slice(format!("#TS:{now}\r\n").as_bytes());
            }
        }
        let buffer = &mut log.buffer;
        unit.write(&mut log.selected, |to| to.log, &mut |bytes| buffer.extend_from_slice(bytes));
        log.offset.0 += (log.buffer.len() - before) as u64;
        let logged = log.offset.0;
        if let Some(client) = actor.and_then(|id| sv.clients.get_mut(id)) {
            client.logged = logged;
        }
    }
    if sv.repl.collects() {
        let mut selected = sv.repl.selected;
        let stream = &mut sv.repl;
        unit.write(&mut selected, |to| to.replicas, &mut |bytes| stream.feed(bytes));
        sv.repl.selected = selected;
        if let Some(client) = actor.and_then(|id| sv.clients.get_mut(id)) {
            client.written = sv.repl.offset;
        }
        if !sv.repl.available {
            replication::hand_out(sv);
        }
    }
}

/// A client is gone.
pub(crate) fn remove_client(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) {
    forget_client(ks, sv, id);
    if let Some(client) = sv.clients.remove(id)
        && client.script.is_some()
    {
        sv.scripts.tracker.leaves(&client);
    }
}

/// Forgets what a client that is gone left behind.
pub fn forget_client(ks: &mut Keyspace, sv: &mut ServerState, id: ClientId) {
    ks.watch.unwatch(id);
    blocked::forget(ks, sv, id);
    replication::detach(ks, sv, id);
    replication::link::detach(sv, id);
    sv.monitors.retain(|c| *c != id);
    update_recording(ks, sv);
    crate::pubsub::forget(sv, id);
    tracking::disable(ks, sv, id);
}

/// Takes back a reply that CLIENT REPLY suppresses.
pub fn apply_reply_mode(sv: &mut ServerState, id: ClientId, start: usize, out: &mut Vec<u8>) {
    let Some(client) = sv.clients.get_mut(id) else { return };
    if client.reply_mode == ReplyMode::On {
        return;
    }
    // What SUBSCRIBE and its relatives answer are messages, which are never suppressed.
    let messages = Flags::PUBSUB.union(Flags::SUBSCRIBED);
    let subscribing = client.last_command.is_some_and(|command| command.spec.flags.contains(messages));
    match client.reply_mode {
        ReplyMode::On => {}
        ReplyMode::Off if subscribing => {}
        ReplyMode::SkipNext if subscribing => client.reply_mode = ReplyMode::On,
        ReplyMode::Off => out.truncate(start),
        ReplyMode::SkipNext => {
            out.truncate(start);
            if client.last_command.is_some_and(|c| c.full_name != "client|reply") {
                client.reply_mode = ReplyMode::On;
            }
        }
    }
}
