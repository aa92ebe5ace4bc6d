//! Calls of the scripts `rl.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod fixed_window;
mod gcra;
mod leaky_queue;
mod multi;
mod peek;
mod refund;
mod reset;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

pub use fixed_window::*;
pub use gcra::*;
pub use leaky_queue::*;
pub use multi::*;
pub use peek::*;
pub use refund::*;
pub use reset::*;
pub use sliding_counter::*;
pub use sliding_log::*;
pub use token_bucket::*;
