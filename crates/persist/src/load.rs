//! Reading files into a data set.

use crate::aof::{CommandReader, Item, Trouble};
use crate::disk::{self, Disk};
use crate::log::Names;
use crate::manifest::{FileKind, Manifest, Part};
use crate::reason;
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;
use totality_engine::dump::load::{Fault, LoadError, LoadOptions, Loaded, load};
use totality_engine::engine::Ticker;
use totality_engine::keyspace::Keyspace;
use totality_engine::loading;
use totality_engine::replay::Replayer;
use totality_engine::state::{LogLevel, ServerState};
use totality_engine::{ClientId, ConnInfo};
use totality_rdb::file::FileReader;
use totality_rdb::{Input, Streamed};

/// A client for what is read.
pub(crate) fn reader_client(sv: &mut ServerState) -> ClientId {
    let (user, open) = (sv.acl.default_user().clone(), sv.acl.is_open());
    let now = (sv.stamp / 1000) as i64;
    sv.clients.add(ConnInfo::default(), user, open, now)
}

type Source = Box<dyn Read + Send>;
type Reader = FileReader<Streamed<Source>>;

/// Commands between two looks at the clock.
const LOOK: u64 = 64;

/// Why nothing more is read though nothing is wrong.
const STOPPED: &str = "loading was stopped";

/// Why a snapshot was not taken in.
#[derive(Debug)]
pub(crate) struct Refused {
    /// What sort of fault it has.
    pub(crate) fault: Fault,
    /// What is wrong, in one line.
    pub(crate) text: String,
}

impl From<LoadError> for Refused {
    fn from(e: LoadError) -> Refused {
        let crc = if e.fault == Fault::Checksum { "RDB CRC error. " } else { "" };
        Refused { fault: e.fault, text: format!("{crc}{e}") }
    }
}

/// Opens a snapshot file; `None` when there is none.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn open_snapshot(
    disk: &dyn Disk,
    path: &Path,
    sv: &ServerState,
) -> Result<Option<Reader>, Refused> {
    let file = match disk.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => {
            let text = format!(
                "Fatal error: can't open the RDB file {} for reading: {}",
                path.display(),
                reason(&e)
            );
            return Err(Refused { fault: Fault::Other, text });
        }
    };
    let strict = sv.config.rdb_version_check == 0;
    let input = Streamed::new(file, sv.config.rdbchecksum);
    FileReader::open(input, strict, sv.config.rdbchecksum).map(Some).map_err(|e| LoadError::from(e).into())
}

/// Reads an opened snapshot.
///
/// # Errors
/// What is wrong, and at which byte.
pub(crate) fn read_snapshot<I: Input>(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    file: &mut FileReader<I>,
    options: LoadOptions,
    ticker: &mut dyn Ticker,
) -> Result<Loaded, Refused> {
    let client = reader_client(sv);
    let loaded = load(ks, sv, client, file, options, ticker);
    sv.clients.remove(client);
    let loaded = loaded?;
    for (name, value) in &loaded.remarks {
        if name == b"redis-ver" || name == b"valkey-ver" {
            let who = if name == b"redis-ver" { "Redis" } else { "Valkey" };
            let version = String::from_utf8_lossy(value);
            sv.log(LogLevel::Notice, format!("Loading RDB produced by {who} version {version}"));
        }
    }
    sv.persist.loaded = (loaded.expired, loaded.keys);
    let (keys, expired) = (loaded.keys, loaded.expired);
    let mut line = format!("Done loading RDB, keys loaded: {keys}, keys expired: {expired}");
    if loaded.empty > 0 {
        line += &format!(", empty keys skipped: {}", loaded.empty);
    }
    sv.log(LogLevel::Notice, line + ".");
    Ok(loaded)
}

/// What is to be done with the append-only file that was read.
pub(crate) struct Replayed {
    pub(crate) manifest: Manifest,
    /// There was something to read.
    pub(crate) found: bool,
}

