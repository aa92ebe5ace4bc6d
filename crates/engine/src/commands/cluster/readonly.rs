//! READONLY: the connection may be answered with old data by a replica of a cluster. There are none, so it changes nothing
//! but the letter `r` in CLIENT LIST.
//!
//! ```transcript
//! # since 8.0
//! > READONLY
//! OK
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
    cx.me()?.reads_replicas = true;
    cx.reply.ok();
    Ok(())
}
