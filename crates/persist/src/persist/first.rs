//! The commands that are run while the first base of an append-only file is written: they go to a file that gets its name
//! when the base is there, so that they take no memory.

use super::Persist;
use crate::disk::{Disk, DiskFile, rename_safely, write_all};
use crate::reason;
use std::path::{Path, PathBuf};
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::Job;
use totality_engine::state::{LogLevel, ServerState};

/// Bytes that are written at once.
const ENOUGH: usize = 64 * 1024;

/// A part in the making.
pub(super) struct FirstPart {
    file: Box<dyn DiskFile>,
    path: PathBuf,
}

impl FirstPart {
    /// Begins one in a file of this name.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(super) fn begin(disk: &dyn Disk, path: PathBuf) -> Result<FirstPart, String> {
        let file = disk.create(&path).map_err(|e| reason(&e))?;
        Ok(FirstPart { file, path })
    }

    /// Makes it safe and gives it its name.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn finish(mut self, disk: &dyn Disk, path: &Path) -> Result<(), String> {
        self.file.sync().and_then(|()| rename_safely(disk, &self.path, path)).map_err(|e| reason(&e))
    }
}

impl Persist {
    /// Takes in what was collected since the last turn.
    #[cold]
    pub(super) fn take_in(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        let log = &mut sv.persist.log;
        if !matches!(self.running.as_ref().map(|running| running.job), Some(Job::Rewrite)) {
            // The base that will be begun has it.
            log.buffer.clear();
            log.selected = None;
            return;
        }
        let Some(first) = &mut self.first else { return };
        if log.buffer.len() < ENOUGH {
            return;
        }
        let written = write_all(&mut *first.file, &log.buffer);
        log.buffer.clear();
        log.buffer.shrink_to(1 << 20);
        if let Err((_, why)) = written {
            self.cancel(ks, sv);
            self.rewrite_failed(sv);
            let text = format!("Background AOF rewrite terminated with error: {}", reason(&why));
            sv.log(LogLevel::Warning, text);
        }
    }

    /// The first base will not come.
    pub(super) fn drop_first(&mut self, sv: &mut ServerState) {
        let Some(first) = self.first.take() else { return };
        let name = first.path.file_name().unwrap_or_default().to_string_lossy();
        sv.log(LogLevel::Notice, format!("Removing the temp incr aof file {name} in the background"));
        // What cannot be removed is only a waste.
        let _ = self.disk.remove(&first.path);
    }
}
