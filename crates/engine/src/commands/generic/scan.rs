//! SCAN: the names of keys in steps. Begin with cursor 0 and go on with the answered one until it is 0 again: every key
//! that is there all the time is given at least once, whatever happens meanwhile.
//!
//! ```transcript
//! > SET k v
//! OK
//! > SCAN 0
//! 1) "0"
//! 2) 1) "k"
//! > SCAN 0 MATCH x* COUNT 100
//! 1) "0"
//! 2) (empty array)
//! > SCAN 0 TYPE list
//! 1) "0"
//! 2) (empty array)
//! > SCAN x
//! (error) ERR invalid cursor
//! > SCAN 0 COUNT 0
//! (error) ERR syntax error
//! ```

use crate::commands::collection::{ScanOf, ScanOptions, scan_cursor};
use crate::cx::{Cx, Origin};
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};
use totality_ds::Item;

/// The table's row.
pub const SPEC: Spec = Spec::new("scan", -2, Group::Generic, Flags::READONLY, run).args("cursor:i pattern:p'MATCH'? count:i'COUNT'? type:s'TYPE'?^6.0.0")
    .cats(Cat::KEYSPACE)
    .tips(&["nondeterministic_output", "request_policy:special", "response_policy:special"])
    .doc("2.8.0", "O(1) for every step", "Returns the names of keys in steps.");

fn run(cx: &mut Cx<'_>) -> Res {
    let cursor = scan_cursor(cx.args[1])?;
    let options = ScanOptions::parse(cx, ScanOf::Keys)?;
    let mut found = Found::default();
    let next = found.step(cx, cursor, options.count, &options, |_| true);
    cx.reply.array(2);
    let mut digits = itoa::Buffer::new();
    cx.reply.bulk(digits.format(next).as_bytes());
    found.reply(cx);
    Ok(())
}

/// What a step of SCAN or CLUSTERSCAN found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Names one after the other; `ends` says where each ends.
    names: Vec<u8>,
    ends: Vec<usize>,
    /// Keys whose time was over.
    dead: Vec<Box<[u8]>>,
}

impl Found {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Looks at about `count` keys behind the cursor, adds those that the options and `wants` want, and returns the next
    /// cursor.
    pub(crate) fn step(
        &mut self,
        cx: &Cx<'_>,
        cursor: u64,
        count: usize,
        options: &ScanOptions<'_>,
        wants: impl Fn(&[u8]) -> bool,
    ) -> u64 {
        cx.ks.db().dict().scan(cursor, count, &mut |entry| {
            let of_kind = options.kind.is_none_or(|kind| entry.value.kind() == kind);
            if !of_kind || !wants(&entry.key) || !options.wants(Item::Str(&entry.key)) {
                return;
            }
            if cx.ks.is_past(entry.expire) {
                self.dead.push(Box::from(&entry.key[..]));
                return;
            }
            self.names.extend_from_slice(&entry.key);
            self.ends.push(self.names.len());
        })
    }

    /// Removes the keys whose time was over and writes the names of the others.
    pub(crate) fn reply(self, cx: &mut Cx<'_>) {
        let db = cx.ks.cur;
        cx.ks.effects.apart = cx.origin == Origin::Client && !self.dead.is_empty();
        for key in self.dead {
            cx.ks.expire_key(db, &key);
        }
        cx.reply.array(self.ends.len());
        let mut start = 0;
        for end in self.ends {
            cx.reply.bulk(&self.names[start..end]);
            start = end;
        }
    }
}
