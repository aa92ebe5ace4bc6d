//! `idem.begin`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `idem.begin`: Opens, takes over or replays an idempotent request.
///
/// Redis knows which attempt may answer, not whether its effects elsewhere happened: a take-over may run them a second time unless they are idempotent themselves.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a> {
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub scope: &'a str,
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub key: &'a str,
    /// 1 to 256 bytes.
    pub fingerprint: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for Begin<'_> {
    type Reply = BeginReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(27)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.begin", "scope", self.scope)?,
            b"}:",
            check::part("idem.begin", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.begin", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.begin", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "idem.begin", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::int(out, "idem.begin", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Begin`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginReply {
    /// Code 1, CREATED: run the request; the lease is ms.
    Created {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 3, TAKEN_OVER: run it: the attempt before failed or its lease ran out.
    TakenOver {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 0, IN_PROGRESS: another attempt is at work for ms more.
    InProgress {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 2, COMPLETED: answer with the stored result.
    Completed {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 4, FAILED: answer with the stored error, for good.
    Failed {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code -1, MISMATCH: the key was used with another request.
    Mismatch {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
}

impl Reply for BeginReply {
    const INTS: usize = 3;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => BeginReply::Created { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            3 => BeginReply::TakenOver { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            0 => BeginReply::InProgress { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            2 => BeginReply::Completed { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            4 => BeginReply::Failed { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            -1 => BeginReply::Mismatch { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            -9 => BeginReply::BadState { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            BeginReply::Created { .. } => 1,
            BeginReply::TakenOver { .. } => 3,
            BeginReply::InProgress { .. } => 0,
            BeginReply::Completed { .. } => 2,
            BeginReply::Failed { .. } => 4,
            BeginReply::Mismatch { .. } => -1,
            BeginReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            BeginReply::InProgress { ms, .. } => Some(Http::new(409, *ms)),
            BeginReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
