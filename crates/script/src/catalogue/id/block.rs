//! `id.block`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `id.block`: Gives out a block of numbers that nobody else gets.
///
/// A retry takes another block: numbers are unique, not without gaps. A failover that loses writes may give numbers out again; begin anew above the largest one stored.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// Part of the keys' names, as in `id:{name}`.
    pub name: &'a str,
    /// From 1 to 1000000.
    pub size: u64,
}

impl Call for Block<'_> {
    type Reply = BlockReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(26)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"id:{", check::part("id.block", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "id.block", "size", self.size, 1, 1000000)?;
        Ok(())
    }
}

/// What [`Block`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockReply {
    /// Code 1, GIVEN.
    Given {
        /// The field `first`.
        first: i64,
        /// The field `last`.
        last: i64,
    },
    /// Code -8, FULL: the numbers up to 2^53 - 1 are used up.
    Full {
        /// The field `first`.
        first: i64,
        /// The field `last`.
        last: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `first`.
        first: i64,
        /// The field `last`.
        last: i64,
    },
}

impl Reply for BlockReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => BlockReply::Given { first: *ints.get(1)?, last: *ints.get(2)? },
            -8 => BlockReply::Full { first: *ints.get(1)?, last: *ints.get(2)? },
            -9 => BlockReply::BadState { first: *ints.get(1)?, last: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            BlockReply::Given { .. } => 1,
            BlockReply::Full { .. } => -8,
            BlockReply::BadState { .. } => -9,
        }
    }
}
