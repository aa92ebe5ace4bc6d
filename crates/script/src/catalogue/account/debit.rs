//! `account.debit`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `account.debit`: Takes from an account if its balance allows, once per transaction id.
///
/// Amounts are whole numbers of the smallest unit (cents). The journal is a list of ts|txid|amount|balance, newest first.
#[derive(Debug, Clone, Copy)]
pub struct Debit<'a> {
    /// Part of the keys' names, as in `account:{account}:balance`.
    pub account: &'a str,
    /// From 1 to 9007199254740991.
    pub amount: u64,
    /// 1 to 100 bytes; names the request, so that the same again has no second effect.
    pub txid: &'a str,
    /// From 1000 to 2678400000.
    pub keep_ms: u64,
    /// From 1 to 10000.
    pub journal_max: u64,
}

impl Call for Debit<'_> {
    type Reply = DebitReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(1)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"account:{", check::part("account.debit", "account", self.account)?, b"}:balance"]);
        out.push_parts(&[b"account:{", check::part("account.debit", "account", self.account)?, b"}:seen"]);
        out.push_parts(&[b"account:{", check::part("account.debit", "account", self.account)?, b"}:journal"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "account.debit", "amount", self.amount, 1, 9007199254740991)?;
        check::text(out, "account.debit", "txid", self.txid.as_bytes(), 1, 100)?;
        check::int(out, "account.debit", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        check::int(out, "account.debit", "journal_max", self.journal_max, 1, 10000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Debit`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebitReply {
    /// Code 1, DEBITED.
    Debited {
        /// The field `balance`.
        balance: i64,
    },
    /// Code 2, REPEATED: this id was booked within keep_ms.
    Repeated {
        /// The field `balance`.
        balance: i64,
    },
    /// Code -4, INSUFFICIENT.
    Insufficient {
        /// The field `balance`.
        balance: i64,
    },
    /// Code -3, MISSING: there is no such account.
    Missing {
        /// The field `balance`.
        balance: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `balance`.
        balance: i64,
    },
}

impl Reply for DebitReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DebitReply::Debited { balance: *ints.get(1)? },
            2 => DebitReply::Repeated { balance: *ints.get(1)? },
            -4 => DebitReply::Insufficient { balance: *ints.get(1)? },
            -3 => DebitReply::Missing { balance: *ints.get(1)? },
            -9 => DebitReply::BadState { balance: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DebitReply::Debited { .. } => 1,
            DebitReply::Repeated { .. } => 2,
            DebitReply::Insufficient { .. } => -4,
            DebitReply::Missing { .. } => -3,
            DebitReply::BadState { .. } => -9,
        }
    }
}
