//! Calls of the scripts `rl.…`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Http, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `rl.fixed_window`: Fixed window: a counter that begins anew when its window ends.
///
/// Around the end of a window twice the limit may pass within one window's length: use rl.sliding_counter where that matters.
///
/// A counter without a time to live (left by another program) gets one; repaired is 1 then. Cost 0 only looks.
#[derive(Debug, Clone, Copy)]
pub struct FixedWindow<'a> {
    /// Part of the keys' names, as in `rl:{subject}:fixed_window`.
    pub subject: &'a str,
    /// From 1 to 1000000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
    /// From 0 to 1; usually 0.
    pub count_refused: u64,
}

impl Call for FixedWindow<'_> {
    type Reply = FixedWindowReply;

    fn script(&self) -> &Script {
        super::nth(56)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.fixed_window", "subject", self.subject)?,
            b"}:fixed_window",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.fixed_window", "limit", self.limit, 1, 1000000000)?;
        check::int(out, "rl.fixed_window", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::int(out, "rl.fixed_window", "cost", self.cost, 0, 1000000)?;
        check::int(out, "rl.fixed_window", "count_refused", self.count_refused, 0, 1)?;
        Ok(())
    }
}

/// What [`FixedWindow`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedWindowReply {
    /// Code 1, ALLOWED: remaining more are.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
    /// Code 0, REJECTED: retry_ms is -1 when the cost is above the limit.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `repaired`.
        repaired: i64,
    },
}

impl Reply for FixedWindowReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => FixedWindowReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            0 => FixedWindowReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            -9 => FixedWindowReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                repaired: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            FixedWindowReply::Allowed { .. } => 1,
            FixedWindowReply::Rejected { .. } => 0,
            FixedWindowReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            FixedWindowReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}

