//! WAIT: waits until replicas have acknowledged the writes so far. There are no replicas that acknowledge yet, so it
//! answers 0: at once when none is asked for, when it may not block (MULTI, scripts), else after the timeout.
//!
//! ```transcript
//! > WAIT 0 1000
//! (integer) 0
//! > WAIT 1 x
//! (error) ERR timeout is not an integer or out of range
//! ```

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("wait", 3, Group::Generic, Flags::BLOCKING, run).args("numreplicas:i timeout:i").tips(&["request_policy:all_shards", "response_policy:agg_min"]).cats(Cat::CONNECTION.union(Cat::NOT_OF_GROUP)).tips(&["request_policy:all_shards", "response_policy:agg_min"]).doc("3.0.0", "O(1)", "Waits for replicas.");

fn run(cx: &mut Cx<'_>) -> Res {
    let replicas = cx.int(1)?;
    let timeout = crate::util::parse_i64(cx.args[2])
        .ok_or(CmdError::new("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err(CmdError::new("ERR timeout is negative"));
    }
    if replicas <= 0 || cx.origin != Origin::Client {
        cx.reply.int(0);
        return Ok(());
    }
    let deadline = if timeout == 0 { 0 } else { cx.ks.now.saturating_add(timeout) };
    cx.block(&[], Type::String, deadline);
    Ok(())
}
