//! `rl.fixed_window`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.fixed_window`: Fixed window: a counter that begins anew when its window ends.
///
/// Around the end of a window twice the limit may pass within one window's length: use rl.sliding_counter where that matters.
///
/// A counter without a time to live (left by another program) gets one; repaired is 1 then. Cost 0 only looks.
#[derive(Debug, Clone, Copy)]
pub struct FixedWindow<'a> {
    /// Part of the keys' names, as in `rl:{subject}:fixed_window`.
    pub subject: &'a str,
    /// From 1 to 1000000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
    /// From 0 to 1; usually 0.
    pub count_refused: u64,
}

impl Call for FixedWindow<'_> {
    type Reply = FixedWindowReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(56)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.fixed_window", "subject", self.subject)?,
            b"}:fixed_window",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.fixed_window", "limit", self.limit, 1, 1000000000)?;
        check::int(out, "rl.fixed_window", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::int(out, "rl.fixed_window", "cost", self.cost, 0, 1000000)?;
        check::int(out, "rl.fixed_window", "count_refused", self.count_refused, 0, 1)?;
        Ok(())
    }
}

/// What [`FixedWindow`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedWindowReply {
    /// Code 1, ALLOWED: remaining more are.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
    /// Code 0, REJECTED: retry_ms is -1 when the cost is above the limit.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
}

impl Reply for FixedWindowReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => FixedWindowReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            0 => FixedWindowReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            -9 => FixedWindowReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            FixedWindowReply::Allowed { .. } => 1,
            FixedWindowReply::Rejected { .. } => 0,
            FixedWindowReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            FixedWindowReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
