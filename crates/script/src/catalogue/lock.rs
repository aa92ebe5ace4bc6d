//! Calls of the scripts `lock.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `lock.acquire`: Takes a lock for a lease, with a fencing token that grows with every new holder.
///
/// A process that pauses longer than its lease no longer holds the lock and does not know it: hand the token to the resource and let fence.check refuse older ones.
///
/// A failover may lose the last writes, the fence counter among them. WAIT narrows that window, nothing closes it.
#[derive(Debug, Clone, Copy)]
pub struct Acquire<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
}

impl Call for Acquire<'_> {
    type Reply = AcquireReply;

    fn script(&self) -> &Script {
        super::nth(41)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.acquire", "resource", self.resource)?, b"}"]);
        out.push_parts(&[b"lock:{", check::part("lock.acquire", "resource", self.resource)?, b"}:fence"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.acquire", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.acquire", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::text(out, "lock.acquire", "request", self.request.as_bytes(), 1, 200)?;
        Ok(())
    }
}

/// What [`Acquire`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireReply {
    /// Code 1, ACQUIRED: the lock is yours for ms; its token is greater than every token before.
    Acquired {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 2, REPEATED: this request has it already; the lease starts anew.
    Repeated {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code 0, HELD: by the holder with this token, for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
    },
}

impl Reply for AcquireReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AcquireReply::Acquired { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            2 => AcquireReply::Repeated { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            0 => AcquireReply::Held { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            -9 => AcquireReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)?, holds: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AcquireReply::Acquired { .. } => 1,
            AcquireReply::Repeated { .. } => 2,
            AcquireReply::Held { .. } => 0,
            AcquireReply::BadState { .. } => -9,
        }
    }
}

/// `lock.inspect`: Says who holds a lock.
#[derive(Debug, Clone, Copy)]
pub struct Inspect<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
}

impl Call for Inspect<'_> {
    type Reply = InspectReply;

    fn script(&self) -> &Script {
        super::nth(42)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.inspect", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Inspect`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InspectReply {
    /// Code 1, HELD: by owner, for ms more.
    Held {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
    /// Code 0, FREE: nobody holds it.
    Free {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
        /// The field `holds`.
        holds: i64,
        /// The field `owner`.
        owner: Vec<u8>,
    },
}

impl Reply for InspectReply {
    const INTS: usize = 4;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => InspectReply::Held {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            0 => InspectReply::Free {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            -9 => InspectReply::BadState {
                token: *ints.get(1)?,
                ms: *ints.get(2)?,
                holds: *ints.get(3)?,
                owner: bytes,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            InspectReply::Held { .. } => 1,
            InspectReply::Free { .. } => 0,
            InspectReply::BadState { .. } => -9,
        }
    }
}

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
        super::nth(43)
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
        super::nth(44)
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

/// `lock.release`: Gives a lock back, if it is still the caller's.
///
/// GONE is not always an error: the work may just have taken longer than the lease. Whether that did harm, only the fencing token at the resource decides.
///
/// The remembered answer lives in the lock's own key: it is lost when a new holder's shorter lease ends first.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// From 1000 to 86400000.
    pub keep_ms: u64,
}

impl Call for Release<'_> {
    type Reply = ReleaseReply;

    fn script(&self) -> &Script {
        super::nth(45)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.release", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.release", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.release", "token", self.token, 1, 9007199254740991)?;
        check::text(out, "lock.release", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "lock.release", "keep_ms", self.keep_ms, 1000, 86400000)?;
        Ok(())
    }
}

/// What [`Release`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// Code 1, RELEASED: it was held for ms; the same answer again for the same request within keep_ms.
    Released {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, GONE: nobody holds it: the lease ran out before.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -6, FENCED: another holder has it, with this token, for ms more.
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

impl Reply for ReleaseReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReleaseReply::Released { token: *ints.get(1)?, ms: *ints.get(2)? },
            0 => ReleaseReply::Gone { token: *ints.get(1)?, ms: *ints.get(2)? },
            -6 => ReleaseReply::Fenced { token: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => ReleaseReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReleaseReply::Released { .. } => 1,
            ReleaseReply::Gone { .. } => 0,
            ReleaseReply::Fenced { .. } => -6,
            ReleaseReply::BadState { .. } => -9,
        }
    }
}

/// The argument mode of [`Renew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewMode {
    /// `reset`
    Reset,
    /// `atleast`
    Atleast,
}

impl RenewMode {
    fn word(self) -> &'static str {
        match self {
            RenewMode::Reset => "reset",
            RenewMode::Atleast => "atleast",
        }
    }
}

/// `lock.renew`: Prolongs a lock that is still held; never revives one that ended.
#[derive(Debug, Clone, Copy)]
pub struct Renew<'a> {
    /// Part of the keys' names, as in `lock:{resource}`.
    pub resource: &'a str,
    /// 1 to 200 bytes.
    pub owner: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// Which way.
    pub mode: RenewMode,
}

impl Call for Renew<'_> {
    type Reply = RenewReply;

    fn script(&self) -> &Script {
        super::nth(46)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"lock:{", check::part("lock.renew", "resource", self.resource)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "lock.renew", "owner", self.owner.as_bytes(), 1, 200)?;
        check::int(out, "lock.renew", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "lock.renew", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(self.mode.word().as_bytes());
        Ok(())
    }
}

/// What [`Renew`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewReply {
    /// Code 1, RENEWED: the lock ends in ms.
    Renewed {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code 0, GONE: nobody holds it.
    Gone {
        /// The field `token`.
        token: i64,
        /// The field `ms`.
        ms: i64,
    },
    /// Code -6, FENCED: another holder has it, with this token.
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

impl Reply for RenewReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RenewReply::Renewed { token: *ints.get(1)?, ms: *ints.get(2)? },
            0 => RenewReply::Gone { token: *ints.get(1)?, ms: *ints.get(2)? },
            -6 => RenewReply::Fenced { token: *ints.get(1)?, ms: *ints.get(2)? },
            -9 => RenewReply::BadState { token: *ints.get(1)?, ms: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RenewReply::Renewed { .. } => 1,
            RenewReply::Gone { .. } => 0,
            RenewReply::Fenced { .. } => -6,
            RenewReply::BadState { .. } => -9,
        }
    }
}
