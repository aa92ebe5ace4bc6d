//! FAILOVER: writes wait until a replica has got everything, then this server becomes its replica and asks it to take
//! over. When that fails everything is as before.

use super::{Failover, FailoverState, Replica, ReplicaState, Request, become_primary, become_replica};
use crate::engine::Ticker;
use crate::execute;
use crate::keyspace::Keyspace;
use crate::state::{Held, LogLevel, ServerState};

/// The online replica at an address.
pub(crate) fn find<'a>(sv: &'a ServerState, host: &str, port: i64) -> Option<&'a Replica> {
    let at = |replica: &&Replica| i64::from(replica.told.port) == port && replica.address(sv) == host;
    sv.repl.replicas.iter().find(at)
}

fn hold(ks: &mut Keyspace, sv: &mut ServerState, on: bool) {
    let held = Held { failover: on, ..sv.held };
    execute::hold(ks, sv, held);
}

/// Begins one.
pub(crate) fn begin(ks: &mut Keyspace, sv: &mut ServerState, failover: Failover) {
    let text = match &failover.target {
        Some((host, port)) => format!("FAILOVER requested to {host}:{port}."),
        None => "FAILOVER requested to any replica.".to_owned(),
    };
    sv.log(LogLevel::Notice, text);
    sv.repl.failover = Failover { state: FailoverState::WaitForSync, ..failover };
    hold(ks, sv, true);
}

/// Looks whether a failover can go on or has taken too long; to be called after each turn.
pub fn turn(ks: &mut Keyspace, sv: &mut ServerState, ticker: &mut dyn Ticker) {
    if sv.repl.failover.state != FailoverState::WaitForSync {
        return;
    }
    let late = sv.repl.failover.deadline.is_some_and(|deadline| deadline <= (sv.stamp / 1000) as i64);
    if late {
        match sv.repl.failover.target.clone().filter(|_| sv.repl.failover.force) {
            Some((host, port)) => {
                let text = format!("FAILOVER to {host}:{port} time out exceeded, failing over.");
                sv.log(LogLevel::Notice, text);
                ask(ks, sv, ticker, &host, port);
            }
            None => abort(ks, sv, ticker, "Replica never caught up before timeout"),
        }
        return;
    }
    let ready = |replica: &&Replica| {
        replica.state == ReplicaState::Online && replica.ack == sv.repl.offset && replica.told.port != 0
    };
    let found = match &sv.repl.failover.target {
        Some((host, port)) => find(sv, host, i64::from(*port)).filter(ready),
        None => sv.repl.replicas.iter().find(ready),
    };
    if let Some((host, port)) = found.map(|r| (r.address(sv).to_owned(), r.told.port)) {
        sv.log(LogLevel::Notice, format!("Failover target {host}:{port} is synced, failing over."));
        sv.repl.failover.target = Some((host.clone(), port));
        ask(ks, sv, ticker, &host, port);
    }
}

/// Becomes a replica of the target; the link to it asks it to take over.
fn ask(ks: &mut Keyspace, sv: &mut ServerState, ticker: &mut dyn Ticker, host: &str, port: u16) {
    sv.repl.failover.state = FailoverState::InProgress;
    become_replica(ks, sv, host, port);
    if let Err(why) = ticker.replicate(ks, sv, Request::Relink) {
        abort(ks, sv, ticker, &why);
    }
}

/// The target took over: to be called when it answered `PSYNC … FAILOVER` by letting this server follow it.
pub fn done(ks: &mut Keyspace, sv: &mut ServerState) {
    if sv.repl.failover.state != FailoverState::None {
        sv.repl.failover = Failover::default();
        crate::blocked::unblock_all(ks, sv);
        hold(ks, sv, false);
    }
}

/// Gives a failover up: also to be called when the target refused to take over. The server is a primary again.
pub fn abort(ks: &mut Keyspace, sv: &mut ServerState, ticker: &mut dyn Ticker, why: &str) {
    let failover = std::mem::take(&mut sv.repl.failover);
    if failover.state == FailoverState::None {
        return;
    }
    let text = match &failover.target {
        Some((host, port)) => format!("FAILOVER to {host}:{port} aborted: {why}"),
        None => format!("FAILOVER to any replica aborted: {why}"),
    };
    sv.log(LogLevel::Notice, text);
    if failover.state == FailoverState::InProgress {
        become_primary(ks, sv);
        // There is no link any more that could fail to be closed.
        let _ = ticker.replicate(ks, sv, Request::Relink);
    }
    hold(ks, sv, false);
}
