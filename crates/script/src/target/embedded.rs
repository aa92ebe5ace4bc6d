//! The engine in this process.

use super::{Node, Target};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use std::time::Duration;
use totality::{Error, Session};

/// A session of an embedded data set.
#[derive(Debug)]
pub struct Embedded {
    session: Session,
}

impl Embedded {
    /// Runs scripts in this session.
    pub fn new(session: Session) -> Embedded {
        Embedded { session }
    }

    /// The session, for other commands.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Target for Embedded {
    fn exchange(&mut self, _: Node<'_>, commands: &[Words], _: Duration) -> Result<Vec<Value>, LinkError> {
        let mut replies = Vec::with_capacity(commands.len());
        for command in commands {
            let words: Vec<&[u8]> = command.iter().collect();
            replies.push(match self.session.call(&words) {
                Ok(frame) => Value::from(frame),
                Err(Error::Command(text)) => Value::Error(text),
                Err(Error::Closed | Error::Poisoned) => {
                    return Err(LinkError::Lost("the session is closed".into()));
                }
                Err(other) => return Err(LinkError::Refused(other.to_string())),
            });
        }
        Ok(replies)
    }

    fn node(&self, _: Option<u16>) -> String {
        "embedded".into()
    }

    fn epoch(&self) -> u64 {
        0
    }

    fn names_nodes(&self) -> bool {
        true
    }
}
