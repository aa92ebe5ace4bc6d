//! The owner's side of files.

mod first;
mod reload;
mod replaced;
mod rewrite;

use crate::copy::Copying;
use crate::disk::{Disk, RealDisk, remove_temporary};
use crate::load::{Refused, open_snapshot, read_log, read_snapshot};
use crate::log::{Fatal, Log, Names};
use crate::manifest::{Manifest, Part};
use crate::reason;
use crate::writer::{FileWriter, Seal, Target, Waker};
use first::FirstPart;
use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use totality_ds::crc::crc64;
use totality_engine::dump::load::{Fault, ForReplicas, LoadOptions, Purpose, begin_snapshot, begin_sync};
use totality_engine::engine::{Engine, Ticker};
use totality_engine::execute::{resume_writers, update_recording};
use totality_engine::keyspace::Keyspace;
use totality_engine::loading;
use totality_engine::persistence::{Job, LogInfo, LogState, Request};
use totality_engine::state::{LogLevel, ServerState};

/// Time that one step of a snapshot takes.
const STEP: Duration = Duration::from_micros(1500);
/// Seconds before a background save that failed is tried again.
const RETRY: i64 = 5;
/// Keys up to which an emptied data set is saved at once.
const FEW: usize = 10_000;

/// What an error reply says when there is no more to say: the log has it.
const FAILED: &str = "ERR";

/// Where a snapshot goes.
enum Sink {
    /// To a file.
    File(FileWriter),
    /// To replicas: the owner of the connections takes it.
    Replicas(Pipe),
}

/// A snapshot's bytes on their way to replicas.
#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    crc: u64,
}

impl Pipe {
    fn put(&mut self, bytes: &[u8], checksum: bool) {
        if checksum {
            self.crc = crc64(self.crc, bytes);
        }
        self.bytes.extend_from_slice(bytes);
    }
}

/// A part of a snapshot for replicas.
#[derive(Debug)]
pub struct Piece {
    /// What comes next.
    pub bytes: Vec<u8>,
    /// It is the end.
    pub last: bool,
}

/// A snapshot that is being written.
struct Running {
    job: Job,
    purpose: Purpose,
    sink: Sink,
    /// All was handed to the writer.
    sent: bool,
    /// The base that it becomes.
    base: Option<Part>,
    /// Effects that are in it, by their offset in the append-only file.
    covers: u64,
    began: Instant,
}

/// Snapshots and the append-only file of one data set.
pub struct Persist {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    lock: Option<Box<dyn Any + Send>>,
    running: Option<Running>,
    pub(crate) copying: Copying,
    log: Option<Log>,
    /// What takes in commands while the first base is written.
    first: Option<FirstPart>,
    /// Files that were not complete, so far.
    temporary: u64,
    waker: Waker,
    next_step: Instant,
    next_rewrite: Instant,
    /// Rewrites that begin by themselves wait until then, and so many minutes were chosen: too many failed.
    limit: (Option<Instant>, u64),
    fatal: Option<String>,
    /// Replicas wait for the snapshot on disk that is being written.
    for_replicas: bool,
    /// It is complete, or will never be.
    saved: Option<Result<File, String>>,
    /// The loading of the data set was stopped: what is there is not all of it.
    stopped: bool,
}

impl std::fmt::Debug for Persist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Persist").field("dir", &self.dir).finish_non_exhaustive()
    }
}

fn now(sv: &ServerState) -> i64 {
    (sv.stamp / 1_000_000) as i64
}

impl Persist {
    /// Files in `dir`, which is there. `waker` is called from other threads when [`Persist::turn`] has something to do.
    pub fn new(dir: &Path, waker: Arc<dyn Fn() + Send + Sync>) -> Persist {
        Persist::on(Arc::new(RealDisk), dir, waker)
    }

    /// The same on another disk.
    pub fn on(disk: Arc<dyn Disk>, dir: &Path, waker: Arc<dyn Fn() + Send + Sync>) -> Persist {
        let soon = Instant::now();
        Persist {
            disk,
            dir: dir.to_owned(),
            lock: None,
            running: None,
            copying: Copying::default(),
            log: None,
            first: None,
            temporary: 0,
            waker,
            next_step: soon,
            next_rewrite: soon,
            limit: (None, 0),
            fatal: None,
            for_replicas: false,
            saved: None,
            stopped: false,
        }
    }

