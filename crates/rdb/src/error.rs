//! What can be wrong with foreign bytes.

use std::fmt;

/// What is wrong.
#[derive(Debug)]
pub enum Kind {
    /// The input ends too early.
    Short,
    /// Reading failed.
    Io(std::io::Error),
    /// The bytes are not what the format allows.
    Corrupt(&'static str),
    /// The file does not begin as it must.
    Signature,
    /// A version that is not known.
    Version(u32),
    /// A type of value, or an opcode, that is not known in this version.
    Type(u8),
    /// The same, of a number that Redis and Valkey leave to others: type and version of the file.
    ForeignType(u8, u16),
    /// The checksum does not fit: what the file says, what was computed.
    Checksum(u64, u64),
    /// Data of a module.
    Module {
        /// The module's type.
        name: String,
        /// It stands beside the keys.
        aux: bool,
    },
    /// Something that is known, and cannot be taken over.
    Unsupported(&'static str),
    /// Whoever reads wants no more of it.
    Stopped,
}

/// What is wrong, and where.
#[derive(Debug)]
pub struct Error {
    /// What is wrong.
    pub kind: Kind,
    /// Bytes that were read when it was noticed.
    pub offset: u64,
}

impl Kind {
    /// At this offset.
    pub fn at(self, offset: u64) -> Error {
        Error { kind: self, offset }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Short => f.write_str("unexpected end of the file"),
            Kind::Io(e) => write!(f, "reading failed: {e}"),
            Kind::Corrupt(what) => f.write_str(what),
            Kind::Signature => f.write_str("Wrong signature trying to load DB from file"),
            Kind::Version(n) => write!(f, "Can't handle RDB format version {n}"),
            Kind::Type(n) => {
                write!(f, "Unknown type or opcode when loading DB. Unrecoverable error, aborting now. ({n})")
            }
            Kind::ForeignType(n, version) => {
                write!(f, "Can't handle foreign type or opcode {n} in RDB with version {version}")
            }
            Kind::Checksum(want, got) => {
                write!(f, "Wrong RDB checksum expected: ({want:x}) but got ({got:x})")
            }
            Kind::Module { name, aux: true } => {
                write!(f, "The RDB file contains AUX module data I can't load: no matching module '{name}'")
            }
            Kind::Module { name, aux: false } => {
                write!(f, "The RDB file contains module data I can't load: no matching module type '{name}'")
            }
            Kind::Unsupported(what) => f.write_str(what),
            Kind::Stopped => f.write_str("loading was stopped"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}
