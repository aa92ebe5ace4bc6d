//! SHUTDOWN waits for replicas: writes stop, and the server ends when all replicas have what was written, or after
//! `shutdown-timeout`.

use crate::client::ClientId;
use crate::engine::Outgoing;
use crate::execute;
use crate::keyspace::Keyspace;
use crate::state::{Held, LogLevel, ServerState};

/// An end that waits for replicas.
#[derive(Debug, Clone, Default)]
pub struct Stopping {
    /// Milliseconds since the Unix epoch at which it waits no longer.
    pub deadline: i64,
    /// A snapshot, or none, or as configured.
    pub save: Option<bool>,
    /// End even when saving fails.
    pub force: bool,
    /// Clients that asked for it: they are answered only when it fails.
    pub clients: Vec<ClientId>,
}

/// True when a replica has not got everything.
pub fn lags(sv: &ServerState) -> bool {
    sv.repl.replicas.iter().any(|replica| replica.ack != sv.repl.offset)
}

/// Begins to wait.
pub fn begin(ks: &mut Keyspace, sv: &mut ServerState, save: Option<bool>, force: bool) {
    let deadline = (sv.stamp / 1000).saturating_add(sv.config.shutdown_timeout.saturating_mul(1000)) as i64;
    // Asked for before writes stop: what is asked is itself part of the stream.
    if !ks.paused {
        sv.repl.ask_acks();
    }
    sv.repl.stopping = Some(Box::new(Stopping { deadline, save, force, clients: Vec::new() }));
    let held = Held { shutdown: true, ..sv.held };
    execute::hold(ks, sv, held);
    if lags(sv) {
        sv.log(LogLevel::Notice, "Waiting for replicas before shutting down.");
    }
}

/// True when the wait is over.
pub fn is_over(sv: &ServerState) -> bool {
    let over = |stopping: &Stopping| !lags(sv) || stopping.deadline <= (sv.stamp / 1000) as i64;
    sv.repl.stopping.as_deref().is_some_and(over)
}

/// Says in the log which replicas lose something.
pub fn note_lagging(sv: &mut ServerState) {
    let now = (sv.stamp / 1_000_000) as i64;
    let offset = sv.repl.offset;
    let lagging: Vec<String> = sv
        .repl
        .replicas
        .iter()
        .filter(|replica| replica.ack != offset)
        .map(|r| {
            format!(
                "Lagging replica {} reported offset {} behind master, lag={}, state={}.",
                r.name(sv),
                offset as i64 - r.ack as i64,
                r.lag(now),
                r.state.name()
            )
        })
        .collect();
    let (all, behind) = (sv.repl.replicas.len(), lagging.len());
    lagging.into_iter().for_each(|line| sv.log(LogLevel::Notice, line));
    if all > 0 {
        let text = format!("{} of {all} replicas are in sync when shutting down.", all - behind);
        sv.log(LogLevel::Notice, text);
    }
}

/// The server does not end: saving failed, or SHUTDOWN ABORT.
pub fn give_up(ks: &mut Keyspace, sv: &mut ServerState) {
    let Some(stopping) = sv.repl.stopping.take() else { return };
    for client in stopping.clients {
        if let Some(client) = sv.clients.get_mut(client) {
            client.blocked = false;
        }
        sv.send(client, b"-ERR Errors trying to SHUTDOWN. Check logs.\r\n".to_vec());
        sv.outgoing.push_back(Outgoing::Unblocked { client });
    }
    let held = Held { shutdown: false, ..sv.held };
    execute::hold(ks, sv, held);
}
