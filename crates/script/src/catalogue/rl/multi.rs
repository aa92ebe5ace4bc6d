//! `rl.multi`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// One of the counters of [`Multi`].
#[derive(Debug, Clone, Copy)]
pub struct MultiItem<'a> {
    /// Part of the key's name: `rl:{subject}:m:<window>`.
    pub window: &'a str,
    /// From 1 to 1000000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
}

/// `rl.multi`: Several fixed windows at once: a call counts in all of them or in none.
///
/// The limits and windows follow as pairs, in the order of the keys.
#[derive(Debug, Clone, Copy)]
pub struct Multi<'a> {
    /// Part of the keys' names, as in `rl:{subject}:m:<window>`.
    pub subject: &'a str,
    /// From 1 to 1000000; usually 1.
    pub cost: u64,
    /// The counters.
    pub items: &'a [MultiItem<'a>],
}

impl Call for Multi<'_> {
    type Reply = MultiReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(59)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        check::count("rl.multi", "items", self.items.len(), 10)?;
        for item in self.items {
            out.push_parts(&[
                b"rl:{",
                check::part("rl.multi", "subject", self.subject)?,
                b"}:m:",
                check::part("rl.multi", "window", item.window)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.multi", "cost", self.cost, 1, 1000000)?;
        for item in self.items {
            check::int(out, "rl.multi", "limit", item.limit, 1, 1000000000)?;
            check::int(out, "rl.multi", "window_ms", item.window_ms, 1000, 2678400000)?;
        }
        Ok(())
    }
}

/// What [`Multi`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiReply {
    /// Code 1, ALLOWED: remaining is the smallest one.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
    /// Code 0, REJECTED: index says by which window.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
}

impl Reply for MultiReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => MultiReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            0 => MultiReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            -9 => MultiReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            MultiReply::Allowed { .. } => 1,
            MultiReply::Rejected { .. } => 0,
            MultiReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            MultiReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
