//! `leader.claim`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `leader.claim`: Becomes or stays the leader for a lease.
///
/// A node that was paused may believe to lead after its lease ended: send the term with everything the leader does.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Part of the keys' names, as in `leader:{group}`.
    pub group: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub node: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Claim<'_> {
    type Reply = ClaimReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(39)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"leader:{", check::part("leader.claim", "group", self.group)?, b"}"]);
        out.push_parts(&[b"leader:{", check::part("leader.claim", "group", self.group)?, b"}:fence"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "leader.claim", "node", self.node.as_bytes(), 1, 200)?;
        check::int(out, "leader.claim", "lease_ms", self.lease_ms, 1000, 86400000)?;
        Ok(())
    }
}

/// What [`Claim`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimReply {
    /// Code 1, ELECTED: this node leads from now on; term is greater than every term before.
    Elected {
        /// The field `term`.
        term: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 2, LEADING: it leads already; its lease starts anew.
    Leading {
        /// The field `term`.
        term: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, FOLLOWING: another node leads, for ms more.
    Following {
        /// The field `term`.
        term: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `term`.
        term: i64,
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for ClaimReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ClaimReply::Elected { term: *ints.get(1)?, ms: *ints.get(2)? },
            2 => ClaimReply::Leading { term: *ints.get(1)?, ms: *ints.get(2)? },
            0 => ClaimReply::Following { term: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => ClaimReply::BadState { term: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ClaimReply::Elected { .. } => 1,
            ClaimReply::Leading { .. } => 2,
            ClaimReply::Following { .. } => 0,
            ClaimReply::BadState { .. } => -9,
        }
    }
}
