//! LREM: removes elements equal to a value.
//!
//! A positive count removes at most so many from the left, a negative one from the right, 0 removes all.
//!
//! ```transcript
//! > RPUSH l a b a c a
//! (integer) 5
//! > LREM l -2 a
//! (integer) 2
//! > LRANGE l 0 -1
//! 1) "a"
//! 2) "b"
//! 3) "c"
//! > LREM l 0 x
//! (integer) 0
//! > LREM l 1 a
//! (integer) 1
//! # since 7.2
//! > LREM l -9223372036854775808 a
//! (error) ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
//! ```

use crate::commands::list_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::{End, List};

/// The table's row.
pub const SPEC: Spec = Spec::new("lrem", 4, Group::List, Flags::WRITE, run).args("key:k@0 count:i element:s")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .doc("1.0.0", "O(N+M), N the length of the list, M the elements removed", "Removes elements of a list that equal a value.");

fn run(cx: &mut Cx<'_>) -> Res {
    let count = crate::util::range_arg(cx.args[2], -i64::MAX, i64::MAX)?;
    let size = cx.ks.enc.list_size;
    let mut guard = cx.ks.write(cx.args[1]);
    let mut removed = 0;
    if let Some(list) = guard.get::<List>()? {
        let from = if count < 0 { End::Right } else { End::Left };
        let limit = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        removed = list.remove_equal(cx.args[3], limit, from);
    }
    if removed > 0 {
        guard.changed(Event::list("lrem"), removed as u64);
        list_util::settle(&mut guard, size);
    }
    drop(guard);
    cx.reply.len(removed);
    Ok(())
}