/// `rl.gcra`: Generic cell rate algorithm: a smooth limiter in one number (leaky bucket as a meter).
///
/// The distance between calls is rounded up to whole microseconds: above ten thousand calls a second up to one hundredth fewer pass.
#[derive(Debug, Clone, Copy)]
pub struct Gcra<'a> {
    /// Part of the keys' names, as in `rl:{subject}:gcra`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 86400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for Gcra<'_> {
    type Reply = GcraReply;

    fn script(&self) -> &Script {
        super::nth(57)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.gcra", "subject", self.subject)?, b"}:gcra"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.gcra", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.gcra", "period_ms", self.period_ms, 1, 86400000)?;
        check::int(out, "rl.gcra", "burst", self.burst, 1, 1000000)?;
        check::int(out, "rl.gcra", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Gcra`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GcraReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for GcraReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => GcraReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => GcraReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => GcraReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            GcraReply::Allowed { .. } => 1,
            GcraReply::Rejected { .. } => 0,
            GcraReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            GcraReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}

/// `rl.leaky_queue`: Shapes traffic: says how long a caller has to wait for its turn.
#[derive(Debug, Clone, Copy)]
pub struct LeakyQueue<'a> {
    /// Part of the keys' names, as in `rl:{subject}:leaky_queue`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub rate: u64,
    /// From 1 to 86400000.
    pub per_ms: u64,
    /// From 0 to 3600000.
    pub max_wait_ms: u64,
}

impl Call for LeakyQueue<'_> {
    type Reply = LeakyQueueReply;

    fn script(&self) -> &Script {
        super::nth(58)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.leaky_queue", "subject", self.subject)?, b"}:leaky_queue"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.leaky_queue", "rate", self.rate, 1, 1000000)?;
        check::int(out, "rl.leaky_queue", "per_ms", self.per_ms, 1, 86400000)?;
        check::int(out, "rl.leaky_queue", "max_wait_ms", self.max_wait_ms, 0, 3600000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`LeakyQueue`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeakyQueueReply {
    /// Code 1, QUEUED: go on after wait_ms; the place is taken.
    Queued {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED: the queue is longer than max_wait_ms.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `wait_ms`.
        wait_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for LeakyQueueReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => LeakyQueueReply::Queued {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => LeakyQueueReply::Rejected {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => LeakyQueueReply::BadState {
                remaining: *ints.get(1)?,
                wait_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            LeakyQueueReply::Queued { .. } => 1,
            LeakyQueueReply::Rejected { .. } => 0,
            LeakyQueueReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            LeakyQueueReply::Rejected { wait_ms, .. } => Some(Http::new(429, *wait_ms)),
            _ => None,
        }
    }
}

/// One of the counters of [`Multi`].
#[derive(Debug, Clone, Copy)]
pub struct MultiItem<'a> {
    /// Part of the key's name: `rl:{subject}:m:<window>`.
    pub window: &'a str,
    /// From 1 to 1000000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
}

/// `rl.multi`: Several fixed windows at once: a call counts in all of them or in none.
///
/// The limits and windows follow as pairs, in the order of the keys.
#[derive(Debug, Clone, Copy)]
pub struct Multi<'a> {
    /// Part of the keys' names, as in `rl:{subject}:m:<window>`.
    pub subject: &'a str,
    /// From 1 to 1000000; usually 1.
    pub cost: u64,
    /// The counters.
    pub items: &'a [MultiItem<'a>],
}

impl Call for Multi<'_> {
    type Reply = MultiReply;

    fn script(&self) -> &Script {
        super::nth(59)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        check::count("rl.multi", "items", self.items.len(), 10)?;
        for item in self.items {
            out.push_parts(&[
                b"rl:{",
                check::part("rl.multi", "subject", self.subject)?,
                b"}:m:",
                check::part("rl.multi", "window", item.window)?,
            ]);
        }
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.multi", "cost", self.cost, 1, 1000000)?;
        for item in self.items {
            check::int(out, "rl.multi", "limit", item.limit, 1, 1000000000)?;
            check::int(out, "rl.multi", "window_ms", item.window_ms, 1000, 2678400000)?;
        }
        Ok(())
    }
}

/// What [`Multi`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiReply {
    /// Code 1, ALLOWED: remaining is the smallest one.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
    /// Code 0, REJECTED: index says by which window.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
        /// The field `index`.
        index: i64,
    },
}

impl Reply for MultiReply {
    const INTS: usize = 5;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => MultiReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            0 => MultiReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            -9 => MultiReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
                index: *ints.get(4)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            MultiReply::Allowed { .. } => 1,
            MultiReply::Rejected { .. } => 0,
            MultiReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            MultiReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}

/// The argument kind of [`Peek`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeekKind {
    /// `fixed_window`
    FixedWindow,
    /// `sliding_counter`
    SlidingCounter,
    /// `token_bucket`
    TokenBucket,
    /// `gcra`
    Gcra,
}

impl PeekKind {
    fn word(self) -> &'static str {
        match self {
            PeekKind::FixedWindow => "fixed_window",
            PeekKind::SlidingCounter => "sliding_counter",
            PeekKind::TokenBucket => "token_bucket",
            PeekKind::Gcra => "gcra",
        }
    }
}

/// `rl.peek`: Looks at a limiter's state without counting; may run on a replica.
///
/// limit and period_ms are those of the limiter (for a token bucket its refill and per_ms), burst is that of rl.gcra or the capacity of the bucket; the others ignore it.
#[derive(Debug, Clone, Copy)]
pub struct Peek<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Which way.
    pub kind: PeekKind,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 2678400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
}

impl Call for Peek<'_> {
    type Reply = PeekReply;

    fn script(&self) -> &Script {
        super::nth(60)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.peek", "subject", self.subject)?,
            b"}:",
            self.kind.word().as_bytes(),
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        out.push(self.kind.word().as_bytes());
        check::int(out, "rl.peek", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.peek", "period_ms", self.period_ms, 1, 2678400000)?;
        check::int(out, "rl.peek", "burst", self.burst, 1, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Peek`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeekReply {
    /// Code 1, ALLOWED: a call of cost 1 would pass.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED: it would not.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for PeekReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => PeekReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => PeekReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => PeekReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            PeekReply::Allowed { .. } => 1,
            PeekReply::Rejected { .. } => 0,
            PeekReply::BadState { .. } => -9,
        }
    }
}

/// The argument kind of [`Refund`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundKind {
    /// `fixed_window`
    FixedWindow,
    /// `sliding_counter`
    SlidingCounter,
    /// `token_bucket`
    TokenBucket,
    /// `gcra`
    Gcra,
}

