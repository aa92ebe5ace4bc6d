//! `queue.ack`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.ack`: Ends a job that was done.
#[derive(Debug, Clone, Copy)]
pub struct Ack<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
}

impl Call for Ack<'_> {
    type Reply = AckReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(47)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:meta"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:unique"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.ack", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.ack", "token", self.token, 1, 9007199254740991)?;
        Ok(())
    }
}

/// What [`Ack`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AckReply {
    /// Code 1, DONE.
    Done,
    /// Code -3, MISSING: there is no such job: it was acknowledged before.
    Missing,
    /// Code -7, LOST: the lease ended and the job is another's or waits again.
    Lost,
}

impl Reply for AckReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AckReply::Done,
            -3 => AckReply::Missing,
            -7 => AckReply::Lost,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AckReply::Done => 1,
            AckReply::Missing => -3,
            AckReply::Lost => -7,
        }
    }
}
