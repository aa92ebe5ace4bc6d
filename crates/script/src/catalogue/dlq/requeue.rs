//! `dlq.requeue`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `dlq.requeue`: Gives dead jobs another life, oldest first.
///
/// Their attempts begin at 0 again.
#[derive(Debug, Clone, Copy)]
pub struct Requeue<'a> {
    /// Part of the keys' names, as in `queue:{queue}:dlq`.
    pub queue: &'a str,
    /// From 1 to 100.
    pub batch: u64,
}

impl Call for Requeue<'_> {
    type Reply = RequeueReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(23)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("dlq.requeue", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("dlq.requeue", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("dlq.requeue", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "dlq.requeue", "batch", self.batch, 1, 100)?;
        Ok(())
    }
}

/// What [`Requeue`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequeueReply {
    /// Code 1, DONE.
    Done {
        /// The field `moved`.
        moved: i64,
        /// The field `left`.
        left: i64,
    },
}

impl Reply for RequeueReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RequeueReply::Done { moved: *ints.get(1)?, left: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RequeueReply::Done { .. } => 1,
        }
    }
}
