//! The append-only file: commands are appended to its last part; a rewrite begins a new part and puts a new base in
//! the place of all before.

use crate::disk::{self, Disk, DiskFile};
use crate::manifest::{FileKind, Manifest, Part};
use crate::reason;
use crate::syncer::Syncer;
use crate::writer::Waker;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use totality_engine::Config;
use totality_engine::dump::load::Purpose;
use totality_engine::persistence::LogInfo;

/// How long a write waits for an fsync that is under way.
const POSTPONE: Duration = Duration::from_secs(2);
/// A write that took longer, while an fsync was under way, was held up by it.
const HELD_UP: Duration = Duration::from_millis(50);
/// How long writes wait for fsyncs then, at first and at most.
const WARY: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(3600)];
/// When an fsync is due under `everysec`.
const SECOND: Duration = Duration::from_secs(1);

/// `appendfsync`, by the index of its value.
pub(crate) const ALWAYS: usize = 0;
const EVERYSEC: usize = 1;

/// Names of the files.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// The directory of the parts.
    pub(crate) dir: PathBuf,
    /// `appendfilename`
    pub(crate) name: String,
}

impl Names {
    pub(crate) fn of(data_dir: &Path, config: &Config) -> Names {
        Names { dir: data_dir.join(&config.appenddirname), name: config.appendfilename.clone() }
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.dir.join(format!("{}.manifest", self.name))
    }

    pub(crate) fn base(&self, seq: u64, purpose: Purpose) -> Part {
        let form = if purpose == Purpose::Commands { "aof" } else { "rdb" };
        Part { name: format!("{}.{seq}.base.{form}", self.name), seq, kind: FileKind::Base }
    }

    pub(crate) fn incr(&self, seq: u64) -> Part {
        Part { name: format!("{}.{seq}.incr.aof", self.name), seq, kind: FileKind::Incr }
    }

    pub(crate) fn store(&self, disk: &dyn Disk, manifest: &Manifest) -> io::Result<()> {
        let temp = self.dir.join(format!("temp-{}.manifest", self.name));
        disk::replace(disk, &self.manifest(), &temp, manifest.text().as_bytes())
    }
}

/// An error after which nothing may be acknowledged.
#[derive(Debug)]
pub(crate) struct Fatal(pub(crate) String);

/// The open append-only file.
pub(crate) struct Log {
    pub(crate) names: Names,
    pub(crate) manifest: Manifest,
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    /// Bytes of the open part.
    written: u64,
    /// Bytes of all other parts.
    others: u64,
    syncer: Syncer,
    last_sync: Instant,
    /// The offset up to which the syncer was asked to go.
    asked: u64,
    /// Effects that are written, by their offset.
    offset: u64,
    waiting_since: Option<Instant>,
    /// Until then writes wait for fsyncs, and for how long that was decided last.
    wary: Option<(Instant, Duration)>,
    /// An fsync failed: what was written may be lost.
    broken: bool,
    /// The same, but a base is being written that will make it whole.
    mending: bool,
    /// How long the last write, and the last fsync that replies waited for, took; zero when there was none.
    pub(crate) took: [Duration; 2],
}

