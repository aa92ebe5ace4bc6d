//! XINFO: what is known of a stream, its groups and their consumers.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XINFO GROUPS s
//! 1)  1) "name"
//!     2) "g"
//!     3) "consumers"
//!     4) (integer) 0
//!     5) "pending"
//!     6) (integer) 0
//!     7) "last-delivered-id"
//!     8) "0-0"
//!     9) "entries-read"
//!    10) (nil)
//!    11) "lag"
//!    12) (integer) 1
//! # resp3
//! 1) 1# "name" => "g"
//!    2# "consumers" => (integer) 0
//!    3# "pending" => (integer) 0
//!    4# "last-delivered-id" => "0-0"
//!    5# "entries-read" => (nil)
//!    6# "lag" => (integer) 1
//! > XINFO CONSUMERS s g
//! (empty array)
//! > XINFO CONSUMERS s nogroup
//! (error) NOGROUP No such consumer group 'nogroup' for key name 's'
//! > XINFO STREAM nokey
//! (error) ERR no such key
//! > XINFO STREAM s FULL COUNT
//! (error) ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
//! ```

use crate::commands::stream_util::{
    no_group, reply_entries, reply_entry, reply_id, subcommand_syntax,
};
use crate::cx::Cx;
use crate::error::{NO_SUCH_KEY, Res};
use crate::reply::Reply;
use crate::spec::{Flags, Group, Handler, KEY_READ, KeySpec, Spec};
use crate::types::{self, Stream};
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec = Spec::new("xinfo", -2, Group::Stream, Flags::empty(), crate::commands::container)
    .doc("5.0.0", "Depends on the subcommand", "What is known of a stream, its groups and consumers.")
    .subs(SUBS);

const KEY: &[KeySpec] = &[KeySpec::one(2, KEY_READ)];

const fn sub(name: &'static str, arity: i32, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Stream, Flags::READONLY, run)
        .keys(KEY)
        .doc("5.0.0", "O(1)", summary)
}

const SUBS: &[Spec] = &[
    sub("consumers", 4, "The consumers of a group.", consumers).args("key:k@0 group:s").tips(&["nondeterministic_output"]),
    sub("groups", 3, "The groups of a stream.", groups).args("key:k@0"),
    crate::commands::help_row(Group::Stream, "5.0.0"),
    sub("stream", -3, "State and counters of a stream; with FULL all that is in it.", stream).args("key:k@0 full-block:b?(full:t'FULL' count:i'COUNT'?)"),
];

fn word(reply: &mut Reply<'_>, word: &str) {
    reply.bulk(word.as_bytes());
}

/// An integer, or null where it is not known.
fn known(reply: &mut Reply<'_>, n: Option<i64>) {
    match n {
        Some(n) => reply.int(n),
        None => reply.null(),
    }
}

fn consumers(cx: &mut Cx<'_>) -> Res {
    let (key, name, now) = (cx.args[2], cx.args[3], cx.ks.now);
    let stream = cx.ks.read_as::<Stream>(key)?.ok_or(NO_SUCH_KEY)?;
    let group = stream.group(name).ok_or_else(|| no_group(key, name))?;
    let reply = &mut cx.reply;
    reply.array(group.consumers().len());
    for consumer in group.consumers().filter_map(|(slot, _)| group.consumer(slot)) {
        reply.map(4);
        word(reply, "name");
        reply.bulk(&consumer.name);
        word(reply, "pending");
        reply.len(consumer.pending().len());
        word(reply, "idle");
        reply.int(now.saturating_sub(consumer.seen).max(0));
        word(reply, "inactive");
        reply.int(if consumer.active == -1 { -1 } else { now.saturating_sub(consumer.active) });
    }
    Ok(())
}

fn groups(cx: &mut Cx<'_>) -> Res {
    let stream = cx.ks.read_as::<Stream>(cx.args[2])?.ok_or(NO_SUCH_KEY)?;
    let reply = &mut cx.reply;
    reply.array(stream.groups().len());
    for (name, group) in stream.groups() {
        reply.map(6);
        word(reply, "name");
        reply.bulk(name);
        word(reply, "consumers");
        reply.len(group.consumers().len());
        word(reply, "pending");
        reply.len(group.pending().len());
        progress(reply, stream, group);
    }
    Ok(())
}

