//! Taking in a whole snapshot file.

use super::into_value_pausing;
use crate::client::ClientId;
use crate::cx::{Cx, Origin};
use crate::engine::{NoTicker, Ticker};
use crate::keyspace::{Keyspace, SnapshotOptions};
use crate::loading;
use crate::propagate::render;
use crate::replication::{self, Without};
use crate::reply::{Proto, Reply, TreeBuilder};
use crate::script::{self, Libraries};
use crate::state::{LogLevel, ServerState};
use totality_rdb::file::{self, Event, FileReader, Record};
use totality_rdb::{Input, Kind};

/// How a file is taken in.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Keys of the file take the place of those that are there; otherwise a key that is there is an error.
    pub merge: bool,
    /// Keys past their deadline are left out. Not when commands follow that were made while they were there.
    pub drop_expired: bool,
    /// And where the file says where it stands in the stream of changes, the stream goes on from there with their
    /// deletions: replicas that were there have to hear of them.
    pub feed: bool,
}

/// What was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Keys.
    pub keys: u64,
    /// Keys that were past their deadline.
    pub expired: u64,
    /// Keys without a value, which some old servers wrote.
    pub empty: u64,
    /// Remarks of the file: name and value.
    pub remarks: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Loaded {
    /// Where the stream of changes was when the file was made, if it says so: its name, offset and database.
    pub fn position(&self) -> Option<(String, u64, usize)> {
        let remark = |name: &[u8]| {
            let found = self.remarks.iter().find(|(known, _)| known == name);
            found.and_then(|(_, value)| std::str::from_utf8(value).ok())
        };
        let id = remark(b"repl-id").filter(|id| id.len() == 40)?;
        let offset = remark(b"repl-offset")?.parse().ok()?;
        let db = remark(b"repl-stream-db").and_then(|db| db.parse().ok()).unwrap_or(0);
        Some((id.to_owned(), offset, db))
    }
}

/// What sort of fault a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A type of value, or an opcode, that is not known: the file may be whole.
    Foreign,
    /// The checksum does not fit.
    Checksum,
    /// None: the loading was stopped.
    Stopped,
    /// Any other.
    Other,
}

/// Why a file was not taken in. `Display` says it in one line.
#[derive(Debug)]
pub struct LoadError {
    /// What sort of fault it is.
    pub fault: Fault,
    /// What is wrong.
    pub text: String,
    /// Bytes of the file that had been read.
    pub offset: u64,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (at byte {})", self.text, self.offset)
    }
}

/// The server is to end.
const STOPPED: &str = "loading was stopped";

impl From<totality_rdb::Error> for LoadError {
    fn from(e: totality_rdb::Error) -> Self {
        let fault = match e.kind {
            Kind::Type(_) | Kind::ForeignType(..) => Fault::Foreign,
            Kind::Checksum(..) => Fault::Checksum,
            Kind::Stopped => Fault::Stopped,
            _ => Fault::Other,
        };
        LoadError { fault, text: e.kind.to_string(), offset: e.offset }
    }
}

/// Keys without a value that are named in the log.
const NAMED: u64 = 10;

/// Keys between two looks at the clock.
const LOOK: u64 = 64;

/// Takes in the keys and functions of a file whose head was read. Between [`loading::begin`] and [`loading::end`] the
/// owner of `ticker` is let serve his connections now and then.
///
/// # Errors
/// What is wrong with the file, and where, or that the loading was stopped. What was read before stays.
pub fn load<I: Input>(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    client: ClientId,
    file: &mut FileReader<I>,
    options: LoadOptions,
    ticker: &mut dyn Ticker,
) -> Result<Loaded, LoadError> {
    let mut steps = LoadSteps::new(client, options, false);
    let mut count = 0;
    loop {
        let keys = if sv.config.key_load_delay == 0 { LOOK } else { 1 };
        let mut pause =
            |ks: &mut Keyspace, sv: &mut ServerState, offset| loading::go_on(ks, sv, offset, ticker);
        let ended = steps.go_on(ks, sv, file, keys, &mut pause)?;
        steps.feed(ks, sv);
        if ended {
            return Ok(steps.loaded);
        }
        count += keys;
        loading::delay(sv, count, ticker);
        if !loading::go_on(ks, sv, file.offset(), ticker) {
            let (fault, text) = (Fault::Stopped, STOPPED.to_owned());
            return Err(LoadError { fault, text, offset: file.offset() });
        }
    }
}

