//! RESTORE-ASKING: RESTORE as MIGRATE sends it from a node of a cluster to another one, which imports the key's slot.
//!
//! ```transcript
//! > RESTORE-ASKING k 0 "\x00\xc0\n\x09\x00\xbem\x06\x89Z(\x00\n"
//! OK
//! > GET k
//! "10"
//! ```

use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec = {
    let mut spec = super::restore::SPEC.system();
    (spec.name, spec.group, spec.since) = ("restore-asking", Group::Server, "3.0.0");
    spec.summary = "RESTORE between nodes of a cluster.";
    spec
};
