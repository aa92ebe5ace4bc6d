//! BZMPOP: takes members from the first of several sorted sets that has any, or waits for some.
//!
//! Like ZMPOP, after the timeout in seconds (0: without end). In MULTI and in scripts it answers at once.
//!
//! ```transcript
//! > ZADD b 1 x 2 y
//! (integer) 2
//! > BZMPOP 0 2 a b MAX
//! 1) "b"
//! 2) 1) 1) "y"
//!       2) "2"
//! # resp3
//! 1) "b"
//! 2) 1) 1) "y"
//!       2) (double) 2
//! > BZMPOP -1 1 b MIN
//! (error) ERR timeout is negative
//! ```

use crate::commands::list_util::{block, multi_pop_args, timeout_arg};
use crate::commands::zset_util::{min_max_arg, multi_pop};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec = Spec::new("bzmpop", -5, Group::SortedSet, Flags::WRITE.union(Flags::BLOCKING).union(Flags::MOVABLE_KEYS), run).args("timeout:d numkeys:i key:k@0* where:o(min:t'MIN' max:t'MAX') count:i'COUNT'?")
    .keys(&[KeySpec::counted(2, KEY_TAKE)])
    .doc("7.0.0", "O(K + M log N), K the keys given, M the members taken", "Takes members from the first sorted set that has any, waits for some when none has.");

fn run(cx: &mut Cx<'_>) -> Res {
    let what = multi_pop_args(cx, 2, min_max_arg)?;
    let deadline = timeout_arg(cx, 1)?;
    if !multi_pop(cx, &what)? {
        block(cx, what.keys, Type::ZSet, deadline);
    }
    Ok(())
}
