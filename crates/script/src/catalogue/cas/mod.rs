//! Calls of the scripts `cas.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod delete;
mod expire;
mod multi;
mod set;

pub use delete::*;
pub use expire::*;
pub use multi::*;
pub use set::*;
