//! `rlock.release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rlock.release`: Ends one hold of a re-entrant lock; the last one frees it.
///
/// The request is the one that the hold was acquired with.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// From 1000 to 86400000.
    pub keep_ms: u64,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(67)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("rlock.release", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rlock.release", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "rlock.release", "token", self.token, 1, 9007199254740991)?;
        check::text(out, "rlock.release", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "rlock.release", "keep_ms", self.keep_ms, 1000, 86400000)?;
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED: holds are left; 0 means that the lock is free.
    Released {
        /// The field `token`.
        token: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 2, REPEATED: this hold had ended already.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 0, GONE: nobody holds it.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code -6, FENCED: another holder has it, with this token.
    Fenced {
        /// The field `token`.
        token: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `holds`.
        holds: i64,
    },
}

impl Reply for ReleaseReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { token: *ints.get(1)?, holds: *ints.get(2)? },
            2 => ReleaseReply::Repeated { token: *ints.get(1)?, holds: *ints.get(2)? },
            0 => ReleaseReply::Gone { token: *ints.get(1)?, holds: *ints.get(2)? },
            -6 => ReleaseReply::Fenced { token: *ints.get(1)?, holds: *ints.get(2)? },
            -9 => ReleaseReply::BadState { token: *ints.get(1)?, holds: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Repeated { .. } => 2,
            ReleaseReply::Gone { .. } => 0,
            ReleaseReply::Fenced { .. } => -6,
            ReleaseReply::BadState { .. } => -9,
        }
    }
}
