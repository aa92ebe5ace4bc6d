//! SWAPDB: exchanges two databases, for all clients at once.
//!
//! ```transcript
//! > SET k v
//! OK
//! > SWAPDB 0 1
//! OK
//! > DBSIZE
//! (integer) 0
//! > SWAPDB x 1
//! (error) ERR invalid first DB index
//! > SWAPDB 0 9999
//! (error) ERR DB index is out of range
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("swapdb", 3, Group::Server, Flags::WRITE.union(Flags::FAST), run).args("index1:i index2:i")
    .cats(Cat::KEYSPACE.union(Cat::DANGEROUS))
    .doc("4.0.0", "O(N) for N watched keys", "Exchanges two databases.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.sv.config.cluster_enabled {
        return Err(CmdError::new("ERR SWAPDB is not allowed in cluster mode"));
    }
    let index = |i: usize, error| crate::util::int32_arg(cx.args[i]).map_err(|_| CmdError::new(error));
    let first = index(1, "ERR invalid first DB index")?;
    let second = index(2, "ERR invalid second DB index")?;
    let valid = |n: i32| usize::try_from(n).ok().filter(|n| *n < cx.ks.dbs().len());
    let (Some(first), Some(second)) = (valid(first), valid(second)) else {
        return Err(CmdError::new("ERR DB index is out of range"));
    };
    cx.ks.swap(first, second);
    cx.ks.dirty += 1;
    cx.reply.ok();
    Ok(())
}