/// Called now and then while a long value is taken in, with the bytes read so far. False: nothing more is taken in.
pub type Pause<'a> = &'a mut dyn FnMut(&mut Keyspace, &mut ServerState, u64) -> bool;

/// A file that is taken in bit by bit.
pub struct LoadSteps {
    client: ClientId,
    options: LoadOptions,
    db: usize,
    /// The libraries, when they are not to be used before all is there.
    staged: Option<Libraries>,
    /// Keys that were left out and whose deletion is to be told.
    dead: Vec<(usize, Vec<u8>)>,
    /// What was taken in so far.
    pub loaded: Loaded,
}

impl LoadSteps {
    /// At the first event. `client` is one that nobody else uses. `staged`: libraries of functions are kept apart, see
    /// [`LoadSteps::into_libraries`].
    pub fn new(client: ClientId, options: LoadOptions, staged: bool) -> LoadSteps {
        let staged = staged.then(Libraries::default);
        LoadSteps { client, options, db: 0, staged, dead: Vec::new(), loaded: Loaded::default() }
    }

    /// Takes in the next `keys` keys and what is between them. True at the end of the file. `pause` is called now and then
    /// while a long value is taken in.
    ///
    /// # Errors
    /// What is wrong with the file, and where. What was read before stays.
    pub fn go_on<I: Input>(
        &mut self,
        ks: &mut Keyspace,
        sv: &mut ServerState,
        file: &mut FileReader<I>,
        keys: u64,
        pause: Pause<'_>,
    ) -> Result<bool, LoadError> {
        let mut count = 0;
        while count < keys {
            let event = file.next_event_pausing(&mut |offset| pause(ks, sv, offset))?;
            let fail = |text: String| LoadError { fault: Fault::Other, text, offset: file.offset() };
            match event {
                Event::End => return Ok(true),
                Event::Resize(..) => {}
                Event::Aux(name, value) => {
                    if *name == *b"used-mem"
                        && let Some(loading) = &mut sv.persist.loading
                    {
                        loading.used_memory =
                            crate::util::parse_i64(&value).map_or(0, |n| u64::try_from(n).unwrap_or(0));
                    }
                    self.loaded.remarks.push((name.into_vec(), value.into_vec()));
                }
                Event::Select(n) => {
                    self.db = usize::try_from(n).ok().filter(|n| *n < ks.dbs().len()).ok_or_else(|| {
                        fail(
                            "FATAL: Data file was created with a server configured to handle more databases"
                                .to_owned(),
                        )
                    })?;
                }
                Event::Function(code) => self
                    .take_function(ks, sv, &code)
                    .map_err(|why| fail(format!("Failed loading library, {why}")))?,
                Event::Key(record) => {
                    if record.value.is_empty() && self.loaded.empty < NAMED {
                        let mut text = b"rdbLoadObject skipping empty key".to_vec();
                        if !sv.config.hide_user_data_from_log {
                            text.extend_from_slice(b": ");
                            text.extend_from_slice(&record.key);
                        }
                        sv.log(LogLevel::Notice, text);
                    }
                    if self.options.drop_expired && record.expire.is_some_and(|at| at < ks.now) {
                        self.loaded.expired += 1;
                        if self.options.feed {
                            self.dead.push((self.db, record.key.to_vec()));
                        }
                    } else {
                        let offset = file.offset();
                        let mut pause = |ks: &mut Keyspace| pause(ks, sv, offset);
                        take_key(ks, self.db, *record, self.options, (&mut self.loaded, &mut pause))
                            .map_err(fail)?;
                    }
                    count += 1;
                }
            }
        }
        Ok(false)
    }

    /// Tells the stream of the keys that were left out.
    fn feed(&mut self, ks: &mut Keyspace, sv: &mut ServerState) {
        if self.dead.is_empty() {
            return;
        }
        let dead = std::mem::take(&mut self.dead);
        let Some((id, offset, _)) = self.loaded.position() else { return };
        replication::begin_behind(ks, sv, id, offset);
        ks.effects.apart = true;
        for (db, key) in dead {
            ks.effects.deletion(db, &key);
        }
        crate::execute::finish_unit(ks, sv);
    }

