//! What can go wrong.

use std::fmt;
use std::time::Duration;

/// Why a call has no answer. Refusals by a script's own rule are not errors: they are variants of its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An argument is out of its range; nothing was sent.
    Argument {
        /// The script.
        script: String,
        /// The argument.
        name: String,
        /// What it must be.
        why: String,
    },
    /// A part of a key's name is empty or holds a brace; nothing was sent.
    Key {
        /// The script.
        script: String,
        /// The part.
        name: String,
    },
    /// Two keys of one call are in different slots; nothing was sent.
    CrossSlot {
        /// A key.
        first: Vec<u8>,
        /// A key of another slot.
        second: Vec<u8>,
    },
    /// The script refused an argument (`SCRIPTARG …`); nothing was written.
    ScriptArgument(String),
    /// Another error reply of the server or of the script.
    Refused(String),
    /// The server could not run it for a while (BUSY, LOADING, CLUSTERDOWN, …) and the time or the tries ran out. It was
    /// not run.
    Unavailable(String),
    /// The reply has another shape than the header promises.
    Contract {
        /// The script.
        script: String,
        /// What came, without its bytes.
        why: String,
    },
    /// The reply has a code that the header does not list.
    UnknownCode {
        /// The script.
        script: String,
        /// The code.
        code: i64,
    },
    /// No answer within the time, or a lost connection. Unless `executed` is `false`, it may have been carried out.
    NoAnswer {
        /// What happened.
        why: LinkError,
        /// `Some(false)`: certainly not run. `None`: nobody knows.
        executed: Option<bool>,
        /// How long was waited.
        after: Duration,
    },
    /// In a pipeline, the script at this place was not known to the server any more; nothing was sent again.
    ScriptEvicted {
        /// Its place in the pipeline, from 0.
        index: usize,
    },
    /// EXEC ran, but some of its calls failed while the others are carried out: a transaction has no rollback.
    PartialTransaction {
        /// The places that failed, with the error texts.
        failed: Vec<(usize, String)>,
    },
    /// The transaction was not run: a watched key changed, or a command was refused when it was queued.
    Aborted(String),
}

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// There was no connection; nothing was sent.
    Unconnected(String),
    /// No reply in time.
    Timeout,
    /// The connection ended before the reply.
    Lost(String),
    /// The engine or the client library refused the command itself.
    Refused(String),
}

impl LinkError {
    /// True when nothing reached a server.
    pub fn unsent(&self) -> bool {
        matches!(self, LinkError::Unconnected(_) | LinkError::Refused(_))
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Unconnected(why) => write!(f, "no connection: {why}"),
            LinkError::Timeout => f.write_str("no reply in time"),
            LinkError::Lost(why) => write!(f, "the connection was lost: {why}"),
            LinkError::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}

impl std::error::Error for LinkError {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Argument { script, name, why } => write!(f, "{script}: {name} {why}"),
            Error::Key { script, name } => {
                write!(f, "{script}: {name} is part of a key, so it is not empty and holds no brace")
            }
            // Names of keys may tell about people: only their slots are shown.
            Error::CrossSlot { first, second } => write!(
                f,
                "the keys of one call are in the slots {} and {}: give them a common hash tag",
                crate::slot(first),
                crate::slot(second)
            ),
            Error::ScriptArgument(text) | Error::Refused(text) | Error::Unavailable(text) => {
                f.write_str(text)
            }
            Error::Contract { script, why } => write!(f, "{script}: the reply breaks its contract: {why}"),
            Error::UnknownCode { script, code } => {
                write!(f, "{script}: the reply has the unknown code {code}")
            }
            Error::NoAnswer { why, executed, after } => {
                let what = if *executed == Some(false) { "it was not run" } else { "it may have been run" };
                write!(f, "{why} after {} ms; {what}", after.as_millis())
            }
            Error::ScriptEvicted { index } => {
                write!(f, "the script at {index} of the pipeline was not known to the server any more")
            }
            Error::PartialTransaction { failed } => {
                write!(f, "{} calls of the transaction failed, the others are carried out", failed.len())
            }
            Error::Aborted(why) => write!(f, "the transaction was not run: {why}"),
        }
    }
}

impl std::error::Error for Error {}
