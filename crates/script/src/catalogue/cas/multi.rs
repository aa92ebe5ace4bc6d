//! `cas.multi`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// One of the values of [`Multi`].
#[derive(Debug, Clone, Copy)]
pub struct MultiItem<'a> {
    /// Part of the key's name: `cas:{group}:<name>`.
    pub name: &'a str,
    /// 0 to 65536 bytes.
    pub expected: &'a [u8],
    /// 0 to 65536 bytes.
    pub new: &'a [u8],
}

/// `cas.multi`: Writes several values if all present ones are as expected.
///
/// Expected and new values follow as pairs, in the order of the keys.
#[derive(Debug, Clone, Copy)]
pub struct Multi<'a> {
    /// Part of the keys' names, as in `cas:{group}:<name>`.
    pub group: &'a str,
    /// From 0 to 31536000000.
    pub ttl_ms: u64,
    /// The values.
    pub items: &'a [MultiItem<'a>],
}

impl Call for Multi<'_> {
    type Reply = MultiReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(11)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        check::count("cas.multi", "items", self.items.len(), 20)?;
        for item in self.items {
            out.push_parts(&[
                b"cas:{",
                check::part("cas.multi", "group", self.group)?,
                b"}:",
                check::part("cas.multi", "name", item.name)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "cas.multi", "ttl_ms", self.ttl_ms, 0, 31536000000)?;
        for item in self.items {
            check::text(out, "cas.multi", "expected", item.expected, 0, 65536)?;
            check::text(out, "cas.multi", "new", item.new, 0, 65536)?;
        }
        Ok(())
    }
}

/// What [`Multi`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiReply {
    /// Code 1, WRITTEN: index is the number of keys.
    Written {
        /// The field `index`.
        index: i64,
    },
    /// Code 0, DIFFERENT: the value at index is another one.
    Different {
        /// The field `index`.
        index: i64,
    },
    /// Code -3, MISSING: the key at index does not exist.
    Missing {
        /// The field `index`.
        index: i64,
    },
}

impl Reply for MultiReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => MultiReply::Written { index: *ints.get(1)? },
            0 => MultiReply::Different { index: *ints.get(1)? },
            -3 => MultiReply::Missing { index: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            MultiReply::Written { .. } => 1,
            MultiReply::Different { .. } => 0,
            MultiReply::Missing { .. } => -3,
        }
    }
}
