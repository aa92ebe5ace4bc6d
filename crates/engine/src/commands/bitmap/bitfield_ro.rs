//! BITFIELD_RO: the part of BITFIELD that only reads, for replicas and read-only scripts.
//!
//! ```transcript
//! > SET k a
//! OK
//! > BITFIELD_RO k GET u4 0
//! 1) (integer) 6
//! > BITFIELD_RO k SET u4 0 1
//! (error) ERR BITFIELD_RO only supports the GET subcommand
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("bitfield_ro", -2, Group::Bitmap, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 get-block:b'GET'?*+(encoding:s offset:i)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.0.0", "O(1) for each operation", "Reads integers at bit offsets of a string.");

fn run(cx: &mut Cx<'_>) -> Res {
    super::bitfield::generic(cx, true)
}
