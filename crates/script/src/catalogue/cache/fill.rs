//! `cache.fill`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `cache.fill`: Stores what the caller was asked to fill, and lets the waiting ones go on.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a> {
    /// Part of the keys' names, as in `cache:{name}`.
    pub name: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub version: u64,
    /// 0 to 1048576 bytes.
    pub data: &'a [u8],
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for Fill<'_> {
    type Reply = FillReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(5)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cache:{", check::part("cache.fill", "name", self.name)?, b"}"]);
        out.push_parts(&[b"cache:{", check::part("cache.fill", "name", self.name)?, b"}:lease"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "cache.fill", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "cache.fill", "version", self.version, 1, 9007199254740991)?;
        check::text(out, "cache.fill", "data", self.data, 0, 1048576)?;
        check::int(out, "cache.fill", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`Fill`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillReply {
    /// Code 1, STORED.
    Stored {
        /// The field `version`.
        version: i64,
    },
    /// Code 0, OLDER: version, a newer one, is there; the lease is given back.
    Older {
        /// The field `version`.
        version: i64,
    },
    /// Code -7, LOST: the lease ended before; nothing was stored.
    Lost {
        /// The field `version`.
        version: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `version`.
        version: i64,
    },
}

impl Reply for FillReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => FillReply::Stored { version: *ints.get(1)? },
            0 => FillReply::Older { version: *ints.get(1)? },
            -7 => FillReply::Lost { version: *ints.get(1)? },
            -9 => FillReply::BadState { version: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            FillReply::Stored { .. } => 1,
            FillReply::Older { .. } => 0,
            FillReply::Lost { .. } => -7,
            FillReply::BadState { .. } => -9,
        }
    }
}