/// Finds the manifest. A single file of an older server, beside the directory, becomes the base of a new one.
///
/// # Errors
/// When a file cannot be read or moved, or the manifest is damaged.
pub(crate) fn find_manifest(
    disk: &dyn Disk,
    data_dir: &Path,
    names: &Names,
    sv: &mut ServerState,
) -> Result<Manifest, String> {
    let path = names.manifest();
    let mut text = Vec::new();
    match disk.open(&path).and_then(|mut file| file.read_to_end(&mut text)) {
        Ok(_) => {
            let manifest = Manifest::parse(&text)
                .map_err(|why| format!("FATAL AOF MANIFEST FILE ERROR: {why}: {}", path.display()))?;
            // The move of an older server's single file was interrupted.
            let only = match (&manifest.base, manifest.incr.as_slice()) {
                (Some(base), []) => base.name == names.name,
                _ => false,
            };
            if only && disk.len(&names.dir.join(&names.name)).is_err() {
                move_old_file(disk, data_dir, names, sv)?;
            }
            return Ok(manifest);
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => {
            return Err(format!(
                "Fatal error: can't open the AOF manifest file {} for reading: {}",
                path.display(),
                reason(&e)
            ));
        }
    }
    let mut manifest = Manifest::default();
    if disk.len(&data_dir.join(&names.name)).is_err() {
        return Ok(manifest);
    }
    disk.create_dir(&names.dir).map_err(|e| format!("Can't create the append-only dir: {}", reason(&e)))?;
    manifest.base = Some(Part { name: names.name.clone(), seq: 1, kind: FileKind::Base });
    names.store(disk, &manifest).map_err(|e| format!("Can't write the AOF manifest: {}", reason(&e)))?;
    move_old_file(disk, data_dir, names, sv)?;
    Ok(manifest)
}

/// Moves the single file of an older server, if it is there, into the directory.
fn move_old_file(
    disk: &dyn Disk,
    data_dir: &Path,
    names: &Names,
    sv: &mut ServerState,
) -> Result<(), String> {
    let old = data_dir.join(&names.name);
    if disk.len(&old).is_err() {
        return Ok(());
    }
    disk::rename_safely(disk, &old, &names.dir.join(&names.name))
        .map_err(|e| format!("Error trying to move the old AOF file {}: {}", old.display(), reason(&e)))?;
    let (name, dir) = (&names.name, names.dir.file_name().unwrap_or_default().to_string_lossy());
    let text =
        format!("Successfully migrated an old-style AOF file ({name}) into the AOF directory ({dir}).");
    sv.log(LogLevel::Notice, text);
    Ok(())
}

/// Reads all parts of the append-only file.
///
/// # Errors
/// What is wrong, in which file and at which byte. A cut at the end of the last file is repaired when the configuration
/// allows it.
pub(crate) fn read_log(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    (disk, data_dir): (&dyn Disk, &Path),
    names: &Names,
    ticker: &mut dyn Ticker,
) -> Result<Replayed, String> {
    let manifest = find_manifest(disk, data_dir, names, sv)?;
    let parts: Vec<Part> = manifest.parts().cloned().collect();
    let (mut keys, mut found) = (Loaded::default(), false);
    let size = |part: &Part| disk.len(&names.dir.join(&part.name)).unwrap_or(0);
    loading::begin(sv, parts.iter().map(size).sum());
    let began = Instant::now();
    for (i, part) in parts.iter().enumerate() {
        let path = names.dir.join(&part.name);
        let tail = if i + 1 == parts.len() { Tail::Repaired } else { Tail::Whole };
        let client = reader_client(sv);
        let began = Instant::now();
        let result = read_part(ks, sv, client, (disk, &path, tail), ticker);
        sv.clients.remove(client);
        let loaded = result.map_err(|why| format!("{}: {why}", part.name))?;
        loading::next_file(sv);
        keys.keys += loaded.keys;
        found = true;
        sv.log(
            LogLevel::Notice,
            format!(
                "DB loaded from {} file {}: {:.3} seconds",
                if part.kind == FileKind::Base { "base" } else { "incr" },
                part.name,
                began.elapsed().as_secs_f64()
            ),
        );
    }
    if found {
        let seconds = began.elapsed().as_secs_f64();
        sv.log(LogLevel::Notice, format!("DB loaded from append only file: {seconds:.3} seconds"));
    }
    sv.persist.loaded = (0, keys.keys);
    Ok(Replayed { manifest, found })
}

/// What is to become of a file's last command or unit when it was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing may be cut off.
    Whole,
    /// It is removed from the file, if the configuration allows it.
    Repaired,
    /// It is left out; the file stays as it is.
    LeftOut,
}

