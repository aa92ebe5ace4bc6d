//! LSET: replaces an element of a list by its index.
//!
//! ```transcript
//! > RPUSH l a b c
//! (integer) 3
//! > LSET l 0 x
//! OK
//! > LSET l -1 z
//! OK
//! > LRANGE l 0 -1
//! 1) "x"
//! 2) "b"
//! 3) "z"
//! > LSET l 3 y
//! (error) ERR index out of range
//! > LSET nokey 0 y
//! (error) ERR no such key
//! ```

use crate::cx::Cx;
use crate::error::{NO_SUCH_KEY, OUT_OF_RANGE, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::List;

/// The table's row.
pub const SPEC: Spec = Spec::new("lset", 4, Group::List, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 index:i element:s")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("1.0.0", "O(N) for a list of N elements; O(1) at the ends", "Replaces an element of a list by its index.");

fn run(cx: &mut Cx<'_>) -> Res {
    let size = cx.ks.enc.list_size;
    let mut guard = cx.ks.write(cx.args[1]);
    let list = guard.get::<List>()?.ok_or(NO_SUCH_KEY)?;
    let index = crate::util::int_arg(cx.args[2])?;
    let value = cx.args[3];
    list.prepare(size, value.len(), 1);
    list.set(index, value).ok_or(OUT_OF_RANGE)?;
    list.settle(size);
    guard.changed(Event::list("lset"), 1);
    drop(guard);
    cx.reply.ok();
    Ok(())
}
