//! `queue.push_unique`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// The argument mode of [`PushUnique`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushUniqueMode {
    /// `keep`
    Keep,
    /// `replace`
    Replace,
    /// `extend`
    Extend,
}

impl PushUniqueMode {
    fn word(self) -> &'static str {
        match self {
            PushUniqueMode::Keep => "keep",
            PushUniqueMode::Replace => "replace",
            PushUniqueMode::Extend => "extend",
        }
    }
}

/// `queue.push_unique`: Adds a job unless one for the same thing waits already.
///
/// A key is taken until its job is acknowledged or dropped, at most for ttl_ms.
#[derive(Debug, Clone, Copy)]
pub struct PushUnique<'a> {
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
    /// 1 to 200 bytes.
    pub unique_key: &'a str,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
    /// Which way.
    pub mode: PushUniqueMode,
}

impl Call for PushUnique<'_> {
    type Reply = PushUniqueReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(52)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:meta"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:unique"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.push_unique", "id", self.id.as_bytes(), 1, 200)?;
        check::text(out, "queue.push_unique", "body", self.body, 0, 65536)?;
        check::int(out, "queue.push_unique", "priority", self.priority, 0, 100)?;
        check::int(out, "queue.push_unique", "max_length", self.max_length, 1, 10000000)?;
        check::text(out, "queue.push_unique", "unique_key", self.unique_key.as_bytes(), 1, 200)?;
        check::int(out, "queue.push_unique", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        out.push(self.mode.word().as_bytes());
        out.push(b"0");
        Ok(())
    }
}

/// What [`PushUnique`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushUniqueReply {
    /// Code 1, PUSHED.
    Pushed {
        /// The field `length`.
        length: i64,
    },
    /// Code 2, DUPLICATE: there is one, and it was left as it is.
    Duplicate {
        /// The field `length`.
        length: i64,
    },
    /// Code 3, REPLACED: the waiting one has the new body.
    Replaced {
        /// The field `length`.
        length: i64,
    },
    /// Code 4, EXTENDED: the waiting one keeps others away for ttl_ms from now.
    Extended {
        /// The field `length`.
        length: i64,
    },
    /// Code -8, FULL.
    Full {
        /// The field `length`.
        length: i64,
    },
}

impl Reply for PushUniqueReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PushUniqueReply::Pushed { length: *ints.get(1)? },
            2 => PushUniqueReply::Duplicate { length: *ints.get(1)? },
            3 => PushUniqueReply::Replaced { length: *ints.get(1)? },
            4 => PushUniqueReply::Extended { length: *ints.get(1)? },
            -8 => PushUniqueReply::Full { length: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PushUniqueReply::Pushed { .. } => 1,
            PushUniqueReply::Duplicate { .. } => 2,
            PushUniqueReply::Replaced { .. } => 3,
            PushUniqueReply::Extended { .. } => 4,
            PushUniqueReply::Full { .. } => -8,
        }
    }
}
