//! WAIT: waits until replicas have acknowledged the client's writes so far, and says how many have: at once when they
//! are enough or when it may not block (MULTI, scripts), else after the timeout at the latest.
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
    if !cx.sv.repl.is_primary() {
        return Err(CmdError::new(
            "ERR WAIT cannot be used with replica instances. Please also note that if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.",
        ));
    }
    let replicas = cx.int(1)?;
    let deadline = crate::util::deadline_ms(cx.args[2], cx.ks.now)?;
    let offset = cx.me()?.written;
    let acknowledged = cx.sv.repl.acknowledged(offset) as i64;
    if acknowledged >= replicas || cx.origin != Origin::Client {
        cx.reply.int(acknowledged);
        return Ok(());
    }
    cx.sv.repl.want_acks = true;
    cx.block(&[], Type::String, deadline);
    Ok(())
}
