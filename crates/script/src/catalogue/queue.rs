//! Calls of the scripts `queue.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `queue.ack`: Ends a job that was done.
#[derive(Debug, Clone, Copy)]
pub struct Ack<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
}

impl Call for Ack<'_> {
    type Reply = AckReply;

    fn script(&self) -> &Script {
        super::nth(47)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:meta"]);
        out.push_parts(&[b"queue:{", check::part("queue.ack", "queue", self.queue)?, b"}:unique"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.ack", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.ack", "token", self.token, 1, 9007199254740991)?;
        Ok(())
    }
}

/// What [`Ack`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AckReply {
    /// Code 1, DONE.
    Done,
    /// Code -3, MISSING: there is no such job: it was acknowledged before.
    Missing,
    /// Code -7, LOST: the lease ended and the job is another's or waits again.
    Lost,
}

impl Reply for AckReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => AckReply::Done,
            -3 => AckReply::Missing,
            -7 => AckReply::Lost,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            AckReply::Done => 1,
            AckReply::Missing => -3,
            AckReply::Lost => -7,
        }
    }
}

/// `queue.claim`: Hands jobs to a worker for a lease.
///
/// packed is, for each job, its id, token, attempt and body, each as a netstring: length, ':', bytes, ','.
///
/// If the reply is lost, the jobs come back when their lease ends (queue.reap).
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub worker: &'a str,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
    /// From 1 to 50.
    pub count: u64,
}

impl Call for Claim<'_> {
    type Reply = ClaimReply;

    fn script(&self) -> &Script {
        super::nth(48)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.claim", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.claim", "worker", self.worker.as_bytes(), 1, 200)?;
        check::int(out, "queue.claim", "lease_ms", self.lease_ms, 1000, 86400000)?;
        check::int(out, "queue.claim", "count", self.count, 1, 50)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Claim`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimReply {
    /// Code 1, CLAIMED.
    Claimed {
        /// The field `count`.
        count: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
    /// Code 0, EMPTY: nothing is ready.
    Empty {
        /// The field `count`.
        count: i64,
        /// The field `packed`.
        packed: Vec<u8>,
    },
}

impl Reply for ClaimReply {
    const INTS: usize = 2;
    const BYTES: bool = true;

    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ClaimReply::Claimed { count: *ints.get(1)?, packed: bytes },
            0 => ClaimReply::Empty { count: *ints.get(1)?, packed: bytes },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ClaimReply::Claimed { .. } => 1,
            ClaimReply::Empty { .. } => 0,
        }
    }
}

/// `queue.dead`: Puts a job away that cannot be done.
#[derive(Debug, Clone, Copy)]
pub struct Dead<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
}

impl Call for Dead<'_> {
    type Reply = DeadReply;

    fn script(&self) -> &Script {
        super::nth(49)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.dead", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.dead", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.dead", "token", self.token, 1, 9007199254740991)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Dead`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadReply {
    /// Code 1, BURIED.
    Buried {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `attempts`.
        attempts: i64,
    },
}

impl Reply for DeadReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => DeadReply::Buried { attempts: *ints.get(1)? },
            -7 => DeadReply::Lost { attempts: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            DeadReply::Buried { .. } => 1,
            DeadReply::Lost { .. } => -7,
        }
    }
}

/// `queue.extend`: Prolongs the lease of a job at work.
#[derive(Debug, Clone, Copy)]
pub struct Extend<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 1000 to 86400000.
    pub lease_ms: u64,
}

