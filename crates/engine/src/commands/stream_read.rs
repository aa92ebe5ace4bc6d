//! XREAD and XREADGROUP: reading what came after an id, or waiting for it.

use crate::blocked::Request;
use crate::commands::stream_util::{
    Delivery, count_arg, delivery_of, id_arg, id_text, int_or, no_key_or_group, propagate_deliveries,
    propagate_group_id, reply_entries, reply_entry, reply_id,
};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::reply::{Deferred, Reply};
use crate::types::{Group, Log, Slot, Stream};
use crate::value::Type;
use smallvec::SmallVec;
use totality_ds::StreamId;

/// What to read of a stream: entries after this id. The greatest id stands for XREADGROUP's `>`.
type After = StreamId;
const NEW: After = StreamId::MAX;

/// The arguments.
struct What<'a> {
    count: u64,
    /// When to give up waiting; `None`: no waiting.
    deadline: Option<i64>,
    no_ack: bool,
    /// Group and consumer.
    group: Option<(&'a [u8], &'a [u8])>,
    keys: &'a [&'a [u8]],
    ids: &'a [&'a [u8]],
    /// Where the ids stand among the arguments.
    ids_at: usize,
}

/// The timeout in milliseconds, as a deadline; 0: none.
fn deadline(text: &[u8], now: i64) -> Res<i64> {
    match int_or(text, "ERR timeout is not an integer or out of range")? {
        ms if ms < 0 => Err(CmdError::new("ERR timeout is negative")),
        0 => Ok(0),
        ms => ms.checked_add(now).ok_or(CmdError::new("ERR timeout is out of range")),
    }
}

fn only_for_groups(option: &str) -> CmdError {
    CmdError::owned(format!(
        "ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
    ))
}

