//! READWRITE: takes READONLY back.
//!
//! ```transcript
//! # since 8.0
//! > READWRITE
//! OK
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
    cx.me()?.reads_replicas = false;
    cx.reply.ok();
    Ok(())
}
