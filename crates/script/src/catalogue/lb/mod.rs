//! Calls of the scripts `lb.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod around;
mod rotate;
mod submit;
mod trim;

pub use around::*;
pub use rotate::*;
pub use submit::*;
pub use trim::*;
