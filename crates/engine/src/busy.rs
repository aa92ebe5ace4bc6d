//! Serving other clients while a script runs or a data set is loaded: a script past `busy-reply-threshold` answers BUSY,
//! takes a kill, and lets through what Redis lets through then.

use crate::client::{ClientId, ClientIo, ConnInfo};
use crate::commands::Command;
use crate::engine::{After, Outgoing, Ticker};
use crate::error::CmdError;
use crate::execute;
use crate::keyspace::Keyspace;
use crate::reply::{Proto, Reply};
use crate::state::{LogLevel, ServerState};

/// The script or function that runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// It is a function: FUNCTION KILL stops it, SCRIPT KILL does not.
    pub function: bool,
    /// Microseconds since the Unix epoch at which it began.
    pub since_us: u64,
    /// It called a write command, so it cannot be killed, unless that can be taken back.
    pub wrote: bool,
    /// What it wrote is taken back when it does not end well.
    pub rollback: bool,
    /// The client whose command it is.
    pub client: ClientId,
    /// The command: `eval`, `fcall`, …
    pub command: &'static Command,
    /// Commands that it called, as of the last look.
    pub commands: u64,
    /// Write commands among them.
    pub writes: u64,
    /// What few runs need.
    pub(crate) details: Option<Box<Details>>,
    /// It is past the threshold: other clients are answered BUSY.
    pub slow: bool,
    /// It is to stop.
    pub kill: bool,
}

/// What is known of few runs: those that are slow, and those that have secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    /// SHA1 of the script, or name of the function; empty until the run is slow.
    pub(crate) name: String,
    /// Values of its arguments that nobody may read in a log.
    pub(crate) secrets: Vec<Box<[u8]>>,
    /// The command that started it, as it may be shown; empty until the run is slow.
    pub(crate) argv: Vec<Box<[u8]>>,
}

impl Running {
    /// SHA1 of the script, or name of the function; empty until the run is slow.
    pub fn name(&self) -> &str {
        self.details.as_ref().map_or("", |details| &details.name)
    }

    /// The command that started it, as it may be shown; empty until the run is slow.
    pub fn argv(&self) -> &[Box<[u8]>] {
        self.details.as_ref().map_or(&[], |details| &details.argv)
    }

    /// Values of its arguments that nobody may read in a log.
    pub(crate) fn secrets(&self) -> &[Box<[u8]>] {
        self.details.as_ref().map_or(&[], |details| &details.secrets)
    }

    /// What other clients are answered meanwhile.
    pub fn busy(&self) -> CmdError {
        let kill = if self.function { "FUNCTION" } else { "SCRIPT" };
        CmdError::owned(format!(
            "BUSY Redis is busy running a script. You can only call {kill} KILL or SHUTDOWN NOSAVE."
        ))
    }
}

/// The engine as its owner may use it while a script runs or a data set is loaded: everything but the data.
pub struct Busy<'a> {
    pub(crate) ks: &'a mut Keyspace,
    pub(crate) sv: &'a mut ServerState,
}

impl Busy<'_> {
    /// The state beside the data set.
    pub fn state(&mut self) -> &mut ServerState {
        self.sv
    }

    /// Data set and state, for what the log of refusals needs.
    pub fn parts(&mut self) -> (&Keyspace, &mut ServerState) {
        (self.ks, self.sv)
    }

    /// True once the script is past `busy-reply-threshold`, or a data set is loaded: the owner is to serve its sockets.
    pub fn is_slow(&self) -> bool {
        self.is_loading() || self.sv.running.as_ref().is_some_and(|run| run.slow)
    }

    /// True while a data set is loaded.
    pub fn is_loading(&self) -> bool {
        self.sv.persist.loading.is_some()
    }

    /// The server is to end: nothing more is loaded.
    pub fn stop_loading(&mut self) {
        if let Some(loading) = &mut self.sv.persist.loading {
            loading.stop = true;
        }
    }

    /// Runs a command of another client, or answers BUSY or LOADING.
    pub fn execute(
        &mut self,
        id: ClientId,
        argv: &[&[u8]],
        out: &mut Vec<u8>,
        ticker: &mut dyn Ticker,
    ) -> After {
        let ks = &self.ks;
        let saved = (ks.cur, ks.now, ks.now_us, ks.no_touch, ks.sees_all, ks.obeys);
        let actor = self.ks.effects.actor;
        let proto = self.sv.clients.get(id).map_or(Proto::Resp2, |c| c.proto);
        let start = out.len();
        let after = execute::client_command(self.ks, self.sv, id, argv, Reply::resp(out, proto), ticker);
        execute::apply_reply_mode(self.sv, id, start, out);
        // Time stands still for the script.
        let ks = &mut *self.ks;
        (ks.cur, ks.now, ks.now_us, ks.no_touch, ks.sees_all, ks.obeys) = saved;
        self.ks.effects.actor = actor;
        after
    }

    /// A client connects.
    pub fn connect(&mut self, conn: ConnInfo) -> ClientId {
        self.sv.stats.connections += 1;
        let (user, open) = (self.sv.acl.default_user().clone(), self.sv.acl.is_open());
        let now = (self.sv.stamp / 1000) as i64;
        self.sv.clients.add(conn, user, open, now)
    }

    /// A client is gone. Only while a data set is loaded: a script may be this client's.
    pub fn disconnect(&mut self, id: ClientId) {
        execute::remove_client(self.ks, self.sv, id);
    }

    /// What waits to leave, oldest first.
    pub fn next_outgoing(&mut self) -> Option<Outgoing> {
        self.sv.outgoing.pop_front()
    }

    /// What the owner knows of a client's buffers.
    pub fn client_io(&mut self, id: ClientId) -> Option<&mut ClientIo> {
        self.sv.clients.get_mut(id).map(|c| &mut c.io)
    }
}

/// Looks at the clock during a run: past the threshold the run becomes slow, once, with a line in the log. True while
/// it is slow.
pub(crate) fn look(sv: &mut ServerState, name: impl std::fmt::Display, argv: &[&[u8]]) -> bool {
    let now = sv.clock.now_us();
    sv.stamp = now;
    let threshold = sv.config.busy_reply_threshold;
    let Some(run) = &mut sv.running else { return false };
    let elapsed = now.saturating_sub(run.since_us) / 1000;
    if run.slow || threshold <= 0 || elapsed < threshold as u64 {
        return run.slow;
    }
    run.slow = true;
    let (command, what_ran) = (run.command, name.to_string());
    let shown: Vec<Box<[u8]>> =
        crate::record::shown(sv, command, argv, false).iter().map(|arg| Box::from(&**arg)).collect();
    let subject = argv.get(1).copied().unwrap_or_default();
    let label = sv.scripts.meta_of(command, subject).and_then(|meta| meta.label());
    let Some(run) = &mut sv.running else { return false };
    let details = run.details.get_or_insert_default();
    (details.name, details.argv) = (what_ran.clone(), shown);
    let (what, kill) = if run.function { ("Function", "FUNCTION KILL") } else { ("Script", "SCRIPT KILL") };
    let text = format!(
        "Slow script detected: still in execution after {elapsed} milliseconds. You can try killing the script using the {kill} command. {what} name is: {what_ran}{}.",
        label.map(|label| format!(" ({label})")).unwrap_or_default()
    );
    sv.log(LogLevel::Warning, text);
    true
}
