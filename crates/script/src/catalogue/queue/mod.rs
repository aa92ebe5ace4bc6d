//! Calls of the scripts `queue.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod ack;
mod claim;
mod dead;
mod extend;
mod push;
mod push_unique;
mod reap;
mod retry;
mod stats;

pub use ack::*;
pub use claim::*;
pub use dead::*;
pub use extend::*;
pub use push::*;
pub use push_unique::*;
pub use reap::*;
pub use retry::*;
pub use stats::*;
