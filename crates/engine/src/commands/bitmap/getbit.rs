//! GETBIT: one bit of a string; 0 past its end.
//!
//! ```transcript
//! > SET k a
//! OK
//! > GETBIT k 1
//! (integer) 1
//! > GETBIT k 100
//! (integer) 0
//! ```

use crate::commands::bitmap_util::bit_offset;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("getbit", 3, Group::Bitmap, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 offset:i")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.2.0", "O(1)", "Returns one bit of a string.");

fn run(cx: &mut Cx<'_>) -> Res {
    let offset = bit_offset(cx, cx.args[2], None)?;
    let byte = match cx.ks.read_str(cx.args[1])? {
        Some(value) => value.get((offset >> 3) as usize).copied().unwrap_or(0),
        None => 0,
    };
    cx.reply.int(i64::from(byte >> (7 - (offset & 7)) & 1));
    Ok(())
}
