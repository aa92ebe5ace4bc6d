//! Calls of the scripts `dlq.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod drop;
mod requeue;

pub use drop::*;
pub use requeue::*;
