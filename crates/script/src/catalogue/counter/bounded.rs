//! `counter.bounded`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `counter.bounded`: Counts up or down within bounds, or not at all.
///
/// ttl_ms 0 leaves the time to live as it is.
#[derive(Debug, Clone, Copy)]
pub struct Bounded<'a> {
    /// Part of the keys' names, as in `counter:{name}`.
    pub name: &'a str,
    /// From -1000000000 to 1000000000.
    pub by: i64,
    /// From -9007199254740991 to 9007199254740991.
    pub lo: i64,
    /// From -9007199254740991 to 9007199254740991.
    pub hi: i64,
    /// From 0 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for Bounded<'_> {
    type Reply = BoundedReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(16)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"counter:{", check::part("counter.bounded", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::sint(out, "counter.bounded", "by", self.by, -1000000000, 1000000000)?;
        check::sint(out, "counter.bounded", "lo", self.lo, -9007199254740991, 9007199254740991)?;
        check::sint(out, "counter.bounded", "hi", self.hi, -9007199254740991, 9007199254740991)?;
        check::int(out, "counter.bounded", "ttl_ms", self.ttl_ms, 0, 2678400000)?;
        Ok(())
    }
}

/// What [`Bounded`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundedReply {
    /// Code 1, COUNTED.
    Counted {
        /// The field `value`.
        value: i64,
    },
    /// Code 0, OUT_OF_BOUNDS: nothing was changed.
    OutOfBounds {
        /// The field `value`.
        value: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `value`.
        value: i64,
    },
}

impl Reply for BoundedReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => BoundedReply::Counted { value: *ints.get(1)? },
            0 => BoundedReply::OutOfBounds { value: *ints.get(1)? },
            -9 => BoundedReply::BadState { value: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            BoundedReply::Counted { .. } => 1,
            BoundedReply::OutOfBounds { .. } => 0,
            BoundedReply::BadState { .. } => -9,
        }
    }
}
