//! The append-only file gets another base: after a rewrite, and when a replica got another data set.

use super::Persist;
use crate::disk::rename_safely;
use crate::load;
use crate::log::{Log, Names};
use crate::manifest::{FileKind, Manifest, Part};
use crate::reason;
use std::path::Path;
use std::time::Instant;
use totality_engine::dump::load::Purpose;
use totality_engine::execute::update_recording;
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::LogState;
use totality_engine::state::{LogLevel, ServerState};

impl Persist {
    /// The whole data set was replaced: what is written of the old one is of no use, and the append-only file begins
    /// anew. `snapshot`: a file of the new one that may become its base.
    pub fn replaced(&mut self, ks: &mut Keyspace, sv: &mut ServerState, snapshot: Option<&Path>) {
        self.cancel(ks, sv);
        self.close_log(sv);
        self.follow_config(ks, sv);
        if sv.persist.rewrite_scheduled
            && let Some(snapshot) = snapshot
        {
            match self.reuse(ks, sv, snapshot) {
                Ok(name) => {
                    (sv.persist.rewrite_scheduled, sv.persist.rewrite_ok) = (false, true);
                    let text = format!("Reused RDB file from primary sync as AOF base file: {name}");
                    return sv.log(LogLevel::Notice, text);
                }
                Err(why) => {
                    sv.log(LogLevel::Warning, format!("Can't use the received RDB as AOF base: {why}"))
                }
            }
        }
        if sv.persist.rewrite_scheduled {
            // Until the new base is there, a crash would bring the old data set back.
            self.next_rewrite = Instant::now();
            let _ = self.begin_rewrite(ks, sv);
        }
    }

    /// Makes a snapshot of the data set as it is the base of the append-only file, and gives its name there.
    fn reuse(&mut self, ks: &mut Keyspace, sv: &mut ServerState, snapshot: &Path) -> Result<String, String> {
        self.lock()?;
        let names = Names::of(&self.dir, &sv.config);
        self.disk.create_dir(&names.dir).map_err(|e| reason(&e))?;
        let next = load::find_manifest(&*self.disk, &self.dir, &names, sv)?.next_base();
        let base = names.base(next, Purpose::Base);
        let name = base.name.clone();
        rename_safely(&*self.disk, snapshot, &names.dir.join(&name)).map_err(|e| reason(&e))?;
        // What waits is in the base.
        sv.persist.log.buffer.clear();
        sv.persist.log.selected = None;
        self.take_base(ks, sv, base)?;
        sv.persist.log.offset.1 = sv.persist.log.offset.0;
        Ok(name)
    }

    /// True where a snapshot that a primary sent stays as the file of this server: not where it is another's directory,
    /// nor where `rdb-del-sync-files` says that a server that keeps no files leaves none behind.
    pub fn keeps_received(&mut self, sv: &ServerState) -> bool {
        let leaves_none = sv.config.rdb_del_sync_files && sv.config.save.is_empty() && !sv.persist.logs();
        !leaves_none && self.lock().is_ok()
    }

    /// True where a snapshot that a primary sent is to become the base of the append-only file.
    pub fn wants_base(sv: &ServerState) -> bool {
        sv.config.appendonly && sv.config.aof_use_rdb_preamble
    }

    /// A base is complete.
    pub(super) fn take_base(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        base: Part,
    ) -> Result<(), String> {
        let keep_old = sv.config.aof_disable_auto_gc;
        if let Some(log) = &mut self.log {
            return log.take_base(base, &mut sv.persist.log, keep_old);
        }
        let names = Names::of(&self.dir, &sv.config);
        let old = load::find_manifest(&*self.disk, &self.dir, &names, sv)?;
        let mut manifest = Manifest { base: Some(base), ..Manifest::default() };
        let gone = old.parts().chain(&old.history).cloned();
        manifest.history = gone.map(|part| Part { kind: FileKind::History, ..part }).collect();
        if sv.persist.log.state != LogState::Starting {
            // The file is off; still, the rewrite was asked for.
            names.store(&*self.disk, &manifest).map_err(|e| reason(&e))?;
            let gone = std::mem::take(&mut manifest.history);
            if keep_old || gone.is_empty() {
                return Ok(());
            }
            for part in gone.iter().filter(|part| manifest.parts().all(|used| used.name != part.name)) {
                // A file that is gone already is what is wanted.
                let _ = self.disk.remove(&names.dir.join(&part.name));
            }
            return names.store(&*self.disk, &manifest).map_err(|e| reason(&e));
        }
        // The part with the commands since comes after all that were there.
        let part = names.incr(old.next_incr());
        let path = names.dir.join(&part.name);
        match self.first.take() {
            Some(first) => first.finish(&*self.disk, &path)?,
            // What a file of that name holds belongs to another data set.
            None => drop(self.disk.create(&path).map_err(|e| reason(&e))?),
        }
        manifest.incr.push(part);
        let mut log =
            Log::open(self.disk.clone(), names, manifest, self.waker.clone()).map_err(|e| reason(&e))?;
        if !keep_old {
            log.remove_history()?;
        }
        (sv.persist.log.size, sv.persist.log.base_size) = (log.size(), log.size());
        // That part is safe; who waits for it may go on.
        let (made, waits) = (sv.persist.log.offset.0, sv.persist.log.buffer.len() as u64);
        sv.persist.log.offset.1 = sv.persist.log.offset.1.max(made.saturating_sub(waits));
        sv.repl.acked = true;
        sv.persist.log.state = LogState::On;
        self.log = Some(log);
        update_recording(ks, sv);
        Ok(())
    }
}
