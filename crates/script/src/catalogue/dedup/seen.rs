//! `dedup.seen`.

// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.

use crate::error::Error;
use crate::reply::{Call, Reply, check};
use crate::script::Script;
use crate::words::Words;

/// `dedup.seen`: Says whether an id was seen within a time, in bounded memory.
///
/// Beyond max_ids the oldest is forgotten (dropped), so a very old duplicate may pass. A crash between this call and the work loses the work: idem.begin has states for that.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Part of the keys' names, as in `dedup:{name}`.
    pub name: &'a str,
    /// 1 to 200 bytes.
    pub id: &'a str,
    /// From 1000 to 2678400000.
    pub ttl_ms: u64,
    /// From 1 to 1000000.
    pub max_ids: u64,
}

impl Call for Seen<'_> {
    type Reply = SeenReply;

    fn script(&self) -> &Script {
        crate::catalogue::nth(19)
    }

    fn keys(&self, out: &mut Words) -> Result<(), Error> {
        out.push_parts(&[b"dedup:{", check::part("dedup.seen", "name", self.name)?, b"}"]);
        Ok(())
    }

    fn args(&self, out: &mut Words) -> Result<(), Error> {
        check::text(out, "dedup.seen", "id", self.id.as_bytes(), 1, 200)?;
        check::int(out, "dedup.seen", "ttl_ms", self.ttl_ms, 1000, 2678400000)?;
        check::int(out, "dedup.seen", "max_ids", self.max_ids, 1, 1000000)?;
        out.push(b"0");
        Ok(())
    }
}

/// What [`Seen`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenReply {
    /// Code 1, NEW.
    New {
        /// The field `ids`.
        ids: i64,
        /// The field `dropped`.
        dropped: i64,
    },
    /// Code 0, SEEN.
    Seen {
        /// The field `ids`.
        ids: i64,
        /// The field `dropped`.
        dropped: i64,
    },
}

impl Reply for SeenReply {
    const INTS: usize = 3;
    const BYTES: bool = false;

    fn build(ints: &[i64], _: Vec<u8>) -> Option<Self> {
        Some(match *ints.first()? {
            1 => SeenReply::New { ids: *ints.get(1)?, dropped: *ints.get(2)? },
            0 => SeenReply::Seen { ids: *ints.get(1)?, dropped: *ints.get(2)? },
            _ => return None,
        })
    }

    fn code(&self) -> i64 {
        match self {
            SeenReply::New { .. } => 1,
            SeenReply::Seen { .. } => 0,
        }
    }
}
