//! `rl.refund`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument kind of [`Refund`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundKind {
    /// `fixed_window`
    FixedWindow,
    /// `sliding_counter`
    SlidingCounter,
    /// `token_bucket`
    TokenBucket,
    /// `gcra`
    Gcra,
}

impl RefundKind {
    fn word(self) -> &'static str {
        match self {
            RefundKind::FixedWindow => "fixed_window",
            RefundKind::SlidingCounter => "sliding_counter",
            RefundKind::TokenBucket => "token_bucket",
            RefundKind::Gcra => "gcra",
        }
    }
}

/// `rl.refund`: Gives back what a call took, never more than the limiter holds.
///
/// The arguments are those of rl.peek. A sliding log gives a request back by ZREM of its members.
#[derive(Debug, Clone, Copy)]
pub struct Refund<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Which way.
    pub kind: RefundKind,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 2678400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
    /// From 1 to 1000000.
    pub amount: u64,
}

impl Call for Refund<'_> {
    type Reply = RefundReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(61)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.refund", "subject", self.subject)?,
            b"}:",
            self.kind.word().as_bytes(),
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        out.push(self.kind.word().as_bytes());
        check::int(out, "rl.refund", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.refund", "period_ms", self.period_ms, 1, 2678400000)?;
        check::int(out, "rl.refund", "burst", self.burst, 1, 1000000)?;
        check::int(out, "rl.refund", "amount", self.amount, 1, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Refund`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundReply {
    /// Code 1, REFUNDED: so much of the amount; the rest was given back by time already.
    Refunded {
        /// The field `refunded`.
        refunded: i64,
    },
    /// Code 0, NOTHING: the limiter is full.
    Nothing {
        /// The field `refunded`.
        refunded: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `refunded`.
        refunded: i64,
    },
}

impl Reply for RefundReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RefundReply::Refunded { refunded: *ints.get(1)? },
            0 => RefundReply::Nothing { refunded: *ints.get(1)? },
            -9 => RefundReply::BadState { refunded: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RefundReply::Refunded { .. } => 1,
            RefundReply::Nothing { .. } => 0,
            RefundReply::BadState { .. } => -9,
        }
    }
}
