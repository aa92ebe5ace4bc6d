//! `counter.incr_ttl`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `counter.incr_ttl`: Counts, with a time to live from the first count on.
///
/// A counter without a time to live gets one.
#[derive(Debug, Clone, Copy)]
pub struct IncrTtl<'a> {
    /// Part of the keys' names, as in `counter:{name}`.
    pub name: &'a str,
    /// From 1 to 1000000000.
    pub by: u64,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for IncrTtl<'_> {
    type Reply = IncrTtlReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(17)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"counter:{", check::part("counter.incr_ttl", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "counter.incr_ttl", "by", self.by, 1, 1000000000)?;
        check::int(out, "counter.incr_ttl", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`IncrTtl`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncrTtlReply {
    /// Code 1, COUNTED.
    Counted {
        /// The field `value`.
        value: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -8, FULL: the value would pass 2^53 - 1.
    Full {
        /// The field `value`.
        value: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `value`.
        value: i64,
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for IncrTtlReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => IncrTtlReply::Counted { value: *ints.get(1)?, ms: *ints.get(2)? },
            -8 => IncrTtlReply::Full { value: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => IncrTtlReply::BadState { value: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            IncrTtlReply::Counted { .. } => 1,
            IncrTtlReply::Full { .. } => -8,
            IncrTtlReply::BadState { .. } => -9,
        }
    }
}
