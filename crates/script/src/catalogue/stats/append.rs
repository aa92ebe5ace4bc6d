//! `stats.append`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `stats.append`: Adds to a total and keeps the newest entries of its journal.
///
/// Amounts are whole numbers of the smallest unit: INCRBYFLOAT cannot add 0.1 ten times to 1. Entries are at|id|amount, newest first.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Part of the keys' names, as in `stats:{name}:total`.
    pub name: &'a str,
    /// From -1000000000000 to 1000000000000.
    pub amount: i64,
    /// From 0 to 9007199254740991.
    pub at_ms: u64,
    /// 1 to 100 bytes.
    pub id: &'a str,
    /// From 1 to 10000.
    pub cap: u64,
    /// From 1000 to 31536000000.
    pub ttl_ms: u64,
}

impl Call for Append<'_> {
    type Reply = AppendReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(75)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"stats:{", check::part("stats.append", "name", self.name)?, b"}:total"]);
        out.push_parts(&[b"stats:{", check::part("stats.append", "name", self.name)?, b"}:journal"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::sint(out, "stats.append", "amount", self.amount, -1000000000000, 1000000000000)?;
        check::int(out, "stats.append", "at_ms", self.at_ms, 0, 9007199254740991)?;
        check::text(out, "stats.append", "id", self.id.as_bytes(), 1, 100)?;
        check::int(out, "stats.append", "cap", self.cap, 1, 10000)?;
        check::int(out, "stats.append", "ttl_ms", self.ttl_ms, 1000, 31536000000)?;
        Ok(())
    }
}

/// What [`Append`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendReply {
    /// Code 1, ADDED.
    Added {
        /// The field `total`.
        total: i64,
        /// The field `length`.
        length: i64,
    },
    /// Code -8, FULL: the total would pass 2^53 - 1.
    Full {
        /// The field `total`.
        total: i64,
        /// The field `length`.
        length: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `total`.
        total: i64,
        /// The field `length`.
        length: i64,
    },
}

impl Reply for AppendReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AppendReply::Added { total: *ints.get(1)?, length: *ints.get(2)? },
            -8 => AppendReply::Full { total: *ints.get(1)?, length: *ints.get(2)? },
            -9 => AppendReply::BadState { total: *ints.get(1)?, length: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AppendReply::Added { .. } => 1,
            AppendReply::Full { .. } => -8,
            AppendReply::BadState { .. } => -9,
        }
    }
}
