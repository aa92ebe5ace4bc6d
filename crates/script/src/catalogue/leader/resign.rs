//! `leader.resign`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `leader.resign`: Gives leadership up, if it is still the caller's.
#[derive(Debug, Clone, Copy)]
pub struct Resign<'a> {
    /// Part of the keys' names, as in `leader:{group}`.
    pub group: &'a str,
    /// 1 to 200 bytes.
    pub node: &'a str,
    /// From 1 to 9007199254740991.
    pub term: u64,
}

impl Call for Resign<'_> {
    type Reply = ResignReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(40)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"leader:{", check::part("leader.resign", "group", self.group)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "leader.resign", "node", self.node.as_bytes(), 1, 200)?;
        check::int(out, "leader.resign", "term", self.term, 1, 9007199254740991)?;
        Ok(())
    }
}

/// What [`Resign`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResignReply {
    /// Code 1, RESIGNED: nobody leads now.
    Resigned {
        /// The field `term`.
        term: i64,
    },
    /// Code 0, GONE: nobody led.
    Gone {
        /// The field `term`.
        term: i64,
    },
    /// Code -6, FENCED: another node leads, in this term.
    Fenced {
        /// The field `term`.
        term: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `term`.
        term: i64,
    },
}

impl Reply for ResignReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ResignReply::Resigned { term: *ints.get(1)? },
            0 => ResignReply::Gone { term: *ints.get(1)? },
            -6 => ResignReply::Fenced { term: *ints.get(1)? },
            -9 => ResignReply::BadState { term: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ResignReply::Resigned { .. } => 1,
            ResignReply::Gone { .. } => 0,
            ResignReply::Fenced { .. } => -6,
            ResignReply::BadState { .. } => -9,
        }
    }
}
