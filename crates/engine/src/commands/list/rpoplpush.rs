//! RPOPLPUSH: moves an element from the right end of a list to the left end of another.
//!
//! The older form of `LMOVE source target RIGHT LEFT`.
//!
//! ```transcript
//! > RPUSH a 1 2
//! (integer) 2
//! > RPOPLPUSH a b
//! "2"
//! > RPOPLPUSH a a
//! "1"
//! > RPOPLPUSH nokey b
//! (nil)
//! ```

use crate::commands::list_util::move_element;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KEY_TAKE, KeySpec, Spec};
use crate::types::End;

/// The table's row.
pub const SPEC: Spec = Spec::new("rpoplpush", 3, Group::List, Flags::WRITE.union(Flags::DENYOOM), run).args("source:k@0 destination:k@1")
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_INSERT)])
    .doc("1.2.0", "O(1)", "Moves the last element of a list to the beginning of another.");

fn run(cx: &mut Cx<'_>) -> Res {
    if !move_element(cx, End::Right, End::Left)? {
        cx.reply.null();
    }
    Ok(())
}
