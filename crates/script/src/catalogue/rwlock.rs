//! Calls of the scripts `rwlock.…`.

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
        super::nth(68)
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

/// `rwlock.read`: Takes a shared lock: many readers, no writer.
///
/// A reader whose lease ran out no longer keeps writers away, whether it knows it or not.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub holder: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Read<'_> {
    type Reply = ReadReply;

    fn script(&self) -> &Script {
        super::nth(69)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:r"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:fence"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.read", "resource", self.resource)?, b"}:want"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.read", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.read", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Read`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadReply {
    /// Code 1, ACQUIRED: one reader more; token is that of the last writer.
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
    /// Code 2, REPEATED: this holder reads already; its lease starts anew.
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
    /// Code 0, HELD: kind 1: a writer holds it, 3: a writer waits; for ms more.
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
    /// Code -8, FULL: 10000 readers.
    Full {
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

impl Reply for ReadReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReadReply::Acquired {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            2 => ReadReply::Repeated {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            0 => ReadReply::Held {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            -8 => ReadReply::Full {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                readers: *ints.get(3)?,
                kind: *ints.get(4)?,
            },
            -9 => ReadReply::BadState {
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
            ReadReply::Acquired { .. } => 1,
            ReadReply::Repeated { .. } => 2,
            ReadReply::Held { .. } => 0,
            ReadReply::Full { .. } => -8,
            ReadReply::BadState { .. } => -9,
        }
    }
}

/// `rwlock.release`: Ends a read or a write hold.
///
/// Give the token of the write hold; for a read hold any token (0).
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `rw:{resource}:w`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub holder: &'a str,
    /// From 0 to 9007199254740991.
    pub token: u64,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        super::nth(70)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rw:{", check::part("rwlock.release", "resource", self.resource)?, b"}:w"]);
        out.push_parts(&[b"rw:{", check::part("rwlock.release", "resource", self.resource)?, b"}:r"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "rwlock.release", "holder", self.holder.as_bytes(), 1, 200)?;
        check::int(out, "rwlock.release", "token", self.token, 0, 9007199254740991)?;
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED: kind 1: a write hold, 2: a read hold.
    Released {
        /// The field `kind`.
        kind: i64,
    },
    /// Code 0, GONE: the holder has none.
    Gone {
        /// The field `kind`.
        kind: i64,
    },
    /// Code -6, FENCED: the holder writes now with another token.
    Fenced {
        /// The field `kind`.
        kind: i64,
    },
}

impl Reply for ReleaseReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { kind: *ints.get(1)? },
            0 => ReleaseReply::Gone { kind: *ints.get(1)? },
            -6 => ReleaseReply::Fenced { kind: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Gone { .. } => 0,
            ReleaseReply::Fenced { .. } => -6,
        }
    }
}

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
        super::nth(71)
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
