//! SELECT: changes the connection's database.
//!
//! ```transcript
//! > SELECT 1
//! OK
//! > SELECT 99
//! (error) ERR DB index is out of range
//! > SELECT x
//! (error) ERR value is not an integer or out of range
//! ```

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Spec};
use crate::util::int32_arg;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("select", 2, Group::Connection, Flags::FAST.union(Flags::ALLOW_BUSY).union(Flags::LOADING).union(Flags::STALE), run).args("index:i")
        .doc("1.0.0", "O(1)", "Changes the database of the connection.");

fn run(cx: &mut Cx<'_>) -> Res {
    let index = i64::from(int32_arg(cx.args[1])?);
    let index = db_index(cx, index)?;
    cx.ks.cur = index;
    // A script's choice is its own: the caller's database stays.
    if cx.origin != Origin::Script {
        cx.me()?.db = index;
    }
    cx.reply.ok();
    Ok(())
}

/// The number of a database that exists, or `ERR DB index is out of range`.
pub fn db_index(cx: &Cx<'_>, index: i64) -> Res<usize> {
    usize::try_from(index)
        .ok()
        .filter(|i| *i < cx.ks.dbs().len())
        .ok_or(CmdError::new("ERR DB index is out of range"))
}
