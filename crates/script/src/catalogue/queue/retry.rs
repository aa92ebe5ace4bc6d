//! `queue.retry`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.retry`: Puts a failed job off, or away when it failed too often.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 0 to 2678400000.
    pub delay_ms: u64,
    /// From 1 to 1000.
    pub max_attempts: u64,
}

impl Call for Retry<'_> {
    type Reply = RetryReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(54)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.retry", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.retry", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "queue.retry", "delay_ms", self.delay_ms, 0, 2678400000)?;
        check::int(out, "queue.retry", "max_attempts", self.max_attempts, 1, 1000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Retry`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryReply {
    /// Code 1, DELAYED: it comes back after delay_ms (delayed.promote).
    Delayed {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code 3, DEAD: it had max_attempts and is in the dead letter queue.
    Dead {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `attempts`.
        attempts: i64,
    },
}

impl Reply for RetryReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RetryReply::Delayed { attempts: *ints.get(1)? },
            3 => RetryReply::Dead { attempts: *ints.get(1)? },
            -7 => RetryReply::Lost { attempts: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RetryReply::Delayed { .. } => 1,
            RetryReply::Dead { .. } => 3,
            RetryReply::Lost { .. } => -7,
        }
    }
}
