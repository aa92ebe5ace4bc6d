//! Calls of the scripts `idem.…`.

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
        super::nth(27)
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
        super::nth(28)
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
        super::nth(29)
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

/// `idem.fail_retryable`: Ends an attempt so that the next one may try again.
#[derive(Debug, Clone, Copy)]
pub struct FailRetryable<'a> {
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

impl Call for FailRetryable<'_> {
    type Reply = FailRetryableReply;

    fn script(&self) -> &Script {
        super::nth(30)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.fail_retryable", "scope", self.scope)?,
            b"}:",
            check::part("idem.fail_retryable", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.fail_retryable", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.fail_retryable", "owner", self.owner.as_bytes(), 1, 200)?;
        check::text(out, "idem.fail_retryable", "result", self.result, 0, 262144)?;
        check::int(out, "idem.fail_retryable", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`FailRetryable`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailRetryableReply {
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

impl Reply for FailRetryableReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => FailRetryableReply::Stored { attempt: *ints.get(1)? },
            2 => FailRetryableReply::Repeated { attempt: *ints.get(1)? },
            -1 => FailRetryableReply::Mismatch { attempt: *ints.get(1)? },
            -2 => FailRetryableReply::Conflict { attempt: *ints.get(1)? },
            -3 => FailRetryableReply::Missing { attempt: *ints.get(1)? },
            -7 => FailRetryableReply::Lost { attempt: *ints.get(1)? },
            -9 => FailRetryableReply::BadState { attempt: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            FailRetryableReply::Stored { .. } => 1,
            FailRetryableReply::Repeated { .. } => 2,
            FailRetryableReply::Mismatch { .. } => -1,
            FailRetryableReply::Conflict { .. } => -2,
            FailRetryableReply::Missing { .. } => -3,
            FailRetryableReply::Lost { .. } => -7,
            FailRetryableReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            FailRetryableReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}

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
        super::nth(31)
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

/// `idem.renew`: Prolongs the lease of an attempt that works longer.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub scope: &'a str,
    /// Part of the keys' names, as in `idem:{scope}:<key>`.
    pub key: &'a str,
    /// 1 to 256 bytes.
    pub fingerprint: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        super::nth(32)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"idem:{",
            check::part("idem.renew", "scope", self.scope)?,
            b"}:",
            check::part("idem.renew", "key", self.key)?,
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "idem.renew", "fingerprint", self.fingerprint.as_bytes(), 1, 256)?;
        check::text(out, "idem.renew", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "idem.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED.
    Renewed {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -1, MISMATCH: the key was used with another request.
    Mismatch {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -2, CONFLICT: the request has ended.
    Conflict {
        /// The field `attempt`.
        attempt: i64,
    },
    /// Code -3, MISSING: there is no such request.
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

impl Reply for RenewReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RenewReply::Renewed { attempt: *ints.get(1)? },
            -1 => RenewReply::Mismatch { attempt: *ints.get(1)? },
            -2 => RenewReply::Conflict { attempt: *ints.get(1)? },
            -3 => RenewReply::Missing { attempt: *ints.get(1)? },
            -7 => RenewReply::Lost { attempt: *ints.get(1)? },
            -9 => RenewReply::BadState { attempt: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RenewReply::Renewed { .. } => 1,
            RenewReply::Mismatch { .. } => -1,
            RenewReply::Conflict { .. } => -2,
            RenewReply::Missing { .. } => -3,
            RenewReply::Lost { .. } => -7,
            RenewReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            RenewReply::Mismatch { .. } => Some(Http::new(422, -1)),
            _ => None,
        }
    }
}
