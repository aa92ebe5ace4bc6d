//! `stock.deduct_multi`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// One of the stocks of [`DeductMulti`].
#[derive(Debug, Clone, Copy)]
pub struct DeductMultiItem<'a> {
    /// Part of the key's name: `stock:{group}:<item>`.
    pub item: &'a str,
    /// From 1 to 1000000000.
    pub quantity: u64,
}

/// `stock.deduct_multi`: Takes from several stocks, all or none.
///
/// All stocks share the hash tag of their group. Items of different groups are on different nodes: reserve each and confirm or cancel all.
#[derive(Debug, Clone, Copy)]
pub struct DeductMulti<'a> {
    /// Part of the keys' names, as in `stock:{group}:<item>`.
    pub group: &'a str,
    /// The stocks.
    pub items: &'a [DeductMultiItem<'a>],
}

impl Call for DeductMulti<'_> {
    type Reply = DeductMultiReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(79)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        check::count("stock.deduct_multi", "items", self.items.len(), 50)?;
        for item in self.items {
            out.push_parts(&[
                b"stock:{",
                check::part("stock.deduct_multi", "group", self.group)?,
                b"}:",
                check::part("stock.deduct_multi", "item", item.item)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        for item in self.items {
            check::int(out, "stock.deduct_multi", "quantity", item.quantity, 1, 1000000000)?;
        }
        Ok(())
    }
}

/// What [`DeductMulti`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeductMultiReply {
    /// Code 1, TAKEN: index is the number of stocks.
    Taken {
        /// The field `index`.
        index: i64,
        /// The field `left`.
        left: i64,
    },
    /// Code -4, INSUFFICIENT: the stock at index has only left.
    Insufficient {
        /// The field `index`.
        index: i64,
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: the stock at index does not exist.
    Missing {
        /// The field `index`.
        index: i64,
        /// The field `left`.
        left: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `index`.
        index: i64,
        /// The field `left`.
        left: i64,
    },
}

impl Reply for DeductMultiReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DeductMultiReply::Taken { index: *ints.get(1)?, left: *ints.get(2)? },
            -4 => DeductMultiReply::Insufficient { index: *ints.get(1)?, left: *ints.get(2)? },
            -3 => DeductMultiReply::Missing { index: *ints.get(1)?, left: *ints.get(2)? },
            -9 => DeductMultiReply::BadState { index: *ints.get(1)?, left: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DeductMultiReply::Taken { .. } => 1,
            DeductMultiReply::Insufficient { .. } => -4,
            DeductMultiReply::Missing { .. } => -3,
            DeductMultiReply::BadState { .. } => -9,
        }
    }
}