/// Reads a part of an append-only file: a snapshot, commands, or both.
pub(crate) fn read_part(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    client: ClientId,
    (disk, path, tail): (&dyn Disk, &Path, Tail),
    ticker: &mut dyn Ticker,
) -> Result<Loaded, String> {
    let mut file = disk.open(path).map_err(|e| {
        format!("Fatal error: can't open the append log file {} for reading: {}", path.display(), reason(&e))
    })?;
    let mut magic = [0; 6];
    let n = read_up_to(&mut file, &mut magic).map_err(|e| reason(&e))?;
    // What was read of it comes again.
    let file: Source = Box::new(io::Cursor::new(magic[..n].to_vec()).chain(file));
    let mut loaded = Loaded::default();
    if magic[..n].starts_with(b"REDIS") || magic[..n].starts_with(b"VALKEY") {
        // A file of an older server has commands behind its snapshot.
        let single = path.extension().is_none_or(|e| e != "rdb");
        let what = if single {
            "Reading RDB preamble from AOF file..."
        } else {
            "Reading RDB base file on AOF loading..."
        };
        sv.log(LogLevel::Notice, what);
        let strict = sv.config.rdb_version_check == 0;
        let check = sv.config.rdbchecksum;
        let mut reader =
            FileReader::open(Streamed::new(file, check), strict, check).map_err(|e| e.to_string())?;
        loaded = load(ks, sv, client, &mut reader, LoadOptions::default(), ticker).map_err(|e| {
            format!("Error reading the RDB preamble of the AOF file, AOF loading aborted: {e}")
        })?;
        // Older servers append commands to the base itself.
        let offset = reader.offset();
        let (rest, ahead) = reader.into_input().into_parts();
        let source = io::Cursor::new(ahead).chain(rest);
        if single {
            sv.log(LogLevel::Notice, "Reading the remaining AOF tail...");
        }
        replay(ks, sv, client, CommandReader::new(source, offset), (disk, path, tail), ticker)?;
    } else {
        replay(ks, sv, client, CommandReader::new(file, 0), (disk, path, tail), ticker)?;
    }
    Ok(loaded)
}

fn read_up_to(file: &mut dyn Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < buf.len() {
        match file.read(&mut buf[n..])? {
            0 => break,
            got => n += got,
        }
    }
    Ok(n)
}

fn replay<R: Read>(
    ks: &mut Keyspace,
    sv: &mut ServerState,
    client: ClientId,
    mut reader: CommandReader<R>,
    (disk, path, tail): (&dyn Disk, &Path, Tail),
    ticker: &mut dyn Ticker,
) -> Result<(), String> {
    let mut replayer = Replayer::begin(ks, client);
    let mut commands = 0u64;
    // Behind the last command that was run, or unit.
    let mut valid = reader.offset();
    let ended = loop {
        match reader.next_item() {
            Ok(Item::Stamp(_)) => {}
            Ok(Item::Command(argv)) => {
                if let Err(why) = replayer.run(ks, sv, argv, ticker) {
                    break Err(why);
                }
                commands += 1;
                loading::delay(sv, commands, ticker);
                if (commands.is_multiple_of(LOOK) || sv.config.key_load_delay != 0)
                    && !loading::go_on(ks, sv, reader.offset(), ticker)
                {
                    break Err(STOPPED.to_owned());
                }
            }
            Ok(Item::End) if replayer.in_unit() => break Ok(Some(valid)),
            Ok(Item::End) => break Ok(None),
            Err(Trouble::Cut) => break Ok(Some(valid)),
            Err(Trouble::Format(what)) => {
                break Err(format!(
                    "Bad file format reading the append only file: {what} (at byte {}): make a backup of your AOF files, then see what `totality check <filename.manifest>` says of them",
                    reader.offset()
                ));
            }
            Err(Trouble::Io(e)) => {
                break Err(format!("Unrecoverable error reading the append only file: {}", reason(&e)));
            }
        }
        if !replayer.in_unit() {
            valid = reader.offset();
        }
    };
    let in_unit = replayer.in_unit();
    let (errors, first) = replayer.end(ks, sv);
    if let Some(first) = first {
        sv.log(
            LogLevel::Warning,
            format!("{errors} commands of {} answered with an error, the first: {first}", path.display()),
        );
    }
    match ended? {
        None => Ok(()),
        Some(valid) if tail == Tail::LeftOut => {
            let text = format!("{} was cut off at byte {valid}: what follows is left out", path.display());
            sv.log(LogLevel::Warning, text);
            Ok(())
        }
        Some(valid) if tail == Tail::Repaired && sv.config.aof_load_truncated => {
            let name = path.display();
            let mut say = |text: String| sv.log(LogLevel::Warning, text);
            if in_unit {
                say(format!("Revert incomplete MULTI/EXEC transaction in AOF file {name}"));
            }
            say(format!("!!! Warning: short read while loading the AOF file {name}!!!"));
            say(format!("!!! Truncating the AOF {name} at offset {valid} !!!"));
            let mut file = disk.append(path).map_err(|e| reason(&e))?;
            file.set_len(valid)
                .and_then(|()| file.sync())
                .map_err(|e| format!("Error truncating the AOF file {name}: {}", reason(&e)))?;
            say(format!("AOF {name} loaded anyway because aof-load-truncated is enabled"));
            Ok(())
        }
        Some(valid) => Err(format!(
            "Unexpected end of file reading the append only file (the last complete command ends at byte {valid}). You can: 1) make a backup of your AOF file, then use `totality check --fix <filename>`. 2) Alternatively you can set the 'aof-load-truncated' configuration option to yes and restart the server."
        )),
    }
}
