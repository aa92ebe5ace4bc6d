//! `idem.complete`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `idem.complete`: Stores the result of an idempotent request.
#[derive(Debug, Clone, Copy)]
pub struct Complete<'a> {
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub scope: &'a str,
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub key: &'a str,
    /// 1 to 256 bytes.
    pub fingerprint: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// 0 to 262144 bytes.
    pub result: &'a [u8],
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for Complete<'_> {
    type Reply = CompleteReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(28)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.complete", "scope", self.scope)?,
            b"}:",
            check::part("idem.complete", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.complete", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.complete", "owner", self.owner.as_bytes(), 1, 200)?;
        check::text(out, "idem.complete", "result", self.result, 0, 262144)?;
        check::int(out, "idem.complete", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`Complete`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompleteReply {
    /// Code 1, STORED.
    Stored {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code 2, REPEATED: the same owner did it before.
    Repeated {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -1, MISMATCH: the key was used with another request.
    Mismatch {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -2, CONFLICT: the request has ended otherwise.
    Conflict {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -3, MISSING: there is no such request: its time to live ran out.
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

impl Reply for CompleteReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => CompleteReply::Stored { attempt: *ints.get(1)? },
            2 => CompleteReply::Repeated { attempt: *ints.get(1)? },
            -1 => CompleteReply::Mismatch { attempt: *ints.get(1)? },
            -2 => CompleteReply::Conflict { attempt: *ints.get(1)? },
            -3 => CompleteReply::Missing { attempt: *ints.get(1)? },
            -7 => CompleteReply::Lost { attempt: *ints.get(1)? },
            -9 => CompleteReply::BadState { attempt: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            CompleteReply::Stored { .. } => 1,
            CompleteReply::Repeated { .. } => 2,
            CompleteReply::Mismatch { .. } => -1,
            CompleteReply::Conflict { .. } => -2,
            CompleteReply::Missing { .. } => -3,
            CompleteReply::Lost { .. } => -7,
            CompleteReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            CompleteReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
