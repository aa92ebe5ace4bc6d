//! `account.credit`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `account.credit`: Adds to an account, once per transaction id.
///
/// A missing account begins at 0.
#[derive(Debug, Clone, Copy)]
pub struct Credit<'a> {
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

impl Call for Credit<'_> {
    type Reply = CreditReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(0)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"account:{",
            check::part("account.credit", "account", self.account)?,
            b"}:balance",
        ]);
        out.push_parts(&[b"account:{", check::part("account.credit", "account", self.account)?, b"}:seen"]);
        out.push_parts(&[
            b"account:{",
            check::part("account.credit", "account", self.account)?,
            b"}:journal",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "account.credit", "amount", self.amount, 1, 9007199254740991)?;
        check::text(out, "account.credit", "txid", self.txid.as_bytes(), 1, 100)?;
        check::int(out, "account.credit", "keep_ms", self.keep_ms, 1000, 2678400000)?;
        check::int(out, "account.credit", "journal_max", self.journal_max, 1, 10000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Credit`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreditReply {
    /// Code 1, CREDITED.
    Credited {
        /// The field `balance`.
        balance: i64,
    },
    /// Code 2, REPEATED: this id was booked within keep_ms.
    Repeated {
        /// The field `balance`.
        balance: i64,
    },
    /// Code -8, FULL: the balance would pass 2^53 - 1.
    Full {
        /// The field `balance`.
        balance: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `balance`.
        balance: i64,
    },
}

impl Reply for CreditReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => CreditReply::Credited { balance: *ints.get(1)? },
            2 => CreditReply::Repeated { balance: *ints.get(1)? },
            -8 => CreditReply::Full { balance: *ints.get(1)? },
            -9 => CreditReply::BadState { balance: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            CreditReply::Credited { .. } => 1,
            CreditReply::Repeated { .. } => 2,
            CreditReply::Full { .. } => -8,
            CreditReply::BadState { .. } => -9,
        }
    }
}
