//! LTRIM: keeps the elements between two indexes and removes the others.
//!
//! An empty range deletes the list. The event is raised even when nothing was outside, as in Redis.
//!
//! ```transcript
//! > RPUSH l a b c d
//! (integer) 4
//! > LTRIM l 1 -2
//! OK
//! > LRANGE l 0 -1
//! 1) "b"
//! 2) "c"
//! > LTRIM l 5 10
//! OK
//! > EXISTS l
//! (integer) 0
//! > LTRIM nokey 0 1
//! OK
//! ```

use crate::commands::list_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::List;
use crate::util::index_range;

/// The table's row.
pub const SPEC: Spec = Spec::new("ltrim", 4, Group::List, Flags::WRITE, run).args("key:k@0 start:i stop:i")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("1.0.0", "O(N) for N elements removed", "Removes the elements of a list outside of a range.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (start, stop) = (cx.int(2)?, cx.int(3)?);
    let size = cx.ks.enc.list_size;
    let mut guard = cx.ks.write(cx.args[1]);
    if let Some(list) = guard.get::<List>()? {
        let len = list.len();
        let (start, end) = index_range(start, stop, len).unwrap_or((len, len));
        list.remove_range(end as i64, len - end);
        list.remove_range(0, start);
        guard.changed(Event::list("ltrim"), (start + len - end) as u64);
        list_util::settle(&mut guard, size);
    }
    drop(guard);
    cx.reply.ok();
    Ok(())
}
