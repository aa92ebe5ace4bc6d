//! Calls of the scripts `leader.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod claim;
mod resign;

pub use claim::*;
pub use resign::*;
