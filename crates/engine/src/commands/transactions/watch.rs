//! WATCH: makes EXEC fail when one of the keys changes before it.
//!
//! ```transcript
//! > WATCH k
//! OK
//! > SET k v
//! OK
//! > MULTI
//! OK
//! > GET k
//! QUEUED
//! > EXEC
//! (nil)
//! ```

use super::multi::FLAGS;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("watch", -2, Group::Transactions, FLAGS.union(Flags::FAST).union(Flags::NO_MULTI), run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KEY_PEEK)])
    .cats(Cat::TRANSACTION)
    .doc("2.2.0", "O(1) for every key", "Watches keys for changes until EXEC.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.me()?.multi.is_some() {
        return Err(CmdError::new("ERR WATCH inside MULTI is not allowed"));
    }
    for key in &cx.args[1..] {
        let stale = cx.ks.is_stale(key);
        let db = cx.ks.cur;
        cx.ks.watch.watch(cx.client, db, key, stale);
    }
    cx.reply.ok();
    Ok(())
}
