//! `rl.reset`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.reset`: Forgets a limiter's state.
#[derive(Debug, Clone, Copy)]
pub struct Reset<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub kind: &'a str,
}

impl Call for Reset<'_> {
    type Reply = ResetReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(62)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.reset", "subject", self.subject)?,
            b"}:",
            check::part("rl.reset", "kind", self.kind)?,
        ]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Reset`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetReply {
    /// Code 1, RESET.
    Reset,
    /// Code 0, NOTHING: there was no state.
    Nothing,
}

impl Reply for ResetReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ResetReply::Reset,
            0 => ResetReply::Nothing,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ResetReply::Reset => 1,
            ResetReply::Nothing => 0,
        }
    }
}
