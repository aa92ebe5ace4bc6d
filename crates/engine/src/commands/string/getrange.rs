//! GETRANGE: a part of a string; both ends are included, negative ones count from the end.
//!
//! ```transcript
//! > SET k "This is a string"
//! OK
//! > GETRANGE k 0 3
//! "This"
//! > GETRANGE k -3 -1
//! "ing"
//! > GETRANGE k 10 100
//! "string"
//! > GETRANGE k 5 1
//! ""
//! > GETRANGE nokey 0 1
//! ""
//! ```

use crate::commands::string_util::clamp_range;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("getrange", 4, Group::String, Flags::READONLY, run).args("key:k@0 start:i end:i")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.4.0", "O(N) for N bytes of the answer", "Returns a part of a string.");

/// GETRANGE and SUBSTR.
pub(super) fn run(cx: &mut Cx<'_>) -> Res {
    let (start, end) = (cx.int(2)?, cx.int(3)?);
    let Some(value) = cx.ks.read_str(cx.args[1])? else {
        cx.reply.bulk(b"");
        return Ok(());
    };
    match clamp_range(start, end, value.len() as u64) {
        Some((start, end)) => cx.reply.bulk(&value[start as usize..=end as usize]),
        None => cx.reply.bulk(b""),
    }
    Ok(())
}
