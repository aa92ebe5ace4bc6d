//! `queue.dead`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.dead`: Puts a job away that cannot be done.
#[derive(Debug, Clone, Copy)]
pub struct Dead<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
}

impl Call for Dead<'_> {
    type Reply = DeadReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(49)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.dead", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.dead", "token", self.token, 1, 9007199254740991)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Dead`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadReply {
    /// Code 1, BURIED.
    Buried {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `attempts`.
        attempts: i64,
    },
}

impl Reply for DeadReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DeadReply::Buried { attempts: *ints.get(1)? },
            -7 => DeadReply::Lost { attempts: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DeadReply::Buried { .. } => 1,
            DeadReply::Lost { .. } => -7,
        }
    }
}
