//! TIME: the server's clock, as seconds and microseconds. It stands still inside a script.
//!
//! ```transcript
//! > TIME
//! ~1\) "\d+"
//! ~2\) "\d+"
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("time", 1, Group::Server, Flags::FAST.union(Flags::LOADING).union(Flags::STALE), run)
        .tips(&["nondeterministic_output"])
        .doc("2.6.0", "O(1)", "The server's clock.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now_us;
    cx.reply.array(2);
    cx.reply.bulk_int((now / 1_000_000) as i64);
    cx.reply.bulk_int((now % 1_000_000) as i64);
    Ok(())
}
