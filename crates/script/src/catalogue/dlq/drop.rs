//! `dlq.drop`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `dlq.drop`: Deletes dead jobs that are older than asked for.
#[derive(Debug, Clone, Copy)]
pub struct Drop<'a> {
    /// Part of the keys' names, as in `queue:{queue}:dlq`.
    pub queue: &'a str,
    /// From 1 to 100.
    pub batch: u64,
    /// From 0 to 31536000000.
    pub older_than_ms: u64,
}

impl Call for Drop<'_> {
    type Reply = DropReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(22)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("dlq.drop", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("dlq.drop", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("dlq.drop", "queue", self.queue)?, b"}:meta"]);
        out.push_parts(&[b"queue:{", check::part("dlq.drop", "queue", self.queue)?, b"}:unique"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "dlq.drop", "batch", self.batch, 1, 100)?;
        check::int(out, "dlq.drop", "older_than_ms", self.older_than_ms, 0, 31536000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Drop`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropReply {
    /// Code 1, DONE: more is 1 when there is work left.
    Done {
        /// The field `dropped`.
        dropped: i64,
        /// The field `more`.
        more: i64,
    },
}

impl Reply for DropReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DropReply::Done { dropped: *ints.get(1)?, more: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DropReply::Done { .. } => 1,
        }
    }
}
