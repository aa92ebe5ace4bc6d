//! BZPOPMAX: takes the member with the highest score of the first sorted set that has any, or waits for one.
//!
//! Waits while all sets are empty, until one gets a member or `timeout` seconds (0: without end) are over. In MULTI
//! and in scripts it answers at once.
//!
//! ```transcript
//! > ZADD z 1 a 2 b
//! (integer) 2
//! > BZPOPMAX nokey z 0
//! 1) "z"
//! 2) "b"
//! 3) "2"
//! # resp3
//! 1) "z"
//! 2) "b"
//! 3) (double) 2
//! > MULTI
//! OK
//! > BZPOPMAX nokey 0
//! QUEUED
//! > EXEC
//! 1) (nil)
//! > BZPOPMAX z -1
//! (error) ERR timeout is negative
//! ```

use crate::commands::list_util::{block, timeout_arg};
use crate::commands::zset_util::pop_first;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec = Spec::new("bzpopmax", -3, Group::SortedSet, Flags::WRITE.union(Flags::FAST).union(Flags::BLOCKING), run).args("key:k@0* timeout:d")
    .keys(&[KeySpec::range(1, -2, 1, KEY_TAKE)])
    .doc("5.0.0", "O(log N)", "Takes the member with the highest score, waits for one when there is none.");

fn run(cx: &mut Cx<'_>) -> Res {
    let last = cx.argc() - 1;
    let deadline = timeout_arg(cx, last)?;
    let keys = &cx.args[1..last];
    if !pop_first(cx, keys, true)? {
        block(cx, keys, Type::ZSet, deadline);
    }
    Ok(())
}
