//! `lb.rotate`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(36)
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