impl Call for Extend<'_> {
    type Reply = ExtendReply;

    fn script(&self) -> &Script {
        super::nth(50)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.extend", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.extend", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.extend", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.extend", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "queue.extend", "lease_ms", self.lease_ms, 1000, 86400000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Extend`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtendReply {
    /// Code 1, EXTENDED.
    Extended {
        /// The field `ms`.
        ms: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `ms`.
        ms: i64,
    },
}

impl Reply for ExtendReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ExtendReply::Extended { ms: *ints.get(1)? },
            -7 => ExtendReply::Lost { ms: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ExtendReply::Extended { .. } => 1,
            ExtendReply::Lost { .. } => -7,
        }
    }
}

/// `queue.push`: Adds a job, once per id; low priorities first, first in first out within one.
///
/// At least once: a job whose worker dies runs again. Its effects elsewhere are not part of the queue.
#[derive(Debug, Clone, Copy)]
pub struct Push<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// 0 to 65536 bytes.
    pub body: &'a [u8],
    /// From 0 to 100.
    pub priority: u64,
    /// From 1 to 10000000.
    pub max_length: u64,
}

impl Call for Push<'_> {
    type Reply = PushReply;

    fn script(&self) -> &Script {
        super::nth(51)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.push", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.push", "id", self.id.as_bytes(), 1, 200)?;
        check::text(out, "queue.push", "body", self.body, 0, 65536)?;
        check::int(out, "queue.push", "priority", self.priority, 0, 100)?;
        check::int(out, "queue.push", "max_length", self.max_length, 1, 10000000)?;
        Ok(())
    }
}

/// What [`Push`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushReply {
    /// Code 1, PUSHED.
    Pushed {
        /// The field `length`.
        length: i64,
    },
    /// Code 2, REPEATED: a job with this id is somewhere in the queue.
    Repeated {
        /// The field `length`.
        length: i64,
    },
    /// Code -8, FULL.
    Full {
        /// The field `length`.
        length: i64,
    },
}

impl Reply for PushReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PushReply::Pushed { length: *ints.get(1)? },
            2 => PushReply::Repeated { length: *ints.get(1)? },
            -8 => PushReply::Full { length: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PushReply::Pushed { .. } => 1,
            PushReply::Repeated { .. } => 2,
            PushReply::Full { .. } => -8,
        }
    }
}

/// The argument mode of [`PushUnique`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushUniqueMode {
    /// `keep`
    Keep,
    /// `replace`
    Replace,
    /// `extend`
    Extend,
}

impl PushUniqueMode {
    fn word(self) -> &'static str {
        match self {
            PushUniqueMode::Keep => "keep",
            PushUniqueMode::Replace => "replace",
            PushUniqueMode::Extend => "extend",
        }
    }
}

/// `queue.push_unique`: Adds a job unless one for the same thing waits already.
///
/// A key is taken until its job is acknowledged or dropped, at most for ttl_ms.
#[derive(Debug, Clone, Copy)]
pub struct PushUnique<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub id: &'a str,
    /// 0 to 65536 bytes.
    pub body: &'a [u8],
    /// From 0 to 100.
    pub priority: u64,
    /// From 1 to 10000000.
    pub max_length: u64,
    /// 1 to 200 bytes.
    pub unique_key: &'a str,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
    /// Which way.
    pub mode: PushUniqueMode,
}

impl Call for PushUnique<'_> {
    type Reply = PushUniqueReply;

    fn script(&self) -> &Script {
        super::nth(52)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:jobs"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:meta"]);
        out.push_parts(&[b"queue:{", check::part("queue.push_unique", "queue", self.queue)?, b"}:unique"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.push_unique", "id", self.id.as_bytes(), 1, 200)?;
        check::text(out, "queue.push_unique", "body", self.body, 0, 65536)?;
        check::int(out, "queue.push_unique", "priority", self.priority, 0, 100)?;
        check::int(out, "queue.push_unique", "max_length", self.max_length, 1, 10000000)?;
        check::text(out, "queue.push_unique", "unique_key", self.unique_key.as_bytes(), 1, 200)?;
        check::int(out, "queue.push_unique", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        out.push(self.mode.word().as_bytes());
        out.push(b"0");
        Ok(())
    }
}

/// What [`PushUnique`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushUniqueReply {
    /// Code 1, PUSHED.
    Pushed {
        /// The field `length`.
        length: i64,
    },
    /// Code 2, DUPLICATE: there is one, and it was left as it is.
    Duplicate {
        /// The field `length`.
        length: i64,
    },
    /// Code 3, REPLACED: the waiting one has the new body.
    Replaced {
        /// The field `length`.
        length: i64,
    },
    /// Code 4, EXTENDED: the waiting one keeps others away for ttl_ms from now.
    Extended {
        /// The field `length`.
        length: i64,
    },
    /// Code -8, FULL.
    Full {
        /// The field `length`.
        length: i64,
    },
}

impl Reply for PushUniqueReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PushUniqueReply::Pushed { length: *ints.get(1)? },
            2 => PushUniqueReply::Duplicate { length: *ints.get(1)? },
            3 => PushUniqueReply::Replaced { length: *ints.get(1)? },
            4 => PushUniqueReply::Extended { length: *ints.get(1)? },
            -8 => PushUniqueReply::Full { length: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PushUniqueReply::Pushed { .. } => 1,
            PushUniqueReply::Duplicate { .. } => 2,
            PushUniqueReply::Replaced { .. } => 3,
            PushUniqueReply::Extended { .. } => 4,
            PushUniqueReply::Full { .. } => -8,
        }
    }
}

/// `queue.reap`: Takes jobs back whose lease has ended, a few at a time.
#[derive(Debug, Clone, Copy)]
pub struct Reap<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// From 1 to 100.
    pub batch: u64,
    /// From 1 to 1000.
    pub max_attempts: u64,
}

impl Call for Reap<'_> {
    type Reply = ReapReply;

    fn script(&self) -> &Script {
        super::nth(53)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.reap", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "queue.reap", "batch", self.batch, 1, 100)?;
        check::int(out, "queue.reap", "max_attempts", self.max_attempts, 1, 1000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Reap`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReapReply {
    /// Code 1, DONE: more is 1 when there is work left.
    Done {
        /// The field `requeued`.
        requeued: i64,
        /// The field `dead`.
        dead: i64,
        /// The field `more`.
        more: i64,
    },
}

impl Reply for ReapReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ReapReply::Done { requeued: *ints.get(1)?, dead: *ints.get(2)?, more: *ints.get(3)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ReapReply::Done { .. } => 1,
        }
    }
}

