//! BRPOPLPUSH: moves an element from the right end of a list to the left end of another, or waits for one.
//!
//! The older form of `BLMOVE source target RIGHT LEFT timeout`.
//!
//! ```transcript
//! > RPUSH a 1 2
//! (integer) 2
//! > BRPOPLPUSH a b 0
//! "2"
//! > BRPOPLPUSH a b x
//! (error) ERR timeout is not a float or out of range
//! ```

use crate::commands::list_util::{block_for_move, move_element, timeout_arg};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KEY_TAKE, KeySpec, Spec};
use crate::types::End;

/// The table's row.
pub const SPEC: Spec = Spec::new("brpoplpush", 4, Group::List, Flags::WRITE.union(Flags::DENYOOM).union(Flags::BLOCKING), run).args("source:k@0 destination:k@1 timeout:d")
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_INSERT)])
    .doc("2.2.0", "O(1)", "Moves the last element of a list to the beginning of another, waits for one when there is none.");

fn run(cx: &mut Cx<'_>) -> Res {
    let deadline = timeout_arg(cx, 3)?;
    if move_element(cx, End::Right, End::Left)? {
        cx.propagate_as(&[b"RPOPLPUSH", cx.args[1], cx.args[2]]);
    } else {
        block_for_move(cx, deadline);
    }
    Ok(())
}
