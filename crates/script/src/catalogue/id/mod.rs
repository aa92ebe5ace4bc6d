//! Calls of the scripts `id.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod block;

pub use block::*;
