//! `conc.renew`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `conc.renew`: Prolongs permits that are still held; never revives lost ones.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `conc:{subject}`.
    pub subject: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// From 1 to 100; usually 1.
    pub cost: u64,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(15)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"conc:{", check::part("conc.renew", "subject", self.subject)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "conc.renew", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "conc.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::int(out, "conc.renew", "cost", self.cost, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED: for ms.
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
