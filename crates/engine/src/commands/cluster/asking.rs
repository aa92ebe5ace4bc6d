//! ASKING: concerns clusters only; refused on a server without cluster, as in Redis.
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
    Spec::new("asking", 1, Group::Cluster, Flags::FAST.union(Flags::LOADING).union(Flags::STALE), run)
        .cats(Cat::CONNECTION)
        .doc("3.0.0", "O(1)", "A connection's mode in a cluster.");

fn run(_: &mut Cx<'_>) -> Res {
    Err(CmdError::new("ERR This instance has cluster support disabled"))
}
