//! Calls of the scripts `latch.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod down;
mod init;

pub use down::*;
pub use init::*;
