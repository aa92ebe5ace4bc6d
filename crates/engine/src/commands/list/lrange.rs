//! LRANGE: the elements of a list between two indexes.
//!
//! Both ends are included; negative indexes count from the right end; what is outside of the list is left out.
//!
//! ```transcript
//! > RPUSH l a b c
//! (integer) 3
//! > LRANGE l 0 1
//! 1) "a"
//! 2) "b"
//! > LRANGE l -2 100
//! 1) "b"
//! 2) "c"
//! > LRANGE l 2 1
//! (empty array)
//! > LRANGE nokey 0 -1
//! (empty array)
//! ```

use crate::commands::list_util::bulk_item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::List;
use crate::util::index_range;

/// The table's row.
pub const SPEC: Spec = Spec::new("lrange", 4, Group::List, Flags::READONLY, run).args("key:k@0 start:i stop:i")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(S+N), S the distance of the first element from the nearer end, N the elements returned", "Returns a range of elements of a list.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (start, stop) = (cx.int(2)?, cx.int(3)?);
    let list = cx.ks.read_as::<List>(cx.args[1])?;
    let Some((list, (start, end))) = list.and_then(|l| Some((l, index_range(start, stop, l.len())?))) else {
        cx.reply.array(0);
        return Ok(());
    };
    cx.reply.array(end - start);
    list.for_each(start as i64, end - start, |item| bulk_item(&mut cx.reply, item));
    Ok(())
}