impl Log {
    /// Opens the last part of a manifest for appending, or begins one.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        names: Names,
        mut manifest: Manifest,
        waker: Waker,
    ) -> io::Result<Log> {
        disk.create_dir(&names.dir)?;
        let begins = manifest.incr.is_empty();
        if begins {
            let taken = |name: &str| manifest.parts().chain(&manifest.history).any(|part| part.name == name);
            let numbers = manifest.next_incr()..;
            let part = numbers.map(|seq| names.incr(seq)).find(|part| !taken(&part.name));
            manifest.incr.extend(part);
        }
        let last = manifest.incr.last().map(|part| names.dir.join(&part.name)).unwrap_or_default();
        if begins {
            // What a file of that name holds belongs to another data set.
            disk.create(&last)?;
        }
        let file = disk.append(&last)?;
        names.store(&*disk, &manifest)?;
        let written = file.size()?;
        let mut log = Log {
            names,
            manifest,
            disk: disk.clone(),
            file,
            written,
            others: 0,
            syncer: Syncer::start(waker)?,
            last_sync: disk.now(),
            asked: 0,
            offset: 0,
            waiting_since: None,
            wary: None,
            broken: false,
            mending: false,
            took: [Duration::ZERO; 2],
        };
        log.others = log.count_others();
        Ok(log)
    }

    fn count_others(&self) -> u64 {
        let parts: Vec<&Part> = self.manifest.parts().collect();
        let closed = parts.split_last().map_or(&[][..], |(_, closed)| closed);
        let len = |part: &&Part| self.disk.len(&self.names.dir.join(&part.name)).unwrap_or(0);
        closed.iter().map(len).sum()
    }

    /// Bytes of all parts.
    pub(crate) fn size(&self) -> u64 {
        self.others + self.written
    }

    /// Writes what waits, as the policy wants it. `rewriting`: a job is under way that writes much.
    ///
    /// # Errors
    /// Under `always`, when the commands of this turn may be lost: their replies must not leave.
    pub(crate) fn write(
        &mut self,
        info: &mut LogInfo,
        config: &Config,
        rewriting: bool,
    ) -> Result<(), Fatal> {
        self.reap(info);
        let policy = config.appendfsync;
        let now = self.disk.now();
        self.took = [Duration::ZERO; 2];
        if !info.buffer.is_empty() && !self.postpone(policy, now, info) {
            self.append(info, policy)?;
            let ended = self.disk.now();
            self.took[0] = ended - now;
            if self.took[0] > HELD_UP && policy == EVERYSEC && self.syncer.busy() {
                let before = self.wary.map_or(Duration::ZERO, |(_, last)| last);
                let wary = (before * 2).clamp(WARY[0], WARY[1]);
                self.wary = Some((ended + wary, wary));
                info.delayed += 1;
            }
        }
        if policy == ALWAYS {
            if self.asked < self.offset && !self.broken {
                let began = self.disk.now();
                if let Err(e) = self.file.sync() {
                    return Err(self.lost(info, policy, &reason(&e)));
                }
                self.took[1] = self.disk.now() - began;
                (self.asked, info.offset.1, self.last_sync) = (self.offset, self.offset, now);
            }
        } else if policy == EVERYSEC
            && self.asked < self.offset
            && now - self.last_sync >= SECOND
            && !self.syncer.busy()
            && !(rewriting && config.no_appendfsync_on_rewrite)
        {
            self.last_sync = now;
            self.asked = self.offset;
            if let Err(e) = self.syncer.begin(&*self.file, self.offset) {
                self.broken = true;
                info.error = Some(reason(&e));
            }
        }
        info.pending_fsync = self.syncer.busy();
        info.size = self.size();
        Ok(())
    }

    /// When something has to be done next, if nothing comes in.
    pub(crate) fn next_deadline(&self, info: &LogInfo) -> Option<Instant> {
        if !info.buffer.is_empty() {
            return Some(Instant::now() + Duration::from_millis(20));
        }
        (self.asked < self.offset).then_some(self.last_sync + SECOND)
    }

    /// An fsync in the background may hold up writes. Most file systems do not let it: what is written meanwhile is out of
    /// the process, and its memory in the cache. Where it was seen to, writes stay in memory for a while.
    fn postpone(&mut self, policy: usize, now: Instant, info: &mut LogInfo) -> bool {
        let wary = self.wary.is_some_and(|(until, _)| now < until);
        if policy != EVERYSEC || !wary || !self.syncer.busy() {
            self.waiting_since = None;
            return false;
        }
        let since = *self.waiting_since.get_or_insert(now);
        if now - since < POSTPONE {
            return true;
        }
        self.waiting_since = None;
        info.delayed += 1;
        false
    }

    fn append(&mut self, info: &mut LogInfo, policy: usize) -> Result<(), Fatal> {
        if self.broken {
            return Ok(());
        }
        let Err((done, why)) = disk::write_all(&mut *self.file, &info.buffer) else {
            self.written += info.buffer.len() as u64;
            self.offset = info.offset.0;
            info.buffer.clear();
            info.buffer.shrink_to(1 << 20);
            if !self.mending {
                info.error = None;
            }
            return Ok(());
        };
        let why = reason(&why);
        // Half a command must not stay: what is written next would be read as its rest.
        if done > 0 && self.file.set_len(self.written).is_err() {
            // It stays; what follows is its rest.
            self.written += done as u64;
            info.buffer.drain(..done);
        }
        info.error = Some(why.clone());
        if policy == ALWAYS {
            return Err(Fatal(format!(
                "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting... ({why})"
            )));
        }
        Ok(())
    }

    fn lost(&mut self, info: &mut LogInfo, policy: usize, why: &str) -> Fatal {
        self.broken = true;
        info.error = Some(why.to_owned());
        let policy = if policy == ALWAYS { "always" } else { "everysec" };
        Fatal(format!(
            "Can't persist AOF for fsync error when the AOF fsync policy is '{policy}': {why}. Exiting..."
        ))
    }

    /// Looks what became of an fsync.
    fn reap(&mut self, info: &mut LogInfo) {
        match self.syncer.ended(false) {
            Some(Ok(offset)) => info.offset.1 = info.offset.1.max(offset),
            Some(Err(why)) => {
                // The system may have dropped what it could not write: only a new base makes it whole.
                self.broken = true;
                info.error = Some(why);
            }
            None => {}
        }
    }

    /// Writes everything and makes it safe.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) fn flush(&mut self, info: &mut LogInfo) -> Result<(), String> {
        if let Some(Err(why)) = self.syncer.ended(true) {
            self.broken = true;
            info.error = Some(why);
        }
        if self.broken {
            return Err(info.error.clone().unwrap_or_default());
        }
        if self.append(info, ALWAYS).is_err() {
            return Err(info.error.clone().unwrap_or_default());
        }
        self.file.sync().map_err(|e| reason(&e))?;
        (self.asked, info.offset.1, self.last_sync) = (self.offset, self.offset, self.disk.now());
        Ok(())
    }

    /// Begins a new part: a base of the data set as it is now will come before it.
    ///
    /// # Errors
    /// When the file or the manifest cannot be written; then all is as before.
    pub(crate) fn begin_part(&mut self, info: &mut LogInfo) -> Result<(), String> {
        // A log that cannot be written is what the new base is to replace.
        if !self.broken {
            self.flush(info)?;
        }
        let part = self.names.incr(self.manifest.next_incr());
        let path = self.names.dir.join(&part.name);
        let file = self.disk.create(&path).and_then(|_| self.disk.append(&path)).map_err(|e| reason(&e))?;
        let mut manifest = self.manifest.clone();
        manifest.incr.push(part);
        self.names.store(&*self.disk, &manifest).map_err(|e| reason(&e))?;
        self.manifest = manifest;
        self.file = file;
        self.others += self.written;
        self.written = 0;
        info.selected = None;
        if self.broken {
            // What could not be written is in the base that begins now.
            info.buffer.clear();
            (self.broken, self.mending) = (false, true);
        }
        Ok(())
    }

    /// Puts a base, complete under its name, in the place of all parts but the last.
    ///
    /// # Errors
    /// When the manifest cannot be written; then the old files are still what counts.
    pub(crate) fn take_base(&mut self, base: Part, info: &mut LogInfo, keep_old: bool) -> Result<(), String> {
        let mut next = self.manifest.clone();
        let last = next.incr.pop();
        let gone = next.base.take().into_iter().chain(std::mem::take(&mut next.incr));
        // The newest first, as Redis has it.
        gone.for_each(|part| next.history.insert(0, Part { kind: FileKind::History, ..part }));
        next.base = Some(base);
        next.incr.extend(last);
        self.names.store(&*self.disk, &next).map_err(|e| reason(&e))?;
        self.manifest = next;
        self.others = self.count_others();
        (info.size, info.base_size) = (self.size(), self.size());
        self.mending = false;
        info.error = None;
        if !keep_old {
            self.remove_history()?;
        }
        Ok(())
    }

    /// Deletes the files that are no longer needed.
    pub(crate) fn remove_history(&mut self) -> Result<(), String> {
        if self.manifest.history.is_empty() {
            return Ok(());
        }
        for part in std::mem::take(&mut self.manifest.history) {
            if self.manifest.parts().any(|used| used.name == part.name) {
                continue;
            }
            // A file that is gone already is what is wanted.
            let _ = self.disk.remove(&self.names.dir.join(&part.name));
        }
        self.names.store(&*self.disk, &self.manifest).map_err(|e| reason(&e))
    }
}
