//! Calls of the scripts `lock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod acquire;
mod inspect;
mod multi;
mod multi_release;
mod release;
mod renew;

pub use acquire::*;
pub use inspect::*;
pub use multi::*;
pub use multi_release::*;
pub use release::*;
pub use renew::*;
