//! `lock.renew`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument mode of [`Renew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewMode {
    /// `reset`
    Reset,
    /// `atleast`
    Atleast,
}

impl RenewMode {
    fn word(self) -> &'static str {
        match self {
            RenewMode::Reset => "reset",
            RenewMode::Atleast => "atleast",
        }
    }
}

/// `lock.renew`: Prolongs a lock that is still held; never revives one that ended.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// Which way.
    pub mode: RenewMode,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(46)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.renew", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.renew", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.renew", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "lock.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(self.mode.word().as_bytes());
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED: the lock ends in ms.
    Renewed {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, GONE: nobody holds it.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -6, FENCED: another holder has it, with this token.
    Fenced {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for RenewReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RenewReply::Renewed { token: *ints.get(1)?, ms: *ints.get(2)? },
            0 => RenewReply::Gone { token: *ints.get(1)?, ms: *ints.get(2)? },
            -6 => RenewReply::Fenced { token: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => RenewReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RenewReply::Renewed { .. } => 1,
            RenewReply::Gone { .. } => 0,
            RenewReply::Fenced { .. } => -6,
            RenewReply::BadState { .. } => -9,
        }
    }
}
