//! LMOVE: moves an element from an end of a list to an end of another.
//!
//! Both keys may be the same: then the list is rotated. The target is created when absent; a source without elements is
//! deleted.
//!
//! ```transcript
//! > RPUSH a 1 2 3
//! (integer) 3
//! > LMOVE a b RIGHT LEFT
//! "3"
//! > LMOVE a a LEFT RIGHT
//! "1"
//! > LRANGE a 0 -1
//! 1) "2"
//! 2) "1"
//! > LMOVE nokey b LEFT LEFT
//! (nil)
//! > LMOVE a b LEFT MIDDLE
//! (error) ERR syntax error
//! ```

use crate::commands::list_util::{end_arg, move_element};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_INSERT, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("lmove", 5, Group::List, Flags::WRITE.union(Flags::DENYOOM), run).args("source:k@0 destination:k@1 wherefrom:o(left:t'LEFT' right:t'RIGHT') whereto:o(left:t'LEFT' right:t'RIGHT')")
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_INSERT)])
    .doc("6.2.0", "O(1)", "Moves an element from an end of a list to an end of another.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (from, to) = (end_arg(cx.args[3])?, end_arg(cx.args[4])?);
    if !move_element(cx, from, to)? {
        cx.reply.null();
    }
    Ok(())
}
