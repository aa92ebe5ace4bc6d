//! A session: one caller's view of the data set.

use crate::batch::{Pipeline, Transaction};
use crate::db::{Db, Files, Inner};
use crate::error::Error;
use crate::script::Script;
use crate::value::FromFrame;
use totality_engine::reply::TreeBuilder;
use totality_engine::{After, ClientId, ConnInfo, Frame, Proto, Reply};

/// A session of a [`Db`]. It keeps the data set alive.
#[derive(Debug)]
pub struct Session {
    db: Db,
    id: ClientId,
}

impl Session {
    pub(crate) fn open(db: &Db) -> Result<Session, Error> {
        let id = db.lock()?.engine.connect(ConnInfo::default());
        Ok(Session { db: db.clone(), id })
    }

    /// Runs one command. An error reply is an `Err`; errors inside an array (EXEC) stay in it.
    ///
    /// # Errors
    /// [`Error::Command`] with the text of an error reply, and what else [`Error`] lists.
    pub fn call<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Result<Frame, Error> {
        let words: Vec<&[u8]> = args.iter().map(AsRef::as_ref).collect();
        let mut inner = self.db.lock()?;
        let reply = run(&mut inner, self.id, &words);
        let settled = inner.settle();
        inner.drain();
        settled?;
        match reply {
            Err(Error::WouldBlock) => {
                // The engine holds the client for a reply that nobody will take: start again as a new one.
                inner.engine.disconnect(self.id);
                self.id = inner.engine.connect(ConnInfo::default());
                Err(Error::WouldBlock)
            }
            reply => reply,
        }
    }

    /// Runs one command and converts its reply.
    ///
    /// # Errors
    /// As [`Session::call`], and [`Error::Type`] when the reply is of another type.
    pub fn query<T: FromFrame>(&mut self, args: &[impl AsRef<[u8]>]) -> Result<T, Error> {
        T::from_frame(self.call(args)?)
    }

    /// Runs a script and converts its reply. The script is compiled once and found again by its text.
    ///
    /// # Errors
    /// As [`Session::query`].
    pub fn eval<T: FromFrame>(
        &mut self,
        source: &str,
        keys: &[impl AsRef<[u8]>],
        args: &[impl AsRef<[u8]>],
    ) -> Result<T, Error> {
        Script::new(source).run(self, keys, args)
    }

    /// Commands that run one after the other without anything between them.
    pub fn pipeline(&mut self) -> Pipeline<'_> {
        Pipeline::new(self)
    }

    /// Commands that run as MULTI and EXEC, so a key watched by [`Session::watch`] decides whether they run.
    pub fn transaction(&mut self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// Watches keys: the next transaction does not run if one of them has changed by then.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn watch(&mut self, keys: &[impl AsRef<[u8]>]) -> Result<(), Error> {
        let words: Vec<&[u8]> =
            std::iter::once(&b"WATCH"[..]).chain(keys.iter().map(AsRef::as_ref)).collect();
        self.call(&words).map(drop)
    }

    /// Runs many commands under one lock.
    pub(crate) fn batch(&mut self, commands: &[Vec<Vec<u8>>]) -> Result<Vec<Result<Frame, Error>>, Error> {
        let mut inner = self.db.lock()?;
        let mut replies = Vec::with_capacity(commands.len());
        for command in commands {
            let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
            replies.push(run(&mut inner, self.id, &words));
        }
        let settled = inner.settle();
        inner.drain();
        settled?;
        Ok(replies)
    }
}

fn run(inner: &mut Inner, id: ClientId, words: &[&[u8]]) -> Result<Frame, Error> {
    if words.is_empty() {
        return Err(Error::Empty);
    }
    let engine = &mut inner.engine;
    let proto = engine.sv.clients.get(id).map(|c| c.proto).ok_or(Error::Closed)?;
    engine.wake();
    let mut tree = TreeBuilder::default();
    let mut after =
        engine.execute_into(id, words, Reply::tree(&mut tree, proto), &mut Files(inner.files.as_mut()));
    if after == After::Postponed && inner.files.as_mut().is_some_and(|files| files.hurry(engine)) {
        // It was to wait for a large value that a snapshot has to write first.
        tree = TreeBuilder::default();
        after =
            engine.execute_into(id, words, Reply::tree(&mut tree, proto), &mut Files(inner.files.as_mut()));
    }
    match (tree.finish(), after) {
        (_, After::Blocked) => {
            engine.forget_blocked(id);
            Err(Error::WouldBlock)
        }
        (_, After::Postponed) => Err(Error::WouldBlock),
        (Some(Frame::Error(text)), _) => Err(Error::Command(String::from_utf8_lossy(&text).into_owned())),
        (Some(frame), _) => Ok(frame),
        (None, After::Close) => Err(Error::Closed),
        (None, After::Continue) => Ok(if proto == Proto::Resp3 { Frame::Null } else { Frame::NullArray }),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // After a panic the data set is given up anyway.
        if let Ok(mut inner) = self.db.lock() {
            inner.engine.disconnect(self.id);
            inner.drain();
        }
    }
}
