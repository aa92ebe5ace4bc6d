//! `lock.multi_release`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// One of the locks of [`MultiRelease`].
#[derive(Debug, Clone, Copy)]
pub struct MultiReleaseItem<'a> {
    /// Part of the key's name: `lock:{group}:<item>`.
    pub item: &'a str,
}

/// `lock.multi_release`: Gives back what lock.multi took, as far as it is still the caller's.
#[derive(Debug, Clone, Copy)]
pub struct MultiRelease<'a> {
    /// Part of the keys' names, as in `lock:{group}:<item>`.
    pub group: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// The locks.
    pub items: &'a [MultiReleaseItem<'a>],
}

impl Call for MultiRelease<'_> {
    type Reply = MultiReleaseReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(44)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        check::count("lock.multi_release", "items", self.items.len(), 20)?;
        for item in self.items {
            out.push_parts(&[
                b"lock:{",
                check::part("lock.multi_release", "group", self.group)?,
                b"}:",
                check::part("lock.multi_release", "item", item.item)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.multi_release", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.multi_release", "token", self.token, 1, 9007199254740991)?;
        Ok(())
    }
}

/// What [`MultiRelease`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiReleaseReply {
    /// Code 1, RELEASED: all of them.
    Released {
        /// The field `released`.
        released: i64,
    },
    /// Code 2, PARTLY: only this many were still the caller's.
    Partly {
        /// The field `released`.
        released: i64,
    },
    /// Code 0, GONE: none was.
    Gone {
        /// The field `released`.
        released: i64,
    },
}

impl Reply for MultiReleaseReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => MultiReleaseReply::Released { released: *ints.get(1)? },
            2 => MultiReleaseReply::Partly { released: *ints.get(1)? },
            0 => MultiReleaseReply::Gone { released: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            MultiReleaseReply::Released { .. } => 1,
            MultiReleaseReply::Partly { .. } => 2,
            MultiReleaseReply::Gone { .. } => 0,
        }
    }
}
