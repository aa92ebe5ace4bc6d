//! FAILOVER: hands the primary's part to a replica, without losing a write: writes wait until the replica has got all of
//! them. `FORCE` hands it over at the timeout in any case.
//!
//! ```transcript
//! > FAILOVER
//! (error) ERR FAILOVER requires connected replicas.
//! > FAILOVER ABORT
//! (error) ERR No failover in progress.
//! > FAILOVER TIMEOUT 0
//! (error) ERR FAILOVER timeout must be greater than 0
//! > FAILOVER TO 127.0.0.1
//! (error) ERR syntax error
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::replication::{Failover, FailoverState, ReplicaState, failover};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "failover",
    -1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE).union(Flags::NO_ROLLBACK),
    run,
)
.args("target:b'TO'?(host:s port:i force:t'FORCE'?) abort:t'ABORT'? milliseconds:i'TIMEOUT'?")
.doc("6.2.0", "O(1)", "Hands the primary's part to a replica.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.sv.config.cluster_enabled {
        return Err(CmdError::new("ERR FAILOVER not allowed in cluster mode."));
    }
    if cx.argc() == 2 && cx.is(1, "ABORT") {
        if cx.sv.repl.failover.state == FailoverState::None {
            return Err(CmdError::new("ERR No failover in progress."));
        }
        failover::abort(cx.ks, cx.sv, cx.ticker, "Failover manually aborted");
        cx.reply.ok();
        return Ok(());
    }
    let (mut timeout, mut target, mut force) = (0, None, false);
    let mut i = 1;
    while i < cx.argc() {
        if cx.is(i, "TIMEOUT") && i + 1 < cx.argc() && timeout == 0 {
            timeout = cx.int(i + 1)?;
            if timeout <= 0 {
                return Err(CmdError::new("ERR FAILOVER timeout must be greater than 0"));
            }
            i += 2;
        } else if cx.is(i, "TO") && i + 2 < cx.argc() && target.is_none() {
            target = Some((crate::util::lossy(cx.args[i + 1]), cx.int(i + 2)?));
            i += 3;
        } else if cx.is(i, "FORCE") && !force {
            force = true;
            i += 1;
        } else {
            return Err(SYNTAX);
        }
    }
    let repl = &cx.sv.repl;
    if repl.failover.state != FailoverState::None {
        return Err(CmdError::new("ERR FAILOVER already in progress."));
    }
    if !repl.is_primary() {
        return Err(CmdError::new("ERR FAILOVER is not valid when server is a replica."));
    }
    if repl.replicas.is_empty() {
        return Err(CmdError::new("ERR FAILOVER requires connected replicas."));
    }
    if force && (timeout == 0 || target.is_none()) {
        return Err(CmdError::new(
            "ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
        ));
    }
    let target = match target {
        None => None,
        Some((host, port)) => {
            let Some(replica) = failover::find(cx.sv, &host, port) else {
                return Err(CmdError::new("ERR FAILOVER target HOST and PORT is not a replica."));
            };
            if replica.state != ReplicaState::Online {
                return Err(CmdError::new("ERR FAILOVER target replica is not online."));
            }
            Some((host, replica.told.port))
        }
    };
    let deadline = (timeout > 0).then(|| cx.ks.now.saturating_add(timeout));
    failover::begin(cx.ks, cx.sv, Failover { target, deadline, force, ..Failover::default() });
    cx.reply.ok();
    Ok(())
}