/// The part that GROUPS and FULL have in common.
fn progress(reply: &mut Reply<'_>, stream: &Stream, group: &types::Group) {
    word(reply, "last-delivered-id");
    reply_id(reply, group.last_id);
    word(reply, "entries-read");
    known(reply, group.entries_read.map(|n| n as i64));
    word(reply, "lag");
    known(reply, group.lag(stream.log()));
}

/// Reads `[FULL [COUNT n]]`; `None` without FULL.
fn full_count(cx: &Cx<'_>) -> Res<Option<u64>> {
    match cx.argc() {
        3 => Ok(None),
        4 if cx.is(3, "FULL") => Ok(Some(10)),
        6 if cx.is(3, "FULL") && cx.is(4, "COUNT") => {
            Ok(Some(u64::try_from(cx.int(5)?).unwrap_or(10)))
        }
        _ => Err(subcommand_syntax(cx)),
    }
}

fn stream(cx: &mut Cx<'_>) -> Res {
    let full = full_count(cx);
    let stream = cx.ks.read_as::<Stream>(cx.args[2])?.ok_or(NO_SUCH_KEY)?;
    let full = full?;
    let reply = &mut cx.reply;
    let log = stream.log();
    let blocks = log.entries().blocks().len();
    reply.map(if full.is_some() { 9 } else { 10 });
    word(reply, "length");
    reply.len(stream.len());
    word(reply, "radix-tree-keys");
    reply.len(blocks);
    word(reply, "radix-tree-nodes");
    reply.len(blocks + 1);
    word(reply, "last-generated-id");
    reply_id(reply, log.last_id);
    word(reply, "max-deleted-entry-id");
    reply_id(reply, log.max_deleted);
    word(reply, "entries-added");
    reply.int(log.entries_added as i64);
    word(reply, "recorded-first-entry-id");
    reply_id(reply, log.first_id());
    match full {
        Some(count) => all(reply, stream, count),
        None => edges(reply, stream),
    }
    Ok(())
}

fn edges(reply: &mut Reply<'_>, stream: &Stream) {
    let entries = stream.log().entries();
    word(reply, "groups");
    reply.len(stream.groups().len());
    let first = entries.range(StreamId::MIN, StreamId::MAX).next();
    let last = entries.range_rev(StreamId::MIN, StreamId::MAX).next();
    for (name, entry) in [("first-entry", first), ("last-entry", last)] {
        word(reply, name);
        match entry {
            Some(entry) => reply_entry(reply, &entry),
            None => reply.null(),
        }
    }
}

fn all(reply: &mut Reply<'_>, stream: &Stream, count: u64) {
    let max = if count == 0 { usize::MAX } else { usize::try_from(count).unwrap_or(usize::MAX) };
    word(reply, "entries");
    reply_entries(reply, stream.log().entries().range(StreamId::MIN, StreamId::MAX), count);
    word(reply, "groups");
    reply.array(stream.groups().len());
    for (name, group) in stream.groups() {
        reply.map(7);
        word(reply, "name");
        reply.bulk(name);
        progress(reply, stream, group);
        word(reply, "pel-count");
        reply.len(group.pending().len());
        word(reply, "pending");
        reply.array(group.pending().len().min(max));
        for (id, pending) in group.pending().iter().take(max) {
            reply.array(4);
            reply_id(reply, *id);
            reply.bulk(group.owner(pending).map_or(b"", |consumer| &consumer.name));
            reply.int(pending.time);
            reply.int(pending.count as i64);
        }
        word(reply, "consumers");
        reply.array(group.consumers().len());
        for consumer in group.consumers().filter_map(|(slot, _)| group.consumer(slot)) {
            consumer_in_full(reply, group, consumer, max);
        }
    }
}

fn consumer_in_full(reply: &mut Reply<'_>, group: &types::Group, consumer: &types::Consumer, max: usize) {
    reply.map(5);
    word(reply, "name");
    reply.bulk(&consumer.name);
    word(reply, "seen-time");
    reply.int(consumer.seen);
    word(reply, "active-time");
    reply.int(consumer.active);
    word(reply, "pel-count");
    reply.len(consumer.pending().len());
    word(reply, "pending");
    reply.array(consumer.pending().len().min(max));
    for id in consumer.pending().iter().take(max) {
        let (time, count) = group.pending().get(id).map_or((0, 0), |p| (p.time, p.count));
        reply.array(3);
        reply_id(reply, *id);
        reply.int(time);
        reply.int(count as i64);
    }
}
