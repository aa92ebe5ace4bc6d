//! READWRITE: the connection reads from primaries again. Without cluster mode it is refused, as in Redis.
//!
//! ```transcript
//! > READWRITE
//! (error) ERR This instance has cluster support disabled
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("readwrite", 1, Group::Cluster, Flags::FAST.union(Flags::LOADING).union(Flags::STALE), run)
        .cats(Cat::CONNECTION)
        .doc("3.0.0", "O(1)", "A connection's mode in a cluster.");

fn run(cx: &mut Cx<'_>) -> Res {
    if !cx.sv.config.cluster_enabled {
        return Err(super::asking::DISABLED);
    }
    cx.me()?.reads_replicas = false;
    cx.reply.ok();
    Ok(())
}
