//! XPENDING: what a group has delivered and nobody acknowledged.
//!
//! Without an interval, a summary: number, least and greatest id, consumers with their numbers. With one: each entry
//! with its consumer, the milliseconds since its delivery, and how often it was delivered.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XPENDING s g
//! 1) (integer) 0
//! 2) (nil)
//! 3) (nil)
//! 4) (nil)
//! > XREADGROUP GROUP g ann STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//! > XPENDING s g
//! 1) (integer) 1
//! 2) "1-1"
//! 3) "1-1"
//! 4) 1) 1) "ann"
//!       2) "1"
//! > XPENDING s g IDLE 100000 - + 10
//! (empty array)
//! > XPENDING s g - + 10 bob
//! (empty array)
//! > XPENDING s g - +
//! (error) ERR syntax error
//! > XPENDING s nogroup
//! (error) NOGROUP No such key 's' or consumer group 'nogroup'
//! ```

use crate::commands::stream_util::{count_arg, end_arg, no_key_or_group, reply_id, start_arg};
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::reply::Reply;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::{self, Pending, Stream};
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec = Spec::new("xpending", -3, Group::Stream, Flags::READONLY, run).args("key:k@0 group:s filters:b?(min-idle-time:i'IDLE'?^6.2.0 start:s end:s count:i consumer:s?)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .tips(&["nondeterministic_output"])
    .doc("5.0.0", "O(N) for N entries looked at", "Deliveries of a consumer group that were not acknowledged.");

/// Which entries to show.
struct Filter<'a> {
    min_idle: i64,
    start: StreamId,
    end: StreamId,
    count: u64,
    consumer: Option<&'a [u8]>,
}

fn filter<'a>(cx: &Cx<'a>) -> Res<Filter<'a>> {
    let (mut at, mut min_idle) = (3, 0);
    if cx.is(3, "IDLE") {
        min_idle = cx.int(4)?;
        at = 5;
    }
    if cx.argc() < at + 3 {
        return Err(SYNTAX);
    }
    let count = count_arg(cx.args[at + 2])?;
    let (start, end) = (start_arg(cx.args[at])?, end_arg(cx.args[at + 1])?);
    Ok(Filter { min_idle, start, end, count, consumer: cx.args.get(at + 3).copied() })
}

fn run(cx: &mut Cx<'_>) -> Res {
    let filter = match cx.argc() {
        3 => None,
        6..=9 => Some(filter(cx)?),
        _ => return Err(SYNTAX),
    };
    let (key, name, now) = (cx.args[1], cx.args[2], cx.ks.now);
    let group = cx.ks.read_as::<Stream>(key)?.and_then(|stream| stream.group(name));
    let group = group.ok_or_else(|| no_key_or_group(key, name, ""))?;
    match filter {
        None => summary(&mut cx.reply, group),
        Some(filter) => entries(&mut cx.reply, group, &filter, now),
    }
    Ok(())
}

fn summary(reply: &mut Reply<'_>, group: &types::Group) {
    let pending = group.pending();
    reply.array(4);
    reply.len(pending.len());
    let (Some((first, _)), Some((last, _))) = (pending.first_key_value(), pending.last_key_value()) else {
        reply.null();
        reply.null();
        reply.null_array();
        return;
    };
    reply_id(reply, *first);
    reply_id(reply, *last);
    let array = reply.array_deferred();
    let mut n = 0;
    for consumer in group.consumers().filter_map(|(slot, _)| group.consumer(slot)) {
        if !consumer.pending().is_empty() {
            reply.array(2);
            reply.bulk(&consumer.name);
            reply.bulk_int(consumer.pending().len() as i64);
            n += 1;
        }
    }
    reply.end(array, n);
}

fn entries(reply: &mut Reply<'_>, group: &types::Group, filter: &Filter<'_>, now: i64) {
    let consumer = filter.consumer.map(|name| group.find_consumer(name).and_then(|slot| group.consumer(slot)));
    if consumer.is_some_and(|found| found.is_none()) || filter.start > filter.end {
        return reply.array(0);
    }
    let range = filter.start..=filter.end;
    let array = reply.array_deferred();
    let n = match consumer.flatten() {
        Some(consumer) => {
            let own = consumer.pending().range(range);
            let own = own.filter_map(|id| group.pending().get(id).map(|pending| (*id, pending)));
            show(reply, group, own, filter, now)
        }
        None => {
            let all = group.pending().range(range).map(|(id, pending)| (*id, pending));
            show(reply, group, all, filter, now)
        }
    };
    reply.end(array, n);
}

fn show<'a>(
    reply: &mut Reply<'_>,
    group: &types::Group,
    pending: impl Iterator<Item = (StreamId, &'a Pending)>,
    filter: &Filter<'_>,
    now: i64,
) -> usize {
    let idle = |pending: &Pending| now.saturating_sub(pending.time);
    let shown = pending.filter(|(_, pending)| filter.min_idle == 0 || idle(pending) >= filter.min_idle);
    let mut n = 0;
    for (id, pending) in shown.take(usize::try_from(filter.count).unwrap_or(usize::MAX)) {
        reply.array(4);
        reply_id(reply, id);
        reply.bulk(group.owner(pending).map_or(b"", |consumer| &consumer.name));
        reply.int(idle(pending).max(0));
        reply.int(pending.count as i64);
        n += 1;
    }
    n
}