impl RefundKind {
    fn word(self) -> &'static str {
        match self {
            RefundKind::FixedWindow => "fixed_window",
            RefundKind::SlidingCounter => "sliding_counter",
            RefundKind::TokenBucket => "token_bucket",
            RefundKind::Gcra => "gcra",
        }
    }
}

/// `rl.refund`: Gives back what a call took, never more than the limiter holds.
///
/// The arguments are those of rl.peek. A sliding log gives a request back by ZREM of its members.
#[derive(Debug, Clone, Copy)]
pub struct Refund<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Which way.
    pub kind: RefundKind,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1 to 2678400000.
    pub period_ms: u64,
    /// From 1 to 1000000.
    pub burst: u64,
    /// From 1 to 1000000.
    pub amount: u64,
}

impl Call for Refund<'_> {
    type Reply = RefundReply;

    fn script(&self) -> &Script {
        super::nth(61)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.refund", "subject", self.subject)?,
            b"}:",
            self.kind.word().as_bytes(),
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        out.push(self.kind.word().as_bytes());
        check::int(out, "rl.refund", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.refund", "period_ms", self.period_ms, 1, 2678400000)?;
        check::int(out, "rl.refund", "burst", self.burst, 1, 1000000)?;
        check::int(out, "rl.refund", "amount", self.amount, 1, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Refund`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundReply {
    /// Code 1, REFUNDED: so much of the amount; the rest was given back by time already.
    Refunded {
        /// The field `refunded`.
        refunded: i64,
    },
    /// Code 0, NOTHING: the limiter is full.
    Nothing {
        /// The field `refunded`.
        refunded: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `refunded`.
        refunded: i64,
    },
}

impl Reply for RefundReply {
    const INTS: usize = 2;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => RefundReply::Refunded { refunded: *ints.get(1)? },
            0 => RefundReply::Nothing { refunded: *ints.get(1)? },
            -9 => RefundReply::BadState { refunded: *ints.get(1)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            RefundReply::Refunded { .. } => 1,
            RefundReply::Nothing { .. } => 0,
            RefundReply::BadState { .. } => -9,
        }
    }
}

/// `rl.reset`: Forgets a limiter's state.
#[derive(Debug, Clone, Copy)]
pub struct Reset<'a> {
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub subject: &'a str,
    /// Part of the keys' names, as in `rl:{subject}:<kind>`.
    pub kind: &'a str,
}

impl Call for Reset<'_> {
    type Reply = ResetReply;

    fn script(&self) -> &Script {
        super::nth(62)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.reset", "subject", self.subject)?,
            b"}:",
            check::part("rl.reset", "kind", self.kind)?,
        ]);
        Ok(())
    }

    fn args(&self, _: &mut Words) -> Result<(), Error> {
        Ok(())
    }
}

/// What [`Reset`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetReply {
    /// Code 1, RESET.
    Reset,
    /// Code 0, NOTHING: there was no state.
    Nothing,
}

impl Reply for ResetReply {
    const INTS: usize = 1;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => ResetReply::Reset,
            0 => ResetReply::Nothing,
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            ResetReply::Reset => 1,
            ResetReply::Nothing => 0,
        }
    }
}

/// `rl.sliding_counter`: Sliding window, approximate: two counters, the older one weighed by its share.
///
/// Takes the calls of the last window as evenly spread. A burst at its end may let up to one limit more through in the window after it; a sliding window of two lengths never sees more than twice the limit.
#[derive(Debug, Clone, Copy)]
pub struct SlidingCounter<'a> {
    /// Part of the keys' names, as in `rl:{subject}:sliding_counter`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for SlidingCounter<'_> {
    type Reply = SlidingCounterReply;

    fn script(&self) -> &Script {
        super::nth(63)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.sliding_counter", "subject", self.subject)?,
            b"}:sliding_counter",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.sliding_counter", "limit", self.limit, 1, 1000000)?;
        check::int(out, "rl.sliding_counter", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::int(out, "rl.sliding_counter", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`SlidingCounter`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlidingCounterReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for SlidingCounterReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SlidingCounterReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => SlidingCounterReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => SlidingCounterReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SlidingCounterReply::Allowed { .. } => 1,
            SlidingCounterReply::Rejected { .. } => 0,
            SlidingCounterReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            SlidingCounterReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}

/// `rl.sliding_log`: Sliding window, exact: remembers every admitted request.
///
/// Takes memory for every admitted request of the window: for large limits use rl.sliding_counter or rl.gcra.
#[derive(Debug, Clone, Copy)]
pub struct SlidingLog<'a> {
    /// Part of the keys' names, as in `rl:{subject}:sliding_log`.
    pub subject: &'a str,
    /// From 1 to 10000.
    pub limit: u64,
    /// From 1000 to 2678400000.
    pub window_ms: u64,
    /// 1 to 200 bytes; names the request, so that the same again has no second effect.
    pub request: &'a str,
    /// From 1 to 100; usually 1.
    pub cost: u64,
}

impl Call for SlidingLog<'_> {
    type Reply = SlidingLogReply;

    fn script(&self) -> &Script {
        super::nth(64)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"rl:{", check::part("rl.sliding_log", "subject", self.subject)?, b"}:sliding_log"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.sliding_log", "limit", self.limit, 1, 10000)?;
        check::int(out, "rl.sliding_log", "window_ms", self.window_ms, 1000, 2678400000)?;
        check::text(out, "rl.sliding_log", "request", self.request.as_bytes(), 1, 200)?;
        check::int(out, "rl.sliding_log", "cost", self.cost, 1, 100)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`SlidingLog`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlidingLogReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 2, REPEATED: this request was admitted before and is counted once.
    Repeated {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for SlidingLogReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SlidingLogReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            2 => SlidingLogReply::Repeated {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => SlidingLogReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => SlidingLogReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SlidingLogReply::Allowed { .. } => 1,
            SlidingLogReply::Repeated { .. } => 2,
            SlidingLogReply::Rejected { .. } => 0,
            SlidingLogReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            SlidingLogReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}

/// `rl.token_bucket`: Token bucket: bursts up to the capacity, refilled at a steady rate.
///
/// Counts in millionths of a token, so nothing is lost by rounding at any rate; a refused call changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct TokenBucket<'a> {
    /// Part of the keys' names, as in `rl:{subject}:token_bucket`.
    pub subject: &'a str,
    /// From 1 to 1000000.
    pub capacity: u64,
    /// From 1 to 1000000.
    pub refill: u64,
    /// From 1 to 86400000.
    pub per_ms: u64,
    /// From 0 to 1000000; usually 1.
    pub cost: u64,
}

impl Call for TokenBucket<'_> {
    type Reply = TokenBucketReply;

    fn script(&self) -> &Script {
        super::nth(65)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[
            b"rl:{",
            check::part("rl.token_bucket", "subject", self.subject)?,
            b"}:token_bucket",
        ]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::int(out, "rl.token_bucket", "capacity", self.capacity, 1, 1000000)?;
        check::int(out, "rl.token_bucket", "refill", self.refill, 1, 1000000)?;
        check::int(out, "rl.token_bucket", "per_ms", self.per_ms, 1, 86400000)?;
        check::int(out, "rl.token_bucket", "cost", self.cost, 0, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`TokenBucket`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenBucketReply {
    /// Code 1, ALLOWED.
    Allowed {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code 0, REJECTED.
    Rejected {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
    /// Code -9, BAD_STATE: what is stored is not what this script writes; nothing was changed.
    BadState {
        /// The field `remaining`.
        remaining: i64,
        /// The field `retry_ms`.
        retry_ms: i64,
        /// The field `reset_ms`.
        reset_ms: i64,
    },
}

impl Reply for TokenBucketReply {
    const INTS: usize = 4;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => TokenBucketReply::Allowed {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            0 => TokenBucketReply::Rejected {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            -9 => TokenBucketReply::BadState {
                remaining: *ints.get(1)?,
                retry_ms: *ints.get(2)?,
                reset_ms: *ints.get(3)?,
            },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            TokenBucketReply::Allowed { .. } => 1,
            TokenBucketReply::Rejected { .. } => 0,
            TokenBucketReply::BadState { .. } => -9,
        }
    }

    fn http(&self) -> Option<Http> {
        match self {
            TokenBucketReply::Rejected { retry_ms, .. } => Some(Http::new(429, *retry_ms)),
            _ => None,
        }
    }
}
