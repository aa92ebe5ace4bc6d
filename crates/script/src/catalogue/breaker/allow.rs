//! `breaker.allow`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `breaker.allow`: Circuit breaker: may this call go out?.
///
/// state is 0 closed, 1 open, 2 half open. Probes that never report are given out again after open_ms.
#[derive(Debug, Clone, Copy)]
pub struct Allow<'a> {
    /// Part of the keys' names, as in `breaker:{service}`.
    pub service: &'a str,
    /// From 1000 to 3600000.
    pub open_ms: u64,
    /// From 1 to 100.
    pub probes: u64,
}

impl Call for Allow<'_> {
    type Reply = AllowReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(3)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"breaker:{", check::part("breaker.allow", "service", self.service)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "breaker.allow", "open_ms", self.open_ms, 1000, 3600000)?;
        check::int(out, "breaker.allow", "probes", self.probes, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Allow`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowReply {
    /// Code 1, CLOSED: go.
    Closed {
        /// The field `state`.
        state: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
    /// Code 2, PROBE: go, as one of the few that try whether it works again.
    Probe {
        /// The field `state`.
        state: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
    /// Code 0, OPEN: do not.
    Open {
        /// The field `state`.
        state: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `state`.
        state: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
    },
}

impl Reply for AllowReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AllowReply::Closed { state: *ints.get(1)?, retry_ms: *ints.get(2)? },
            2 => AllowReply::Probe { state: *ints.get(1)?, retry_ms: *ints.get(2)? },
            0 => AllowReply::Open { state: *ints.get(1)?, retry_ms: *ints.get(2)? },
            -9 => AllowReply::BadState { state: *ints.get(1)?, retry_ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AllowReply::Closed { .. } => 1,
            AllowReply::Probe { .. } => 2,
            AllowReply::Open { .. } => 0,
            AllowReply::BadState { .. } => -9,
        }
    }
}
