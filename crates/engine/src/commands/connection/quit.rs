//! QUIT: the server answers OK and closes the connection. Clients should rather close it themselves.
//!
//! No transcript: it ends the connection.

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "quit",
    -1,
    Group::Connection,
    Flags::FAST
        .union(Flags::LOADING)
        .union(Flags::STALE)
        .union(Flags::NO_AUTH)
        .union(Flags::NOSCRIPT)
        .union(Flags::ALLOW_BUSY)
        .union(Flags::SUBSCRIBED)
        .union(Flags::IMMEDIATE),
    run,
)
.doc("1.0.0", "O(1)", "Closes the connection.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.me()?.close = true;
    cx.reply.ok();
    Ok(())
}
