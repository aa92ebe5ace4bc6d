//! ROLE: the server's part in replication.
//!
//! ```transcript
//! > ROLE
//! 1) "master"
//! 2) (integer) 0
//! 3) (empty array)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "role",
    1,
    Group::Server,
    Flags::FAST.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE),
    run,
)
.cats(Cat::ADMIN.union(Cat::DANGEROUS))
.doc("2.8.12", "O(1)", "The server's part in replication.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(3);
    cx.reply.bulk(b"master");
    cx.reply.int(0);
    cx.reply.array(0);
    Ok(())
}
