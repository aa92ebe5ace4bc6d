//! `lb.around`.

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
        crate::catalogue::nth(35)
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
