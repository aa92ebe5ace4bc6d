//! `rwlock.release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rwlock.release`: Ends a read or a write hold.
///
/// Give the token of the write hold; for a read hold any token (0).
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 0 to 9007199254740991.
    pub token: u64,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(70)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.release", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.release", "resource", self.resource)?, b"}:r"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.release", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.release", "token", self.token, 0, 9007199254740991)?;
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED: kind 1: a write hold, 2: a read hold.
    Released {
        /// The field `kind`.
        kind: i64,
    },
    /// Code 0, GONE: the holder has none.
    Gone {
        /// The field `kind`.
        kind: i64,
    },
    /// Code -6, FENCED: the holder writes now with another token.
    Fenced {
        /// The field `kind`.
        kind: i64,
    },
}

impl Reply for ReleaseReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { kind: *ints.get(1)? },
            0 => ReleaseReply::Gone { kind: *ints.get(1)? },
            -6 => ReleaseReply::Fenced { kind: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Gone { .. } => 0,
            ReleaseReply::Fenced { .. } => -6,
        }
    }
}
