//! Calls of the scripts `counter.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod bounded;
mod incr_ttl;
mod once;

pub use bounded::*;
pub use incr_ttl::*;
pub use once::*;
