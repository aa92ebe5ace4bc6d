//! ZSCAN: walks over the members step by step.
//!
//! A small set is given in one step. Every member that is there during the whole walk is seen at least once.
//!
//! ```transcript
//! > ZADD z 1 a 2 b
//! (integer) 2
//! > ZSCAN z 0
//! 1) "0"
//! 2) 1) "a"
//!    2) "1"
//!    3) "b"
//!    4) "2"
//! > ZSCAN z 0 MATCH b*
//! 1) "0"
//! 2) 1) "b"
//!    2) "2"
//! > ZSCAN nokey 0
//! 1) "0"
//! 2) (empty array)
//! > ZSCAN z x
//! (error) ERR invalid cursor
//! > ZSCAN z 0 COUNT 0
//! (error) ERR syntax error
//! ```

use crate::commands::collection::{ScanOf, ScanOptions, empty_scan, item, scan_cursor};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::ZSet;
use crate::util::format_double;
use smallvec::SmallVec;

/// The table's row.
pub const SPEC: Spec = Spec::new("zscan", -3, Group::SortedSet, Flags::READONLY, run).args("key:k@0 cursor:i pattern:p'MATCH'? count:i'COUNT'? noscores:t'NOSCORES'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.0", "O(1) for each step", "Walks over the members of a sorted set.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let cursor = scan_cursor(cx.args[2])?;
    if cx.ks.read_as::<ZSet>(cx.args[1])?.is_none() {
        empty_scan(&mut cx.reply);
        return Ok(());
    }
    let options = ScanOptions::parse(cx, ScanOf::ZSet)?;
    let Some(set) = cx.ks.view_as::<ZSet>(cx.args[1]) else { return Ok(()) };
    let mut found = Vec::new();
    let next = set.scan(cursor, options.count, &mut |member, score| {
        if options.wants(member) {
            found.push((member, score));
        }
    });
    cx.reply.array(2);
    cx.reply.bulk_int(next as i64);
    cx.reply.array(if options.names_only { found.len() } else { 2 * found.len() });
    for (member, score) in found {
        item(&mut cx.reply, member);
        if !options.names_only {
            // A string in both protocols.
            let mut text = SmallVec::new();
            format_double(score, &mut text);
            cx.reply.bulk(&text);
        }
    }
    Ok(())
}
