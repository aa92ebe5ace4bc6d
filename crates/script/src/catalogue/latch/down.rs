//! `latch.down`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `latch.down`: Counts a latch down, each participant once.
#[derive(Debug, Clone, Copy)]
pub struct Down<'a> {
    /// Part of the keys' names, as in `latch:{name}`.
    pub name: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
}

impl Call for Down<'_> {
    type Reply = DownReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(33)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"latch:{", check::part("latch.down", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "latch.down", "id", self.id.as_bytes(), 1, 200)?;
        Ok(())
    }
}

/// What [`Down`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownReply {
    /// Code 1, COUNTED.
    Counted {
        /// The field `left`.
        left: i64,
    },
    /// Code 2, REPEATED: this participant was counted before.
    Repeated {
        /// The field `left`.
        left: i64,
    },
    /// Code 3, OPENED: this was the last one.
    Opened {
        /// The field `left`.
        left: i64,
    },
    /// Code -3, MISSING: the latch is not set, or its time ran out.
    Missing {
        /// The field `left`.
        left: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `left`.
        left: i64,
    },
}

impl Reply for DownReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DownReply::Counted { left: *ints.get(1)? },
            2 => DownReply::Repeated { left: *ints.get(1)? },
            3 => DownReply::Opened { left: *ints.get(1)? },
            -3 => DownReply::Missing { left: *ints.get(1)? },
            -9 => DownReply::BadState { left: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DownReply::Counted { .. } => 1,
            DownReply::Repeated { .. } => 2,
            DownReply::Opened { .. } => 3,
            DownReply::Missing { .. } => -3,
            DownReply::BadState { .. } => -9,
        }
    }
}
