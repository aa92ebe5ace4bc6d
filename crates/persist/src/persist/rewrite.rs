//! Rewrites of the append-only file: a new base, and what becomes of the parts before it.

use super::first::FirstPart;
use super::{Persist, RETRY, base_form};
use crate::load;
use crate::log::Names;
use crate::reason;
use crate::writer::Target;
use std::time::{Duration, Instant};
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::{Job, LogState};
use totality_engine::state::{LogLevel, ServerState};

/// Rewrites that may fail one after the other before those that begin by themselves are put off, and for how many
/// minutes at most.
const FAILURES: u64 = 3;
const MAX_MINUTES: u64 = 60;

impl Persist {
    pub(super) fn begin_rewrite(&mut self, ks: &mut Keyspace, sv: &mut ServerState) -> Result<(), String> {
        let begun = self.lock().and_then(|()| self.try_begin_rewrite(ks, sv));
        match &begun {
            Ok(()) => {
                sv.persist.rewrites += 1;
                sv.persist.rewrite_scheduled = false;
                sv.log(LogLevel::Notice, "Background append only file rewriting started");
            }
            Err(why) => {
                self.rewrite_failed(sv);
                sv.log(LogLevel::Warning, format!("Can't rewrite append only file in background: {why}"));
            }
        }
        begun
    }

    fn try_begin_rewrite(&mut self, ks: &mut Keyspace, sv: &mut ServerState) -> Result<(), String> {
        let names = Names::of(&self.dir, &sv.config);
        self.disk.create_dir(&names.dir).map_err(|e| reason(&e))?;
        let purpose = base_form(sv);
        let base = match &mut self.log {
            Some(log) => {
                log.begin_part(&mut sv.persist.log)?;
                if let Some(part) = log.manifest.incr.last() {
                    let text = format!("Creating AOF incr file {} on background rewrite", part.name);
                    sv.log(LogLevel::Notice, text);
                }
                log.names.base(log.manifest.next_base(), purpose)
            }
            None => {
                // What waits is in the base.
                sv.persist.log.buffer.clear();
                sv.persist.log.selected = None;
                if sv.persist.log.state == LogState::Starting {
                    let path = names.dir.join(self.temp_name("-incr.aof"));
                    self.first = Some(FirstPart::begin(&*self.disk, path)?);
                }
                names.base(load::find_manifest(&*self.disk, &self.dir, &names, sv)?.next_base(), purpose)
            }
        };
        let target =
            Target { temp: names.dir.join(self.temp_name(".aof")), path: names.dir.join(&base.name) };
        self.begin(ks, sv, (Job::Rewrite, purpose), target, Some(base))
    }

    pub(super) fn rewrite_failed(&mut self, sv: &mut ServerState) {
        sv.persist.rewrite_ok = false;
        sv.persist.rewrite_failures += 1;
        self.next_rewrite = Instant::now() + Duration::from_secs(RETRY as u64);
    }

    /// True when a rewrite that nobody asked for must wait: each one that fails leaves a part more.
    pub(super) fn is_limited(&mut self, sv: &mut ServerState) -> bool {
        let now = Instant::now();
        if sv.persist.rewrite_failures < FAILURES {
            self.limit = (None, 0);
            return now < self.next_rewrite;
        }
        match self.limit {
            (Some(until), _) if now < until => true,
            (Some(_), minutes) => {
                self.limit = (None, minutes);
                false
            }
            (None, before) => {
                let minutes = (before * 2).clamp(1, MAX_MINUTES);
                self.limit = (Some(now + Duration::from_secs(minutes * 60)), minutes);
                let text = format!(
                    "Background AOF rewrite has repeatedly failed and triggered the limit, will retry in {minutes} minutes"
                );
                sv.log(LogLevel::Warning, text);
                true
            }
        }
    }
}
