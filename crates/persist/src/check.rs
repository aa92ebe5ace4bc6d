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

/// What is to be done beside looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    Nothing,
    /// What was cut off at the end of the last append-only file is removed, back to the last complete unit.
    Tail,
    /// What was written after this second since the Unix epoch is removed from the last append-only file, which must hold
    /// timestamps.
    After(i64),
}

/// A file, or what a manifest names.
enum Verdict {
    Sound(String),
    /// Up to this byte it is sound; the rest is the beginning of a command.
    Cut(u64, String),
    /// From this byte on it was written after the second that was asked for.
    Later(u64),
    /// What is wrong, and up to where the commands are sound, if it is in them.
    Damaged(String, Option<u64>),
}

/// Checks a snapshot, an append-only file, or all files of a manifest, and repairs the last of them if that is asked for.
///
/// # Errors
/// When a file cannot be read, or not be repaired.
pub fn check(path: &Path, repair: Repair) -> io::Result<Report> {
    let mut report = Report { lines: Vec::new(), sound: true };
    if path.extension().is_none_or(|e| e != "manifest") {
        check_file(path, repair, true, &mut report)?;
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
        check_file(&dir.join(&part.name), repair, i + 1 == parts.len(), &mut report)?;
        if matches!(repair, Repair::After(_)) && !report.sound {
            // What follows cannot be brought to that moment any more.
            break;
        }
    }
    Ok(report)
}

impl Report {
    fn note(&mut self, sound: bool, line: String) {
        self.sound &= sound;
        self.lines.push(line);
    }
}

fn check_file(path: &Path, repair: Repair, last: bool, report: &mut Report) -> io::Result<()> {
    let name = path.display();
    let second = match repair {
        Repair::After(second) => second,
        _ => i64::MAX,
    };
    match judge(path, second)? {
        Verdict::Sound(_) if second < i64::MAX && last => {
            report.note(true, format!("Truncate nothing in AOF {name} to timestamp {second}"));
        }
        Verdict::Sound(what) => report.note(true, format!("{name}: sound, {what}")),
        Verdict::Damaged(why, valid) => {
            report.note(false, format!("{name}: damaged: {why}"));
            let advice = match valid {
                Some(valid) if last => format!(
                    "Damage in the middle is not repaired. A backup or a replica may have all of it. To go on without what follows, make a copy and run: truncate -s {valid} '{name}'"
                ),
                _ => "This is not repaired: use a backup, or a replica.".to_owned(),
            };
            report.note(false, advice);
        }
        Verdict::Cut(valid, why) => {
            let size = std::fs::metadata(path)?.len();
            let line = format!("{name}: {why}: sound up to byte {valid} of {size}");
            if repair != Repair::Tail || !last {
                let advice = match last {
                    true => "; --fix removes the rest",
                    false => "; only the last file can be cut: use a backup, or a replica",
                };
                report.note(false, line + advice);
                return Ok(());
            }
            cut(path, valid)?;
            report.note(true, format!("{line}; cut to {valid} bytes"));
        }
        Verdict::Later(0) => {
            report.note(false, format!("AOF {name} has nothing before timestamp {second}, aborting..."));
        }
        Verdict::Later(at) if !last => {
            report.note(
                false,
                format!(
                    "Failed to truncate AOF {name} to timestamp {second} to offset {at} because it is not the last file."
                ),
            );
            report.note(
                false,
                "If you insist, please delete all files after this file according to the manifest file and delete the corresponding records in manifest file manually. Then check again.".to_owned(),
            );
        }
        Verdict::Later(at) => {
            cut(path, at)?;
            report.note(true, format!("Successfully truncated AOF {name} to timestamp {second}"));
        }
    }
    Ok(())
}

/// Cuts a file, and makes that safe.
fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_all()
}

/// `until`: what was written after this second is not looked at.
fn judge(path: &Path, until: i64) -> io::Result<Verdict> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    if !magic.starts_with(b"REDIS") && !magic.starts_with(b"VALKEY") {
        return Ok(commands_of(CommandReader::new(file, 0), String::new(), until));
    }
    let mut reader = match FileReader::open(Streamed::new(file, true), true, true) {
        Ok(reader) => reader,
        Err(e) => return Ok(Verdict::Damaged(e.to_string(), None)),
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
                    let text = format!("key '{key}': {why} (at byte {})", reader.offset());
                    return Ok(Verdict::Damaged(text, None));
                }
            }
            Ok(_) => {}
            Err(e) => return Ok(Verdict::Damaged(format!("{e}, behind {keys} keys"), None)),
        }
    }
    let what = format!(
        "snapshot of version {}, {keys} keys, {expires} with a deadline, {functions} libraries of functions",
        reader.version()
    );
    let offset = reader.offset();
    let (rest, ahead) = reader.into_input().into_parts();
    Ok(commands_of(CommandReader::new(io::Cursor::new(ahead).chain(rest), offset), what, until))
}

/// Checks commands, behind what `before` says of the file.
fn commands_of<R: Read>(mut reader: CommandReader<R>, before: String, until: i64) -> Verdict {
    let (mut count, mut unit, mut valid) = (0u64, false, reader.offset());
    let damaged = |what: String, at: u64, valid: u64| {
        Verdict::Damaged(format!("{what} (at byte {at}, sound up to {valid})"), Some(valid))
    };
    loop {
        match reader.next_item() {
            Ok(Item::Stamp(second)) if second > until => return Verdict::Later(valid),
            Ok(Item::Stamp(_)) => {}
            Ok(Item::Command(argv)) => {
                count += 1;
                let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
                if words[0].eq_ignore_ascii_case(b"multi") {
                    if unit {
                        return damaged("MULTI inside of MULTI".to_owned(), reader.offset(), valid);
                    }
                    unit = true;
                } else if words[0].eq_ignore_ascii_case(b"exec") {
                    if !unit {
                        return damaged("EXEC without MULTI".to_owned(), reader.offset(), valid);
                    }
                    unit = false;
                } else if let Err(why) = commands::resolve(&words) {
                    let text = String::from_utf8_lossy(why.text()).into_owned();
                    let text = text.strip_prefix("ERR ").unwrap_or(&text).trim_end().to_owned();
                    return damaged(text, reader.offset(), valid);
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
                return damaged(what.to_owned(), reader.offset(), valid);
            }
            Err(Trouble::Io(e)) => return Verdict::Damaged(reason(&e), None),
        }
        if !unit {
            valid = reader.offset();
        }
    }
}
