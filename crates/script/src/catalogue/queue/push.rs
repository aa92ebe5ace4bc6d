//! `queue.push`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.push`: Adds a job, once per id; low priorities first, first in first out within one.
///
/// At least once: a job whose worker dies runs again. Its effects elsewhere are not part of the queue.
#[derive(Debug, Clone, Copy)]
pub struct Push<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// 0 to 65536 bytes.
    pub body: &'a [u8],
    /// From 0 to 100.
    pub priority: u64,
    /// From 1 to 10000000.
    pub max_length: u64,
}

impl Call for Push<'_> {
    type Reply = PushReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(51)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.push", "id", self.id.as_bytes(), 1, 200)?;
        check::text(out, "queue.push", "body", self.body, 0, 65536)?;
        check::int(out, "queue.push", "priority", self.priority, 0, 100)?;
        check::int(out, "queue.push", "max_length", self.max_length, 1, 10000000)?;
        Ok(())
    }
}

/// What [`Push`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushReply {
    /// Code 1, PUSHED.
    Pushed {
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

impl Reply for PushReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PushReply::Pushed { length: *ints.get(1)? },
            2 => PushReply::Repeated { length: *ints.get(1)? },
            -8 => PushReply::Full { length: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PushReply::Pushed { .. } => 1,
            PushReply::Repeated { .. } => 2,
            PushReply::Full { .. } => -8,
        }
    }
}
