//! `sem.release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `sem.release`: Gives a semaphore's permit back.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `sem:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(73)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"sem:{", check::part("sem.release", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "sem.release", "holder", self.holder.as_bytes(), 1, 200)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED.
    Released,
    /// Code 0, GONE: the holder had none any more.
    Gone,
}

impl Reply for ReleaseReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released,
            0 => ReleaseReply::Gone,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released => 1,
            ReleaseReply::Gone => 0,
        }
    }
}
