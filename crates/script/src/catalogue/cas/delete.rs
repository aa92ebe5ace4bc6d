//! `cas.delete`.

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
        crate::catalogue::nth(9)
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