    /// Loads what the directory holds, as the configuration says, and opens the append-only file. Meanwhile `ticker`
    /// is let serve connections.
    ///
    /// # Errors
    /// When the directory belongs to another process, a file is damaged, or the loading was stopped: then the data set
    /// must not be used.
    pub fn open(&mut self, engine: &mut Engine, ticker: &mut dyn Ticker) -> Result<(), String> {
        let opened = self.try_open(engine, ticker);
        self.loaded(&mut engine.sv);
        opened
    }

    /// Loading is over, however it ended.
    fn loaded(&mut self, sv: &mut ServerState) {
        self.stopped |= sv.persist.loading.as_ref().is_some_and(|loading| loading.stop);
        loading::end(sv);
    }

    /// True when the loading of the data set was stopped, since the server is to end: nothing must be saved.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    fn try_open(&mut self, engine: &mut Engine, ticker: &mut dyn Ticker) -> Result<(), String> {
        engine.wake();
        let Engine { ks, sv } = engine;
        sv.persist.available = true;
        if sv.config.appendonly || !sv.config.save.is_empty() {
            self.lock()?;
        }
        ks.begin_unit(sv.stamp);
        let path = self.snapshot_path(sv);
        if sv.config.appendonly {
            let names = Names::of(&self.dir, &sv.config);
            let replayed = read_log(ks, sv, (&*self.disk, &self.dir), &names, ticker)?;
            ks.dirty = 0;
            if replayed.found || self.disk.len(&path).is_err() {
                return self.open_log(ks, sv, names, replayed.manifest);
            }
            // The log is new: what the snapshot holds becomes its base.
            self.load_snapshot(ks, sv, &path, ticker)?;
            self.open_log(ks, sv, names, replayed.manifest)?;
        } else {
            self.load_snapshot(ks, sv, &path, ticker)?;
        }
        ks.dirty = 0;
        Ok(())
    }

    fn load_snapshot(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        path: &Path,
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        const END: &str = "Fatal error loading the DB, check server logs. Exiting.";
        let fatal = |why: Refused| {
            let damaged = match why.fault {
                // A type that is not known is no damage.
                Fault::Foreign => "",
                _ => "Terminating server after rdb file reading failure.\n",
            };
            let (name, why) = (path.file_name().unwrap_or_default().to_string_lossy(), why.text);
            format!("Error loading {name}: {why}\n{damaged}{END}")
        };
        let Some(mut file) = open_snapshot(&*self.disk, path, sv).map_err(fatal)? else { return Ok(()) };
        let began = Instant::now();
        // On a replica the primary says when keys go.
        let options =
            LoadOptions { drop_expired: sv.config.replicaof.is_none(), feed: true, ..LoadOptions::default() };
        loading::begin(sv, self.disk.len(path).unwrap_or(0));
        let loaded = read_snapshot(ks, sv, &mut file, options, ticker).map_err(fatal)?;
        sv.repl.restored = loaded.position();
        let seconds = began.elapsed().as_secs_f64();
        sv.log(LogLevel::Notice, format!("DB loaded from disk: {seconds:.3} seconds"));
        Ok(())
    }

    /// Opens the append-only file; without a base, one of the data set as it is.
    fn open_log(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        names: Names,
        mut manifest: Manifest,
    ) -> Result<(), String> {
        let failed = |why: &str| format!("Can't open or create the append-only file: {why}");
        self.disk.create_dir(&names.dir).map_err(|e| failed(&reason(&e)))?;
        remove_temporary(&*self.disk, &names.dir);
        if manifest.base.is_none() && manifest.incr.is_empty() {
            let purpose = base_form(sv);
            let base = names.base(1, purpose);
            let target =
                Target { temp: names.dir.join(self.temp_name(".aof")), path: names.dir.join(&base.name) };
            let size = self.write_now(ks, sv, target, purpose).map_err(|why| failed(&why))?;
            sv.log(
                LogLevel::Notice,
                format!("Creating AOF base file {} on server start ({size} bytes)", base.name),
            );
            manifest.base = Some(base);
        }
        let begins = manifest.incr.is_empty();
        let mut log = Log::open(self.disk.clone(), names, manifest, self.waker.clone())
            .map_err(|e| failed(&reason(&e)))?;
        if let Some(part) = log.manifest.incr.last() {
            let what = if begins { "Creating" } else { "Opening" };
            sv.log(LogLevel::Notice, format!("{what} AOF incr file {} on server start", part.name));
        }
        if !sv.config.aof_disable_auto_gc {
            log.remove_history().map_err(|why| failed(&why))?;
        }
        (sv.persist.log.size, sv.persist.log.base_size) = (log.size(), log.size());
        sv.persist.log.state = LogState::On;
        self.log = Some(log);
        update_recording(ks, sv);
        Ok(())
    }

    fn lock(&mut self) -> Result<(), String> {
        if self.lock.is_none() {
            let file = self.disk.lock(&self.dir).map_err(|e| {
                format!("Can't lock the data directory '{}': {}", self.dir.display(), reason(&e))
            })?;
            self.lock = Some(file);
            remove_temporary(&*self.disk, &self.dir);
        }
        Ok(())
    }

    fn snapshot_path(&self, sv: &ServerState) -> PathBuf {
        self.dir.join(&sv.config.dbfilename)
    }

    fn snapshot_target(&mut self, sv: &ServerState) -> Target {
        let name = self.temp_name(".rdb");
        let temp = self.dir.join(name);
        Target { temp, path: self.snapshot_path(sv) }
    }

    /// A name for a file that is not complete. No two are the same: a thread that was told to give up removes its own, some
    /// time later.
    fn temp_name(&mut self, end: &str) -> String {
        self.temporary += 1;
        format!("temp-totality-{}-{}{end}", std::process::id(), self.temporary)
    }

    /// What a command asks for; see [`totality_engine::Ticker::persist`]. `ticker` is let serve connections while data is
    /// loaded.
    ///
    /// # Errors
    /// The error reply.
    pub fn request(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        request: Request,
        ticker: &mut dyn Ticker,
    ) -> Result<(), String> {
        match request {
            Request::Save => self.save(ks, sv).map_err(|_| FAILED.to_owned()),
            Request::BackgroundSave => self.begin_save(ks, sv).map_err(|_| FAILED.to_owned()),
            Request::CancelSave => {
                self.cancel(ks, sv);
                Ok(())
            }
            Request::RewriteLog => self.begin_rewrite(ks, sv).map_err(|_| {
                "ERR Can't execute an AOF background rewriting. Please check the server logs for more information.".to_owned()
            }),
            Request::Reload { save, flush, merge } => {
                self.before_pause(sv)?;
                let done = self.reload(ks, sv, [save, flush, merge], ticker);
                self.loaded(sv);
                done
            }
            Request::ReloadLog => {
                let done = self.reload_log(ks, sv, ticker);
                self.loaded(sv);
                done
            }
            Request::Shutdown { save, force } => match self.shutdown(ks, sv, save, force) {
                Err(_) if !force => Err("ERR Errors trying to SHUTDOWN. Check logs.".to_owned()),
                _ => Ok(()),
            },
        }
    }

    /// Writes a snapshot while all wait.
    fn save(&mut self, ks: &mut Keyspace, sv: &mut ServerState) -> Result<(), String> {
        let done = self.lock().and_then(|()| {
            let target = self.snapshot_target(sv);
            self.write_now(ks, sv, target, Purpose::File)
        });
        match done {
            Ok(_) => {
                sv.log(LogLevel::Notice, "DB saved on disk");
                ks.dirty = 0;
                sv.persist.saves += 1;
                (sv.persist.last_save, sv.persist.save_ok) = (now(sv), true);
                Ok(())
            }
            Err(why) => {
                sv.log(LogLevel::Warning, format!("Error saving the DB: {why}"));
                Err(why)
            }
        }
    }

    /// Writes a whole snapshot at once; gives its size.
    fn write_now(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        target: Target,
        purpose: Purpose,
    ) -> Result<u64, String> {
        // One snapshot at a time: the one in the making is written to its end first.
        self.drive(ks, sv);
        let mut writer =
            FileWriter::begin(self.disk.clone(), target, self.waker.clone()).map_err(|e| reason(&e))?;
        begin_snapshot(ks, sv, purpose);
        loop {
            let ended = ks.snapshot_step(&mut || false);
            writer.send(ks.take_snapshot_bytes(), true);
            if ended {
                break;
            }
        }
        ks.drop_snapshot();
        writer.finish(seal(sv, purpose), true);
        writer.wait()
    }

    /// Hands all of the snapshot in the making to its writer. One for replicas is given up: it could not be kept.
    fn drive(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        self.copying.step(ks, true);
        let Some(running) = self.running.as_mut().filter(|running| !running.sent) else { return };
        let Sink::File(writer) = &mut running.sink else { return self.cancel(ks, sv) };
        loop {
            let ended = ks.snapshot_step(&mut || false);
            writer.send(ks.take_snapshot_bytes(), true);
            if ended {
                break;
            }
        }
        writer.finish(seal(sv, running.purpose), true);
        running.sent = true;
        sv.persist.copied = ks.snapshot_copied();
        ks.drop_snapshot();
    }

    /// Begins a snapshot that goes to replicas as it is made; see [`Persist::take_piece`].
    ///
    /// # Errors
    /// When another is being written.
    pub fn begin_sync(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        wanted: ForReplicas,
    ) -> Result<(), String> {
        self.after_flush(ks, sv);
        if self.running.is_some() {
            return Err("another snapshot is being written".to_owned());
        }
        self.copying.step(ks, true);
        begin_sync(ks, sv, wanted);
        self.start(ks, sv, (Job::Sync, Purpose::File), Sink::Replicas(Pipe::default()), None);
        Ok(())
    }

    /// The next part of the snapshot for replicas. `None`: it was given up. Nothing may be there yet.
    pub fn take_piece(&mut self, sv: &mut ServerState) -> Option<Piece> {
        let running = self.running.as_mut()?;
        let Sink::Replicas(pipe) = &mut running.sink else { return None };
        let piece = Piece { bytes: std::mem::take(&mut pipe.bytes), last: running.sent };
        if sv.config.rdb_key_save_delay <= 0 {
            self.next_step = Instant::now();
        }
        if piece.last {
            self.running = None;
            sv.persist.job = None;
        }
        Some(piece)
    }

    /// True while a snapshot is being written, or sent.
    pub(crate) fn is_writing(&self) -> bool {
        self.running.is_some()
    }

    /// True when [`Persist::take_piece`] has something to give.
    pub fn has_piece(&self) -> bool {
        self.running.as_ref().is_some_and(|running| match &running.sink {
            Sink::Replicas(pipe) => !pipe.bytes.is_empty() || running.sent,
            Sink::File(_) => false,
        })
    }

    /// Gives up the snapshot for replicas: there are none left that want it.
    pub fn cancel_sync(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        let syncs = self.running.as_ref().is_some_and(|running| running.job == Job::Sync);
        if syncs || (self.for_replicas && sv.config.save.is_empty()) {
            self.cancel(ks, sv);
        }
    }

    /// Begins a snapshot on disk for replicas; see [`Persist::take_saved`].
    ///
    /// # Errors
    /// When it cannot be begun.
    pub fn save_for_replicas(&mut self, ks: &mut Keyspace, sv: &mut ServerState) -> Result<(), String> {
        self.begin_save(ks, sv)?;
        self.for_replicas = true;
        Ok(())
    }

    /// What became of the snapshot on disk for replicas, once.
    pub fn take_saved(&mut self) -> Option<Result<File, String>> {
        self.saved.take()
    }

    /// True while a snapshot or a base is being written.
    pub fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Removes the snapshot that was written for replicas only.
    pub fn remove_snapshot(&mut self, sv: &ServerState) {
        // It may be gone already.
        let _ = self.disk.remove(&self.snapshot_path(sv));
    }

    fn begin_save(&mut self, ks: &mut Keyspace, sv: &mut ServerState) -> Result<(), String> {
        // A FLUSHALL of this turn makes older snapshots useless, not this one.
        self.after_flush(ks, sv);
        sv.persist.last_try = now(sv);
        let begun = self.lock().and_then(|()| {
            let target = self.snapshot_target(sv);
            self.begin(ks, sv, (Job::Snapshot, Purpose::File), target, None)
        });
        match &begun {
            Ok(()) => {
                sv.persist.saves += 1;
                sv.persist.dirty_before = ks.dirty;
                sv.log(LogLevel::Notice, "Background saving started");
            }
            Err(why) => {
                sv.persist.save_ok = false;
                sv.log(LogLevel::Warning, format!("Can't save in background: {why}"));
            }
        }
        begun
    }

    fn begin(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        (job, purpose): (Job, Purpose),
        target: Target,
        base: Option<Part>,
    ) -> Result<(), String> {
        if self.running.is_some() {
            return Err("another snapshot is being written".to_owned());
        }
        let writer =
            FileWriter::begin(self.disk.clone(), target, self.waker.clone()).map_err(|e| reason(&e))?;
        self.copying.step(ks, true);
        begin_snapshot(ks, sv, purpose);
        self.start(ks, sv, (job, purpose), Sink::File(writer), base);
        Ok(())
    }

    fn start(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        (job, purpose): (Job, Purpose),
        sink: Sink,
        base: Option<Part>,
    ) {
        if sv.config.rdb_key_save_delay > 0 {
            ks.slow_snapshot();
        }
        let covers = sv.persist.log.offset.0;
        self.running = Some(Running { job, purpose, sink, sent: false, base, covers, began: Instant::now() });
        sv.persist.job = Some((job, now(sv)));
        self.next_step = Instant::now();
    }

    /// Gives up what is written in the background.
    fn cancel(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        if self.running.take().is_some() {
            self.drop_first(sv);
            ks.drop_snapshot();
            sv.persist.job = None;
            if std::mem::take(&mut self.for_replicas) {
                self.saved = Some(Err("given up".to_owned()));
            }
        }
    }

    /// Connections will be served in the middle of a turn: what it wrote so far must be as safe as promised.
    fn before_pause(&mut self, sv: &mut ServerState) -> Result<(), String> {
        self.before_replies(sv);
        match &self.fatal {
            Some(why) => Err(format!("ERR {why}")),
            None => Ok(()),
        }
    }

    /// Writes out what must not be lost. `save`: a snapshot, or none, or where there are save points. `force`: an
    /// append-only file that was just begun may stay without its first base.
    ///
    /// # Errors
    /// What went wrong; it is in the log too.
    pub fn shutdown(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        save: Option<bool>,
        force: bool,
    ) -> Result<(), String> {
        if self.stopped {
            return Ok(());
        }
        if sv.persist.log.state == LogState::Starting && !force {
            let why = "Writing initial AOF, can't exit";
            sv.log(LogLevel::Warning, why);
            return Err(why.to_owned());
        }
        self.cancel(ks, sv);
        if let Some(log) = &mut self.log
            && let Err(why) = log.flush(&mut sv.persist.log)
        {
            sv.log(LogLevel::Warning, format!("Error writing the append only file: {why}"));
            return Err(why);
        }
        if save.unwrap_or(!sv.config.save.is_empty()) {
            sv.log(LogLevel::Notice, "Saving the final RDB snapshot before exiting.");
            if let Err(why) = self.save(ks, sv) {
                sv.log(LogLevel::Warning, "Error trying to save the DB, can't exit.");
                return Err(why);
            }
        }
        Ok(())
    }

    /// Called before the replies of a turn leave: writes its commands to the append-only file.
    #[inline]
    pub fn before_replies(&mut self, sv: &mut ServerState) {
        if let Some(log) = &mut self.log {
            if sv.persist.flush_sleep > 0 && !sv.persist.log.buffer.is_empty() {
                std::thread::sleep(Duration::from_micros(sv.persist.flush_sleep));
            }
            let delayed = sv.persist.log.delayed;
            let before = sv.persist.log.error.clone();
            let rewriting = self.running.is_some();
            if let Err(Fatal(why)) = log.write(&mut sv.persist.log, &sv.config, rewriting) {
                sv.log(LogLevel::Warning, why.clone());
                self.fatal = Some(why);
            }
            let threshold = sv.config.latency_monitor_threshold;
            for (event, took) in ["aof-write", "aof-fsync-always"].into_iter().zip(log.took) {
                sv.stats.turns.log_us += took.as_micros() as u64;
                sv.latency.note(threshold, event, took.as_micros() as u64, sv.stamp);
            }
            if sv.persist.log.delayed != delayed {
                sv.log(LogLevel::Notice, "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down the server.");
            }
            let after = &sv.persist.log.error;
            if *after != before {
                let line = match after {
                    Some(why) => format!("Error writing to the AOF file: {why}"),
                    None => "AOF write error looks solved. The server can write again.".to_owned(),
                };
                sv.log(LogLevel::Warning, line);
            }
        }
    }

    /// Why the data set must not be used any longer: replies that have not left must not leave.
    pub fn fatal(&self) -> Option<&str> {
        self.fatal.as_deref()
    }

    /// Goes on with what is done in the background.
    pub fn turn(&mut self, engine: &mut Engine) {
        let Engine { ks, sv } = engine;
        self.copying.step(ks, false);
        self.after_flush(ks, sv);
        if sv.persist.log.state == LogState::Starting {
            self.take_in(ks, sv);
        }
        if self.running.is_some() {
            self.step(ks, sv);
            self.finish(ks, sv);
        }
        resume_writers(ks, sv);
    }

    /// Goes on with the snapshot until the large values are written that somebody waits for: for callers that cannot
    /// wait. False when there is nothing that they could wait for.
    pub fn hurry(&mut self, engine: &mut Engine) -> bool {
        let Engine { ks, sv } = engine;
        if self.running.is_none() || !ks.has_snapshot() {
            return false;
        }
        self.drive(ks, sv);
        resume_writers(ks, sv);
        true
    }

    /// When [`Persist::turn`] and [`Persist::before_replies`] want to be called next.
    pub fn next_deadline(&self, engine: &Engine) -> Option<Instant> {
        let step = self.running.as_ref().map(|_| self.next_step);
        let step = if self.copying.is_on() { Some(Instant::now()) } else { step };
        let log = self.log.as_ref().and_then(|log| log.next_deadline(&engine.sv.persist.log));
        step.into_iter().chain(log).min()
    }

    fn step(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        let Some(running) = self.running.as_mut() else { return };
        let began = Instant::now();
        if began < self.next_step {
            return;
        }
        // Clients are not to wait for a slow disk or replica.
        let awaited = ks.snapshot_is_awaited();
        let room = match &mut running.sink {
            Sink::File(writer) => writer.has_room() || awaited,
            // Who takes it sets the next step to now.
            Sink::Replicas(pipe) if pipe.bytes.is_empty() || awaited => true,
            Sink::Replicas(_) => {
                self.next_step = began + Duration::from_millis(100);
                return;
            }
        };
        if !room {
            self.next_step = began + Duration::from_millis(1);
            return;
        }
        if running.sent {
            // Only the disk is left to be waited for, and its thread wakes the loop.
            self.next_step = began + Duration::from_millis(100);
            return;
        }
        let delay = u64::try_from(sv.config.rdb_key_save_delay).unwrap_or(0);
        let before = ks.snapshot_progress().0;
        let ended = ks.snapshot_step(&mut || delay > 0 || began.elapsed() >= STEP);
        let keys = ks.snapshot_progress().0 - before;
        let bytes = ks.take_snapshot_bytes();
        match &mut running.sink {
            Sink::File(writer) => writer.send(bytes, false),
            Sink::Replicas(pipe) => pipe.put(&bytes, sv.config.rdbchecksum),
        }
        if ended {
            running.sent = true;
            sv.persist.copied = ks.snapshot_copied();
            match &mut running.sink {
                Sink::File(writer) => writer.finish(seal(sv, running.purpose), false),
                Sink::Replicas(pipe) => pipe.bytes.extend_from_slice(&pipe.crc.to_le_bytes()),
            }
            ks.drop_snapshot();
        } else if delay > 0 {
            self.next_step = began + Duration::from_micros(delay.saturating_mul(keys));
        }
    }

    fn finish(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        let ended = self.running.as_mut().and_then(|running| match &mut running.sink {
            Sink::File(writer) => writer.ended(),
            Sink::Replicas(_) => None,
        });
        let Some(result) = ended else { return };
        let Some(Running { job, base, covers, began, .. }) = self.running.take() else { return };
        ks.drop_snapshot();
        sv.persist.job = None;
        sv.persist.last_copied[usize::from(job == Job::Rewrite)] = sv.persist.copied;
        let seconds = began.elapsed().as_secs() as i64;
        match job {
            Job::Snapshot => {
                sv.persist.save_seconds = seconds;
                sv.persist.save_ok = result.is_ok();
                if std::mem::take(&mut self.for_replicas) {
                    let path = self.snapshot_path(sv);
                    let open = |_| File::open(path).map_err(|e| reason(&e));
                    self.saved = Some(result.clone().and_then(open));
                }
                match result {
                    Ok(_) => {
                        sv.log(LogLevel::Notice, "DB saved on disk");
                        sv.log(LogLevel::Notice, "Background saving terminated with success");
                        ks.dirty = ks.dirty.saturating_sub(sv.persist.dirty_before);
                        sv.persist.last_save = now(sv);
                    }
                    Err(why) => sv.log(LogLevel::Warning, format!("Background saving error: {why}")),
                }
            }
            // Whoever takes the last piece ends it.
            Job::Sync => {}
            Job::Rewrite => {
                sv.persist.rewrite_seconds = seconds;
                let done = result.and_then(|_| match base {
                    Some(base) => self.take_base(ks, sv, base),
                    None => Ok(()),
                });
                sv.persist.rewrite_ok = done.is_ok();
                match done {
                    Ok(()) => {
                        sv.persist.rewrite_failures = 0;
                        self.next_rewrite = Instant::now();
                        let safe = &mut sv.persist.log.offset.1;
                        *safe = covers.max(*safe);
                        sv.repl.acked = true;
                        sv.log(LogLevel::Notice, "Background AOF rewrite finished successfully");
                    }
                    Err(why) => {
                        sv.log(
                            LogLevel::Warning,
                            format!("Background AOF rewrite terminated with error: {why}"),
                        );
                        self.drop_first(sv);
                        self.rewrite_failed(sv);
                    }
                }
            }
        }
    }

    /// Periodic work: save points, rewrites, `appendonly` as it is configured.
    pub fn cron(&mut self, engine: &mut Engine) {
        let Engine { ks, sv } = engine;
        self.follow_config(ks, sv);
        if self.running.is_some() {
            return;
        }
        if sv.persist.rewrite_scheduled && !self.is_limited(sv) {
            // What goes wrong is in the log.
            let _ = self.begin_rewrite(ks, sv);
        } else if sv.persist.save_scheduled
            && now(sv) - sv.persist.last_try > if sv.persist.save_ok { -1 } else { RETRY }
        {
            sv.persist.save_scheduled = false;
            let _ = self.begin_save(ks, sv);
        } else if let Some((seconds, changes)) = due_save(ks, sv) {
            sv.log(LogLevel::Notice, format!("{changes} changes in {seconds} seconds. Saving..."));
            let _ = self.begin_save(ks, sv);
        } else if self.log.is_some() {
            let (size, base) = (sv.persist.log.size, sv.persist.log.base_size.max(1));
            let percent = sv.config.auto_aof_rewrite_percentage;
            if percent > 0 && size > sv.config.auto_aof_rewrite_min_size {
                let growth = (size.saturating_mul(100) / base).saturating_sub(100);
                if growth >= percent && !self.is_limited(sv) {
                    sv.log(
                        LogLevel::Notice,
                        format!("Starting automatic rewriting of AOF on {growth}% growth"),
                    );
                    let _ = self.begin_rewrite(ks, sv);
                }
            }
        }
    }

    /// A parameter was changed: `appendonly` is obeyed at once.
    pub fn config_changed(&mut self, engine: &mut Engine, name: &str) {
        match name {
            "appendonly" => {
                let Engine { ks, sv } = &mut *engine;
                let was = sv.persist.log.state;
                self.follow_config(ks, sv);
                if was == LogState::Off && sv.persist.rewrite_scheduled && self.running.is_none() {
                    // What was put off before does not concern who asks now. What goes wrong is in the log.
                    let _ = self.begin_rewrite(ks, sv);
                }
                self.cron(engine);
            }
            "aof-disable-auto-gc" if !engine.sv.config.aof_disable_auto_gc => {
                if let Some(Err(why)) = self.log.as_mut().map(Log::remove_history) {
                    engine.sv.log(LogLevel::Warning, format!("Can't write the AOF manifest: {why}"));
                }
            }
            // What waits for the old delay goes on.
            "rdb-key-save-delay" => self.next_step = Instant::now(),
            _ => {}
        }
    }

    /// CONFIG SET appendonly.
    fn follow_config(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        match (sv.config.appendonly, sv.persist.log.state) {
            (true, LogState::Off) => {
                sv.persist.log.state = LogState::Starting;
                sv.persist.rewrite_scheduled = true;
                if matches!(self.running.as_ref().map(|r| r.job), Some(Job::Snapshot)) {
                    sv.log(LogLevel::Notice, "AOF was enabled but there is already another background operation. An AOF background was scheduled to start when possible.");
                }
            }
            (true, LogState::Starting) if self.running.is_none() => sv.persist.rewrite_scheduled = true,
            (false, LogState::On | LogState::Starting) => {
                if matches!(self.running.as_ref().map(|r| r.job), Some(Job::Rewrite)) {
                    self.cancel(ks, sv);
                }
                self.close_log(sv);
                sv.persist.rewrite_scheduled = false;
            }
            _ => {}
        }
        update_recording(ks, sv);
    }

    /// Writes what waits for the append-only file, and has it no longer.
    fn close_log(&mut self, sv: &mut ServerState) {
        if let Some(mut log) = self.log.take()
            && let Err(why) = log.flush(&mut sv.persist.log)
        {
            sv.log(LogLevel::Warning, format!("Error writing the append only file: {why}"));
        }
        sv.persist.log = LogInfo::after(&sv.persist.log);
        sv.repl.acked = true;
    }

    /// FLUSHALL: a snapshot that is being written is of no use, and the file on disk is to become empty too.
    fn after_flush(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        if !std::mem::take(&mut sv.persist.flushed) {
            return;
        }
        // Replicas that wait for one come back and get an empty one.
        if matches!(self.running.as_ref().map(|r| r.job), Some(Job::Snapshot | Job::Sync)) {
            self.cancel(ks, sv);
            sv.log(LogLevel::Notice, "Background saving was given up: the data set was emptied");
        }
        if sv.config.save.is_empty() {
            return;
        }
        if ks.dbs().iter().map(|db| db.len()).sum::<usize>() <= FEW {
            // What goes wrong is in the log.
            let _ = self.save(ks, sv);
        } else {
            sv.persist.save_scheduled = true;
        }
    }

    /// The data directory changes: its lock must be had first.
    ///
    /// # Errors
    /// When another process has it.
    pub fn set_dir(&mut self, dir: &Path) -> Result<(), String> {
        if self.lock.is_some() {
            self.lock = Some(self.disk.lock(dir).map_err(|e| reason(&e))?);
        }
        self.dir = dir.to_owned();
        Ok(())
    }
}

/// The form of the append-only file's base.
fn base_form(sv: &ServerState) -> Purpose {
    if sv.config.aof_use_rdb_preamble { Purpose::Base } else { Purpose::Commands }
}

/// What stands at the end of a file.
fn seal(sv: &ServerState, purpose: Purpose) -> Seal {
    match purpose {
        Purpose::Commands => Seal::None,
        _ if sv.config.rdbchecksum => Seal::Checksum,
        _ => Seal::Zeros,
    }
}

/// The save point that is due: its seconds, and the changes so far.
fn due_save(ks: &Keyspace, sv: &ServerState) -> Option<(i64, u64)> {
    let now = now(sv);
    if !sv.persist.save_ok && now - sv.persist.last_try <= RETRY {
        return None;
    }
    let numbers: Vec<i64> = sv.config.save.split(' ').filter_map(|n| n.parse().ok()).collect();
    numbers
        .chunks_exact(2)
        .find(|pair| {
            ks.dirty >= pair[1].max(0) as u64 && ks.dirty > 0 && now - sv.persist.last_save > pair[0]
        })
        .map(|pair| (pair[0], ks.dirty))
}
