//! `queue.stats`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.stats`: Says how many jobs wait, run, are put off and are dead.
#[derive(Debug, Clone, Copy)]
pub struct Stats<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
}

impl Call for Stats<'_> {
    type Reply = StatsReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(55)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:dlq"]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Stats`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatsReply {
    /// Code 1, OK.
    Ok {
        /// The field `ready`.
        ready: i64,
        /// The field `active`.
        active: i64,
        /// The field `delayed`.
        delayed: i64,
        /// The field `dead`.
        dead: i64,
    },
}

impl Reply for StatsReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => StatsReply::Ok {
                ready: *ints.get(1)?,
                active: *ints.get(2)?,
                delayed: *ints.get(3)?,
                dead: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            StatsReply::Ok { .. } => 1,
        }
    }
}
