//! `cache.get`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `cache.get`: Reads a cached value with its version.
#[derive(Debug, Clone, Copy)]
pub struct Get<'a> {
    /// Part of the keys' names, as in `cache:{name}`.
    pub name: &'a str,
}

impl Call for Get<'_> {
    type Reply = GetReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(6)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cache:{", check::part("cache.get", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Get`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GetReply {
    /// Code 1, HIT.
    Hit {
        /// The field `version`.
        version: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code 0, DELETED: a tombstone.
    Deleted {
        /// The field `version`.
        version: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code -3, MISSING.
    Missing {
        /// The field `version`.
        version: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `version`.
        version: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
}

impl Reply for GetReply {
    const INTS: usize = 2;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => GetReply::Hit { version: *ints.get(1)?, data: bytes },
            0 => GetReply::Deleted { version: *ints.get(1)?, data: bytes },
            -3 => GetReply::Missing { version: *ints.get(1)?, data: bytes },
            -9 => GetReply::BadState { version: *ints.get(1)?, data: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            GetReply::Hit { .. } => 1,
            GetReply::Deleted { .. } => 0,
            GetReply::Missing { .. } => -3,
            GetReply::BadState { .. } => -9,
        }
    }
}
