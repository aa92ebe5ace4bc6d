//! FLUSHALL: deletes all keys of all databases.
//!
//! ```transcript
//! > SET k v
//! OK
//! > FLUSHALL
//! OK
//! > DBSIZE
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("flushall", -1, Group::Server, Flags::WRITE, run).args("flush-type:o?(async:t'ASYNC'^4.0.0 sync:t'SYNC'^6.2.0)")
    .cats(Cat::KEYSPACE.union(Cat::DANGEROUS))
    .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
    .doc("1.0.0", "O(1)", "Deletes all keys of all databases.");

fn run(cx: &mut Cx<'_>) -> Res {
    let all = cx.ks.dbs().len();
    super::flushdb::flush(cx, 0..all)?;
    cx.sv.persist.flushed = cx.origin != crate::Origin::Replay;
    Ok(())
}
