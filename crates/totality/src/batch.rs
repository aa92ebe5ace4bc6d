//! Several commands at once.

use crate::error::Error;
use crate::session::Session;
use totality_engine::Frame;

fn words<A: AsRef<[u8]>>(args: &[A]) -> Vec<Vec<u8>> {
    args.iter().map(|a| a.as_ref().to_vec()).collect()
}

/// Commands that run one after the other; no other session's command comes between them.
#[derive(Debug)]
pub struct Pipeline<'a> {
    session: &'a mut Session,
    commands: Vec<Vec<Vec<u8>>>,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new(session: &'a mut Session) -> Self {
        Pipeline { session, commands: Vec::new() }
    }

    /// Adds a command.
    pub fn call<A: AsRef<[u8]>>(mut self, args: &[A]) -> Self {
        self.commands.push(words(args));
        self
    }

    /// Runs them; each has its own result.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a panic in another thread.
    pub fn run(self) -> Result<Vec<Result<Frame, Error>>, Error> {
        self.session.batch(&self.commands)
    }
}

/// Commands that run as MULTI and EXEC.
#[derive(Debug)]
pub struct Transaction<'a> {
    session: &'a mut Session,
    commands: Vec<Vec<Vec<u8>>>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(session: &'a mut Session) -> Self {
        Transaction { session, commands: vec![words(&["MULTI"])] }
    }

    /// Adds a command.
    pub fn call<A: AsRef<[u8]>>(mut self, args: &[A]) -> Self {
        self.commands.push(words(args));
        self
    }

    /// Runs them all, or none: `None` when a watched key changed. One that fails when it runs leaves its error in its
    /// place; the others stay done.
    ///
    /// # Errors
    /// [`Error::Command`] with the reason when a command could not be queued; nothing ran then.
    pub fn commit(mut self) -> Result<Option<Vec<Frame>>, Error> {
        self.commands.push(words(&["EXEC"]));
        let mut replies = self.session.batch(&self.commands)?;
        let exec = replies.pop().unwrap_or(Err(Error::Empty));
        // What was refused says more than EXECABORT.
        let refused = replies.into_iter().find_map(Result::err);
        match (refused, exec) {
            (Some(why), Err(_)) => Err(why),
            (_, Ok(Frame::Array(all))) => Ok(Some(all)),
            (_, Ok(_)) => Ok(None),
            (None, Err(why)) => Err(why),
        }
    }
}
