//! `rl.sliding_counter`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.sliding_counter`: Sliding window, approximate: two counters, the older one weighed by its share.
///
/// Takes the calls of the last window as evenly spread. A burst at its end may let up to one limit more through in the window after it; a sliding window of two lengths never sees more than twice the limit.
#[derive(Debug, Clone, Copy)]
pub struct SlidingCounter<'a> {
    /// Part of the keys' names, as in `rl:{subject}:sliding_counter`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for SlidingCounter<'_> {
    type Reply = SlidingCounterReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(63)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.sliding_counter", "subject", self.subject)?,
            b"}:sliding_counter",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.sliding_counter", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.sliding_counter", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::int(out, "rl.sliding_counter", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`SlidingCounter`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlidingCounterReply {
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

impl Reply for SlidingCounterReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SlidingCounterReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => SlidingCounterReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => SlidingCounterReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SlidingCounterReply::Allowed { .. } => 1,
            SlidingCounterReply::Rejected { .. } => 0,
            SlidingCounterReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            SlidingCounterReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
