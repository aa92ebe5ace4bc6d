//! XAUTOCLAIM: makes messages that have been pending for long those of another consumer.
//!
//! Looks at pending messages from an id on, at ten times COUNT (100) of them. Answers with the id to go on from (0-0:
//! the end was reached), the claimed messages, and the ids of those that were deleted meanwhile: they are forgotten.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XADD s 2-1 a 2
//! "2-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XREADGROUP GROUP g ann STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//!       2) 1) "2-1"
//!          2) 1) "a"
//!             2) "2"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//!    2) 1) "2-1"
//!       2) 1) "a"
//!          2) "2"
//! > XDEL s 1-1
//! (integer) 1
//! > XAUTOCLAIM s g bob 0 - COUNT 1
//! 1) "2-1"
//! 2) (empty array)
//! 3) 1) "1-1"
//! > XAUTOCLAIM s g bob 0 2-1 JUSTID
//! 1) "0-0"
//! 2) 1) "2-1"
//! 3) (empty array)
//! > XAUTOCLAIM s g bob 0 - COUNT 0
//! (error) ERR COUNT must be > 0
//! > XAUTOCLAIM s g bob x -
//! (error) ERR Invalid min-idle-time argument for XAUTOCLAIM
//! > XAUTOCLAIM s nogroup bob 0 -
//! (error) NOGROUP No such key 's' or consumer group 'nogroup'
//! ```

use super::xclaim::Done;
use crate::commands::stream_util::{
    int_or, no_key_or_group, propagate_deliveries, reply_entry, reply_id, start_arg,
};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::reply::Reply;
use crate::spec::{Flags, Group, KEY_DELETE, KeySpec, Spec};
use crate::types::{self, Log, Slot, Stream};
use crate::util::parse_i64;
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec = Spec::new("xautoclaim", -6, Group::Stream, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 group:s consumer:s min-idle-time:s start:s count:i'COUNT'? justid:t'JUSTID'?")
    .keys(&[KeySpec::one(1, KEY_DELETE)])
    .tips(&["nondeterministic_output"])
    .doc("6.2.0", "O(1) if COUNT is small", "Makes messages that have been pending for long those of another consumer.");

/// Pending messages looked at for each that may be claimed.
const ATTEMPTS: u64 = 10;
/// Greatest COUNT.
const MAX_COUNT: i64 = i64::MAX / 16;

struct Scan {
    min_idle: i64,
    start: StreamId,
    count: u64,
    just_id: bool,
    now: i64,
    recording: bool,
}

fn read(cx: &Cx<'_>) -> Res<Scan> {
    let min_idle = int_or(cx.args[4], "ERR Invalid min-idle-time argument for XAUTOCLAIM")?.max(0);
    let start = start_arg(cx.args[5])?;
    let (now, recording) = (cx.ks.now, cx.ks.effects.recording);
    let mut scan = Scan { min_idle, start, count: 100, just_id: false, now, recording };
    let mut i = 6;
    while i < cx.argc() {
        if cx.is(i, "COUNT") && i + 1 < cx.argc() {
            let count = parse_i64(cx.args[i + 1]).filter(|n| (1..=MAX_COUNT).contains(n));
            scan.count = count.ok_or(CmdError::new("ERR COUNT must be > 0"))? as u64;
            i += 1;
        } else if cx.is(i, "JUSTID") {
            scan.just_id = true;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    Ok(scan)
}

fn run(cx: &mut Cx<'_>) -> Res {
    let (key, name, consumer) = (cx.args[1], cx.args[2], cx.args[3]);
    let scan = read(cx)?;
    let found = cx.ks.read_as::<Stream>(key)?.is_some_and(|stream| stream.group(name).is_some());
    if !found {
        return Err(no_key_or_group(key, name, ""));
    }
    let reply = &mut cx.reply;
    let mut guard = cx.ks.write(key);
    let Some(stream) = guard.get::<Stream>()? else { return Err(no_key_or_group(key, name, "")) };
    let done = stream.with_group(name, |group, log| {
        let mut done = Done::default();
        let (slot, created) = group.ensure_consumer(consumer, scan.now);
        group.saw(slot, scan.now);
        done.created = created;
        claim(reply, (group, log, slot), &scan, &mut done);
        done
    });
    let done = done.unwrap_or_default();
    if done.created {
        guard.event(Event::stream("xgroup-createconsumer"));
    }
    guard.changed_quietly(u64::from(done.created) + done.changes);
    drop(guard);
    cx.propagate_nothing();
    propagate_deliveries(cx, key, name, &done.deliveries);
    Ok(())
}

fn claim(
    reply: &mut Reply<'_>,
    (group, log, slot): (&mut types::Group, &Log, Slot),
    scan: &Scan,
    done: &mut Done,
) {
    // Choosing first keeps the walk over the pending entries apart from their change.
    let (mut claimed, mut deleted, mut left) = (Vec::new(), Vec::new(), scan.count);
    let mut attempts = scan.count.saturating_mul(ATTEMPTS);
    let mut range = group.pending().range(scan.start..);
    while attempts > 0 && left > 0 {
        let Some((id, pending)) = range.next() else { break };
        attempts -= 1;
        if log.entries().get(*id).is_none() {
            deleted.push(*id);
        } else if scan.min_idle > 0 && scan.now.saturating_sub(pending.time) < scan.min_idle {
            continue;
        } else {
            claimed.push(*id);
        }
        left -= 1;
    }
    let next = range.next().map_or(StreamId::MIN, |(id, _)| *id);
    for id in &deleted {
        done.change(group, *id, scan.recording);
        group.acknowledge(*id);
    }
    reply.array(3);
    reply_id(reply, next);
    reply.array(claimed.len());
    for id in claimed {
        let count = group.pending().get(&id).map_or(0, |pending| pending.count);
        let count = if scan.just_id { count } else { count.saturating_add(1) };
        group.assign(id, slot, scan.now, count, Some(scan.now));
        match log.entries().get(id).filter(|_| !scan.just_id) {
            Some(entry) => reply_entry(reply, &entry),
            None => reply_id(reply, id),
        }
        done.change(group, id, scan.recording);
    }
    reply.array(deleted.len());
    deleted.into_iter().for_each(|id| reply_id(reply, id));
}
