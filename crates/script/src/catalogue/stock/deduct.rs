//! `stock.deduct`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `stock.deduct`: Takes from a stock if there is enough.
///
/// After a lost reply nobody can tell whether it was taken: where that matters, use stock.reserve, which has an id.
#[derive(Debug, Clone, Copy)]
pub struct Deduct<'a> {
    /// Part of the keys' names, as in `stock:{item}`.
    pub item: &'a str,
    /// From 1 to 1000000000.
    pub quantity: u64,
}

impl Call for Deduct<'_> {
    type Reply = DeductReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(78)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stock:{", check::part("stock.deduct", "item", self.item)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "stock.deduct", "quantity", self.quantity, 1, 1000000000)?;
        Ok(())
    }
}

/// What [`Deduct`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeductReply {
    /// Code 1, TAKEN.
    Taken {
        /// The field `left`.
        left: i64,
    },
    /// Code -4, INSUFFICIENT: left is what there is.
    Insufficient {
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: there is no such stock.
    Missing {
        /// The field `left`.
        left: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `left`.
        left: i64,
    },
}

impl Reply for DeductReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DeductReply::Taken { left: *ints.get(1)? },
            -4 => DeductReply::Insufficient { left: *ints.get(1)? },
            -3 => DeductReply::Missing { left: *ints.get(1)? },
            -9 => DeductReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DeductReply::Taken { .. } => 1,
            DeductReply::Insufficient { .. } => -4,
            DeductReply::Missing { .. } => -3,
            DeductReply::BadState { .. } => -9,
        }
    }
}
