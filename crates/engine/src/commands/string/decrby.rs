//! DECRBY: subtracts a number from an integer.
//!
//! ```transcript
//! > SET n 10
//! OK
//! > DECRBY n 3
//! (integer) 7
//! > DECRBY n -9223372036854775808
//! (error) ERR decrement would overflow
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("decrby", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 decrement:i")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("1.0.0", "O(1)", "Subtracts a number from the integer at a key; a missing key counts as 0.");

fn run(cx: &mut Cx<'_>) -> Res {
    let by = cx.int(2)?.checked_neg().ok_or(CmdError::new("ERR decrement would overflow"))?;
    super::incr::add(cx, by)
}
