//! Calls of the scripts `counter.…`.

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
        super::nth(16)
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
        super::nth(17)
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

/// `counter.once`: Counts each id once.
///
/// Takes memory for every id until both keys end, ttl_ms after the first count. For large numbers of ids an approximate count (PFADD) takes 12 kB.
#[derive(Debug, Clone, Copy)]
pub struct Once<'a> {
    /// Part of the keys' names, as in `counter:{name}`.
    pub name: &'a str,
    /// From 1 to 1000000000.
    pub by: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
    /// From 1 to 1000000.
    pub max_ids: u64,
}

impl Call for Once<'_> {
    type Reply = OnceReply;

    fn script(&self) -> &Script {
        super::nth(18)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"counter:{", check::part("counter.once", "name", self.name)?, b"}"]);
        out.push_parts(&[b"counter:{", check::part("counter.once", "name", self.name)?, b"}:seen"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "counter.once", "by", self.by, 1, 1000000000)?;
        check::text(out, "counter.once", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "counter.once", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        check::int(out, "counter.once", "max_ids", self.max_ids, 1, 1000000)?;
        Ok(())
    }
}

/// What [`Once`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnceReply {
    /// Code 1, COUNTED.
    Counted {
        /// The field `value`.
        value: i64,
    },
    /// Code 2, REPEATED: this id was counted before.
    Repeated {
        /// The field `value`.
        value: i64,
    },
    /// Code -8, FULL: there are max_ids ids.
    Full {
        /// The field `value`.
        value: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `value`.
        value: i64,
    },
}

impl Reply for OnceReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => OnceReply::Counted { value: *ints.get(1)? },
            2 => OnceReply::Repeated { value: *ints.get(1)? },
            -8 => OnceReply::Full { value: *ints.get(1)? },
            -9 => OnceReply::BadState { value: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            OnceReply::Counted { .. } => 1,
            OnceReply::Repeated { .. } => 2,
            OnceReply::Full { .. } => -8,
            OnceReply::BadState { .. } => -9,
        }
    }
}
