//! SUBSTR: the old name of GETRANGE.
//!
//! ```transcript
//! > SET k Hello
//! OK
//! > SUBSTR k 1 2
//! "el"
//! ```

use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("substr", 4, Group::String, Flags::READONLY, super::getrange::run).args("key:k@0 start:i end:i")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(N) for N bytes of the answer", "Returns a part of a string.");
