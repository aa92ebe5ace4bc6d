//! Calls of the scripts `stock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod cancel;
mod confirm;
mod deduct;
mod deduct_multi;
mod expire;
mod reserve;

pub use cancel::*;
pub use confirm::*;
pub use deduct::*;
pub use deduct_multi::*;
pub use expire::*;
pub use reserve::*;
