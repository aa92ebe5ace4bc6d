//! `stock.confirm`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(77)
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
