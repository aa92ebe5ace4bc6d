//! ASKING: the next command may concern a slot that is being imported. With one node that is never so; without cluster
//! mode it is refused, as in Redis.
//!
//! ```transcript
//! > ASKING
//! (error) ERR This instance has cluster support disabled
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("asking", 1, Group::Cluster, Flags::FAST, run)
        .cats(Cat::CONNECTION)
        .doc("3.0.0", "O(1)", "A connection's mode in a cluster.");

/// Answer of all that needs cluster mode.
pub(super) const DISABLED: CmdError = CmdError::new("ERR This instance has cluster support disabled");

fn run(cx: &mut Cx<'_>) -> Res {
    if !cx.sv.config.cluster_enabled {
        return Err(DISABLED);
    }
    cx.reply.ok();
    Ok(())
}
