//! SAVE: writes a snapshot of the data set to the file `dbfilename` while all clients wait. BGSAVE does not make them.
//!
//! ```transcript
//! # not embedded: no files are kept unless a directory is given
//! # not multi: it is not allowed in a transaction
//! # not script: it is not allowed in a script
//! > SAVE
//! OK
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::persistence::{Job, Request};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "save",
    1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_MULTI).union(Flags::NO_ASYNC_LOADING),
    run,
)
.doc("1.0.0", "O(N) for N keys", "Writes a snapshot of the data set, while all wait.");

fn run(cx: &mut Cx<'_>) -> Res {
    if matches!(cx.sv.persist.job, Some((Job::Snapshot | Job::Sync, _))) {
        return Err(CmdError::new("ERR Background save already in progress"));
    }
    cx.ticker.persist(cx.ks, cx.sv, Request::Save).map_err(CmdError::owned)?;
    cx.reply.ok();
    Ok(())
}
