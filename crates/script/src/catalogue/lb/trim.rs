//! `lb.trim`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(38)
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
