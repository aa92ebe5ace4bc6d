//! `account.transfer`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `account.transfer`: Moves an amount between two accounts of one group, once per transaction id.
///
/// Both accounts are on one node because they share the group's tag. Between groups, debit and credit with one txid are two steps, not one.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    /// Part of the keys' names, as in `account:{group}:<from>:balance`.
    pub group: &'a str,
    /// Part of the keys' names, as in `account:{group}:<from>:balance`.
    pub from: &'a str,
    /// Part of the keys' names, as in `account:{group}:<to>:balance`.
    pub to: &'a str,
    /// From 1 to 9007199254740991.
    pub amount: u64,
    /// 1 to 100 bytes; names the request, so that the same again has no second effect.
    pub txid: &'a str,
    /// From 1000 to 2678400000.
    pub keep_ms: u64,
    /// From 1 to 10000.
    pub journal_max: u64,
}

impl Call for Transfer<'_> {
    type Reply = TransferReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(2)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"account:{",
            check::part("account.transfer", "group", self.group)?,
            b"}:",
            check::part("account.transfer", "from", self.from)?,
            b":balance",
        ]);
        out.push_parts(&[
            b"account:{",
            check::part("account.transfer", "group", self.group)?,
            b"}:",
            check::part("account.transfer", "to", self.to)?,
            b":balance",
        ]);
        out.push_parts(&[b"account:{", check::part("account.transfer", "group", self.group)?, b"}:seen"]);
        out.push_parts(&[b"account:{", check::part("account.transfer", "group", self.group)?, b"}:journal"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "account.transfer", "amount", self.amount, 1, 9007199254740991)?;
        check::text(out, "account.transfer", "txid", self.txid.as_bytes(), 1, 100)?;
        check::int(out, "account.transfer", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        check::int(out, "account.transfer", "journal_max", self.journal_max, 1, 10000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Transfer`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferReply {
    /// Code 1, MOVED.
    Moved {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
    /// Code 2, REPEATED: this id was booked within keep_ms.
    Repeated {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
    /// Code -4, INSUFFICIENT.
    Insufficient {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
    /// Code -3, MISSING: the source does not exist.
    Missing {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
    /// Code -8, FULL: the target would pass 2^53 - 1.
    Full {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `source`.
        source: i64,
        /// The field `target`.
        target: i64,
    },
}

impl Reply for TransferReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => TransferReply::Moved { source: *ints.get(1)?, target: *ints.get(2)? },
            2 => TransferReply::Repeated { source: *ints.get(1)?, target: *ints.get(2)? },
            -4 => TransferReply::Insufficient { source: *ints.get(1)?, target: *ints.get(2)? },
            -3 => TransferReply::Missing { source: *ints.get(1)?, target: *ints.get(2)? },
            -8 => TransferReply::Full { source: *ints.get(1)?, target: *ints.get(2)? },
            -9 => TransferReply::BadState { source: *ints.get(1)?, target: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            TransferReply::Moved { .. } => 1,
            TransferReply::Repeated { .. } => 2,
            TransferReply::Insufficient { .. } => -4,
            TransferReply::Missing { .. } => -3,
            TransferReply::Full { .. } => -8,
            TransferReply::BadState { .. } => -9,
        }
    }
}