impl<'a> What<'a> {
    fn read(cx: &Cx<'a>, grouped: bool) -> Res<What<'a>> {
        let mut what =
            What { count: 0, deadline: None, no_ack: false, group: None, keys: &[], ids: &[], ids_at: 0 };
        let mut i = 1;
        while i < cx.argc() {
            let more = cx.argc() - i - 1;
            if more > 0 && cx.is(i, "BLOCK") {
                what.deadline = Some(deadline(cx.args[i + 1], cx.ks.now)?);
                i += 1;
            } else if more > 0 && cx.is(i, "COUNT") {
                what.count = count_arg(cx.args[i + 1])?;
                i += 1;
            } else if more > 0 && cx.is(i, "STREAMS") {
                if !more.is_multiple_of(2) {
                    let (name, sign) = if grouped { ("xreadgroup", '>') } else { ("xread", '$') };
                    return Err(CmdError::owned(format!(
                        "ERR Unbalanced '{name}' list of streams: for each stream key an ID or '{sign}' must be specified."
                    )));
                }
                (what.keys, what.ids) = cx.args[i + 1..].split_at(more / 2);
                what.ids_at = i + 1 + more / 2;
                break;
            } else if more > 1 && cx.is(i, "GROUP") {
                if !grouped {
                    return Err(only_for_groups("GROUP"));
                }
                what.group = Some((cx.args[i + 1], cx.args[i + 2]));
                i += 2;
            } else if cx.is(i, "NOACK") {
                if !grouped {
                    return Err(only_for_groups("NOACK"));
                }
                what.no_ack = true;
            } else {
                return Err(SYNTAX);
            }
            i += 1;
        }
        if what.keys.is_empty() {
            return Err(SYNTAX);
        }
        if grouped && what.group.is_none() {
            return Err(CmdError::new("ERR Missing GROUP option for XREADGROUP"));
        }
        Ok(what)
    }
}

fn meaningless(id: &str) -> CmdError {
    CmdError::owned(format!(
        "ERR The {id} ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The {id} ID would just return an empty result set."
    ))
}

/// Looks at the key and turns the id argument into an id.
fn resolve(cx: &mut Cx<'_>, what: &What<'_>, key: &[u8], id: &[u8]) -> Res<After> {
    let stream = cx.ks.read_as::<Stream>(key)?;
    if let Some((name, _)) = what.group
        && stream.is_none_or(|stream| stream.group(name).is_none())
    {
        return Err(no_key_or_group(key, name, " in XREADGROUP with GROUP option"));
    }
    match (id, what.group) {
        (b"$", Some(_)) => Err(meaningless("$")),
        (b"+", Some(_)) => Err(meaningless("+")),
        (b">", Some(_)) => Ok(NEW),
        (b">", None) => Err(CmdError::new(
            "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
        )),
        (b"$", None) => Ok(stream.map_or(StreamId::MIN, |stream| stream.log().last_id)),
        (b"+", None) => {
            // The last one that is there: the id that was given last may have been deleted.
            let last = stream.and_then(|stream| stream.log().entries().last_id());
            Ok(last.and_then(StreamId::prev).unwrap_or(StreamId::MIN))
        }
        _ => id_arg(id),
    }
}

/// The reply's outer container, opened when the first stream has something.
struct Served {
    streams: usize,
    open: Option<Deferred>,
    n: usize,
}

impl Served {
    fn begin(&mut self, reply: &mut Reply<'_>, key: &[u8]) {
        let maps = reply.resp3();
        if self.n == 0 {
            match (self.streams, maps) {
                (1, true) => reply.map(1),
                (1, false) => reply.array(1),
                (_, true) => self.open = Some(reply.map_deferred()),
                (_, false) => self.open = Some(reply.array_deferred()),
            }
        }
        self.n += 1;
        if !maps {
            reply.array(2);
        }
        reply.bulk(key);
    }
}

/// XREAD and, when `grouped`, XREADGROUP.
pub fn read(cx: &mut Cx<'_>, grouped: bool) -> Res {
    let what = What::read(cx, grouped)?;
    let mut after: SmallVec<[After; 4]> = SmallVec::with_capacity(what.keys.len());
    for (key, id) in what.keys.iter().zip(what.ids) {
        after.push(resolve(cx, &what, key, id)?);
    }
    let mut served = Served { streams: what.keys.len(), open: None, n: 0 };
    if grouped {
        // What it did is propagated, not what it was told.
        cx.propagate_nothing();
    }
    for (key, after) in what.keys.iter().zip(&after) {
        match what.group {
            Some((name, consumer)) => serve_group(cx, &what, (key, name, consumer), *after, &mut served),
            None => serve(cx, &what, key, *after, &mut served),
        }
    }
    if served.n > 0 {
        if let Some(open) = served.open {
            cx.reply.end(open, served.n);
        }
        return Ok(());
    }
    match what.deadline.filter(|_| cx.may_block()) {
        Some(deadline) => block(cx, &what, &after, deadline),
        None => cx.reply.null_array(),
    }
    Ok(())
}

fn block(cx: &mut Cx<'_>, what: &What<'_>, after: &[After], deadline: i64) {
    // When it runs again, `$` must mean what it means now.
    let here = what.ids.iter().zip(after).enumerate().filter(|(_, (id, _))| **id == b"$");
    cx.sv.block_request = Some(Request {
        keys: what.keys.iter().map(|key| Box::from(*key)).collect(),
        kind: Type::Stream,
        deadline,
        on_deletion: what.group.is_some(),
        replace: here.map(|(i, (_, id))| (what.ids_at + i, Box::from(&*id_text(*id)))).collect(),
    });
}

fn serve(cx: &mut Cx<'_>, what: &What<'_>, key: &[u8], after: After, served: &mut Served) {
    let Some(stream) = cx.ks.view_as::<Stream>(key) else { return };
    let entries = stream.log().entries();
    let Some(start) = after.next().filter(|start| entries.last_id().is_some_and(|last| last >= *start))
    else {
        return;
    };
    served.begin(&mut cx.reply, key);
    reply_entries(&mut cx.reply, entries.range(start, StreamId::MAX), what.count);
}

/// What serving a consumer did.
#[derive(Default)]
struct Done {
    created: bool,
    /// It got messages that its group had not had.
    delivered: bool,
    deliveries: Vec<Delivery>,
    /// Where the group is now, when it moved on.
    moved: Option<(StreamId, Option<u64>)>,
}

fn serve_group(
    cx: &mut Cx<'_>,
    what: &What<'_>,
    (key, name, consumer): (&[u8], &[u8], &[u8]),
    after: After,
    served: &mut Served,
) {
    let (now, recording) = (cx.ks.now, cx.ks.effects.recording);
    let reply = &mut cx.reply;
    let mut guard = cx.ks.write(key);
    let Ok(Some(stream)) = guard.get::<Stream>() else { return };
    let done = stream.with_group(name, |group, log| {
        let mut done = Done::default();
        let new = after == NEW;
        let there = log.entries().last_id().is_some_and(|last| last > group.last_id);
        let (slot, created) = group.ensure_consumer(consumer, now);
        group.saw(slot, now);
        done.created = created;
        done.delivered = new && there;
        if !new || there {
            served.begin(reply, key);
        }
        if !new {
            history(reply, group, log, slot, (after, what.count, now));
        } else if there {
            deliver(reply, group, log, slot, (what, now, recording), &mut done);
        }
        done
    });
    let Some(done) = done else { return };
    if done.created {
        guard.event(Event::stream("xgroup-createconsumer"));
    }
    guard.changed_quietly(u64::from(done.created) + u64::from(done.delivered));
    drop(guard);
    if done.created && what.no_ack {
        cx.propagate_as(&[b"XGROUP", b"CREATECONSUMER", key, name, consumer]);
    }
    propagate_deliveries(cx, key, name, &done.deliveries);
    if let Some((last_id, read)) = done.moved {
        propagate_group_id(cx, key, name, last_id, read);
    }
}

/// Delivers what the group has not had yet.
fn deliver(
    reply: &mut Reply<'_>,
    group: &mut Group,
    log: &Log,
    slot: Slot,
    (what, now, recording): (&What<'_>, i64, bool),
    done: &mut Done,
) {
    let Some(start) = group.last_id.next() else { return reply.array(0) };
    let first = log.first_id();
    let array = reply.array_deferred();
    let mut n = 0;
    for entry in log.entries().range(start, StreamId::MAX) {
        group.advance(entry.id, log, first);
        reply_entry(reply, &entry);
        if !what.no_ack {
            group.assign(entry.id, slot, now, 1, Some(now));
            if recording {
                done.deliveries.extend(delivery_of(group, entry.id));
            }
        }
        n += 1;
        if n as u64 == what.count {
            break;
        }
    }
    reply.end(array, n);
    done.moved = Some((group.last_id, group.entries_read));
}

/// Repeats what the consumer had and did not acknowledge; an entry that is gone has no fields.
fn history(
    reply: &mut Reply<'_>,
    group: &mut Group,
    log: &Log,
    slot: Slot,
    (after, count, now): (After, u64, i64),
) {
    let max = if count == 0 { usize::MAX } else { usize::try_from(count).unwrap_or(usize::MAX) };
    let ids: Vec<StreamId> = match (group.consumer(slot), after.next()) {
        (Some(consumer), Some(start)) => consumer.pending().range(start..).take(max).copied().collect(),
        _ => Vec::new(),
    };
    reply.array(ids.len());
    for id in ids {
        match log.entries().get(id) {
            Some(entry) => {
                reply_entry(reply, &entry);
                group.delivered_again(id, now);
            }
            None => {
                reply.array(2);
                reply_id(reply, id);
                reply.null_array();
            }
        }
    }
}
