//! DECR: subtracts one from an integer.
//!
//! ```transcript
//! > SET n 10
//! OK
//! > DECR n
//! (integer) 9
//! > DECR new
//! (integer) -1
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("decr", 2, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("1.0.0", "O(1)", "Subtracts one from the integer at a key; a missing key counts as 0.");

fn run(cx: &mut Cx<'_>) -> Res {
    super::incr::add(cx, -1)
}
