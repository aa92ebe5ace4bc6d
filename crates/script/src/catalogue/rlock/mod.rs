//! Calls of the scripts `rlock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod acquire;
mod release;

pub use acquire::*;
pub use release::*;
