//! Calls of the scripts `fence.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod check;
mod set;

pub use check::*;
pub use set::*;
