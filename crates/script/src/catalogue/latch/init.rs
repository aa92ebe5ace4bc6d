//! `latch.init`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `latch.init`: Sets a count-down latch, unless there is one.
#[derive(Debug, Clone, Copy)]
pub struct Init<'a> {
    /// Part of the keys' names, as in `latch:{name}`.
    pub name: &'a str,
    /// From 1 to 1000.
    pub count: u64,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
}

impl Call for Init<'_> {
    type Reply = InitReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(34)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"latch:{", check::part("latch.init", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "latch.init", "count", self.count, 1, 1000)?;
        check::int(out, "latch.init", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        Ok(())
    }
}

/// What [`Init`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitReply {
    /// Code 1, SET.
    Set {
        /// The field `left`.
        left: i64,
    },
    /// Code 0, EXISTS: left are missing still.
    Exists {
        /// The field `left`.
        left: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `left`.
        left: i64,
    },
}

impl Reply for InitReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => InitReply::Set { left: *ints.get(1)? },
            0 => InitReply::Exists { left: *ints.get(1)? },
            -9 => InitReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            InitReply::Set { .. } => 1,
            InitReply::Exists { .. } => 0,
            InitReply::BadState { .. } => -9,
        }
    }
}
