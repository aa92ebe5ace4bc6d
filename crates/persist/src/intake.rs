//! A data set that comes from elsewhere, taken in bit by bit beside the one that is there, which it replaces at the end.

use crate::load::reader_client;
use std::io::Read;
use totality_engine::ClientId;
use totality_engine::dump::load::{LoadOptions, LoadSteps, Loaded};
use totality_engine::keyspace::Keyspace;
use totality_engine::state::ServerState;
use totality_rdb::Streamed;
use totality_rdb::file::FileReader;

/// Keys that are taken in between two looks at the clock.
const STEP: u64 = 64;

/// A data set in the making.
pub struct Intake<R> {
    file: FileReader<Streamed<R>>,
    steps: LoadSteps,
    ks: Keyspace,
    client: ClientId,
}

impl<R> std::fmt::Debug for Intake<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("client", &self.client).finish_non_exhaustive()
    }
}

impl<R: Read> Intake<R> {
    /// Reads the head of a snapshot. Keys past their deadline are kept: who sent them says when they go.
    ///
    /// # Errors
    /// When it is no snapshot, or one of a version that cannot be read.
    pub fn begin(source: R, ks: &Keyspace, sv: &mut ServerState) -> Result<Intake<R>, String> {
        let strict = sv.config.rdb_version_check == 0;
        let check = sv.config.rdbchecksum;
        let file =
            FileReader::open(Streamed::new(source, check), strict, check).map_err(|e| e.to_string())?;
        let client = reader_client(sv);
        let steps = LoadSteps::new(client, LoadOptions::default(), true);
        Ok(Intake { file, steps, ks: ks.twin(&sv.config), client })
    }

    /// Goes on until the end or until `out_of_time` says so. True at the end.
    ///
    /// # Errors
    /// What is wrong with the snapshot, and where.
    pub fn step(
        &mut self,
        sv: &mut ServerState,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<bool, String> {
        self.ks.begin_unit(sv.stamp);
        loop {
            if self
                .steps
                .go_on(&mut self.ks, sv, &mut self.file, STEP, &mut |_, _, _| true)
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

    /// Puts what was taken in into the place of what is there. Gives the source and what the snapshot says of itself.
    pub fn finish(self, ks: &mut Keyspace, sv: &mut ServerState) -> (R, Loaded) {
        sv.clients.remove(self.client);
        ks.adopt(self.ks);
        let loaded = self.steps.loaded.clone();
        sv.scripts.libraries = self.steps.into_libraries();
        sv.persist.loaded = (loaded.expired, loaded.keys);
        (self.file.into_input().into_parts().0, loaded)
    }

    /// Gives up: what is there stays.
    pub fn cancel(self, sv: &mut ServerState) {
        sv.clients.remove(self.client);
    }
}
