//! HSCAN: walks the fields of a hash in steps.
//!
//! A small hash is given in one step, whatever COUNT says. NOVALUES leaves the values out.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HSCAN h 0
//! 1) "0"
//! 2) 1) "f"
//!    2) "1"
//!    3) "g"
//!    4) "2"
//! > HSCAN h 0 MATCH g* COUNT 100
//! 1) "0"
//! 2) 1) "g"
//!    2) "2"
//! > HSCAN nokey 0
//! 1) "0"
//! 2) (empty array)
//! > HSCAN h x
//! (error) ERR invalid cursor
//! > HSCAN h 0 COUNT 0
//! (error) ERR syntax error
//! # since 7.4
//! > HSCAN h 0 NOVALUES
//! 1) "0"
//! 2) 1) "f"
//!    2) "g"
//! ```

use crate::commands::collection::{ScanOf, ScanOptions, empty_scan, item, scan_cursor};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Hash;

/// The table's row.
pub const SPEC: Spec = Spec::new("hscan", -3, Group::Hash, Flags::READONLY, run).args("key:k@0 cursor:i pattern:p'MATCH'? count:i'COUNT'? novalues:t'NOVALUES'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.0", "O(1) for a step, O(n) for a whole walk", "Walks the fields of a hash.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let cursor = scan_cursor(cx.args[2])?;
    let now = cx.ks.now;
    if cx.ks.read_as::<Hash>(cx.args[1])?.is_none() {
        empty_scan(&mut cx.reply);
        return Ok(());
    }
    let options = ScanOptions::parse(cx, ScanOf::Hash)?;
    let Some(hash) = cx.ks.view_as::<Hash>(cx.args[1]) else { return Ok(()) };
    let mut found = Vec::new();
    let next = hash.scan(cursor, options.count, now, &mut |name, value| {
        if options.wants(name) {
            found.push((name, value));
        }
    });
    cx.reply.array(2);
    cx.reply.bulk_int(next as i64);
    cx.reply.array(if options.names_only { found.len() } else { 2 * found.len() });
    for (name, value) in found {
        item(&mut cx.reply, name);
        if !options.names_only {
            item(&mut cx.reply, value);
        }
    }
    Ok(())
}
