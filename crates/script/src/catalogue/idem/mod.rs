//! Calls of the scripts `idem.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

mod begin;
mod complete;
mod fail_final;
mod fail_retryable;
mod get;
mod renew;

pub use begin::*;
pub use complete::*;
pub use fail_final::*;
pub use fail_retryable::*;
pub use get::*;
pub use renew::*;
