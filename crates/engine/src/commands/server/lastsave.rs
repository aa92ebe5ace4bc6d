//! LASTSAVE: when the data set was last saved, in seconds since the Unix epoch. Before the first save it is the time at
//! which the server started.
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
    cx.reply.int(cx.sv.persist.last_save);
    Ok(())
}
