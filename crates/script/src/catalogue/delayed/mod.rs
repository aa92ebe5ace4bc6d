//! Calls of the scripts `delayed.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod add;
mod promote;

pub use add::*;
pub use promote::*;
