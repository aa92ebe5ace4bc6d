//! The data set.

use crate::error::Error;
use crate::options::{Log, Options};
use crate::session::Session;
use std::sync::{Arc, Mutex, MutexGuard};
use totality_engine::{Engine, Outgoing};

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    log: Option<Log>,
}

impl Inner {
    /// Takes what left the engine, so that it does not pile up.
    pub(crate) fn drain(&mut self) {
        while let Some(outgoing) = self.engine.next_outgoing() {
            if let (Outgoing::Log { level, text }, Some(log)) = (outgoing, &mut self.log) {
                log(level, &String::from_utf8_lossy(&text));
            }
        }
        // There is no thread to leave it to.
        drop(self.engine.ks.take_garbage());
    }
}

/// A data set. Clones are handles to the same one; it is freed with the last handle and session.
#[derive(Clone)]
pub struct Db {
    inner: Arc<Mutex<Inner>>,
}

impl Db {
    /// Opens an empty data set.
    ///
    /// # Errors
    /// [`Error::Option`] when a parameter or its value is unknown.
    pub fn open(mut options: Options) -> Result<Db, Error> {
        let config = options.config()?;
        let engine = Engine::new(config, options.take_clock(), options.random_seed());
        Ok(Db { inner: Arc::new(Mutex::new(Inner { engine, log: options.log.take() })) })
    }

    /// Opens a session, which is what a connection is to a server.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a panic in another thread.
    pub fn session(&self) -> Result<Session, Error> {
        Session::open(self)
    }

    /// Periodic work: removes some of the keys whose time has passed. Call it about ten times a second if memory
    /// matters; keys that are asked for expire without it.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a panic in another thread.
    pub fn tick(&self) -> Result<(), Error> {
        let mut inner = self.lock()?;
        inner.engine.cron();
        inner.drain();
        Ok(())
    }

    /// The engine itself, for what this crate does not wrap.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a panic in another thread.
    pub fn with_engine<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Result<R, Error> {
        let mut inner = self.lock()?;
        let result = f(&mut inner.engine);
        inner.drain();
        Ok(result)
    }

    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, Inner>, Error> {
        self.inner.lock().map_err(|_| Error::Poisoned)
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").finish_non_exhaustive()
    }
}
