//! INCRBY: adds a number to an integer.
//!
//! ```transcript
//! > INCRBY n 5
//! (integer) 5
//! > INCRBY n -7
//! (integer) -2
//! > INCRBY n 1.5
//! (error) ERR value is not an integer or out of range
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("incrby", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 increment:i")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("1.0.0", "O(1)", "Adds a number to the integer at a key; a missing key counts as 0.");

fn run(cx: &mut Cx<'_>) -> Res {
    let by = cx.int(2)?;
    super::incr::add(cx, by)
}
