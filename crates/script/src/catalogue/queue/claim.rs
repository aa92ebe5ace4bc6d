//! `queue.claim`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.claim`: Hands jobs to a worker for a lease.
///
/// packed is, for each job, its id, token, attempt and body, each as a netstring: length, ':', bytes, ','.
///
/// If the reply is lost, the jobs come back when their lease ends (queue.reap).
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub worker: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// From 1 to 50.
    pub count: u64,
}

impl Call for Claim<'_> {
    type Reply = ClaimReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(48)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.claim", "worker", self.worker.as_bytes(), 1, 200)?;
        check::int(out, "queue.claim", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::int(out, "queue.claim", "count", self.count, 1, 50)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Claim`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimReply {
    /// Code 1, CLAIMED.
    Claimed {
        /// The field `count`.
        count: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
    /// Code 0, EMPTY: nothing is ready.
    Empty {
        /// The field `count`.
        count: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
}

impl Reply for ClaimReply {
    const INTS: usize = 2;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ClaimReply::Claimed { count: *ints.get(1)?, packed: bytes },
            0 => ClaimReply::Empty { count: *ints.get(1)?, packed: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ClaimReply::Claimed { .. } => 1,
            ClaimReply::Empty { .. } => 0,
        }
    }
}
