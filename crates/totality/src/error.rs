//! What can go wrong for an embedder.

use std::fmt;

/// Why a call did not give the value that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The command or script answered with this error, its code (`ERR`, `WRONGTYPE`, …) first.
    Command(String),
    /// The reply is not of the type that was asked for.
    Type {
        /// What was asked for.
        wanted: &'static str,
        /// What came.
        got: String,
    },
    /// The command would wait for another client; an embedded call cannot wait.
    WouldBlock,
    /// An option of [`crate::Options`] was refused, with the reason.
    Option(String),
    /// A file could not be read or written: the data set must not be used any longer.
    Storage(String),
    /// The session was closed by QUIT or CLIENT KILL.
    Closed,
    /// A call in another thread panicked and may have left the data half-changed.
    Poisoned,
    /// An empty command.
    Empty,
}

impl Error {
    /// The code of a command's error: its first word.
    pub fn code(&self) -> Option<&str> {
        match self {
            Error::Command(text) => text.split(' ').next(),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Command(text) => f.write_str(text),
            Error::Type { wanted, got } => write!(f, "the reply is not {wanted} but {got}"),
            Error::WouldBlock => f.write_str("the command would wait for another client"),
            Error::Option(text) => f.write_str(text),
            Error::Storage(text) => write!(f, "files of the data set: {text}"),
            Error::Closed => f.write_str("the session is closed"),
            Error::Poisoned => f.write_str("a panic in another thread left the data in doubt"),
            Error::Empty => f.write_str("a command needs at least its name"),
        }
    }
}

impl std::error::Error for Error {}
