//! Calls of the scripts `account.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod credit;
mod debit;
mod transfer;

pub use credit::*;
pub use debit::*;
pub use transfer::*;
