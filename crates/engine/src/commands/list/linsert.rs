//! LINSERT: inserts an element before or after another one.
//!
//! The first element from the left that equals the pivot counts. The answer is the new length, -1 without a pivot, 0 without a key.
//!
//! ```transcript
//! > RPUSH l a c
//! (integer) 2
//! > LINSERT l BEFORE c b
//! (integer) 3
//! > LINSERT l AFTER c d
//! (integer) 4
//! > LRANGE l 0 -1
//! 1) "a"
//! 2) "b"
//! 3) "c"
//! 4) "d"
//! > LINSERT l AFTER x y
//! (integer) -1
//! > LINSERT nokey AFTER x y
//! (integer) 0
//! > LINSERT nokey ASIDE x y
//! (error) ERR syntax error
//! ```

use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::List;

/// The table's row.
pub const SPEC: Spec = Spec::new("linsert", 5, Group::List, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 where:o(before:t'BEFORE' after:t'AFTER') pivot:s element:s")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("2.2.0", "O(N) for N elements before the pivot", "Inserts an element before or after another one.");

fn run(cx: &mut Cx<'_>) -> Res {
    let before = cx.is(2, "BEFORE");
    if !before && !cx.is(2, "AFTER") {
        return Err(SYNTAX);
    }
    let size = cx.ks.enc.list_size;
    let (pivot, value) = (cx.args[3], cx.args[4]);
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(list) = guard.get::<List>()? else {
        cx.reply.int(0);
        return Ok(());
    };
    list.prepare(size, value.len(), 1);
    if !list.insert(pivot, before, value) {
        cx.reply.int(-1);
        return Ok(());
    }
    let len = list.len();
    guard.changed(Event::list("linsert"), 1);
    drop(guard);
    cx.reply.len(len);
    Ok(())
}
