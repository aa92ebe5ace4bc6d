//! DISCARD: drops the queued commands of a transaction and what was watched.
//!
//! ```transcript
//! > MULTI
//! OK
//! > SET k v
//! QUEUED
//! > DISCARD
//! OK
//! > GET k
//! (nil)
//! > DISCARD
//! (error) ERR DISCARD without MULTI
//! ```

use super::multi::FLAGS;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("discard", 1, Group::Transactions, FLAGS.union(Flags::FAST), run)
    .cats(Cat::TRANSACTION)
    .doc("2.0.0", "O(N) for N queued commands", "Drops a transaction.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.me()?.multi.take().is_none() {
        return Err(CmdError::new("ERR DISCARD without MULTI"));
    }
    cx.ks.watch.unwatch(cx.client);
    cx.reply.ok();
    Ok(())
}
