//! `rwlock.read`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rwlock.read`: Takes a shared lock: many readers, no writer.
///
/// A reader whose lease ran out no longer keeps writers away, whether it knows it or not.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub holder: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Read<'_> {
    type Reply = ReadReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(69)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:r"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:fence"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:want"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.read", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.read", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Read`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadReply {
    /// Code 1, ACQUIRED: one reader more; token is that of the last writer.
    Acquired {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code 2, REPEATED: this holder reads already; its lease starts anew.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code 0, HELD: kind 1: a writer holds it, 3: a writer waits; for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code -8, FULL: 10000 readers.
    Full {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
}

impl Reply for ReadReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReadReply::Acquired {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            2 => ReadReply::Repeated {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            0 => ReadReply::Held {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            -8 => ReadReply::Full {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            -9 => ReadReply::BadState {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReadReply::Acquired { .. } => 1,
            ReadReply::Repeated { .. } => 2,
            ReadReply::Held { .. } => 0,
            ReadReply::Full { .. } => -8,
            ReadReply::BadState { .. } => -9,
        }
    }
}
