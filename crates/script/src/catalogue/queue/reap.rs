//! `queue.reap`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.reap`: Takes jobs back whose lease has ended, a few at a time.
#[derive(Debug, Clone, Copy)]
pub struct Reap<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// From 1 to 100.
    pub batch: u64,
    /// From 1 to 1000.
    pub max_attempts: u64,
}

impl Call for Reap<'_> {
    type Reply = ReapReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(53)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "queue.reap", "batch", self.batch, 1, 100)?;
        check::int(out, "queue.reap", "max_attempts", self.max_attempts, 1, 1000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Reap`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReapReply {
    /// Code 1, DONE: more is 1 when there is work left.
    Done {
        /// The field `requeued`.
        requeued: i64,
        /// The field `dead`.
        dead: i64,
        /// The field `more`.
        more: i64,
    },
}

impl Reply for ReapReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReapReply::Done { requeued: *ints.get(1)?, dead: *ints.get(2)?, more: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReapReply::Done { .. } => 1,
        }
    }
}
