//! What the engine knows of files. It opens none: commands that need one ask the owner ([`crate::Ticker::persist`]),
//! who keeps this state up to date.

use crate::loading::Loading;

/// What a command wants of the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// SAVE: a snapshot now, while all wait.
    Save,
    /// A snapshot in the background.
    BackgroundSave,
    /// BGSAVE CANCEL.
    CancelSave,
    /// A new base of the append-only file, in the background.
    RewriteLog,
    /// DEBUG RELOAD.
    Reload {
        /// Save first.
        save: bool,
        /// Empty the data set before loading.
        flush: bool,
        /// Keys of the file take the place of those that are there.
        merge: bool,
    },
    /// DEBUG LOADAOF.
    ReloadLog,
    /// SHUTDOWN: writes out what must not be lost.
    Shutdown {
        /// A snapshot, or none, or as configured.
        save: Option<bool>,
        /// End even when that fails.
        force: bool,
    },
}

/// What is done in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// BGSAVE.
    Snapshot,
    /// BGREWRITEAOF.
    Rewrite,
    /// A snapshot that goes to replicas as it is made.
    Sync,
}

/// Whether the append-only file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogState {
    /// It is not.
    #[default]
    Off,
    /// Its first base is being written; commands are collected meanwhile.
    Starting,
    /// It is.
    On,
}

/// The append-only file.
#[derive(Debug, Default)]
pub struct LogInfo {
    /// Whether it is kept.
    pub state: LogState,
    /// Commands that wait to be written.
    pub buffer: Vec<u8>,
    /// The database that the file's commands work on.
    pub selected: Option<usize>,
    /// The second of the last timestamp that was written.
    pub stamp: i64,
    /// Why writing failed; no write is acknowledged while it is set.
    pub error: Option<String>,
    /// Bytes of all its files.
    pub size: u64,
    /// The same after the last rewrite.
    pub base_size: u64,
    /// An fsync is under way.
    pub pending_fsync: bool,
    /// Times that a write had to wait for an fsync.
    pub delayed: u64,
    /// Bytes of effects so far, and those of them that are safe on the disk.
    pub offset: (u64, u64),
}

impl LogInfo {
    /// A file that is not kept any more, or begins anew: offsets go on, so that nobody waits for what was before.
    pub fn after(old: &LogInfo) -> LogInfo {
        LogInfo { offset: (old.offset.0, old.offset.0), ..LogInfo::default() }
    }
}

/// State of snapshots and of the append-only file, as INFO shows it.
#[derive(Debug)]
pub struct Persistence {
    /// There is an owner that keeps files.
    pub available: bool,
    /// When the log was last told that a replica goes on without its disk, in Unix milliseconds.
    pub(crate) warned_ms: i64,
    /// Unix time of the last successful save, in seconds.
    pub last_save: i64,
    /// Unix time of the last attempt of a background save, in seconds.
    pub last_try: i64,
    /// What is done in the background, and since when (Unix time in seconds).
    pub job: Option<(Job, i64)>,
    /// BGSAVE SCHEDULE: a save begins when the present job is done.
    pub save_scheduled: bool,
    /// The same of a rewrite.
    pub rewrite_scheduled: bool,
    /// How the last background save ended.
    pub save_ok: bool,
    /// Seconds that it took; -1 before the first.
    pub save_seconds: i64,
    /// How the last rewrite ended.
    pub rewrite_ok: bool,
    /// Seconds that it took; -1 before the first.
    pub rewrite_seconds: i64,
    /// Saves and rewrites that were begun.
    pub saves: u64,
    /// The same of rewrites.
    pub rewrites: u64,
    /// Rewrites that failed since the last one that did not.
    pub rewrite_failures: u64,
    /// Bytes that the snapshot in the making, or the last one, wrote early or kept because of what commands changed.
    pub copied: u64,
    /// The same of the last save, and of the last rewrite.
    pub last_copied: [u64; 2],
    /// Microseconds before each write to the append-only file, for tests.
    pub flush_sleep: u64,
    /// The dirty counter when the background save began.
    pub dirty_before: u64,
    /// Keys of the last file that were past their deadline, and those that were loaded.
    pub loaded: (u64, u64),
    /// Data is being loaded; see [`crate::loading`].
    pub loading: Option<Box<Loading>>,
    /// All databases were emptied: the owner looks after the files at its next turn.
    pub flushed: bool,
    /// The append-only file.
    pub log: LogInfo,
}

impl Persistence {
    /// At the start.
    pub fn new(now_us: u64) -> Self {
        Persistence {
            available: false,
            last_save: (now_us / 1_000_000) as i64,
            last_try: 0,
            job: None,
            save_scheduled: false,
            rewrite_scheduled: false,
            warned_ms: 0,
            save_ok: true,
            save_seconds: -1,
            rewrite_ok: true,
            rewrite_seconds: -1,
            saves: 0,
            rewrites: 0,
            rewrite_failures: 0,
            copied: 0,
            last_copied: [0; 2],
            flush_sleep: 0,
            dirty_before: 0,
            loaded: (0, 0),
            loading: None,
            flushed: false,
            log: LogInfo::default(),
        }
    }

    /// True while commands go to the append-only file.
    #[inline]
    pub fn logs(&self) -> bool {
        self.log.state != LogState::Off
    }
}
