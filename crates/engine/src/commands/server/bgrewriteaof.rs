//! BGREWRITEAOF: writes a new base of the append-only file, as short as the data set allows, while clients go on.
//!
//! ```transcript
//! # not embedded: no files are kept unless a directory is given
//! # not resp2: a rewrite may be under way
//! # not resp3: a rewrite may be under way
//! # not multi: a rewrite may be under way
//! # not script: it is not allowed in a script
//! # not oracle: a rewrite may be under way
//! > BGREWRITEAOF
//! Background append only file rewriting started
//! ```

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res};
use crate::persistence::{Job, Request};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("bgrewriteaof", 1, Group::Server, Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_ASYNC_LOADING), run).doc(
        "1.0.0",
        "O(1)",
        "Rewrites the append-only file in the background.",
    );

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.sv.persist.job {
        Some((Job::Rewrite, _)) => {
            return Err(CmdError::new("ERR Background append only file rewriting already in progress"));
        }
        None if cx.origin != Origin::Exec => {
            cx.ticker.persist(cx.ks, cx.sv, Request::RewriteLog).map_err(CmdError::owned)?;
            cx.reply.simple("Background append only file rewriting started");
        }
        _ => {
            cx.sv.persist.rewrite_scheduled = true;
            cx.reply.simple("Background append only file rewriting scheduled");
        }
    }
    Ok(())
}
