//! `rl.gcra`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.gcra`: Generic cell rate algorithm: a smooth limiter in one number (leaky bucket as a meter).
///
/// The distance between calls is rounded up to whole microseconds: above ten thousand calls a second up to one hundredth fewer pass.
#[derive(Debug, Clone, Copy)]
pub struct Gcra<'a> {
    /// Part of the keys' names, as in `rl:{subject}:gcra`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 86400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for Gcra<'_> {
    type Reply = GcraReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(57)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.gcra", "subject", self.subject)?, b"}:gcra"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.gcra", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.gcra", "period_ms", self.period_ms, 1, 86400000)?;
        check::int(out, "rl.gcra", "burst", self.burst, 1, 1000000)?;
        check::int(out, "rl.gcra", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Gcra`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GcraReply {
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

impl Reply for GcraReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => GcraReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => GcraReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => GcraReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            GcraReply::Allowed { .. } => 1,
            GcraReply::Rejected { .. } => 0,
            GcraReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            GcraReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
