//! BLMPOP: takes elements from the first of several lists that has any, or waits for some.
//!
//! Like LMPOP, after the timeout in seconds (0: without end). In MULTI and in scripts it answers at once.
//!
//! ```transcript
//! > RPUSH b 1 2 3
//! (integer) 3
//! > BLMPOP 0 2 a b LEFT COUNT 2
//! 1) "b"
//! 2) 1) "1"
//!    2) "2"
//! > BLMPOP -1 1 b LEFT
//! (error) ERR timeout is negative
//! > BLMPOP 1 0 b LEFT
//! (error) ERR numkeys should be greater than 0
//! ```

use crate::commands::list_util::{block, end_arg, multi_pop, multi_pop_args, timeout_arg};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec = Spec::new("blmpop", -5, Group::List, Flags::WRITE.union(Flags::BLOCKING).union(Flags::MOVABLE_KEYS), run).args("timeout:d numkeys:i key:k@0* where:o(left:t'LEFT' right:t'RIGHT') count:i'COUNT'?")
    .keys(&[KeySpec::counted(2, KEY_TAKE)])
    .doc("7.0.0", "O(N+M), N the keys given, M the elements returned", "Takes elements from the first list that has any, waits for some when none has.");

fn run(cx: &mut Cx<'_>) -> Res {
    let what = multi_pop_args(cx, 2, end_arg)?;
    let deadline = timeout_arg(cx, 1)?;
    if !multi_pop(cx, &what)? {
        block(cx, what.keys, Type::List, deadline);
    }
    Ok(())
}
