//! `delayed.promote`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `delayed.promote`: Makes due jobs ready, a few at a time.
#[derive(Debug, Clone, Copy)]
pub struct Promote<'a> {
    /// Part of the keys' names, as in `queue:{queue}:delayed`.
    pub queue: &'a str,
    /// From 1 to 100.
    pub batch: u64,
}

impl Call for Promote<'_> {
    type Reply = PromoteReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(21)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("delayed.promote", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("delayed.promote", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("delayed.promote", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "delayed.promote", "batch", self.batch, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Promote`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromoteReply {
    /// Code 1, DONE: next_ms is when the next one is due, 0 when it is already, -1 when there is none.
    Done {
        /// The field `moved`.
        moved: i64,
        /// The field `next_ms`.
        next_ms: i64,
    },
}

impl Reply for PromoteReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PromoteReply::Done { moved: *ints.get(1)?, next_ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PromoteReply::Done { .. } => 1,
        }
    }
}
