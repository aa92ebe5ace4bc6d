//! See README.md.
#![forbid(unsafe_code)]

pub mod numfmt;
pub mod numparse;
pub mod pattern;
pub mod reply;
