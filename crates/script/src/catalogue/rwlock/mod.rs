//! Calls of the scripts `rwlock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod downgrade;
mod read;
mod release;
mod write;

pub use downgrade::*;
pub use read::*;
pub use release::*;
pub use write::*;
