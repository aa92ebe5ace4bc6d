//! The frame of a whole file.

use crate::error::{Error, Kind};
use crate::input::{Input, Pause, Reader};
use crate::object::{Object, module_name, read_object};
use crate::write::Writer;
use crate::{FOREIGN, VERSION_VALKEY_9, is_known, types};
use totality_ds::Bytes;

/// Types and opcodes that Redis and Valkey leave to others.
const FOREIGN_TYPES: std::ops::RangeInclusive<u8> = 22..=243;
const OP_SLOT_IMPORT: u8 = 243;
const OP_SLOT_INFO: u8 = 244;
/// Before the code of a library of functions.
pub const OP_FUNCTION2: u8 = 245;
/// The same in a form that only test versions of Redis 7.0 wrote.
pub const OP_FUNCTION_EARLY: u8 = 246;
const OP_MODULE_AUX: u8 = 247;
const OP_IDLE: u8 = 248;
const OP_FREQ: u8 = 249;
const OP_AUX: u8 = 250;
const OP_RESIZE: u8 = 251;
const OP_EXPIRE_MS: u8 = 252;
const OP_EXPIRE: u8 = 253;
const OP_SELECT: u8 = 254;
const OP_EOF: u8 = 255;

/// What a file holds, one after the other.
#[derive(Debug)]
pub enum Event {
    /// A remark about the file.
    Aux(Bytes, Bytes),
    /// The keys that follow belong to this database.
    Select(u64),
    /// How many keys, and keys with a deadline, are to be expected.
    Resize(u64, u64),
    /// The code of a library of functions.
    Function(Vec<u8>),
    /// A key.
    Key(Box<Record>),
    /// The end; the checksum fits or there is none.
    End,
}

/// A key of a file.
#[derive(Debug)]
pub struct Record {
    /// The key.
    pub key: Bytes,
    /// Its value.
    pub value: Object,
    /// Its deadline, in milliseconds since the Unix epoch.
    pub expire: Option<i64>,
    /// Seconds since its last use.
    pub idle: Option<u64>,
    /// Its LFU counter.
    pub freq: Option<u8>,
}

/// Reads a file.
#[derive(Debug)]
pub struct FileReader<I> {
    r: Reader<I>,
    version: u16,
    /// It begins as Redis's files do.
    redis: bool,
    check: bool,
}

impl<I: Input> FileReader<I> {
    /// Reads the head of a file. `strict`: versions that are not known are refused. `check`: the checksum at its end is
    /// compared.
    ///
    /// # Errors
    /// When it is not a file of this format, or of a version that cannot be read.
    pub fn open(input: I, strict: bool, check: bool) -> Result<Self, Error> {
        let mut r = Reader::new(input);
        let mut head = [0; 9];
        match r.input().take(9) {
            Ok(bytes) => head.copy_from_slice(bytes),
            Err(kind) => return Err(kind.at(r.offset())),
        }
        let (digits, valkey) = match &head {
            [b'R', b'E', b'D', b'I', b'S', digits @ ..] => (&digits[..], false),
            [b'V', b'A', b'L', b'K', b'E', b'Y', digits @ ..] => (&digits[..], true),
            _ => return Err(Kind::Signature.at(0)),
        };
        let version = std::str::from_utf8(digits).ok().and_then(|d| d.parse::<u16>().ok()).unwrap_or(0);
        let own = if valkey { version > *FOREIGN.end() } else { version <= *FOREIGN.end() || !strict };
        if version == 0 || !own || (strict && !is_known(version)) {
            return Err(Kind::Version(u32::from(version)).at(9));
        }
        Ok(FileReader { r, version, redis: !valkey, check })
    }

