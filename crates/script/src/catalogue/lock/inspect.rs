//! `lock.inspect`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `lock.inspect`: Says who holds a lock.
#[derive(Debug, Clone, Copy)]
pub struct Inspect<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
}

impl Call for Inspect<'_> {
    type Reply = InspectReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(42)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.inspect", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Inspect`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InspectReply {
    /// Code 1, HELD: by owner, for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
    /// Code 0, FREE: nobody holds it.
    Free {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
}

impl Reply for InspectReply {
    const INTS: usize = 4;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => InspectReply::Held {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            0 => InspectReply::Free {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            -9 => InspectReply::BadState {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            InspectReply::Held { .. } => 1,
            InspectReply::Free { .. } => 0,
            InspectReply::BadState { .. } => -9,
        }
    }
}
