//! HLEN: the number of fields.
//!
//! Fields past their deadline that nothing has removed yet are counted.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HLEN h
//! (integer) 2
//! > HLEN nokey
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hlen", 2, Group::Hash, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("2.0.0", "O(1)", "Returns the number of fields of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.read_as::<Hash>(cx.args[1])?.map_or(0, Hash::len);
    cx.reply.len(len);
    Ok(())
}
