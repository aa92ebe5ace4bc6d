//! `counter.once`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(18)
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
