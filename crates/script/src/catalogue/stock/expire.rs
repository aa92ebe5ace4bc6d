//! `stock.expire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `stock.expire`: Takes back reservations whose lease has ended, a few at a time.
#[derive(Debug, Clone, Copy)]
pub struct Expire<'a> {
    /// Part of the keys' names, as in `stock:{item}`.
    pub item: &'a str,
    /// From 1 to 100.
    pub batch: u64,
    /// From 1000 to 2678400000.
    pub keep_ms: u64,
}

impl Call for Expire<'_> {
    type Reply = ExpireReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(80)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stock:{", check::part("stock.expire", "item", self.item)?, b"}"]);
        out.push_parts(&[b"stock:{", check::part("stock.expire", "item", self.item)?, b"}:reservations"]);
        out.push_parts(&[b"stock:{", check::part("stock.expire", "item", self.item)?, b"}:amounts"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "stock.expire", "batch", self.batch, 1, 100)?;
        check::int(out, "stock.expire", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Expire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpireReply {
    /// Code 1, DONE: more is 1 when there is work left.
    Done {
        /// The field `expired`.
        expired: i64,
        /// The field `forgotten`.
        forgotten: i64,
        /// The field `more`.
        more: i64,
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: there is no such stock.
    Missing {
        /// The field `expired`.
        expired: i64,
        /// The field `forgotten`.
        forgotten: i64,
        /// The field `more`.
        more: i64,
        /// The field `left`.
        left: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `expired`.
        expired: i64,
        /// The field `forgotten`.
        forgotten: i64,
        /// The field `more`.
        more: i64,
        /// The field `left`.
        left: i64,
    },
}

impl Reply for ExpireReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ExpireReply::Done {
                expired: *ints.get(1)?,
                forgotten: *ints.get(2)?,
                more: *ints.get(3)?,
                left: *ints.get(4)?,
            },
            -3 => ExpireReply::Missing {
                expired: *ints.get(1)?,
                forgotten: *ints.get(2)?,
                more: *ints.get(3)?,
                left: *ints.get(4)?,
            },
            -9 => ExpireReply::BadState {
                expired: *ints.get(1)?,
                forgotten: *ints.get(2)?,
                more: *ints.get(3)?,
                left: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ExpireReply::Done { .. } => 1,
            ExpireReply::Missing { .. } => -3,
            ExpireReply::BadState { .. } => -9,
        }
    }
}
