//! DBSIZE: number of keys of the database, those past their deadline but not yet deleted included.
//!
//! ```transcript
//! > SET k v
//! OK
//! > DBSIZE
//! (integer) 1
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("dbsize", 1, Group::Server, Flags::READONLY.union(Flags::FAST), run)
    .cats(Cat::KEYSPACE)
    .tips(&["request_policy:all_shards", "response_policy:agg_sum"])
    .doc("1.0.0", "O(1)", "Returns the number of keys of the database.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.db().len();
    cx.reply.len(len);
    Ok(())
}
