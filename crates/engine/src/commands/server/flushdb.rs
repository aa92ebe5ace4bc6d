//! FLUSHDB: deletes all keys of the database. Memory is freed later, with SYNC as well as with ASYNC.
//!
//! ```transcript
//! > SET k v
//! OK
//! > FLUSHDB
//! OK
//! > DBSIZE
//! (integer) 0
//! > FLUSHDB LATER
//! (error) ERR syntax error
//! ```

use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Cat, Flags, Group, Spec};
use std::ops::Range;

/// The table's row.
pub const SPEC: Spec = Spec::new("flushdb", -1, Group::Server, Flags::WRITE, run).args("flush-type:o?(async:t'ASYNC'^4.0.0 sync:t'SYNC'^6.2.0)")
    .cats(Cat::KEYSPACE.union(Cat::DANGEROUS))
    .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
    .doc("1.0.0", "O(1)", "Deletes all keys of the database.");

fn run(cx: &mut Cx<'_>) -> Res {
    let db = cx.ks.cur;
    flush(cx, db..db + 1)
}

/// Empties databases: FLUSHDB and FLUSHALL.
pub(super) fn flush(cx: &mut Cx<'_>, dbs: Range<usize>) -> Res {
    if cx.argc() > 2 || (cx.argc() == 2 && !cx.is(1, "SYNC") && !cx.is(1, "ASYNC")) {
        return Err(SYNTAX);
    }
    cx.ks.dirty += cx.ks.flush(dbs);
    // Even when nothing was there here: a replica may have something.
    cx.propagate_as(cx.args);
    cx.reply.ok();
    Ok(())
}
