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
    let wanted = options.kind;
    // Names lie one after the other in `names`; `ends` says where each ends.
    let (mut names, mut ends) = (Vec::new(), Vec::new());
    let mut dead: Vec<Box<[u8]>> = Vec::new();
    let next = cx.ks.db().dict().scan(cursor, options.count, &mut |entry| {
        if wanted.is_some_and(|wanted| entry.value.kind() != wanted) || !options.wants(Item::Str(&entry.key)) {
            return;
        }
        if cx.ks.is_past(entry.expire) {
            dead.push(Box::from(&entry.key[..]));
            return;
        }
        names.extend_from_slice(&entry.key);
        ends.push(names.len());
    });
    let db = cx.ks.cur;
    cx.ks.effects.apart = cx.origin == Origin::Client && !dead.is_empty();
    for key in dead {
        cx.ks.expire_key(db, &key);
    }
    cx.reply.array(2);
    let mut digits = itoa::Buffer::new();
    cx.reply.bulk(digits.format(next).as_bytes());
    cx.reply.array(ends.len());
    let mut start = 0;
    for end in ends {
        cx.reply.bulk(&names[start..end]);
        start = end;
    }
    Ok(())
}
