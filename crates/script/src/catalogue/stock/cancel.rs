//! `stock.cancel`.

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
        crate::catalogue::nth(76)
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
