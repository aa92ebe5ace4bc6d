//! `rwlock.downgrade`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rwlock.downgrade`: Turns a write hold into a read hold without letting another writer in between.
#[derive(Debug, Clone, Copy)]
pub struct Downgrade<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub holder: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Downgrade<'_> {
    type Reply = DowngradeReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(68)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.downgrade", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.downgrade", "resource", self.resource)?, b"}:r"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.downgrade", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.downgrade", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "rwlock.downgrade", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Downgrade`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DowngradeReply {
    /// Code 1, DOWNGRADED: the holder reads now.
    Downgraded {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 2, REPEATED: it reads already.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, GONE: the holder had nothing.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -6, FENCED: another writer holds it, with this token.
    Fenced {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for DowngradeReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DowngradeReply::Downgraded { token: *ints.get(1)?, ms: *ints.get(2)? },
            2 => DowngradeReply::Repeated { token: *ints.get(1)?, ms: *ints.get(2)? },
            0 => DowngradeReply::Gone { token: *ints.get(1)?, ms: *ints.get(2)? },
            -6 => DowngradeReply::Fenced { token: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => DowngradeReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DowngradeReply::Downgraded { .. } => 1,
            DowngradeReply::Repeated { .. } => 2,
            DowngradeReply::Gone { .. } => 0,
            DowngradeReply::Fenced { .. } => -6,
            DowngradeReply::BadState { .. } => -9,
        }
    }
}
