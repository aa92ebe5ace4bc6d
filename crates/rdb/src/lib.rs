//! The formats of Redis's snapshot files and of DUMP: pure functions on bytes.
//!
//! [`Writer`] encodes, [`Reader`] decodes from any [`Input`], [`file`] adds the frame of a whole file, [`payload`] that
//! of DUMP and RESTORE. What is read comes from outside and may be hostile: every compact value is checked element by
//! element, nothing is allocated that the input does not pay for, and an error says where it was met.
//!
//! What a version of the format means:
//!
//! | version | written by |
//! |---|---|
//! | 1–9 | Redis up to 6 |
//! | 10 | Redis 7.0 |
//! | 11 | Redis 7.2, Valkey 7.2 and 8 |
//! | 12 | Redis 7.4 and 8: hashes with deadlines of fields |
//! | 80 | Valkey 9: the same in another form |
#![forbid(unsafe_code)]

mod error;
pub mod file;
mod input;
mod object;
pub mod payload;
mod pushed;
mod stream;
mod write;
mod zip;

pub use error::{Error, Kind};
pub use input::{Input, Reader, Slice, Streamed};
pub use object::{HashField, Object, read_object};
pub use pushed::Pushed;
pub use stream::{ConsumerObject, GroupObject, PendingObject, StreamObject};
pub use write::Writer;

/// The version that is written unless another is asked for.
pub const VERSION: u16 = 11;
/// The version of Redis 7.0: no listpack sets, no active times of consumers.
pub const VERSION_7_0: u16 = 10;
/// The version of Redis 7.4 and 8.
pub const VERSION_REDIS_8: u16 = 12;
/// The version of Valkey 9.
pub const VERSION_VALKEY_9: u16 = 80;
/// Versions that are neither Valkey's nor those that were common to both.
pub const FOREIGN: std::ops::RangeInclusive<u16> = 12..=79;

/// Types of values.
#[allow(missing_docs)] // each is the type of its name in the format
pub mod types {
    pub const STRING: u8 = 0;
    pub const LIST: u8 = 1;
    pub const SET: u8 = 2;
    pub const ZSET: u8 = 3;
    pub const HASH: u8 = 4;
    pub const ZSET_2: u8 = 5;
    pub const MODULE: u8 = 6;
    pub const MODULE_2: u8 = 7;
    pub const HASH_ZIPMAP: u8 = 9;
    pub const LIST_ZIPLIST: u8 = 10;
    pub const SET_INTSET: u8 = 11;
    pub const ZSET_ZIPLIST: u8 = 12;
    pub const HASH_ZIPLIST: u8 = 13;
    pub const LIST_QUICKLIST: u8 = 14;
    pub const STREAM: u8 = 15;
    pub const HASH_LISTPACK: u8 = 16;
    pub const ZSET_LISTPACK: u8 = 17;
    pub const LIST_QUICKLIST_2: u8 = 18;
    pub const STREAM_2: u8 = 19;
    pub const SET_LISTPACK: u8 = 20;
    pub const STREAM_3: u8 = 21;
    /// Valkey 9's hash with deadlines of fields; 22 in a file of Redis is an early form of [`HASH_METADATA`].
    pub const HASH_2: u8 = 22;
    pub const HASH_LISTPACK_EX_EARLY: u8 = 23;
    pub const HASH_METADATA: u8 = 24;
    pub const HASH_LISTPACK_EX: u8 = 25;

    /// True for a type of value that the format knows in this version, modules included.
    pub fn is_value(ty: u8, version: u16) -> bool {
        match ty {
            0..=7 | 9..=21 => true,
            HASH_2 => version >= 12,
            HASH_LISTPACK_EX_EARLY..=HASH_LISTPACK_EX => super::FOREIGN.contains(&version),
            _ => false,
        }
    }
}

/// True when a value or file of this version can be read.
pub fn is_known(version: u16) -> bool {
    matches!(version, 1..=VERSION_REDIS_8 | VERSION_VALKEY_9)
}
