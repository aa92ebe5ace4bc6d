//! `sem.renew`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `sem.renew`: Prolongs a semaphore's permit that is still held.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `sem:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(74)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"sem:{", check::part("sem.renew", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "sem.renew", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "sem.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED.
    Renewed {
        /// The field `ms`.
        ms: i64,
    },
    /// Code -7, LOST: the lease ended before.
    Lost {
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for RenewReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RenewReply::Renewed { ms: *ints.get(1)? },
            -7 => RenewReply::Lost { ms: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RenewReply::Renewed { .. } => 1,
            RenewReply::Lost { .. } => -7,
        }
    }
}
