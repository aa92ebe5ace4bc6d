//! Checking files without using them: is a snapshot or an append-only file sound, and if not, where does it end to be?

use crate::aof::{CommandReader, Item, Trouble};
use crate::manifest::Manifest;
use crate::reason;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use totality_engine::commands;
use totality_engine::dump::into_value;
use totality_engine::keyspace::Keyspace;
use totality_rdb::Streamed;
use totality_rdb::file::{Event, FileReader};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In lines, one per file at least.
    pub lines: Vec<String>,
    /// Everything is sound, or was made so.
    pub sound: bool,
}

/// A file, or what a manifest names.
enum Verdict {
    Sound(String),
    /// Up to this byte it is sound; the rest is the beginning of a command.
    Cut(u64, String),
    Damaged(String),
}

/// Checks a snapshot, an append-only file, or all files of a manifest. `fix`: what was cut off at the end of the last
/// append-only file is removed, back to the last complete unit.
///
/// # Errors
/// When a file cannot be read.
pub fn check(path: &Path, fix: bool) -> io::Result<Report> {
    let mut report = Report { lines: Vec::new(), sound: true };
    if path.extension().is_none_or(|e| e != "manifest") {
        check_file(path, fix, &mut report)?;
        return Ok(report);
    }
    let manifest = match Manifest::parse(&std::fs::read(path)?) {
        Ok(manifest) => manifest,
        Err(why) => {
            report.note(false, format!("{}: {why}", path.display()));
            return Ok(report);
        }
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    let parts: Vec<_> = manifest.parts().collect();
    for (i, part) in parts.iter().enumerate() {
        // A cut is only to be expected where the last write went.
        check_file(&dir.join(&part.name), fix && i + 1 == parts.len(), &mut report)?;
    }
    Ok(report)
}

impl Report {
    fn note(&mut self, sound: bool, line: String) {
        self.sound &= sound;
        self.lines.push(line);
    }
}

fn check_file(path: &Path, fix: bool, report: &mut Report) -> io::Result<()> {
    let name = path.display();
    match judge(path)? {
        Verdict::Sound(what) => report.note(true, format!("{name}: sound, {what}")),
        Verdict::Damaged(why) => report.note(false, format!("{name}: damaged: {why}")),
        Verdict::Cut(valid, why) => {
            let size = std::fs::metadata(path)?.len();
            let line = format!("{name}: {why}: sound up to byte {valid} of {size}");
            if !fix {
                report.note(false, line);
                return Ok(());
            }
            let file = std::fs::OpenOptions::new().write(true).open(path)?;
            file.set_len(valid)?;
            file.sync_all()?;
            report.note(true, format!("{line}; cut to {valid} bytes"));
        }
    }
    Ok(())
}

fn judge(path: &Path) -> io::Result<Verdict> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    if !magic.starts_with(b"REDIS") && !magic.starts_with(b"VALKEY") {
        return Ok(commands_of(CommandReader::new(file, 0), String::new()));
    }
    let mut reader = match FileReader::open(Streamed::new(file, true), true, true) {
        Ok(reader) => reader,
        Err(e) => return Ok(Verdict::Damaged(e.to_string())),
    };
    // Values are made of what is read, since only that checks all of it.
    let ks = Keyspace::new(1, [0; 16]);
    let (mut keys, mut expires, mut functions) = (0u64, 0u64, 0u64);
    loop {
        match reader.next_event() {
            Ok(Event::End) => break,
            Ok(Event::Function(_)) => functions += 1,
            Ok(Event::Key(record)) => {
                keys += 1;
                expires += u64::from(record.expire.is_some());
                if !record.value.is_empty()
                    && let Err(why) = into_value(record.value, &ks)
                {
                    let key = record.key.escape_ascii();
                    return Ok(Verdict::Damaged(format!("key '{key}': {why} (at byte {})", reader.offset())));
                }
            }
            Ok(_) => {}
            Err(e) => return Ok(Verdict::Damaged(format!("{e}, behind {keys} keys"))),
        }
    }
    let what = format!(
        "snapshot of version {}, {keys} keys, {expires} with a deadline, {functions} libraries of functions",
        reader.version()
    );
    let offset = reader.offset();
    let (rest, ahead) = reader.into_input().into_parts();
    Ok(commands_of(CommandReader::new(io::Cursor::new(ahead).chain(rest), offset), what))
}

/// Checks commands, behind what `before` says of the file.
fn commands_of<R: Read>(mut reader: CommandReader<R>, before: String) -> Verdict {
    let (mut count, mut unit, mut valid) = (0u64, false, reader.offset());
    loop {
        match reader.next_item() {
            Ok(Item::Stamp(_)) => {}
            Ok(Item::Command(argv)) => {
                count += 1;
                let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
                if words[0].eq_ignore_ascii_case(b"multi") {
                    if unit {
                        return Verdict::Damaged(format!(
                            "MULTI inside of MULTI (at byte {})",
                            reader.offset()
                        ));
                    }
                    unit = true;
                } else if words[0].eq_ignore_ascii_case(b"exec") {
                    if !unit {
                        return Verdict::Damaged(format!("EXEC without MULTI (at byte {})", reader.offset()));
                    }
                    unit = false;
                } else if commands::resolve_any_arity(&words).is_err() {
                    let name = words[0].escape_ascii();
                    return Verdict::Damaged(format!(
                        "unknown command '{name}' (at byte {})",
                        reader.offset()
                    ));
                }
            }
            Ok(Item::End) if unit => return Verdict::Cut(valid, "ends in the middle of a unit".to_owned()),
            Ok(Item::End) if count == 0 && !before.is_empty() => return Verdict::Sound(before),
            Ok(Item::End) => {
                let before = if before.is_empty() { before } else { before + ", then " };
                return Verdict::Sound(format!("{before}{count} commands"));
            }
            Err(Trouble::Cut) => return Verdict::Cut(valid, "ends in the middle of a command".to_owned()),
            Err(Trouble::Format(what)) => {
                return Verdict::Damaged(format!(
                    "{what} (at byte {}, sound up to {valid})",
                    reader.offset()
                ));
            }
            Err(Trouble::Io(e)) => return Verdict::Damaged(reason(&e)),
        }
        if !unit {
            valid = reader.offset();
        }
    }
}
