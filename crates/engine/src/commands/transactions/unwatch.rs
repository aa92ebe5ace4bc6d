//! UNWATCH: forgets all watched keys.
//!
//! ```transcript
//! > WATCH k
//! OK
//! > UNWATCH
//! OK
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row. Unlike WATCH it is queued in a transaction, as in Redis.
pub const SPEC: Spec = Spec::new(
    "unwatch",
    1,
    Group::Transactions,
    Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE).union(Flags::ALLOW_BUSY).union(Flags::FAST),
    run,
)
.cats(Cat::TRANSACTION)
.doc("2.2.0", "O(1)", "Forgets all watched keys.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.ks.watch.unwatch(cx.client);
    cx.reply.ok();
    Ok(())
}
