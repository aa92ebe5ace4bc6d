//! `rl.sliding_log`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.sliding_log`: Sliding window, exact: remembers every admitted request.
///
/// Takes memory for every admitted request of the window: for large limits use rl.sliding_counter or rl.gcra.
#[derive(Debug, Clone, Copy)]
pub struct SlidingLog<'a> {
    /// Part of the keys' names, as in `rl:{subject}:sliding_log`.
    pub subject: &'a str,
    /// From 1 to 10000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// From 1 to 100; usually 1.
    pub cost: u64,
}

impl Call for SlidingLog<'_> {
    type Reply = SlidingLogReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(64)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.sliding_log", "subject", self.subject)?, b"}:sliding_log"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.sliding_log", "limit", self.limit, 1, 10000)?;
        check::int(out, "rl.sliding_log", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::text(out, "rl.sliding_log", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "rl.sliding_log", "cost", self.cost, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`SlidingLog`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlidingLogReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 2, REPEATED: this request was admitted before and is counted once.
    Repeated {
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

impl Reply for SlidingLogReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SlidingLogReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            2 => SlidingLogReply::Repeated {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => SlidingLogReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => SlidingLogReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SlidingLogReply::Allowed { .. } => 1,
            SlidingLogReply::Repeated { .. } => 2,
            SlidingLogReply::Rejected { .. } => 0,
            SlidingLogReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            SlidingLogReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
