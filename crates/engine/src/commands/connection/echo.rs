//! ECHO: answers its argument.
//!
//! ```transcript
//! > ECHO hello
//! "hello"
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("echo", 2, Group::Connection, Flags::FAST.union(Flags::LOADING).union(Flags::STALE), run).args("message:s")
        .doc("1.0.0", "O(1)", "Answers its argument.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.reply.bulk(cx.args[1]);
    Ok(())
}
