//! BLPOP: takes an element from the left end of the first list that has any, or waits for one.
//!
//! Waits while all lists are empty, until one gets an element or `timeout` seconds (0: without end) are over. In MULTI
//! and in scripts it answers at once.
//!
//! ```transcript
//! > RPUSH l a b
//! (integer) 2
//! > BLPOP nokey l 0
//! 1) "l"
//! 2) "a"
//! > MULTI
//! OK
//! > BLPOP nokey 0
//! QUEUED
//! > EXEC
//! 1) (nil)
//! > BLPOP l -1
//! (error) ERR timeout is negative
//! > BLPOP l x
//! (error) ERR timeout is not a float or out of range
//! ```

use crate::commands::list_util::{block, pop_first, timeout_arg};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::types::End;
use crate::value::Type;

/// The table's row.
pub const SPEC: Spec = Spec::new("blpop", -3, Group::List, Flags::WRITE.union(Flags::BLOCKING), run).args("key:k@0* timeout:d")
    .keys(&[KeySpec::range(1, -2, 1, KEY_TAKE)])
    .doc("2.0.0", "O(N) for N keys", "Takes an element from the left end of a list, waits for one when there is none.");

fn run(cx: &mut Cx<'_>) -> Res {
    let last = cx.argc() - 1;
    let deadline = timeout_arg(cx, last)?;
    let keys = &cx.args[1..last];
    if !pop_first(cx, keys, End::Left)? {
        block(cx, keys, Type::List, deadline);
    }
    Ok(())
}
