//! `rlock.acquire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rlock.acquire`: Takes a lock that its holder may enter again; a client's retry never counts twice.
///
/// Each hold has a request of its own, named again at release: a lost reply followed by a retry cannot leave a hold that nobody knows of.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
}

impl Call for Acquire<'_> {
    type Reply = AcquireReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(66)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("rlock.acquire", "resource", self.resource)?, b"}"]);
        out.push_parts(&[b"lock:{", check::part("rlock.acquire", "resource", self.resource)?, b"}:fence"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rlock.acquire", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "rlock.acquire", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::text(out, "rlock.acquire", "request", self.request.as_bytes(), 1, 200)?;
        Ok(())
    }
}

/// What [`Acquire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireReply {
    /// Code 1, ACQUIRED: the first hold.
    Acquired {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 2, REPEATED: this request holds it already.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 3, REENTERED: one hold more.
    Reentered {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 0, HELD: by the holder with this token, for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code -8, FULL: the owner has 100 holds.
    Full {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
}

impl Reply for AcquireReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AcquireReply::Acquired { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            2 => AcquireReply::Repeated { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            3 => AcquireReply::Reentered { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            0 => AcquireReply::Held { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            -8 => AcquireReply::Full { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            -9 => AcquireReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AcquireReply::Acquired { .. } => 1,
            AcquireReply::Repeated { .. } => 2,
            AcquireReply::Reentered { .. } => 3,
            AcquireReply::Held { .. } => 0,
            AcquireReply::Full { .. } => -8,
            AcquireReply::BadState { .. } => -9,
        }
    }
}
