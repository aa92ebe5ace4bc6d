//! Calls of the scripts `stats.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod append;

pub use append::*;
