//! `cas.set`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(12)
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
