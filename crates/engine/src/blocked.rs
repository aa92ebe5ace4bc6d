//! Clients that wait in a blocking command.

use crate::client::ClientId;
use crate::keyspace::Keyspace;
use crate::state::ServerState;

/// Ends a client's wait from outside (CLIENT UNBLOCK). False when it does not wait.
pub fn unblock(_ks: &mut Keyspace, _sv: &mut ServerState, _client: ClientId, _with_error: bool) -> bool {
    // No command blocks yet, so nobody waits.
    false
}
