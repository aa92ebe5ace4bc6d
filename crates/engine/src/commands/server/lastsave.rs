//! LASTSAVE: when the data set was last saved, in seconds since the Unix epoch. Nothing is saved yet, so it is the time
//! at which the server started, as in Redis before the first save.
//!
//! ```transcript
//! > LASTSAVE
//! ~\(integer\) \d+
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "lastsave",
    1,
    Group::Server,
    Flags::FAST.union(Flags::LOADING).union(Flags::STALE),
    run,
).tips(&["nondeterministic_output"])
.cats(Cat::ADMIN.union(Cat::DANGEROUS))
.doc("1.0.0", "O(1)", "When the data set was last saved.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.reply.int((cx.sv.started_us / 1_000_000) as i64);
    Ok(())
}
