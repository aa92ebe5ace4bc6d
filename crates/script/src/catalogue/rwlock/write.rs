//! `rwlock.write`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rwlock.write`: Takes an exclusive lock: one writer, no reader.
///
/// A refused writer may stop new readers for want_ms (0: it does not). It cannot prolong that while it lasts, so readers get their turn.
///
/// A reader that asks to write is refused while it reads: two of them would wait for each other for ever.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// From 0 to 60000.
    pub want_ms: u64,
}

impl Call for Write<'_> {
    type Reply = WriteReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(71)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.write", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.write", "resource", self.resource)?, b"}:r"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.write", "resource", self.resource)?, b"}:fence"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.write", "resource", self.resource)?, b"}:want"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.write", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.write", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::text(out, "rwlock.write", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.write", "want_ms", self.want_ms, 0, 60000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Write`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteReply {
    /// Code 1, ACQUIRED: nobody else reads or writes; token is greater than every token before.
    Acquired {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code 2, REPEATED: this request has it already.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code 0, HELD: kind 1: another writer, 2: readers, 3: another writer waits; for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `readers`.
        readers: i64,
        /// The field `kind`.
        kind: i64,
    },
}

impl Reply for WriteReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => WriteReply::Acquired {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            2 => WriteReply::Repeated {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            0 => WriteReply::Held {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            -9 => WriteReply::BadState {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            WriteReply::Acquired { .. } => 1,
            WriteReply::Repeated { .. } => 2,
            WriteReply::Held { .. } => 0,
            WriteReply::BadState { .. } => -9,
        }
    }
}
