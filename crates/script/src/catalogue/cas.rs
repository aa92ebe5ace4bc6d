//! Calls of the scripts `cas.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `cas.delete`: Deletes a key if its value is as expected.
#[derive(Debug, Clone, Copy)]
pub struct Delete<'a> {
    /// Part of the keys' names, as in `cas:{name}`.
    pub name: &'a str,
    /// 0 to 1048576 bytes.
    pub expected: &'a [u8],
}

impl Call for Delete<'_> {
    type Reply = DeleteReply;

    fn script(&self) -> &Script {
        super::nth(9)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cas:{", check::part("cas.delete", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "cas.delete", "expected", self.expected, 0, 1048576)?;
        Ok(())
    }
}

/// What [`Delete`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteReply {
    /// Code 1, DELETED.
    Deleted,
    /// Code 0, DIFFERENT.
    Different,
    /// Code -3, MISSING.
    Missing,
}

impl Reply for DeleteReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DeleteReply::Deleted,
            0 => DeleteReply::Different,
            -3 => DeleteReply::Missing,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DeleteReply::Deleted => 1,
            DeleteReply::Different => 0,
            DeleteReply::Missing => -3,
        }
    }
}

/// `cas.expire`: Sets a time to live if the value is as expected.
#[derive(Debug, Clone, Copy)]
pub struct Expire<'a> {
    /// Part of the keys' names, as in `cas:{name}`.
    pub name: &'a str,
    /// 0 to 1048576 bytes.
    pub expected: &'a [u8],
    /// From 1000 to 31536000000.
    pub ttl_ms: u64,
}

impl Call for Expire<'_> {
    type Reply = ExpireReply;

    fn script(&self) -> &Script {
        super::nth(10)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cas:{", check::part("cas.expire", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "cas.expire", "expected", self.expected, 0, 1048576)?;
        check::int(out, "cas.expire", "ttl_ms", self.ttl_ms, 1000, 31536000000)?;
        Ok(())
    }
}

/// What [`Expire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpireReply {
    /// Code 1, SET.
    Set,
    /// Code 0, DIFFERENT.
    Different,
    /// Code -3, MISSING.
    Missing,
}

impl Reply for ExpireReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ExpireReply::Set,
            0 => ExpireReply::Different,
            -3 => ExpireReply::Missing,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ExpireReply::Set => 1,
            ExpireReply::Different => 0,
            ExpireReply::Missing => -3,
        }
    }
}

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
        super::nth(11)
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

/// The argument missing of [`Set`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetMissing {
    /// `refuse`
    Refuse,
    /// `create`
    Create,
}

impl SetMissing {
    fn word(self) -> &'static str {
        match self {
            SetMissing::Refuse => "refuse",
            SetMissing::Create => "create",
        }
    }
}

/// `cas.set`: Writes a value if the present one is as expected.
///
/// ttl_ms 0 leaves the time to live as it is. After a lost reply compare with the new value: if it is there, it was written, unless someone wrote the same.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a> {
    /// Part of the keys' names, as in `cas:{name}`.
    pub name: &'a str,
    /// 0 to 1048576 bytes.
    pub expected: &'a [u8],
    /// 0 to 1048576 bytes.
    pub new: &'a [u8],
    /// From 0 to 31536000000.
    pub ttl_ms: u64,
    /// Which way.
    pub missing: SetMissing,
}

impl Call for Set<'_> {
    type Reply = SetReply;

    fn script(&self) -> &Script {
        super::nth(12)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"cas:{", check::part("cas.set", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "cas.set", "expected", self.expected, 0, 1048576)?;
        check::text(out, "cas.set", "new", self.new, 0, 1048576)?;
        check::int(out, "cas.set", "ttl_ms", self.ttl_ms, 0, 31536000000)?;
        out.push(self.missing.word().as_bytes());
        Ok(())
    }
}

/// What [`Set`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetReply {
    /// Code 1, WRITTEN.
    Written,
    /// Code 0, DIFFERENT: the present value is another one.
    Different,
    /// Code -3, MISSING: there is none, and missing is refuse.
    Missing,
}

impl Reply for SetReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SetReply::Written,
            0 => SetReply::Different,
            -3 => SetReply::Missing,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SetReply::Written => 1,
            SetReply::Different => 0,
            SetReply::Missing => -3,
        }
    }
}
