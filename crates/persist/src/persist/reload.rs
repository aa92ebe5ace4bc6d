//! DEBUG RELOAD and DEBUG LOADAOF: the data set is read again.

use super::{FAILED, Persist};
use crate::load::{open_snapshot, read_log, read_snapshot};
use crate::log::Names;
use totality_engine::dump::load::LoadOptions;
use totality_engine::engine::Ticker;
use totality_engine::keyspace::Keyspace;
use totality_engine::loading;
use totality_engine::state::{LogLevel, ServerState};

impl Persist {
    /// DEBUG RELOAD.
    pub(super) fn reload(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        [save, flush, merge]: [bool; 3],
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        const FAILED_LOAD: &str = "ERR Error trying to load the RDB dump, check server logs.";
        if save {
            self.save(ks, sv).map_err(|_| FAILED.to_owned())?;
        }
        self.drive(ks, sv);
        let path = self.snapshot_path(sv);
        let opened = open_snapshot(&*self.disk, &path, sv);
        let failed = |sv: &mut ServerState, why: String| {
            sv.log(LogLevel::Warning, format!("{}: {why}", path.display()));
            FAILED_LOAD.to_owned()
        };
        let mut file = match opened {
            Ok(Some(file)) => file,
            Ok(None) => return Err(failed(sv, "no such file".to_owned())),
            Err(why) => return Err(failed(sv, why.text)),
        };
        // Only now is it known that there is something to load.
        if flush {
            self.empty(ks, sv);
        }
        let options = LoadOptions { merge, drop_expired: true, feed: false };
        loading::begin(sv, self.disk.len(&path).unwrap_or(0));
        read_snapshot(ks, sv, &mut file, options, ticker).map_err(|why| failed(sv, why.text))?;
        sv.log(LogLevel::Warning, "DB reloaded by DEBUG RELOAD");
        Ok(())
    }

    fn empty(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        let all = ks.dbs().len();
        ks.flush(0..all);
        sv.scripts.libraries.flush();
    }

    /// DEBUG LOADAOF.
    pub(super) fn reload_log(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        const FAILED_LOAD: &str = "ERR Error trying to load the AOF files, check server logs.";
        if let Some(log) = &mut self.log {
            log.flush(&mut sv.persist.log).map_err(|_| FAILED_LOAD.to_owned())?;
        }
        self.drive(ks, sv);
        self.empty(ks, sv);
        let names = Names::of(&self.dir, &sv.config);
        let read = read_log(ks, sv, (&*self.disk, &self.dir), &names, ticker);
        ks.dirty = 0;
        match read {
            Ok(_) => {
                sv.persist.log.selected = None;
                sv.log(LogLevel::Warning, "Append Only File loaded by DEBUG LOADAOF");
                Ok(())
            }
            Err(why) => {
                sv.log(LogLevel::Warning, why);
                Err(FAILED_LOAD.to_owned())
            }
        }
    }
}
