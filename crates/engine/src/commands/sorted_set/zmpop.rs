//! ZMPOP: takes members from the first of several sorted sets that has any.
//!
//! The answer names the key; member and score are nested in both protocols.
//!
//! ```transcript
//! > ZADD b 1 x 2 y 3 z
//! (integer) 3
//! > ZMPOP 2 a b MIN
//! 1) "b"
//! 2) 1) 1) "x"
//!       2) "1"
//! # resp3
//! 1) "b"
//! 2) 1) 1) "x"
//!       2) (double) 1
//! > ZMPOP 1 b MAX COUNT 10
//! 1) "b"
//! 2) 1) 1) "z"
//!       2) "3"
//!    2) 1) "y"
//!       2) "2"
//! # resp3
//! 1) "b"
//! 2) 1) 1) "z"
//!       2) (double) 3
//!    2) 1) "y"
//!       2) (double) 2
//! > ZMPOP 1 b MIN
//! (nil)
//! > ZMPOP 1 b MID
//! (error) ERR syntax error
//! ```

use crate::commands::list_util::multi_pop_args;
use crate::commands::zset_util::{min_max_arg, multi_pop};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zmpop", -4, Group::SortedSet, Flags::WRITE.union(Flags::MOVABLE_KEYS), run).args("numkeys:i key:k@0* where:o(min:t'MIN' max:t'MAX') count:i'COUNT'?")
    .keys(&[KeySpec::counted(1, KEY_TAKE)])
    .doc("7.0.0", "O(K + M log N), K the keys given, M the members taken", "Takes members from the first sorted set that has any.");

fn run(cx: &mut Cx<'_>) -> Res {
    let what = multi_pop_args(cx, 1, min_max_arg)?;
    if !multi_pop(cx, &what)? {
        cx.reply.null_array();
    }
    Ok(())
}
