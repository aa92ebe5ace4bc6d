//! `conc.release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `conc.release`: Gives permits back.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `conc:{subject}`.
    pub subject: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 1 to 100; usually 1.
    pub cost: u64,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(14)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"conc:{", check::part("conc.release", "subject", self.subject)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "conc.release", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "conc.release", "cost", self.cost, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED.
    Released {
        /// The field `released`.
        released: i64,
    },
    /// Code 0, GONE: the holder had none any more.
    Gone {
        /// The field `released`.
        released: i64,
    },
}

impl Reply for ReleaseReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { released: *ints.get(1)? },
            0 => ReleaseReply::Gone { released: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Gone { .. } => 0,
        }
    }
}
