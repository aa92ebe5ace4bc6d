//! SSCAN: walks the members of a set in steps.
//!
//! A small set is given in one step, whatever COUNT says.
//!
//! ```transcript
//! > SADD s 1 2 13
//! (integer) 3
//! > SSCAN s 0
//! 1) "0"
//! 2) 1) "1"
//!    2) "2"
//!    3) "13"
//! > SSCAN s 0 MATCH 1* COUNT 100
//! 1) "0"
//! 2) 1) "1"
//!    2) "13"
//! > SSCAN nokey 0
//! 1) "0"
//! 2) (empty array)
//! > SSCAN s 0 TYPE string
//! (error) ERR syntax error
//! ```

use crate::commands::collection::{ScanOf, ScanOptions, empty_scan, item, scan_cursor};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("sscan", -3, Group::Set, Flags::READONLY, run).args("key:k@0 cursor:i pattern:p'MATCH'? count:i'COUNT'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.0", "O(1) for a step, O(n) for a whole walk", "Walks the members of a set.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let cursor = scan_cursor(cx.args[2])?;
    if cx.ks.read_as::<Set>(cx.args[1])?.is_none() {
        empty_scan(&mut cx.reply);
        return Ok(());
    }
    let options = ScanOptions::parse(cx, ScanOf::Set)?;
    let Some(set) = cx.ks.view_as::<Set>(cx.args[1]) else { return Ok(()) };
    let mut found = Vec::new();
    let next = set.scan(cursor, options.count, &mut |member| {
        if options.wants(member) {
            found.push(member);
        }
    });
    cx.reply.array(2);
    cx.reply.bulk_int(next as i64);
    cx.reply.array(found.len());
    for member in found {
        item(&mut cx.reply, member);
    }
    Ok(())
}
