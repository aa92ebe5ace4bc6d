//! `rl.token_bucket`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.token_bucket`: Token bucket: bursts up to the capacity, refilled at a steady rate.
///
/// Counts in millionths of a token, so nothing is lost by rounding at any rate; a refused call changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct TokenBucket<'a> {
    /// Part of the keys' names, as in `rl:{subject}:token_bucket`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub capacity: u64,
    /// From 1 to 1000000.
    pub refill: u64,
    /// From 1 to 86400000.
    pub per_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for TokenBucket<'_> {
    type Reply = TokenBucketReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(65)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.token_bucket", "subject", self.subject)?,
            b"}:token_bucket",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.token_bucket", "capacity", self.capacity, 1, 1000000)?;
        check::int(out, "rl.token_bucket", "refill", self.refill, 1, 1000000)?;
        check::int(out, "rl.token_bucket", "per_ms", self.per_ms, 1, 86400000)?;
        check::int(out, "rl.token_bucket", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`TokenBucket`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenBucketReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for TokenBucketReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => TokenBucketReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => TokenBucketReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => TokenBucketReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            TokenBucketReply::Allowed { .. } => 1,
            TokenBucketReply::Rejected { .. } => 0,
            TokenBucketReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            TokenBucketReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
