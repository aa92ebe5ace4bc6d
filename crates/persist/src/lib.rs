//! Files: snapshots, the append-only file, the lock of their directory, and what is read when a data set is opened.
//!
//! [`Persist`] is one code for the server and for those who embed the engine. Its owner hands it the engine's parts:
//! commands that need files come through [`Persist::request`], [`Persist::before_replies`] is called before replies
//! leave, [`Persist::turn`] whenever the owner has time, [`Persist::cron`] ten times a second or so.
//!
//! Nothing here exits or panics: what cannot go on is told ([`Persist::fatal`]).
#![forbid(unsafe_code)]

pub mod aof;
pub mod check;
mod copy;
mod dir;
pub mod disk;
mod intake;
mod load;
mod log;
mod look;
mod manifest;
pub mod memory;
mod persist;
mod syncer;
mod writer;

pub use copy::load_copy;
pub use intake::Intake;
pub use look::load_files;
pub use persist::{Persist, Piece};
pub use totality_rdb::{Pushed, Streamed};

use std::io;

/// An error in the words of the C library, without the number.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
