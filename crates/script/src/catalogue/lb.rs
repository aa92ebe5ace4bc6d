//! Calls of the scripts `lb.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `lb.around`: Reads a member's rank and its neighbours.
///
/// packed is, for each neighbour, member and score, each as a netstring: length, ':', bytes, ','.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub board: &'a str,
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub period: &'a str,
    /// 1 to 200 bytes.
    pub member: &'a str,
    /// From 0 to 50.
    pub radius: u64,
}

impl Call for Around<'_> {
    type Reply = AroundReply;

    fn script(&self) -> &Script {
        super::nth(35)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"lb:{",
            check::part("lb.around", "board", self.board)?,
            b"}:",
            check::part("lb.around", "period", self.period)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lb.around", "member", self.member.as_bytes(), 1, 200)?;
        check::int(out, "lb.around", "radius", self.radius, 0, 50)?;
        Ok(())
    }
}

/// What [`Around`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AroundReply {
    /// Code 1, FOUND: packed begins at rank first.
    Found {
        /// The field `rank`.
        rank: i64,
        /// The field `score`.
        score: i64,
        /// The field `first`.
        first: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
    /// Code -3, MISSING: the member is not on the board.
    Missing {
        /// The field `rank`.
        rank: i64,
        /// The field `score`.
        score: i64,
        /// The field `first`.
        first: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
}

impl Reply for AroundReply {
    const INTS: usize = 4;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AroundReply::Found {
                rank: *ints.get(1)?,
                score: *ints.get(2)?,
                first: *ints.get(3)?,
                packed: bytes,
            },
            -3 => AroundReply::Missing {
                rank: *ints.get(1)?,
                score: *ints.get(2)?,
                first: *ints.get(3)?,
                packed: bytes,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AroundReply::Found { .. } => 1,
            AroundReply::Missing { .. } => -3,
        }
    }
}

/// `lb.rotate`: Puts a finished board away under another name for a while.
#[derive(Debug, Clone, Copy)]
pub struct Rotate<'a> {
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub board: &'a str,
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub period: &'a str,
    /// From 1000 to 31536000000.
    pub ttl_ms: u64,
}

impl Call for Rotate<'_> {
    type Reply = RotateReply;

    fn script(&self) -> &Script {
        super::nth(36)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"lb:{",
            check::part("lb.rotate", "board", self.board)?,
            b"}:",
            check::part("lb.rotate", "period", self.period)?,
        ]);
        out.push_parts(&[
            b"lb:{",
            check::part("lb.rotate", "board", self.board)?,
            b"}:archive:",
            check::part("lb.rotate", "period", self.period)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "lb.rotate", "ttl_ms", self.ttl_ms, 1000, 31536000000)?;
        Ok(())
    }
}

/// What [`Rotate`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RotateReply {
    /// Code 1, ROTATED.
    Rotated {
        /// The field `members`.
        members: i64,
    },
    /// Code 2, REPEATED: the archive is there and the board is gone.
    Repeated {
        /// The field `members`.
        members: i64,
    },
    /// Code 0, EMPTY: there is no board.
    Empty {
        /// The field `members`.
        members: i64,
    },
    /// Code -2, CONFLICT: both are there.
    Conflict {
        /// The field `members`.
        members: i64,
    },
}

impl Reply for RotateReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RotateReply::Rotated { members: *ints.get(1)? },
            2 => RotateReply::Repeated { members: *ints.get(1)? },
            0 => RotateReply::Empty { members: *ints.get(1)? },
            -2 => RotateReply::Conflict { members: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RotateReply::Rotated { .. } => 1,
            RotateReply::Repeated { .. } => 2,
            RotateReply::Empty { .. } => 0,
            RotateReply::Conflict { .. } => -2,
        }
    }
}

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
        super::nth(37)
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

/// `lb.trim`: Removes the lowest of a board, a few at a time.
#[derive(Debug, Clone, Copy)]
pub struct Trim<'a> {
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub board: &'a str,
    /// Part of the keys' names, as in `lb:{board}:<period>`.
    pub period: &'a str,
    /// From 1 to 10000000.
    pub keep: u64,
    /// From 1 to 1000.
    pub batch: u64,
}

impl Call for Trim<'_> {
    type Reply = TrimReply;

    fn script(&self) -> &Script {
        super::nth(38)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"lb:{",
            check::part("lb.trim", "board", self.board)?,
            b"}:",
            check::part("lb.trim", "period", self.period)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "lb.trim", "keep", self.keep, 1, 10000000)?;
        check::int(out, "lb.trim", "batch", self.batch, 1, 1000)?;
        Ok(())
    }
}

/// What [`Trim`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrimReply {
    /// Code 1, DONE.
    Done {
        /// The field `removed`.
        removed: i64,
        /// The field `left`.
        left: i64,
    },
}

impl Reply for TrimReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => TrimReply::Done { removed: *ints.get(1)?, left: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            TrimReply::Done { .. } => 1,
        }
    }
}
