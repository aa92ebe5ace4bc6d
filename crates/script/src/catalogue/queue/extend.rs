//! `queue.extend`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.extend`: Prolongs the lease of a job at work.
#[derive(Debug, Clone, Copy)]
pub struct Extend<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Extend<'_> {
    type Reply = ExtendReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(50)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.extend", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.extend", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.extend", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.extend", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "queue.extend", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Extend`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtendReply {
    /// Code 1, EXTENDED.
    Extended {
        /// The field `ms`.
        ms: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for ExtendReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ExtendReply::Extended { ms: *ints.get(1)? },
            -7 => ExtendReply::Lost { ms: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ExtendReply::Extended { .. } => 1,
            ExtendReply::Lost { .. } => -7,
        }
    }
}
