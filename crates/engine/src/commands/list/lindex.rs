//! LINDEX: one element of a list by its index.
//!
//! Negative indexes count from the right end. A missing key answers before the index is looked at, as in Redis.
//!
//! ```transcript
//! > RPUSH l a b c
//! (integer) 3
//! > LINDEX l 0
//! "a"
//! > LINDEX l -1
//! "c"
//! > LINDEX l 3
//! (nil)
//! > LINDEX l x
//! (error) ERR value is not an integer or out of range
//! > LINDEX nokey x
//! (nil)
//! ```

use crate::commands::list_util::bulk_item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::List;

/// The table's row.
pub const SPEC: Spec = Spec::new("lindex", 3, Group::List, Flags::READONLY, run).args("key:k@0 index:i")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(N) for N elements to pass; O(1) at the ends", "Returns an element of a list by its index.");

fn run(cx: &mut Cx<'_>) -> Res {
    let Some(list) = cx.ks.read_as::<List>(cx.args[1])? else {
        cx.reply.null();
        return Ok(());
    };
    match list.get(crate::util::int_arg(cx.args[2])?) {
        Some(item) => bulk_item(&mut cx.reply, item),
        None => cx.reply.null(),
    }
    Ok(())
}
