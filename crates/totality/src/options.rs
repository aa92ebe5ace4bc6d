//! How a data set is opened.

use crate::clock::SystemClock;
use crate::error::Error;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use totality_engine::state::LogLevel;
use totality_engine::{Clock, Config};

/// Takes log lines: level and text.
pub type Log = Box<dyn FnMut(LogLevel, &str) + Send>;

/// Options of [`crate::Db::open`].
#[derive(Default)]
pub struct Options {
    pub(crate) config: Vec<(String, String)>,
    pub(crate) clock: Option<Box<dyn Clock>>,
    pub(crate) seed: Option<[u8; 16]>,
    pub(crate) log: Option<Log>,
    pub(crate) dir: Option<PathBuf>,
}

impl Options {
    /// Sets a parameter of `redis.conf`, for example `maxmemory` to `100mb`. It is checked when the data set is opened.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.config.push((name.into(), value.into()));
        self
    }

    /// Keeps the data set in this directory, which is made if need be: it is loaded when the data set is opened, and
    /// every change goes to an append-only file there, as a server with `appendonly yes` does it. `appendfsync` says how
    /// safe a change is when its call returns: `always`, or within a second (`everysec`, the default, which needs
    /// [`crate::Db::tick`]). With `appendonly` set to `no` there are snapshots only: SAVE, BGSAVE, and one when the last
    /// handle goes, if `save` names save points.
    ///
    /// The directory belongs to this process while the data set is open.
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Uses another clock than the machine's: a [`crate::ManualClock`] makes expiry testable.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// Seeds everything random. With the same seed and the same clock the same calls give the same replies.
    pub fn seed(mut self, seed: [u8; 16]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Gets the lines that a server would log, `redis.log` included. Without it they are dropped.
    pub fn log(mut self, log: impl FnMut(LogLevel, &str) + Send + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    pub(crate) fn config(&self) -> Result<Config, Error> {
        let mut config = Config { appendonly: self.dir.is_some(), ..Config::default() };
        for (name, value) in &self.config {
            let param = Config::param(name.as_bytes());
            let words: Vec<&[u8]> = match param {
                Some(p) if p.takes_words() => value.split(' ').map(str::as_bytes).collect(),
                _ => vec![value.as_bytes()],
            };
            config.set(name, &words).map_err(|why| Error::Option(format!("{name}: {why}")))?;
        }
        Ok(config)
    }

    pub(crate) fn take_clock(&mut self) -> Box<dyn Clock> {
        self.clock.take().unwrap_or_else(|| Box::new(SystemClock))
    }

    pub(crate) fn random_seed(&self) -> [u8; 16] {
        // The standard library draws two keys per process and changes them for each `RandomState`.
        let half = || RandomState::new().build_hasher().finish().to_le_bytes();
        self.seed.unwrap_or_else(|| {
            let mut seed = [0; 16];
            seed[..8].copy_from_slice(&half());
            seed[8..].copy_from_slice(&half());
            seed
        })
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("config", &self.config)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
