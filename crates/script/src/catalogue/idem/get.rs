//! `idem.get`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `idem.get`: Reads the state of an idempotent request.
#[derive(Debug, Clone, Copy)]
pub struct Get<'a> {
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub scope: &'a str,
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub key: &'a str,
    /// 1 to 256 bytes.
    pub fingerprint: &'a str,
}

impl Call for Get<'_> {
    type Reply = GetReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(31)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.get", "scope", self.scope)?,
            b"}:",
            check::part("idem.get", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.get", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        Ok(())
    }
}

/// What [`Get`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GetReply {
    /// Code 0, IN_PROGRESS.
    InProgress {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 2, COMPLETED.
    Completed {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 4, FAILED.
    Failed {
        /// The field `attempt`.
        attempt: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `result`.
        result: Vec<u8>,
    },
    /// Code 5, RETRYABLE.
    Retryable {
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
    /// Code -3, MISSING.
    Missing {
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

impl Reply for GetReply {
    const INTS: usize = 3;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            0 => GetReply::InProgress { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            2 => GetReply::Completed { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            4 => GetReply::Failed { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            5 => GetReply::Retryable { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            -1 => GetReply::Mismatch { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            -3 => GetReply::Missing { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            -9 => GetReply::BadState { attempt: *ints.get(1)?, ms: *ints.get(2)?, result: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            GetReply::InProgress { .. } => 0,
            GetReply::Completed { .. } => 2,
            GetReply::Failed { .. } => 4,
            GetReply::Retryable { .. } => 5,
            GetReply::Mismatch { .. } => -1,
            GetReply::Missing { .. } => -3,
            GetReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            GetReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
