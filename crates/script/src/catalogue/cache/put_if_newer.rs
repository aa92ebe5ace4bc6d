//! `cache.put_if_newer`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument kind of [`PutIfNewer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutIfNewerKind {
    /// `data`
    Data,
    /// `tombstone`
    Tombstone,
}

impl PutIfNewerKind {
    fn word(self) -> &'static str {
        match self {
            PutIfNewerKind::Data => "data",
            PutIfNewerKind::Tombstone => "tombstone",
        }
    }
}

/// `cache.put_if_newer`: Stores a version of a cached value unless a newer one is there.
///
/// A tombstone remembers the version of a deletion, so that a late fill cannot bring the old value back.
#[derive(Debug, Clone, Copy)]
pub struct PutIfNewer<'a> {
    /// Part of the keys' names, as in `cache:{name}`.
    pub name: &'a str,
    /// From 1 to 9007199254740991.
    pub version: u64,
    /// Which way.
    pub kind: PutIfNewerKind,
    /// 0 to 1048576 bytes.
    pub data: &'a [u8],
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for PutIfNewer<'_> {
    type Reply = PutIfNewerReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(8)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cache:{", check::part("cache.put_if_newer", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "cache.put_if_newer", "version", self.version, 1, 9007199254740991)?;
        out.push(self.kind.word().as_bytes());
        check::text(out, "cache.put_if_newer", "data", self.data, 0, 1048576)?;
        check::int(out, "cache.put_if_newer", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`PutIfNewer`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutIfNewerReply {
    /// Code 1, STORED.
    Stored {
        /// The field `version`.
        version: i64,
    },
    /// Code 2, REPEATED: this version is there.
    Repeated {
        /// The field `version`.
        version: i64,
    },
    /// Code 0, OLDER: version, a newer one, is there.
    Older {
        /// The field `version`.
        version: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `version`.
        version: i64,
    },
}

impl Reply for PutIfNewerReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PutIfNewerReply::Stored { version: *ints.get(1)? },
            2 => PutIfNewerReply::Repeated { version: *ints.get(1)? },
            0 => PutIfNewerReply::Older { version: *ints.get(1)? },
            -9 => PutIfNewerReply::BadState { version: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PutIfNewerReply::Stored { .. } => 1,
            PutIfNewerReply::Repeated { .. } => 2,
            PutIfNewerReply::Older { .. } => 0,
            PutIfNewerReply::BadState { .. } => -9,
        }
    }
}