    fn take_function(&mut self, ks: &mut Keyspace, sv: &mut ServerState, code: &[u8]) -> Result<(), String> {
        let mut tree = TreeBuilder::default();
        let Some(command) = crate::commands::lookup(b"function") else {
            return Err("no functions".to_owned());
        };
        let reply = Reply::tree(&mut tree, Proto::Resp2);
        let (client, origin) = (self.client, Origin::Replay);
        let mut cx = Cx { ks, sv, args: &[], reply, client, origin, command, ticker: &mut NoTicker };
        let text = |e: crate::CmdError| String::from_utf8_lossy(e.text()).into_owned();
        let library = script::build_library(&mut cx, code).map_err(text)?;
        let libraries = self.staged.as_mut().unwrap_or(&mut cx.sv.scripts.libraries);
        libraries.join(library, self.options.merge).map_err(text)
    }

    /// The libraries that were kept apart.
    pub fn into_libraries(self) -> Libraries {
        self.staged.unwrap_or_default()
    }
}

fn take_key(
    ks: &mut Keyspace,
    db: usize,
    record: Record,
    options: LoadOptions,
    (loaded, pause): (&mut Loaded, &mut dyn FnMut(&mut Keyspace) -> bool),
) -> Result<(), String> {
    let Record { key, value, expire, idle, freq } = record;
    if value.is_empty() {
        loaded.empty += 1;
        return Ok(());
    }
    let value = into_value_pausing(value, ks, pause).map_err(str::to_owned)?;
    let idle = idle.and_then(|n| ks.access_idle(i64::try_from(n).unwrap_or(i64::MAX)));
    let access = freq.and_then(|n| ks.access_freq(n)).or(idle);
    let shown = key.clone();
    if !ks.load_entry(db, key, value, expire, access, options.merge) {
        return Err(format!("RDB has duplicated key '{}' in DB {db}", shown.escape_ascii()));
    }
    loaded.keys += 1;
    Ok(())
}

/// What a snapshot is for, and in which form it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A file of its own.
    File,
    /// The base of an append-only file.
    Base,
    /// The same, as commands.
    Commands,
}

/// Begins a snapshot of everything.
pub fn begin_snapshot(ks: &mut Keyspace, sv: &ServerState, purpose: Purpose) {
    let whole = ForReplicas { version: sv.config.rdb_version_compat as u16, without: Without::default() };
    begin(ks, sv, purpose, whole);
}

/// A snapshot as replicas want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForReplicas {
    /// The format's version, where the data set fits it.
    pub version: u16,
    /// What it leaves out.
    pub without: Without,
}

/// Begins a snapshot for replicas.
pub fn begin_sync(ks: &mut Keyspace, sv: &ServerState, wanted: ForReplicas) {
    begin(ks, sv, Purpose::File, wanted);
}

fn begin(ks: &mut Keyspace, sv: &ServerState, purpose: Purpose, wanted: ForReplicas) {
    let config = &sv.config;
    let compat = config.rdb_version_compat as u16;
    let timed = ks.dbs().iter().any(|db| db.timed_hashes() > 0);
    let options = SnapshotOptions {
        commands: purpose == Purpose::Commands,
        // Deadlines of fields have formats of their own; which one the configuration says.
        version: if timed { wanted.version.max(compat) } else { wanted.version },
        compress: config.rdbcompression,
        policy: crate::Config::POLICIES[config.maxmemory_policy],
        data: !wanted.without.data,
    };
    let (used, seconds) = (ks.used_memory() + sv.memory(), sv.stamp / 1_000_000);
    ks.begin_snapshot(options, |w| {
        if purpose == Purpose::Commands {
            if config.aof_timestamp_enabled {
                w.out.extend_from_slice(format!("#TS:{seconds}\r\n").as_bytes());
            }
            for library in sv.scripts.libraries.iter() {
                render(&[&b"FUNCTION"[..], b"LOAD", &library.code], &mut w.out);
            }
            return;
        }
        let base = purpose == Purpose::Base;
        file::aux(w, b"redis-ver", crate::REDIS_VERSION.as_bytes());
        file::aux(w, b"redis-bits", usize::BITS.to_string().as_bytes());
        file::aux(w, b"ctime", seconds.to_string().as_bytes());
        file::aux(w, b"used-mem", used.to_string().as_bytes());
        if let Some(stream) = sv.repl.position().filter(|_| !base) {
            file::aux(w, b"repl-stream-db", stream.db.to_string().as_bytes());
            file::aux(w, b"repl-id", stream.id.as_bytes());
            file::aux(w, b"repl-offset", stream.offset.to_string().as_bytes());
        }
        file::aux(w, b"aof-base", if base { b"1" } else { b"0" });
        if !wanted.without.functions {
            sv.scripts.libraries.iter().for_each(|library| file::function(w, &library.code));
        }
    });
}
