//! `rl.leaky_queue`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.leaky_queue`: Shapes traffic: says how long a caller has to wait for its turn.
#[derive(Debug, Clone, Copy)]
pub struct LeakyQueue<'a> {
    /// Part of the keys' names, as in `rl:{subject}:leaky_queue`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub rate: u64,
    /// From 1 to 86400000.
    pub per_ms: u64,
    /// From 0 to 3600000.
    pub max_wait_ms: u64,
}

impl Call for LeakyQueue<'_> {
    type Reply = LeakyQueueReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(58)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.leaky_queue", "subject", self.subject)?, b"}:leaky_queue"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.leaky_queue", "rate", self.rate, 1, 1000000)?;
        check::int(out, "rl.leaky_queue", "per_ms", self.per_ms, 1, 86400000)?;
        check::int(out, "rl.leaky_queue", "max_wait_ms", self.max_wait_ms, 0, 3600000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`LeakyQueue`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeakyQueueReply {
    /// Code 1, QUEUED: go on after wait_ms; the place is taken.
    Queued {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED: the queue is longer than max_wait_ms.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for LeakyQueueReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => LeakyQueueReply::Queued {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => LeakyQueueReply::Rejected {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => LeakyQueueReply::BadState {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            LeakyQueueReply::Queued { .. } => 1,
            LeakyQueueReply::Rejected { .. } => 0,
            LeakyQueueReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            LeakyQueueReply::Rejected { wait_ms, .. } => Some(Http::new(429, *wait_ms)),
            _ => None,
        }
    }
}
