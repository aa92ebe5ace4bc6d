//! What a replica refuses. The primary's own commands are never judged here.

use crate::client::Client;
use crate::commands::Command;
use crate::error::{CmdError, Res};
use crate::replication::{FailoverState, LinkState};
use crate::script::command_flags;
use crate::spec::Flags;
use crate::state::ServerState;

/// A write on a replica.
pub const READ_ONLY: CmdError = CmdError::new("READONLY You can't write against a read only replica.");
/// The link is down, and old data is not to be served.
pub const PRIMARY_DOWN: CmdError =
    CmdError::new("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");

/// True where nothing may be written but by the primary.
#[inline]
pub fn is_read_only(sv: &ServerState) -> bool {
    !sv.repl.is_primary() && sv.config.replica_read_only
}

/// True where the data is old and may not be served.
#[inline]
pub fn is_stale(sv: &ServerState) -> bool {
    !sv.config.replica_serve_stale_data
        && sv.repl.upstream().is_some_and(|upstream| upstream.link != LinkState::Connected)
}

/// Flags of a command, as the script that it runs says, and of EXEC those of what is queued: all that any has, and all
/// that every one has.
fn flags(sv: &ServerState, client: &Client, command: &Command, argv: &[&[u8]]) -> (Flags, Flags) {
    let own = command_flags(sv, command, argv.get(1).copied());
    let Some(multi) = client.multi.as_ref().filter(|_| command.spec.name == "exec") else {
        return (own, own);
    };
    let of = |q: &crate::client::Queued| command_flags(sv, q.command, q.argv.get(1).map(|arg| &**arg));
    let queued = || multi.queue.iter().map(of);
    (queued().fold(own, Flags::union), queued().fold(own, Flags::intersection))
}

fn redirects(sv: &ServerState, client: &Client, any: Flags) -> bool {
    let reads = any.contains(Flags::READONLY) && !client.reads_replicas;
    client.capa_redirect && (any.contains(Flags::WRITE) || reads) && !sv.config.cluster_enabled
}

/// True for a command that is to be sent to a server that does not take it yet: a failover is under way.
#[cold]
pub fn must_wait(sv: &ServerState, client: &Client, command: &Command, argv: &[&[u8]]) -> bool {
    sv.repl.failover.state == FailoverState::InProgress
        && redirects(sv, client, flags(sv, client, command, argv).0)
}

/// Judges a command of a client of a replica.
#[cold]
pub fn judge(sv: &ServerState, client: &Client, command: &Command, argv: &[&[u8]]) -> Res {
    let (any, all) = flags(sv, client, command, argv);
    let writes = any.contains(Flags::WRITE);
    if let Some(upstream) = sv.repl.upstream() {
        if redirects(sv, client, any) {
            return Err(CmdError::owned(format!("REDIRECT {}:{}", upstream.host, upstream.port)));
        }
        if sv.config.replica_read_only && writes {
            return Err(READ_ONLY);
        }
        if !all.contains(Flags::STALE) && is_stale(sv) {
            return Err(PRIMARY_DOWN);
        }
    }
    Ok(())
}
