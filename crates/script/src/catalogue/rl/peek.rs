//! `rl.peek`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument kind of [`Peek`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeekKind {
    /// `fixed_window`
    FixedWindow,
    /// `sliding_counter`
    SlidingCounter,
    /// `token_bucket`
    TokenBucket,
    /// `gcra`
    Gcra,
}

impl PeekKind {
    fn word(self) -> &'static str {
        match self {
            PeekKind::FixedWindow => "fixed_window",
            PeekKind::SlidingCounter => "sliding_counter",
            PeekKind::TokenBucket => "token_bucket",
            PeekKind::Gcra => "gcra",
        }
    }
}

/// `rl.peek`: Looks at a limiter's state without counting; may run on a replica.
///
/// limit and period_ms are those of the limiter (for a token bucket its refill and per_ms), burst is that of rl.gcra or the capacity of the bucket; the others ignore it.
#[derive(Debug, Clone, Copy)]
pub struct Peek<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Which way.
    pub kind: PeekKind,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 2678400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
}

impl Call for Peek<'_> {
    type Reply = PeekReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(60)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.peek", "subject", self.subject)?,
            b"}:",
            self.kind.word().as_bytes(),
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        out.push(self.kind.word().as_bytes());
        check::int(out, "rl.peek", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.peek", "period_ms", self.period_ms, 1, 2678400000)?;
        check::int(out, "rl.peek", "burst", self.burst, 1, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Peek`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeekReply {
    /// Code 1, ALLOWED: a call of cost 1 would pass.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED: it would not.
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

impl Reply for PeekReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PeekReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => PeekReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => PeekReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PeekReply::Allowed { .. } => 1,
            PeekReply::Rejected { .. } => 0,
            PeekReply::BadState { .. } => -9,
        }
    }
}
