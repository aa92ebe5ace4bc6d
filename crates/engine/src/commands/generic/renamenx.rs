//! RENAMENX: gives a key another name unless that name is taken.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > RENAMENX a b
//! (integer) 0
//! > RENAMENX a c
//! (integer) 1
//! > RENAMENX nokey d
//! (error) ERR no such key
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_TAKE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("renamenx", 3, Group::Generic, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 newkey:k@1")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KeyFlags::OW.union(KeyFlags::INSERT))])
    .doc("1.0.0", "O(1)", "Renames a key unless the destination exists.");

fn run(cx: &mut Cx<'_>) -> Res {
    let renamed = super::rename::rename(cx, false)?;
    cx.reply.int(i64::from(renamed));
    Ok(())
}
