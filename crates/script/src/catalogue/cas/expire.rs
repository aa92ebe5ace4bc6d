//! `cas.expire`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

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
        crate::catalogue::nth(10)
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
