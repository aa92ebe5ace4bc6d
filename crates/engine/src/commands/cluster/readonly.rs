//! READONLY: the connection may read from replicas. With one node there are none; without cluster mode it is refused,
//! as in Redis.
//!
//! ```transcript
//! > READONLY
//! (error) ERR This instance has cluster support disabled
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("readonly", 1, Group::Cluster, Flags::FAST.union(Flags::LOADING).union(Flags::STALE), run)
        .cats(Cat::CONNECTION)
        .doc("3.0.0", "O(1)", "A connection's mode in a cluster.");

fn run(cx: &mut Cx<'_>) -> Res {
    if !cx.sv.config.cluster_enabled {
        return Err(super::asking::DISABLED);
    }
    cx.me()?.reads_replicas = true;
    cx.reply.ok();
    Ok(())
}
