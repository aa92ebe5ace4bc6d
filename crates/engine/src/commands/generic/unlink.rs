//! UNLINK: deletes keys; the memory of large values is freed later.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > UNLINK a b c
//! (integer) 2
//! ```

use crate::spec::{Cat, Flags, Group, KEY_REMOVE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("unlink", -2, Group::Generic, Flags::WRITE.union(Flags::FAST), super::del::run).args("key:k@0*")
        .cats(Cat::KEYSPACE)
        .keys(&[KeySpec::rest(1, KEY_REMOVE)])
        .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
        .doc("4.0.0", "O(1) for each key", "Deletes keys; memory is freed later.");
