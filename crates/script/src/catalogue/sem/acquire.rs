//! `sem.acquire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `sem.acquire`: Semaphore: at most so many holders, each with a lease.
///
/// Not fair: whoever asks when a permit is free gets it.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// Part of the keys' names, as in `sem:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub holder: &'a str,
    /// From 1 to 10000.
    pub permits: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Acquire<'_> {
    type Reply = AcquireReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(72)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"sem:{", check::part("sem.acquire", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "sem.acquire", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "sem.acquire", "permits", self.permits, 1, 10000)?;
        check::int(out, "sem.acquire", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Acquire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireReply {
    /// Code 1, ACQUIRED.
    Acquired {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
    /// Code 2, REPEATED: the holder has it already; the lease starts anew.
    Repeated {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
    /// Code 0, REJECTED: at the latest after retry_ms a lease ends.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
}

impl Reply for AcquireReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AcquireReply::Acquired { remaining: *ints.get(1)?, retry_ms: *ints.get(2)? },
            2 => AcquireReply::Repeated { remaining: *ints.get(1)?, retry_ms: *ints.get(2)? },
            0 => AcquireReply::Rejected { remaining: *ints.get(1)?, retry_ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AcquireReply::Acquired { .. } => 1,
            AcquireReply::Repeated { .. } => 2,
            AcquireReply::Rejected { .. } => 0,
        }
    }
}
