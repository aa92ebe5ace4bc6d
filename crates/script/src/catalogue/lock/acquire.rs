//! `lock.acquire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `lock.acquire`: Takes a lock for a lease, with a fencing token that grows with every new holder.
///
/// A process that pauses longer than its lease no longer holds the lock and does not know it: hand the token to the resource and let fence.check refuse older ones.
///
/// A failover may lose the last writes, the fence counter among them. WAIT narrows that window, nothing closes it.
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
        crate::catalogue::nth(41)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.acquire", "resource", self.resource)?, b"}"]);
        out.push_parts(&[b"lock:{", check::part("lock.acquire", "resource", self.resource)?, b"}:fence"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.acquire", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.acquire", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::text(out, "lock.acquire", "request", self.request.as_bytes(), 1, 200)?;
        Ok(())
    }
}

/// What [`Acquire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireReply {
    /// Code 1, ACQUIRED: the lock is yours for ms; its token is greater than every token before.
    Acquired {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 2, REPEATED: this request has it already; the lease starts anew.
    Repeated {
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
            0 => AcquireReply::Held { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            -9 => AcquireReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AcquireReply::Acquired { .. } => 1,
            AcquireReply::Repeated { .. } => 2,
            AcquireReply::Held { .. } => 0,
            AcquireReply::BadState { .. } => -9,
        }
    }
}
