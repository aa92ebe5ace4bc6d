//! SLAVEOF: the old name of REPLICAOF.
//!
//! ```transcript
//! > SLAVEOF NO ONE
//! OK
//! ```

use super::replicaof::{FLAGS, run};
use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("slaveof", 3, Group::Server, FLAGS, run).doc("1.0.0", "O(1)", "The old name of REPLICAOF.");
