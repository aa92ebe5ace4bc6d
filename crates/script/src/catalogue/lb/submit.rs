//! `lb.submit`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument mode of [`Submit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmitMode {
    /// `best`
    Best,
    /// `sum`
    Sum,
    /// `last`
    Last,
}

impl SubmitMode {
    fn word(self) -> &'static str {
        match self {
            SubmitMode::Best => "best",
            SubmitMode::Sum => "sum",
            SubmitMode::Last => "last",
        }
    }
}

/// `lb.submit`: Records a score on a leaderboard; of equal scores the earlier one leads.
///
/// The low 21 bits of the stored score hold the time: seconds from epoch_s (the period's begin), exact for 24 days, later ones count as equal. Modes best and last may be retried.
#[derive(Debug, Clone, Copy)]
pub struct Submit<'a> {
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub board: &'a str,
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub period: &'a str,
    /// 1 to 200 bytes.
    pub member: &'a str,
    /// From 0 to 4294967295.
    pub score: u64,
    /// Which way.
    pub mode: SubmitMode,
    /// From 0 to 9007199254.
    pub epoch_s: u64,
    /// From 1000 to 31536000000.
    pub ttl_ms: u64,
    /// From 1 to 10000000.
    pub max_members: u64,
}

impl Call for Submit<'_> {
    type Reply = SubmitReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(37)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"lb:{",
            check::part("lb.submit", "board", self.board)?,
            b"}:",
            check::part("lb.submit", "period", self.period)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lb.submit", "member", self.member.as_bytes(), 1, 200)?;
        check::int(out, "lb.submit", "score", self.score, 0, 4294967295)?;
        out.push(self.mode.word().as_bytes());
        check::int(out, "lb.submit", "epoch_s", self.epoch_s, 0, 9007199254)?;
        check::int(out, "lb.submit", "ttl_ms", self.ttl_ms, 1000, 31536000000)?;
        check::int(out, "lb.submit", "max_members", self.max_members, 1, 10000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Submit`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitReply {
    /// Code 1, RECORDED: rank 1 is the best.
    Recorded {
        /// The field `score`.
        score: i64,
        /// The field `rank`.
        rank: i64,
    },
    /// Code 0, UNCHANGED: the member had a better score.
    Unchanged {
        /// The field `score`.
        score: i64,
        /// The field `rank`.
        rank: i64,
    },
    /// Code -8, FULL: the board is full of better scores, or the sum would pass 2^32 - 1.
    Full {
        /// The field `score`.
        score: i64,
        /// The field `rank`.
        rank: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `score`.
        score: i64,
        /// The field `rank`.
        rank: i64,
    },
}

impl Reply for SubmitReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SubmitReply::Recorded { score: *ints.get(1)?, rank: *ints.get(2)? },
            0 => SubmitReply::Unchanged { score: *ints.get(1)?, rank: *ints.get(2)? },
            -8 => SubmitReply::Full { score: *ints.get(1)?, rank: *ints.get(2)? },
            -9 => SubmitReply::BadState { score: *ints.get(1)?, rank: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SubmitReply::Recorded { .. } => 1,
            SubmitReply::Unchanged { .. } => 0,
            SubmitReply::Full { .. } => -8,
            SubmitReply::BadState { .. } => -9,
        }
    }
}
