//! `cache.get_or_lease`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `cache.get_or_lease`: Reads a cached value, or makes one caller fill it while the others wait.
#[derive(Debug, Clone, Copy)]
pub struct GetOrLease<'a> {
    /// Part of the keys' names, as in `cache:{name}`.
    pub name: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub owner: &'a str,
    /// From 1000 to 600000.
    pub lease_ms: u64,
}

impl Call for GetOrLease<'_> {
    type Reply = GetOrLeaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(7)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cache:{", check::part("cache.get_or_lease", "name", self.name)?, b"}"]);
        out.push_parts(&[b"cache:{", check::part("cache.get_or_lease", "name", self.name)?, b"}:lease"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "cache.get_or_lease", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "cache.get_or_lease", "lease_ms", self.lease_ms, 1000, 600000)?;
        Ok(())
    }
}

/// What [`GetOrLease`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GetOrLeaseReply {
    /// Code 1, HIT.
    Hit {
        /// The field `version`.
        version: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code 2, FILL: this caller fills it, within ms, by cache.fill.
    Fill {
        /// The field `version`.
        version: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code 0, WAIT: another caller fills it; ask again, at the latest after ms.
    Wait {
        /// The field `version`.
        version: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `version`.
        version: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `data`.
        data: Vec<u8>,
    },
}

impl Reply for GetOrLeaseReply {
    const INTS: usize = 3;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => GetOrLeaseReply::Hit { version: *ints.get(1)?, ms: *ints.get(2)?, data: bytes },
            2 => GetOrLeaseReply::Fill { version: *ints.get(1)?, ms: *ints.get(2)?, data: bytes },
            0 => GetOrLeaseReply::Wait { version: *ints.get(1)?, ms: *ints.get(2)?, data: bytes },
            -9 => GetOrLeaseReply::BadState { version: *ints.get(1)?, ms: *ints.get(2)?, data: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            GetOrLeaseReply::Hit { .. } => 1,
            GetOrLeaseReply::Fill { .. } => 2,
            GetOrLeaseReply::Wait { .. } => 0,
            GetOrLeaseReply::BadState { .. } => -9,
        }
    }
}
