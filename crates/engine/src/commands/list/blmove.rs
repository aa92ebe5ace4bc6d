//! BLMOVE: moves an element from one list to another, or waits for one.
//!
//! Like LMOVE; waits while the source is empty. In MULTI and in scripts it answers at once.
//!
//! ```transcript
//! > RPUSH a 1 2
//! (integer) 2
//! > BLMOVE a b LEFT RIGHT 0
//! "1"
//! > MULTI
//! OK
//! > BLMOVE nokey b LEFT RIGHT 0
//! QUEUED
//! > EXEC
//! 1) (nil)
//! > BLMOVE a b LEFT RIGHT -1
//! (error) ERR timeout is negative
//! ```

use crate::commands::list_util::{block_for_move, end_arg, move_element, timeout_arg};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("blmove", 6, Group::List, Flags::WRITE.union(Flags::DENYOOM).union(Flags::BLOCKING), run).args("source:k@0 destination:k@1 wherefrom:o(left:t'LEFT' right:t'RIGHT') whereto:o(left:t'LEFT' right:t'RIGHT') timeout:d")
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_INSERT)])
    .doc("6.2.0", "O(1)", "Moves an element from one list to another, waits for one when there is none.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (from, to) = (end_arg(cx.args[3])?, end_arg(cx.args[4])?);
    let deadline = timeout_arg(cx, 5)?;
    if move_element(cx, from, to)? {
        let [_, source, target, from, to, ..] = cx.args else { return Ok(()) };
        cx.propagate_as(&[b"LMOVE", source, target, from, to]);
    } else {
        block_for_move(cx, deadline);
    }
    Ok(())
}
