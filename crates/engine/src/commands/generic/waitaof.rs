//! WAITAOF: waits until the writes so far are on disk here and on replicas.
//!
//! Here that is the next fsync, as `appendfsync` says; with `no` there may be none before the timeout.
//!
//! ```transcript
//! # since 7.2
//! > WAITAOF 1 0 100
//! (error) ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.
//! > WAITAOF 0 0 100
//! 1) (integer) 0
//! 2) (integer) 0
//! ```

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec = Spec::new("waitaof", 4, Group::Generic, Flags::BLOCKING, run).args("numlocal:i numreplicas:i timeout:i").tips(&["request_policy:all_shards", "response_policy:agg_min"]).cats(Cat::CONNECTION.union(Cat::NOT_OF_GROUP)).tips(&["request_policy:all_shards", "response_policy:agg_min"]).doc(
    "7.2.0",
    "O(1)",
    "Waits for the disks of this server and of replicas.",
);

fn run(cx: &mut Cx<'_>) -> Res {
    let local = crate::util::range_arg(cx.args[1], 0, 1)?;
    let replicas = crate::util::int_arg(cx.args[2])?;
    if replicas < 0 {
        return Err(crate::error::NOT_POSITIVE);
    }
    let deadline = crate::util::deadline_ms(cx.args[3], cx.ks.now)?;
    if !cx.sv.repl.is_primary() {
        return Err(CmdError::new(
            "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and are not propagated.",
        ));
    }
    if local > 0 && !cx.sv.persist.logs() {
        return Err(CmdError::new(
            "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        ));
    }
    let offset = cx.me()?.written;
    let may_wait = cx.origin == Origin::Client;
    let acknowledged = cx.sv.repl.acknowledged_on_disk(offset) as i64;
    let safe = i64::from(cx.sv.is_safe(cx.client));
    if (acknowledged >= replicas && safe >= local) || !may_wait {
        cx.reply.array(2);
        cx.reply.int(safe);
        cx.reply.int(acknowledged);
        return Ok(());
    }
    cx.sv.repl.want_acks = true;
    cx.block(&[], Type::String, deadline);
    Ok(())
}
