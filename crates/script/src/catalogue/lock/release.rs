//! `lock.release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `lock.release`: Gives a lock back, if it is still the caller's.
///
/// GONE is not always an error: the work may just have taken longer than the lease. Whether that did harm, only the fencing token at the resource decides.
///
/// The remembered answer lives in the lock's own key: it is lost when a new holder's shorter lease ends first.
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
        crate::catalogue::nth(45)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.release", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.release", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.release", "token", self.token, 1, 9007199254740991)?;
        check::text(out, "lock.release", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "lock.release", "keep_ms", self.keep_ms, 1000, 86400000)?;
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED: it was held for ms; the same answer again for the same request within keep_ms.
    Released {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, GONE: nobody holds it: the lease ran out before.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -6, FENCED: another holder has it, with this token, for ms more.
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

impl Reply for ReleaseReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { token: *ints.get(1)?, ms: *ints.get(2)? },
            0 => ReleaseReply::Gone { token: *ints.get(1)?, ms: *ints.get(2)? },
            -6 => ReleaseReply::Fenced { token: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => ReleaseReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Gone { .. } => 0,
            ReleaseReply::Fenced { .. } => -6,
            ReleaseReply::BadState { .. } => -9,
        }
    }
}
