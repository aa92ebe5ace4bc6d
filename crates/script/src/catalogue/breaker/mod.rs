//! Calls of the scripts `breaker.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod allow;
mod record;

pub use allow::*;
pub use record::*;
