//! `stock.reserve`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(81)
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
