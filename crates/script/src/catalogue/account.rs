//! Calls of the scripts `account.…`.

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
        super::nth(0)
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
        super::nth(1)
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
        super::nth(2)
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
