//! `delayed.add`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `delayed.add`: Adds a job that becomes ready later.
#[derive(Debug, Clone, Copy)]
pub struct Add<'a> {
    /// Part of the keys' names, as in `queue:{queue}:delayed`.
    pub queue: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// 0 to 65536 bytes.
    pub body: &'a [u8],
    /// From 0 to 31536000000.
    pub delay_ms: u64,
    /// From 0 to 100.
    pub priority: u64,
    /// From 1 to 10000000.
    pub max_length: u64,
}

impl Call for Add<'_> {
    type Reply = AddReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(20)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("delayed.add", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("delayed.add", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("delayed.add", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "delayed.add", "id", self.id.as_bytes(), 1, 200)?;
        check::text(out, "delayed.add", "body", self.body, 0, 65536)?;
        check::int(out, "delayed.add", "delay_ms", self.delay_ms, 0, 31536000000)?;
        check::int(out, "delayed.add", "priority", self.priority, 0, 100)?;
        check::int(out, "delayed.add", "max_length", self.max_length, 1, 10000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Add`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddReply {
    /// Code 1, ADDED.
    Added {
        /// The field `length`.
        length: i64,
    },
    /// Code 2, REPEATED: a job with this id is somewhere in the queue.
    Repeated {
        /// The field `length`.
        length: i64,
    },
    /// Code -8, FULL.
    Full {
        /// The field `length`.
        length: i64,
    },
}

impl Reply for AddReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AddReply::Added { length: *ints.get(1)? },
            2 => AddReply::Repeated { length: *ints.get(1)? },
            -8 => AddReply::Full { length: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AddReply::Added { .. } => 1,
            AddReply::Repeated { .. } => 2,
            AddReply::Full { .. } => -8,
        }
    }
}
