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
    Spec::new("slaveof", 3, Group::Server, FLAGS, run).args("args:o(host-port:b(host:s port:i) no-one:b(no:t'NO' one:t'ONE'))").deprecated("5.0.0", "REPLICAOF").doc("1.0.0", "O(1)", "The old name of REPLICAOF.");