/// `queue.retry`: Puts a failed job off, or away when it failed too often.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    /// Part of the keys' names, as in `queue:{queue}:active`.
    pub queue: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1 to 9007199254740991.
    pub token: u64,
    /// From 0 to 2678400000.
    pub delay_ms: u64,
    /// From 1 to 1000.
    pub max_attempts: u64,
}

impl Call for Retry<'_> {
    type Reply = RetryReply;

    fn script(&self) -> &Script {
        super::nth(54)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:dlq"]);
        out.push_parts(&[b"queue:{", check::part("queue.retry", "queue", self.queue)?, b"}:meta"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "queue.retry", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "queue.retry", "token", self.token, 1, 9007199254740991)?;
        check::int(out, "queue.retry", "delay_ms", self.delay_ms, 0, 2678400000)?;
        check::int(out, "queue.retry", "max_attempts", self.max_attempts, 1, 1000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Retry`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryReply {
    /// Code 1, DELAYED: it comes back after delay_ms (delayed.promote).
    Delayed {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code 3, DEAD: it had max_attempts and is in the dead letter queue.
    Dead {
        /// The field `attempts`.
        attempts: i64,
    },
    /// Code -7, LOST: the lease ended, or the job is another's.
    Lost {
        /// The field `attempts`.
        attempts: i64,
    },
}

impl Reply for RetryReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RetryReply::Delayed { attempts: *ints.get(1)? },
            3 => RetryReply::Dead { attempts: *ints.get(1)? },
            -7 => RetryReply::Lost { attempts: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RetryReply::Delayed { .. } => 1,
            RetryReply::Dead { .. } => 3,
            RetryReply::Lost { .. } => -7,
        }
    }
}

/// `queue.stats`: Says how many jobs wait, run, are put off and are dead.
#[derive(Debug, Clone, Copy)]
pub struct Stats<'a> {
    /// Part of the keys' names, as in `queue:{queue}:ready`.
    pub queue: &'a str,
}

impl Call for Stats<'_> {
    type Reply = StatsReply;

    fn script(&self) -> &Script {
        super::nth(55)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:ready"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:active"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:delayed"]);
        out.push_parts(&[b"queue:{", check::part("queue.stats", "queue", self.queue)?, b"}:dlq"]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Stats`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatsReply {
    /// Code 1, OK.
    Ok {
        /// The field `ready`.
        ready: i64,
        /// The field `active`.
        active: i64,
        /// The field `delayed`.
        delayed: i64,
        /// The field `dead`.
        dead: i64,
    },
}

impl Reply for StatsReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => StatsReply::Ok {
                ready: *ints.get(1)?,
                active: *ints.get(2)?,
                delayed: *ints.get(3)?,
                dead: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            StatsReply::Ok { .. } => 1,
        }
    }
}
