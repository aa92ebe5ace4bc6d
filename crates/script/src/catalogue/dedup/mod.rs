//! Calls of the scripts `dedup.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod seen;

pub use seen::*;
