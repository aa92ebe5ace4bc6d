//! LLEN: the number of elements of a list.
//!
//! ```transcript
//! > LLEN l
//! (integer) 0
//! > RPUSH l a b
//! (integer) 2
//! > LLEN l
//! (integer) 2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::List;

/// The table's row.
pub const SPEC: Spec = Spec::new("llen", 2, Group::List, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.0.0", "O(1)", "Returns the number of elements of a list.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.read_as::<List>(cx.args[1])?.map_or(0, List::len);
    cx.reply.len(len);
    Ok(())
}
