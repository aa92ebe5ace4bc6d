//! REPLICAOF: makes the server a replica of another. Not supported yet: there is no replication, so only `NO ONE`, which
//! asks for what the server is already, is accepted.
//!
//! ```transcript
//! > REPLICAOF NO ONE
//! OK
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Spec};

/// Flags of REPLICAOF and SLAVEOF.
pub(super) const FLAGS: Flags =
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE).union(Flags::NO_ROLLBACK);

/// The table's row.
pub const SPEC: Spec =
    Spec::new("replicaof", 3, Group::Server, FLAGS, run).args("args:o(host-port:b(host:s port:i) no-one:b(no:t'NO' one:t'ONE'))").doc("5.0.0", "O(1)", "Makes the server a replica.");

pub(super) fn run(cx: &mut Cx<'_>) -> Res {
    if cx.sv.config.cluster_enabled {
        return Err(CmdError::new("ERR REPLICAOF not allowed in cluster mode."));
    }
    if !(cx.is(1, "no") && cx.is(2, "one")) {
        return Err(CmdError::new("ERR This server cannot be a replica: replication is not supported"));
    }
    cx.reply.ok();
    Ok(())
}
