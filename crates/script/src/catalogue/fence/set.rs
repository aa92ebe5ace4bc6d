//! `fence.set`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `fence.set`: Writes a value only for a token that is not older than the newest seen.
///
/// keep_ms has to outlive every holder that may still wake up with an old token.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a> {
    /// Part of the keys' names, as in `fence:{resource}:max`.
    pub resource: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// 0 to 1048576 bytes.
    pub value: &'a [u8],
    /// From 1000 to 31536000000.
    pub ttl_ms: u64,
    /// From 1000 to 31536000000.
    pub keep_ms: u64,
}

impl Call for Set<'_> {
    type Reply = SetReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(25)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"fence:{", check::part("fence.set", "resource", self.resource)?, b"}:max"]);
        out.push_parts(&[b"fence:{", check::part("fence.set", "resource", self.resource)?, b"}:value"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "fence.set", "token", self.token, 1, 9007199254740991)?;
        check::text(out, "fence.set", "value", self.value, 0, 1048576)?;
        check::int(out, "fence.set", "ttl_ms", self.ttl_ms, 1000, 31536000000)?;
        check::int(out, "fence.set", "keep_ms", self.keep_ms, 1000, 31536000000)?;
        Ok(())
    }
}

/// What [`Set`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetReply {
    /// Code 1, WRITTEN: max is the token now.
    Written {
        /// The field `max`.
        max: i64,
    },
    /// Code -6, FENCED: a newer token, max, was here.
    Fenced {
        /// The field `max`.
        max: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `max`.
        max: i64,
    },
}

impl Reply for SetReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SetReply::Written { max: *ints.get(1)? },
            -6 => SetReply::Fenced { max: *ints.get(1)? },
            -9 => SetReply::BadState { max: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SetReply::Written { .. } => 1,
            SetReply::Fenced { .. } => -6,
            SetReply::BadState { .. } => -9,
        }
    }
}
