//! TYPE: the type of a key's value, `none` when the key is absent.
//!
//! ```transcript
//! > SET k v
//! OK
//! > RPUSH l a
//! (integer) 1
//! > TYPE k
//! string
//! > TYPE l
//! list
//! > TYPE nokey
//! none
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("type", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.0.0", "O(1)", "Returns the type of a key's value.");

fn run(cx: &mut Cx<'_>) -> Res {
    let name = cx.ks.glance(cx.args[1]).map_or("none", |entry| entry.value.kind().name());
    cx.reply.simple(name);
    Ok(())
}
