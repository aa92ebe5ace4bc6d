//! Calls of the scripts `cache.…`.

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
        super::nth(5)
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

/// `cache.get`: Reads a cached value with its version.
#[derive(Debug, Clone, Copy)]
pub struct Get<'a> {
    /// Part of the keys' names, as in `cache:{name}`.
    pub name: &'a str,
}

impl Call for Get<'_> {
    type Reply = GetReply;

    fn script(&self) -> &Script {
        super::nth(6)
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
        super::nth(7)
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
        super::nth(8)
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
