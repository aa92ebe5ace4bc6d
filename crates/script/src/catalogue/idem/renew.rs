//! `idem.renew`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `idem.renew`: Prolongs the lease of an attempt that works longer.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub scope: &'a str,
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub key: &'a str,
    /// 1 to 256 bytes.
    pub fingerprint: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(32)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.renew", "scope", self.scope)?,
            b"}:",
            check::part("idem.renew", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.renew", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.renew", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "idem.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED.
    Renewed {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -1, MISMATCH: the key was used with another request.
    Mismatch {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -2, CONFLICT: the request has ended.
    Conflict {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -3, MISSING: there is no such request.
    Missing {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -7, LOST: another attempt took it over.
    Lost {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `attempt`.
        attempt: i64,
    },
}

impl Reply for RenewReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RenewReply::Renewed { attempt: *ints.get(1)? },
            -1 => RenewReply::Mismatch { attempt: *ints.get(1)? },
            -2 => RenewReply::Conflict { attempt: *ints.get(1)? },
            -3 => RenewReply::Missing { attempt: *ints.get(1)? },
            -7 => RenewReply::Lost { attempt: *ints.get(1)? },
            -9 => RenewReply::BadState { attempt: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RenewReply::Renewed { .. } => 1,
            RenewReply::Mismatch { .. } => -1,
            RenewReply::Conflict { .. } => -2,
            RenewReply::Missing { .. } => -3,
            RenewReply::Lost { .. } => -7,
            RenewReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            RenewReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
