//! `conc.acquire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `conc.acquire`: Concurrency limit: at most so many at the same time, weighed by cost.
///
/// A holder that dies gives its permits back when its lease ends, one that works longer than its lease has to renew.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// Part of the keys' names, as in `conc:{subject}`.
    pub subject: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub holder: &'a str,
    /// From 1 to 10000.
    pub permits: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// From 1 to 100; usually 1.
    pub cost: u64,
}

impl Call for Acquire<'_> {
    type Reply = AcquireReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(13)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"conc:{", check::part("conc.acquire", "subject", self.subject)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "conc.acquire", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "conc.acquire", "permits", self.permits, 1, 10000)?;
        check::int(out, "conc.acquire", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::int(out, "conc.acquire", "cost", self.cost, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Acquire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireReply {
    /// Code 1, ACQUIRED: for reset_ms.
    Acquired {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 2, REPEATED: the holder has its permits already; the lease starts anew.
    Repeated {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED: at the latest then a lease ends.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for AcquireReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AcquireReply::Acquired {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            2 => AcquireReply::Repeated {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => AcquireReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
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

    fn http(&self) -> Option<Http> {
        match self {
            AcquireReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
