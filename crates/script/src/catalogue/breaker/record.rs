//! `breaker.record`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `breaker.record`: Circuit breaker: how did a call go?.
///
/// It opens at threshold failures within a window, or at any failure while half open; it closes after needed good probes.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Part of the keys' names, as in `breaker:{service}`.
    pub service: &'a str,
    /// From 0 to 1.
    pub ok: u64,
    /// From 1 to 100000.
    pub threshold: u64,
    /// From 1000 to 3600000.
    pub window_ms: u64,
    /// From 1000 to 3600000.
    pub open_ms: u64,
    /// From 1 to 100.
    pub needed: u64,
}

impl Call for Record<'_> {
    type Reply = RecordReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(4)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"breaker:{", check::part("breaker.record", "service", self.service)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "breaker.record", "ok", self.ok, 0, 1)?;
        check::int(out, "breaker.record", "threshold", self.threshold, 1, 100000)?;
        check::int(out, "breaker.record", "window_ms", self.window_ms, 1000, 3600000)?;
        check::int(out, "breaker.record", "open_ms", self.open_ms, 1000, 3600000)?;
        check::int(out, "breaker.record", "needed", self.needed, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Record`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordReply {
    /// Code 1, RECORDED.
    Recorded {
        /// The field `state`.
        state: i64,
        /// The field `failures`.
        failures: i64,
    },
    /// Code 2, OPENED: this failure opened it.
    Opened {
        /// The field `state`.
        state: i64,
        /// The field `failures`.
        failures: i64,
    },
    /// Code 3, CLOSED: this success closed it.
    Closed {
        /// The field `state`.
        state: i64,
        /// The field `failures`.
        failures: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `state`.
        state: i64,
        /// The field `failures`.
        failures: i64,
    },
}

impl Reply for RecordReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RecordReply::Recorded { state: *ints.get(1)?, failures: *ints.get(2)? },
            2 => RecordReply::Opened { state: *ints.get(1)?, failures: *ints.get(2)? },
            3 => RecordReply::Closed { state: *ints.get(1)?, failures: *ints.get(2)? },
            -9 => RecordReply::BadState { state: *ints.get(1)?, failures: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RecordReply::Recorded { .. } => 1,
            RecordReply::Opened { .. } => 2,
            RecordReply::Closed { .. } => 3,
            RecordReply::BadState { .. } => -9,
        }
    }
}