    /// The file's version.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.r.offset()
    }

    /// The input.
    pub fn input(&mut self) -> &mut I {
        self.r.input()
    }

    /// The input, behind what was read.
    pub fn into_input(self) -> I {
        self.r.into_input()
    }

    /// What comes next. After [`Event::End`] nothing may be asked for.
    ///
    /// # Errors
    /// When the file is damaged, or holds what cannot be taken over.
    pub fn next_event(&mut self) -> Result<Event, Error> {
        self.next_event_pausing(&mut |_| true)
    }

    /// The same; `pause` is called now and then while a long value is read.
    ///
    /// # Errors
    /// The same, and when `pause` says so.
    pub fn next_event_pausing(&mut self, pause: Pause<'_>) -> Result<Event, Error> {
        let r = &mut self.r;
        r.input().settle();
        let (mut expire, mut idle, mut freq) = (None, None, None);
        loop {
            let op = r.byte()?;
            return Ok(match op {
                OP_EXPIRE_MS => {
                    expire = Some(r.millis()?);
                    continue;
                }
                OP_EXPIRE => {
                    expire = Some(i64::from(r.seconds()?) * 1000);
                    continue;
                }
                OP_FREQ => {
                    freq = Some(r.byte()?);
                    continue;
                }
                OP_IDLE => {
                    idle = Some(r.length()?);
                    continue;
                }
                OP_SLOT_INFO => {
                    let _slot_keys_expires = (r.length()?, r.length()?, r.length()?);
                    continue;
                }
                OP_SELECT => Event::Select(r.length()?),
                OP_RESIZE => Event::Resize(r.length()?, r.length()?),
                OP_AUX => Event::Aux(r.string()?, r.string()?),
                OP_FUNCTION2 => Event::Function(r.blob()?),
                OP_EOF => {
                    self.end()?;
                    Event::End
                }
                OP_FUNCTION_EARLY => {
                    return Err(
                        Kind::Unsupported("Pre-release function format not supported.").at(r.offset())
                    );
                }
                OP_MODULE_AUX => {
                    let name = module_name(r.length()?);
                    return Err(Kind::Module { name, aux: true }.at(r.offset()));
                }
                OP_SLOT_IMPORT if self.version >= VERSION_VALKEY_9 => {
                    const SLOTS: &str =
                        "The RDB file was written while slots of a cluster moved, which cannot be taken over";
                    return Err(Kind::Unsupported(SLOTS).at(r.offset()));
                }
                _ if types::is_value(op, self.version) => {
                    let key = r.string()?;
                    let value = read_object(r, op, self.version, pause)?;
                    Event::Key(Box::new(Record { key, value, expire, idle, freq }))
                }
                _ if self.redis && FOREIGN_TYPES.contains(&op) => {
                    return Err(Kind::ForeignType(op, self.version).at(r.offset()));
                }
                _ => return Err(Kind::Type(op).at(r.offset())),
            });
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        if self.version < 5 {
            return Ok(());
        }
        let computed = self.r.input().checksum();
        let stored = self.r.stored_checksum()?;
        // 0: it was written without one.
        if self.check && stored != 0 && stored != computed {
            return Err(Kind::Checksum(stored, computed).at(self.r.offset()));
        }
        Ok(())
    }
}

/// Writes the head of a file.
pub fn head(w: &mut Writer, version: u16) {
    let magic = if version > *FOREIGN.end() { "VALKEY" } else { "REDIS0" };
    w.out.extend_from_slice(format!("{magic}{version:03}").as_bytes());
}

/// Writes a remark about the file.
pub fn aux(w: &mut Writer, name: &[u8], value: &[u8]) {
    w.byte(OP_AUX);
    w.string(name);
    w.string(value);
}

/// Writes a library of functions.
pub fn function(w: &mut Writer, code: &[u8]) {
    w.byte(OP_FUNCTION2);
    w.string(code);
}

/// The keys that follow belong to this database. `size`: it has so many keys, and so many with a deadline.
pub fn select(w: &mut Writer, db: usize, size: Option<(usize, usize)>) {
    w.byte(OP_SELECT);
    w.len(db as u64);
    if let Some((keys, expires)) = size {
        w.byte(OP_RESIZE);
        w.len(keys as u64);
        w.len(expires as u64);
    }
}

/// Writes what stands before a key: its deadline in milliseconds since the Unix epoch, the seconds since its last use,
/// its LFU counter.
pub fn before_key(w: &mut Writer, expire: Option<i64>, idle: Option<u64>, freq: Option<u8>) {
    if let Some(at) = expire {
        w.byte(OP_EXPIRE_MS);
        w.millis(at);
    }
    if let Some(seconds) = idle {
        w.byte(OP_IDLE);
        w.len(seconds);
    }
    if let Some(counter) = freq {
        w.byte(OP_FREQ);
        w.byte(counter);
    }
}

/// Writes the end; the eight bytes of the checksum over all before follow, which the caller keeps.
pub fn end(w: &mut Writer) {
    w.byte(OP_EOF);
}
