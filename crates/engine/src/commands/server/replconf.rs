//! REPLCONF: what replicas tell about themselves. Options are accepted and, as long as there is no replication, kept
//! nowhere; ACK has no reply, as in Redis.
//!
//! No transcript: only replicas send it.

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "replconf",
    -1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE).union(Flags::ALLOW_BUSY),
    run,
)
.doc("3.0.0", "O(1)", "Internal command of replication.");

const OPTIONS: [&str; 6] = ["listening-port", "ip-address", "capa", "rdb-only", "rdb-filter-only", "version"];

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    for pair in cx.args[1..].chunks(2) {
        if pair[0].eq_ignore_ascii_case(b"ack") || pair[0].eq_ignore_ascii_case(b"getack") {
            return Ok(());
        }
        if !OPTIONS.iter().any(|o| o.as_bytes().eq_ignore_ascii_case(pair[0])) {
            return Err(CmdError::owned([b"ERR Unrecognized REPLCONF option: ", pair[0]].concat()));
        }
    }
    cx.reply.ok();
    Ok(())
}
