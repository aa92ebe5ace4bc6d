//! MULTI: begins a transaction; commands are queued until EXEC.
//!
//! ```transcript
//! > MULTI
//! OK
//! > SET k v
//! QUEUED
//! > EXEC
//! 1) OK
//! > EXEC
//! (error) ERR EXEC without MULTI
//! ```

use crate::client::Multi;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};

/// Flags that MULTI and its companions share.
pub(super) const FLAGS: Flags =
    Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE).union(Flags::ALLOW_BUSY).union(Flags::IMMEDIATE);

/// The table's row.
pub const SPEC: Spec =
    Spec::new("multi", 1, Group::Transactions, FLAGS.union(Flags::FAST).union(Flags::NO_MULTI), run)
        .cats(Cat::TRANSACTION)
        .doc("1.2.0", "O(1)", "Begins a transaction.");

fn run(cx: &mut Cx<'_>) -> Res {
    let client = cx.me()?;
    if client.multi.is_some() {
        return Err(CmdError::new("ERR MULTI calls can not be nested"));
    }
    client.multi = Some(Box::<Multi>::default());
    cx.reply.ok();
    Ok(())
}
