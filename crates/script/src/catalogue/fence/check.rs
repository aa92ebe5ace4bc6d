//! `fence.check`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `fence.check`: Remembers the newest token and refuses older ones, before work on something else.
///
/// The work after it is not part of it: where the resource can compare tokens itself, let it.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// Part of the keys' names, as in `fence:{resource}:max`.
    pub resource: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 31536000000.
    pub keep_ms: u64,
}

impl Call for Check<'_> {
    type Reply = CheckReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(24)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"fence:{", check::part("fence.check", "resource", self.resource)?, b"}:max"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "fence.check", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "fence.check", "keep_ms", self.keep_ms, 1000, 31536000000)?;
        Ok(())
    }
}

/// What [`Check`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckReply {
    /// Code 1, CURRENT: no newer token was seen.
    Current {
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

impl Reply for CheckReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => CheckReply::Current { max: *ints.get(1)? },
            -6 => CheckReply::Fenced { max: *ints.get(1)? },
            -9 => CheckReply::BadState { max: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            CheckReply::Current { .. } => 1,
            CheckReply::Fenced { .. } => -6,
            CheckReply::BadState { .. } => -9,
        }
    }
}
