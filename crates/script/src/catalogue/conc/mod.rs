//! Calls of the scripts `conc.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod acquire;
mod release;
mod renew;

pub use acquire::*;
pub use release::*;
pub use renew::*;
