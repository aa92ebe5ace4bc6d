//! `lock.multi`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// One of the locks of [`Multi`].
#[derive(Debug, Clone, Copy)]
pub struct MultiItem<'a> {
    /// Part of the key's name: `lock:{group}:<item>`.
    pub item: &'a str,
}

/// `lock.multi`: Takes several locks at once, all or none, under one fencing token.
///
/// All locks share the hash tag of their group, so they live on one node: that is what makes "all or none" possible.
#[derive(Debug, Clone, Copy)]
pub struct Multi<'a> {
    /// Part of the keys' names, as in `lock:{group}:fence`.
    pub group: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// The locks.
    pub items: &'a [MultiItem<'a>],
}

impl Call for Multi<'_> {
    type Reply = MultiReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(43)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.multi", "group", self.group)?, b"}:fence"]);
        check::count("lock.multi", "items", self.items.len(), 20)?;
        for item in self.items {
            out.push_parts(&[
                b"lock:{",
                check::part("lock.multi", "group", self.group)?,
                b"}:",
                check::part("lock.multi", "item", item.item)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.multi", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.multi", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::text(out, "lock.multi", "request", self.request.as_bytes(), 1, 200)?;
        Ok(())
    }
}

/// What [`Multi`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiReply {
    /// Code 1, ACQUIRED: all; index is their number.
    Acquired {
        /// The field `index`.
        index: i64,
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 2, REPEATED: this request has them already; the leases start anew.
    Repeated {
        /// The field `index`.
        index: i64,
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, HELD: the lock at index is another's for ms more, none was taken.
    Held {
        /// The field `index`.
        index: i64,
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `index`.
        index: i64,
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for MultiReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => MultiReply::Acquired { index: *ints.get(1)?, token: *ints.get(2)?, ms: *ints.get(3)? },
            2 => MultiReply::Repeated { index: *ints.get(1)?, token: *ints.get(2)?, ms: *ints.get(3)? },
            0 => MultiReply::Held { index: *ints.get(1)?, token: *ints.get(2)?, ms: *ints.get(3)? },
            -9 => MultiReply::BadState { index: *ints.get(1)?, token: *ints.get(2)?, ms: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            MultiReply::Acquired { .. } => 1,
            MultiReply::Repeated { .. } => 2,
            MultiReply::Held { .. } => 0,
            MultiReply::BadState { .. } => -9,
        }
    }
}
