//! XCLAIM: makes pending messages those of another consumer.
//!
//! Only messages that have been pending for the given milliseconds. IDLE or TIME set when they count as delivered,
//! RETRYCOUNT how often; FORCE also takes messages that are not pending; JUSTID answers with ids and does not count a
//! delivery. A pending message that was deleted is forgotten.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XREADGROUP GROUP g ann STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//! > XCLAIM s g bob 0 1-1
//! 1) 1) "1-1"
//!    2) 1) "a"
//!       2) "1"
//! > XCLAIM s g bob 0 1-1 JUSTID RETRYCOUNT 7
//! 1) "1-1"
//! > XCLAIM s g ann 1000000 1-1
//! (empty array)
//! > XCLAIM s g ann 0 1-1 SOON
//! (error) ERR Unrecognized XCLAIM option 'SOON'
//! > XCLAIM s g ann x 1-1
//! (error) ERR Invalid min-idle-time argument for XCLAIM
//! > XCLAIM s nogroup ann x 1-1
//! (error) NOGROUP No such key 's' or consumer group 'nogroup'
//! ```

use crate::commands::stream_util::{
    Delivery, delivery_of, id_arg, int_or, no_key_or_group, parse_id, propagate_deliveries,
    propagate_group_id, reply_entry, reply_id,
    unrecognized_option,
};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::reply::Reply;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::{self, Log, Slot, Stream};
use smallvec::SmallVec;
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec = Spec::new("xclaim", -6, Group::Stream, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 group:s consumer:s min-idle-time:s id:s* ms:i'IDLE'? unix-time-milliseconds:u'TIME'? count:i'RETRYCOUNT'? force:t'FORCE'? justid:t'JUSTID'? lastid:s'LASTID'?")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .tips(&["nondeterministic_output"])
    .doc("5.0.0", "O(log N), N the pending messages of the group", "Makes pending messages those of another consumer.");

/// What to claim, and how.
struct Claim {
    min_idle: i64,
    ids: SmallVec<[StreamId; 8]>,
    /// When the messages count as delivered.
    time: i64,
    retry_count: Option<u64>,
    force: bool,
    just_id: bool,
    last_id: StreamId,
    now: i64,
}

fn read(cx: &Cx<'_>) -> Res<Claim> {
    let now = cx.ks.now;
    let min_idle = int_or(cx.args[4], "ERR Invalid min-idle-time argument for XCLAIM")?.max(0);
    let ids: SmallVec<_> = cx.args[5..].iter().map_while(|arg| parse_id(arg, 0)).collect();
    let mut claim = Claim {
        min_idle,
        time: -1,
        retry_count: None,
        force: false,
        just_id: false,
        last_id: StreamId::MIN,
        now,
        ids,
    };
    let mut i = 5 + claim.ids.len();
    while i < cx.argc() {
        let more = i + 1 < cx.argc();
        if cx.is(i, "FORCE") {
            claim.force = true;
        } else if cx.is(i, "JUSTID") {
            claim.just_id = true;
        } else if more && cx.is(i, "IDLE") {
            i += 1;
            let idle = int_or(cx.args[i], "ERR Invalid IDLE option argument for XCLAIM")?;
            claim.time = now.wrapping_sub(idle);
        } else if more && cx.is(i, "TIME") {
            i += 1;
            claim.time = int_or(cx.args[i], "ERR Invalid TIME option argument for XCLAIM")?;
        } else if more && cx.is(i, "RETRYCOUNT") {
            i += 1;
            let count = int_or(cx.args[i], "ERR Invalid RETRYCOUNT option argument for XCLAIM")?;
            claim.retry_count = u64::try_from(count).ok();
        } else if more && cx.is(i, "LASTID") {
            i += 1;
            claim.last_id = id_arg(cx.args[i])?;
        } else {
            return Err(unrecognized_option(cx.args[i]));
        }
        i += 1;
    }
    if claim.time < 0 || claim.time > now {
        claim.time = now;
    }
    Ok(claim)
}

/// What claiming did.
#[derive(Default)]
pub(super) struct Done {
    /// The consumer is new.
    pub(super) created: bool,
    /// Messages claimed or forgotten.
    pub(super) changes: u64,
    /// What is to be repeated elsewhere.
    pub(super) deliveries: Vec<Delivery>,
    moved: bool,
}

impl Done {
    /// Counts a change of a pending message, which is to be repeated elsewhere as it is now.
    pub(super) fn change(&mut self, group: &types::Group, id: StreamId, recording: bool) {
        self.changes += 1;
        if recording {
            self.deliveries.extend(delivery_of(group, id));
        }
    }
}

fn run(cx: &mut Cx<'_>) -> Res {
    let (key, name, consumer) = (cx.args[1], cx.args[2], cx.args[3]);
    let found = cx.ks.read_as::<Stream>(key)?.is_some_and(|stream| stream.group(name).is_some());
    if !found {
        return Err(no_key_or_group(key, name, ""));
    }
    let claim = read(cx)?;
    let recording = cx.ks.effects.recording;
    let reply = &mut cx.reply;
    let mut guard = cx.ks.write(key);
    let Some(stream) = guard.get::<Stream>()? else { return Err(no_key_or_group(key, name, "")) };
    let done = stream.with_group(name, |group, log| {
        let mut done = Done { moved: claim.last_id > group.last_id, ..Done::default() };
        group.last_id = group.last_id.max(claim.last_id);
        let (slot, created) = group.ensure_consumer(consumer, claim.now);
        group.saw(slot, claim.now);
        done.created = created;
        let array = reply.array_deferred();
        let n = claim
            .ids
            .iter()
            .filter(|id| claim_one(reply, (group, log, slot), **id, (&claim, recording), &mut done))
            .count();
        reply.end(array, n);
        done
    });
    let done = done.unwrap_or_default();
    if done.created {
        guard.event(Event::stream("xgroup-createconsumer"));
    }
    let moved = done.moved && done.changes == 0;
    let at = guard.get::<Stream>()?.and_then(|s| s.group(name)).map(|g| (g.last_id, g.entries_read));
    guard.changed_quietly(u64::from(done.created) + done.changes + u64::from(moved));
    drop(guard);
    cx.propagate_nothing();
    propagate_deliveries(cx, key, name, &done.deliveries);
    if let Some((last_id, read)) = at.filter(|_| moved) {
        propagate_group_id(cx, key, name, last_id, read);
    }
    Ok(())
}

/// Claims one message; true when it was, and the reply has it.
fn claim_one(
    reply: &mut Reply<'_>,
    (group, log, slot): (&mut types::Group, &Log, Slot),
    id: StreamId,
    (claim, recording): (&Claim, bool),
    done: &mut Done,
) -> bool {
    let pending = group.pending().get(&id).copied();
    let Some(entry) = log.entries().get(id) else {
        if pending.is_some() {
            done.change(group, id, recording);
            group.acknowledge(id);
        }
        return false;
    };
    let count = match pending {
        Some(pending) if claim.min_idle > 0 && claim.now.saturating_sub(pending.time) < claim.min_idle => {
            return false;
        }
        Some(pending) => pending.count,
        // A forced claim counts as the second delivery.
        None if claim.force => 1,
        None => return false,
    };
    let count = claim.retry_count.unwrap_or(if claim.just_id { count } else { count.saturating_add(1) });
    group.assign(id, slot, claim.time, count, Some(claim.now));
    if claim.just_id {
        reply_id(reply, id);
    } else {
        reply_entry(reply, &entry);
    }
    done.change(group, id, recording);
    true
}
