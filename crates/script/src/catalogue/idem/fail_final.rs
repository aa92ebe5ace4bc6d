//! `idem.fail_final`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `idem.fail_final`: Ends an idempotent request with an error, for good.
#[derive(Debug, Clone, Copy)]
pub struct FailFinal<'a> {
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

impl Call for FailFinal<'_> {
    type Reply = FailFinalReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(29)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.fail_final", "scope", self.scope)?,
            b"}:",
            check::part("idem.fail_final", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.fail_final", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.fail_final", "owner", self.owner.as_bytes(), 1, 200)?;
        check::text(out, "idem.fail_final", "result", self.result, 0, 262144)?;
        check::int(out, "idem.fail_final", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`FailFinal`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailFinalReply {
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

impl Reply for FailFinalReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => FailFinalReply::Stored { attempt: *ints.get(1)? },
            2 => FailFinalReply::Repeated { attempt: *ints.get(1)? },
            -1 => FailFinalReply::Mismatch { attempt: *ints.get(1)? },
            -2 => FailFinalReply::Conflict { attempt: *ints.get(1)? },
            -3 => FailFinalReply::Missing { attempt: *ints.get(1)? },
            -7 => FailFinalReply::Lost { attempt: *ints.get(1)? },
            -9 => FailFinalReply::BadState { attempt: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            FailFinalReply::Stored { .. } => 1,
            FailFinalReply::Repeated { .. } => 2,
            FailFinalReply::Mismatch { .. } => -1,
            FailFinalReply::Conflict { .. } => -2,
            FailFinalReply::Missing { .. } => -3,
            FailFinalReply::Lost { .. } => -7,
            FailFinalReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            FailFinalReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
