//! The data set.

use crate::error::Error;
use crate::options::{Log, Options};
use crate::session::Session;
use std::sync::{Arc, Mutex, MutexGuard};
use totality_engine::engine::NoTicker;
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::Request;
use totality_engine::state::ServerState;
use totality_engine::{Engine, Outgoing, Ticker};
use totality_persist::Persist;

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    /// There when a directory was given.
    pub(crate) files: Option<Persist>,
    log: Option<Log>,
}

/// What the engine may ask for in the middle of a command.
pub(crate) struct Files<'a>(pub(crate) Option<&'a mut Persist>);

impl Ticker for Files<'_> {
    fn persist(&mut self, ks: &mut Keyspace, sv: &mut ServerState, request: Request) -> Result<(), String> {
        match &mut self.0 {
            Some(files) => files.request(ks, sv, request, &mut NoTicker),
            None => NoTicker.persist(ks, sv, request),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(files) = &mut self.files {
            let Engine { ks, sv } = &mut self.engine;
            // Nobody is left to be told; the log has it.
            let _ = files.shutdown(ks, sv, None, true);
            self.drain();
        }
    }
}

impl Inner {
    /// What changed is as safe as promised before the caller hears of it.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        let Some(files) = &mut self.files else { return Ok(()) };
        files.before_replies(&mut self.engine.sv);
        files.turn(&mut self.engine);
        match files.fatal() {
            Some(why) => Err(Error::Storage(why.to_owned())),
            None => Ok(()),
        }
    }

    /// Takes what left the engine, so that it does not pile up.
    pub(crate) fn drain(&mut self) {
        while let Some(outgoing) = self.engine.next_outgoing() {
            match (outgoing, &mut self.log, &mut self.files) {
                (Outgoing::Log { level, text }, Some(log), _) => log(level, &String::from_utf8_lossy(&text)),
                (Outgoing::ConfigChanged { name }, _, Some(files)) => {
                    files.config_changed(&mut self.engine, name);
                }
                _ => {}
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
    /// Opens a data set: an empty one, or what is kept in the directory of [`Options::dir`].
    ///
    /// # Errors
    /// [`Error::Option`] when a parameter or its value is unknown; [`Error::Storage`] when the directory is in use or
    /// what it holds is damaged.
    pub fn open(mut options: Options) -> Result<Db, Error> {
        let config = options.config()?;
        let engine = Engine::new(config, options.take_clock(), options.random_seed());
        let mut inner = Inner { engine, files: None, log: options.log.take() };
        if let Some(dir) = &options.dir {
            std::fs::create_dir_all(dir).map_err(|e| Error::Storage(e.to_string()))?;
            let mut files = Persist::new(dir, Arc::new(|| {}));
            let opened = files.open(&mut inner.engine, &mut NoTicker);
            inner.drain();
            opened.map_err(Error::Storage)?;
            inner.files = Some(files);
        }
        Ok(Db { inner: Arc::new(Mutex::new(inner)) })
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
        if let Inner { engine, files: Some(files), .. } = &mut *inner {
            files.cron(engine);
        }
        let settled = inner.settle();
        inner.drain();
        settled?;
        Ok(())
    }

    /// The engine itself, for what this crate does not wrap.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a panic in another thread.
    pub fn with_engine<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Result<R, Error> {
        let mut inner = self.lock()?;
        let result = f(&mut inner.engine);
        let settled = inner.settle();
        inner.drain();
        settled?;
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
