//! LMPOP: takes elements from the first of several lists that has any.
//!
//! The answer names the key. Keys of another type before it are an error.
//!
//! ```transcript
//! > RPUSH b 1 2 3
//! (integer) 3
//! > LMPOP 2 a b LEFT
//! 1) "b"
//! 2) 1) "1"
//! > LMPOP 2 a b RIGHT COUNT 10
//! 1) "b"
//! 2) 1) "3"
//!    2) "2"
//! > LMPOP 2 a b LEFT
//! (nil)
//! > LMPOP 0 a LEFT
//! (error) ERR numkeys should be greater than 0
//! > LMPOP 1 a LEFT COUNT 0
//! (error) ERR count should be greater than 0
//! ```

use crate::commands::list_util::{end_arg, multi_pop, multi_pop_args};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("lmpop", -4, Group::List, Flags::WRITE.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* where:o(left:t'LEFT' right:t'RIGHT') count:i'COUNT'?")
    .keys(&[KeySpec::counted(1, KEY_TAKE)])
    .doc("7.0.0", "O(N+M), N the keys given, M the elements returned", "Takes elements from the first list that has any.");

fn run(cx: &mut Cx<'_>) -> Res {
    let what = multi_pop_args(cx, 1, end_arg)?;
    if !multi_pop(cx, &what)? {
        cx.reply.null_array();
    }
    Ok(())
}
