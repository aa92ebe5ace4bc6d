//! CLUSTERSCAN: the names of a cluster's keys in steps. Begin with cursor 0, send each next call to the node that the
//! answered cursor hashes to, and go on until it is 0 again: every key that is there all the time is given at least once,
//! also when its slot moves to another node meanwhile.
//!
//! A cursor is `fingerprint-{tag}-position`. The tag hashes to the first slot that is still to be looked at, so cluster
//! clients find the node as they do for a key. The fingerprint says whose position it is: a node that did not make it
//! begins anew with that slot; 0 stands for a position that nobody made.
//!
//! SLOT and a MATCH whose tag is fixed (`{user}:*`) choose one slot, and the scan ends with it. Keys are not stored by
//! slot: such a call looks at some thousand keys at most for the few of the slot, and may give none and go on.
//!
//! ```transcript
//! # since 9.1
//! > CLUSTERSCAN 0
//! (error) ERR This instance has cluster support disabled
//! > CLUSTERSCAN 0-{06S}-0 MATCH user:* COUNT 100 TYPE hash
//! (error) ERR This instance has cluster support disabled
//! ```
//!
//! On a node of a cluster:
//!
//! ```text
//! > MSET {user}:1 a {user}:2 b
//! OK
//! > CLUSTERSCAN 0
//! 1) "0-{06S}-0"
//! 2) (empty array)
//! > CLUSTERSCAN 0-{06S}-0
//! 1) "0"
//! 2) 1) "{user}:2"
//!    2) "{user}:1"
//! ```

use crate::cluster::{pattern_slot, tag_of};
use crate::commands::collection::{ScanOf, ScanOptions, scan_cursor};
use crate::commands::generic::scan::Found;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Cat, Flags, Group, KeyFlags, KeySpec, Spec};
use totality_ds::crc::key_slot;

/// The table's row.
pub const SPEC: Spec = Spec::new("clusterscan", -2, Group::Cluster, Flags::READONLY, run).args("cursor:s match-pattern:p'MATCH'? count:i'COUNT'? type:s'TYPE'? slot:i'SLOT'?")
    .keys(&[KeySpec::one(1, KeyFlags::NOT_KEY)])
    .cats(Cat::KEYSPACE)
    .tips(&["nondeterministic_output", "request_policy:special", "response_policy:special"])
    .doc("9.1.0", "O(1) for every step", "Returns the names of a cluster's keys in steps.");

/// Keys at most that a call looks at for one slot, unless COUNT asks for more: half a millisecond or so.
const LOOK_AT: usize = 4096;

fn run(cx: &mut Cx<'_>) -> Res {
    super::cluster::enabled(cx)?;
    let options = ScanOptions::parse(cx, ScanOf::Slots)?;
    let of_match = options.pattern.and_then(pattern_slot);
    let disagree = options.slot.zip(of_match).is_some_and(|(slot, of_match)| slot != of_match);
    if cx.args[1] == b"0" {
        let slot = options.slot.or(of_match).unwrap_or(0);
        nothing_yet(cx, (!disagree).then_some(slot));
        return Ok(());
    }
    let fingerprint = fingerprint(cx);
    let (slot, position) = parse_cursor(cx.args[1], &fingerprint)?;
    if options.slot.is_some_and(|wanted| wanted != slot) {
        return Err(CmdError::new("ERR Cursor slot mismatch with SLOT argument"));
    }
    if let Some(of_match) = of_match.filter(|of_match| *of_match != slot) {
        // On to the slot of the pattern, never back.
        nothing_yet(cx, (!disagree && of_match > slot).then_some(of_match));
        return Ok(());
    }
    let one = options.slot.or(of_match).is_some();
    let mut found = Found::default();
    let next = if one {
        of_one_slot(cx, &mut found, position, &options, slot)
    } else if slot == 0 {
        found.step(cx, position, options.count, &options, |_| true)
    } else {
        found.step(cx, position, options.count, &options, |key| key_slot(key) >= slot)
    };
    cx.reply.array(2);
    if next == 0 {
        // This node has all slots up to the last one.
        cx.reply.bulk(b"0");
    } else {
        let cursor = format!("{fingerprint}-{{{}}}-{next}", tag_of(slot));
        cx.reply.bulk(cursor.as_bytes());
    }
    found.reply(cx);
    Ok(())
}

/// Answers without keys, with the cursor that begins a slot, or the end.
fn nothing_yet(cx: &mut Cx<'_>, slot: Option<u16>) {
    cx.reply.array(2);
    match slot {
        Some(slot) => cx.reply.bulk(format!("0-{{{}}}-0", tag_of(slot)).as_bytes()),
        None => cx.reply.bulk(b"0"),
    }
    cx.reply.array(0);
}

/// Steps until about COUNT keys of the slot are found. They grow while there are none: most slots have few keys.
fn of_one_slot(cx: &Cx<'_>, found: &mut Found, position: u64, options: &ScanOptions<'_>, slot: u16) -> u64 {
    let (mut next, mut step, mut looked) = (position, options.count, 0);
    loop {
        next = found.step(cx, next, step, options, |key| key_slot(key) == slot);
        looked += step;
        if next == 0 || found.len() >= options.count || looked >= LOOK_AT {
            return next;
        }
        if found.len() == 0 {
            step = (step * 2).min(LOOK_AT - looked);
        }
    }
}

/// The slot and the position in it, 0 when another node made the cursor.
fn parse_cursor(cursor: &[u8], fingerprint: &str) -> Res<(u16, u64)> {
    const INVALID: CmdError = CmdError::new("ERR Invalid cursor");
    let mut parts = cursor.splitn(3, |byte| *byte == b'-');
    let (Some(of), Some(tag), Some(position)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(INVALID);
    };
    let position = scan_cursor(position).map_err(|_| INVALID)?;
    Ok((key_slot(tag), if of == fingerprint.as_bytes() { position } else { 0 }))
}

/// Six characters that stand for the seed by which the node orders its keys, none of them `-`, `{` or `}`.
fn fingerprint(cx: &Cx<'_>) -> String {
    let hash = cx.ks.db().dict().seed().hash(b"clusterscan") as u32;
    (0..6).rev().map(|i| char::from(b'0' + (hash >> (6 * i) & 63) as u8)).collect()
}

