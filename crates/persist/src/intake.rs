//! A data set that comes from elsewhere, taken in bit by bit beside the one that is there, which it replaces at the end.

use crate::load::reader_client;
use std::io::Read;
use totality_engine::ClientId;
use totality_engine::dump::load::{LoadOptions, LoadSteps, Loaded};
use totality_engine::keyspace::Keyspace;
use totality_engine::state::ServerState;
use totality_rdb::file::FileReader;
use totality_rdb::{Input, Pushed, Streamed};

/// Keys that are taken in between two looks at the clock.
const STEP: u64 = 64;
/// Bytes without which a snapshot cannot be begun.
const HEAD: usize = 9;

/// Called in the middle of a long value, with the bytes read so far: others may be served. False: nothing more is read.
pub type Serve<'a> = &'a mut dyn FnMut(&mut ServerState, u64) -> bool;

/// A data set in the making.
pub struct Intake<I> {
    file: FileReader<I>,
    steps: LoadSteps,
    ks: Keyspace,
    client: ClientId,
}

impl<I> std::fmt::Debug for Intake<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("client", &self.client).finish_non_exhaustive()
    }
}

impl<R: Read> Intake<Streamed<R>> {
    /// Reads the head of a snapshot that is there as a whole.
    ///
    /// # Errors
    /// When it is no snapshot, or one of a version that cannot be read.
    pub fn begin(source: R, ks: &Keyspace, sv: &mut ServerState) -> Result<Self, String> {
        Intake::open(Streamed::new(source, sv.config.rdbchecksum), ks, sv)
    }
}

impl Intake<Pushed> {
    /// True when `bytes` suffice for [`Intake::begin_live`].
    pub fn can_begin(bytes: &[u8]) -> bool {
        bytes.len() >= HEAD
    }

    /// Reads the head of a snapshot of which more comes later: see [`Intake::input`].
    ///
    /// # Errors
    /// When it is no snapshot, or one of a version that cannot be read.
    pub fn begin_live(first: Vec<u8>, ks: &Keyspace, sv: &mut ServerState) -> Result<Self, String> {
        Intake::open(Pushed::new(first, sv.config.rdbchecksum), ks, sv)
    }

    /// Goes on until the end, until `out_of_time` says so or there is nothing to read for now. True at the end. `pause`:
    /// see [`Intake::step`].
    ///
    /// # Errors
    /// What is wrong with the snapshot, and where.
    pub fn step_live(
        &mut self,
        sv: &mut ServerState,
        out_of_time: &mut dyn FnMut() -> bool,
        pause: Serve<'_>,
    ) -> Result<bool, String> {
        if !self.input().is_ready() {
            return Ok(false);
        }
        match self.step(sv, out_of_time, pause) {
            Err(_) if self.input().retry() => Ok(false),
            other => other,
        }
    }
}

impl<I: Input> Intake<I> {
    /// Keys past their deadline are kept: who sent them says when they go.
    fn open(input: I, ks: &Keyspace, sv: &mut ServerState) -> Result<Self, String> {
        let strict = sv.config.rdb_version_check == 0;
        let file = FileReader::open(input, strict, sv.config.rdbchecksum).map_err(|e| e.to_string())?;
        let client = reader_client(sv);
        let steps = LoadSteps::new(client, LoadOptions::default(), true);
        Ok(Intake { file, steps, ks: ks.twin(&sv.config), client })
    }

    /// Where it is read from.
    pub fn input(&mut self) -> &mut I {
        self.file.input()
    }

    /// Goes on until the end or until `out_of_time` says so. True at the end. `pause` is called now and then while a
    /// long value is taken in, which cannot be left half done, with the bytes read so far; when it gives false, the
    /// loading fails.
    ///
    /// # Errors
    /// What is wrong with the snapshot, and where.
    pub fn step(
        &mut self,
        sv: &mut ServerState,
        out_of_time: &mut dyn FnMut() -> bool,
        pause: Serve<'_>,
    ) -> Result<bool, String> {
        self.ks.begin_unit(sv.stamp);
        let keys = if sv.config.key_load_delay > 0 { 1 } else { STEP };
        loop {
            if self
                .steps
                .go_on(&mut self.ks, sv, &mut self.file, keys, &mut |_, sv, offset| pause(sv, offset))
                .map_err(|e| e.to_string())?
            {
                return Ok(true);
            }
            if out_of_time() {
                return Ok(false);
            }
        }
    }

    /// Bytes that were read.
    pub fn offset(&self) -> u64 {
        self.file.offset()
    }

    /// Puts what was taken in into the place of what is there. Gives the input and what the snapshot says of itself.
    pub fn finish(self, ks: &mut Keyspace, sv: &mut ServerState) -> (I, Loaded) {
        sv.clients.remove(self.client);
        ks.adopt(self.ks);
        let loaded = self.steps.loaded.clone();
        sv.scripts.libraries = self.steps.into_libraries();
        sv.persist.loaded = (loaded.expired, loaded.keys);
        (self.file.into_input(), loaded)
    }

    /// Gives up: what is there stays.
    pub fn cancel(self, sv: &mut ServerState) {
        sv.clients.remove(self.client);
    }
}
