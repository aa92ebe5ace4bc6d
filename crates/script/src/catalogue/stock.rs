//! Calls of the scripts `stock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `stock.cancel`: Gives a reservation back to the stock.
#[derive(Debug, Clone, Copy)]
pub struct Cancel<'a> {
    /// Part of the keys' names, as in `stock:{item}`.
    pub item: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// From 1000 to 2678400000.
    pub keep_ms: u64,
}

impl Call for Cancel<'_> {
    type Reply = CancelReply;

    fn script(&self) -> &Script {
        super::nth(76)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stock:{", check::part("stock.cancel", "item", self.item)?, b"}"]);
        out.push_parts(&[b"stock:{", check::part("stock.cancel", "item", self.item)?, b"}:reservations"]);
        out.push_parts(&[b"stock:{", check::part("stock.cancel", "item", self.item)?, b"}:amounts"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "stock.cancel", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "stock.cancel", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Cancel`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelReply {
    /// Code 1, CANCELLED.
    Cancelled {
        /// The field `left`.
        left: i64,
    },
    /// Code 2, REPEATED: it was cancelled before.
    Repeated {
        /// The field `left`.
        left: i64,
    },
    /// Code -2, CONFLICT: it was confirmed, or expired.
    Conflict {
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: there is no such reservation, or its end was forgotten after keep_ms.
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

impl Reply for CancelReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => CancelReply::Cancelled { left: *ints.get(1)? },
            2 => CancelReply::Repeated { left: *ints.get(1)? },
            -2 => CancelReply::Conflict { left: *ints.get(1)? },
            -3 => CancelReply::Missing { left: *ints.get(1)? },
            -9 => CancelReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            CancelReply::Cancelled { .. } => 1,
            CancelReply::Repeated { .. } => 2,
            CancelReply::Conflict { .. } => -2,
            CancelReply::Missing { .. } => -3,
            CancelReply::BadState { .. } => -9,
        }
    }
}

/// `stock.confirm`: Makes a reservation final: what it took is sold.
#[derive(Debug, Clone, Copy)]
pub struct Confirm<'a> {
    /// Part of the keys' names, as in `stock:{item}`.
    pub item: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// From 1000 to 2678400000.
    pub keep_ms: u64,
}

impl Call for Confirm<'_> {
    type Reply = ConfirmReply;

    fn script(&self) -> &Script {
        super::nth(77)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stock:{", check::part("stock.confirm", "item", self.item)?, b"}"]);
        out.push_parts(&[b"stock:{", check::part("stock.confirm", "item", self.item)?, b"}:reservations"]);
        out.push_parts(&[b"stock:{", check::part("stock.confirm", "item", self.item)?, b"}:amounts"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "stock.confirm", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "stock.confirm", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Confirm`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmReply {
    /// Code 1, CONFIRMED.
    Confirmed {
        /// The field `left`.
        left: i64,
    },
    /// Code 2, REPEATED: it was confirmed before.
    Repeated {
        /// The field `left`.
        left: i64,
    },
    /// Code -2, CONFLICT: it was cancelled, or expired.
    Conflict {
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: there is no such reservation, or its end was forgotten after keep_ms.
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

impl Reply for ConfirmReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ConfirmReply::Confirmed { left: *ints.get(1)? },
            2 => ConfirmReply::Repeated { left: *ints.get(1)? },
            -2 => ConfirmReply::Conflict { left: *ints.get(1)? },
            -3 => ConfirmReply::Missing { left: *ints.get(1)? },
            -9 => ConfirmReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ConfirmReply::Confirmed { .. } => 1,
            ConfirmReply::Repeated { .. } => 2,
            ConfirmReply::Conflict { .. } => -2,
            ConfirmReply::Missing { .. } => -3,
            ConfirmReply::BadState { .. } => -9,
        }
    }
}

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
        super::nth(78)
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
        super::nth(79)
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
        super::nth(80)
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

/// `stock.reserve`: Takes from a stock for a while, under an id.
///
/// stock + everything reserved + everything confirmed stays the same. A reservation past its lease is still held until stock.expire takes it back: call that now and then.
#[derive(Debug, Clone, Copy)]
pub struct Reserve<'a> {
    /// Part of the keys' names, as in `stock:{item}`.
    pub item: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// From 1 to 1000000000.
    pub quantity: u64,
    /// From 1000 to 2678400000.
    pub lease_ms: u64,
}

impl Call for Reserve<'_> {
    type Reply = ReserveReply;

    fn script(&self) -> &Script {
        super::nth(81)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stock:{", check::part("stock.reserve", "item", self.item)?, b"}"]);
        out.push_parts(&[b"stock:{", check::part("stock.reserve", "item", self.item)?, b"}:reservations"]);
        out.push_parts(&[b"stock:{", check::part("stock.reserve", "item", self.item)?, b"}:amounts"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "stock.reserve", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "stock.reserve", "quantity", self.quantity, 1, 1000000000)?;
        check::int(out, "stock.reserve", "lease_ms", self.lease_ms, 1000, 2678400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Reserve`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReserveReply {
    /// Code 1, RESERVED.
    Reserved {
        /// The field `left`.
        left: i64,
    },
    /// Code 2, REPEATED: this id is reserved already.
    Repeated {
        /// The field `left`.
        left: i64,
    },
    /// Code -2, CONFLICT: this id has ended, or was reserved with another quantity.
    Conflict {
        /// The field `left`.
        left: i64,
    },
    /// Code -4, INSUFFICIENT.
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

impl Reply for ReserveReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReserveReply::Reserved { left: *ints.get(1)? },
            2 => ReserveReply::Repeated { left: *ints.get(1)? },
            -2 => ReserveReply::Conflict { left: *ints.get(1)? },
            -4 => ReserveReply::Insufficient { left: *ints.get(1)? },
            -3 => ReserveReply::Missing { left: *ints.get(1)? },
            -9 => ReserveReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReserveReply::Reserved { .. } => 1,
            ReserveReply::Repeated { .. } => 2,
            ReserveReply::Conflict { .. } => -2,
            ReserveReply::Insufficient { .. } => -4,
            ReserveReply::Missing { .. } => -3,
            ReserveReply::BadState { .. } => -9,
        }
    }
}
