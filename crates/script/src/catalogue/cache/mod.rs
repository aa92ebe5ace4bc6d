//! Calls of the scripts `cache.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod fill;
mod get;
mod get_or_lease;
mod put_if_newer;

pub use fill::*;
pub use get::*;
pub use get_or_lease::*;
pub use put_if_newer::*;
