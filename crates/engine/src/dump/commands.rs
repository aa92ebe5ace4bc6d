//! Values as the commands that make them: the base of an append-only file that holds no snapshot. The commands are those
//! that Redis writes.

use super::piece::{ALL, PENDING, PIECE, Place, next_scan};
use crate::keyspace::{Entry, NO_EXPIRY};
use crate::propagate::render;
use crate::types::{Group, Hash, List, Set, Stream, ZSet};
use crate::util::format_double;
use crate::value::Value;
use smallvec::SmallVec;
use totality_ds::{Bytes, Item, StreamId};

/// Elements of one command at most.
const ELEMENTS: usize = 64;

/// Writes the next piece of a key, about `count` parts of its value, and says where to go on. The value must not change
/// in between.
pub fn write_key_piece(out: &mut Vec<u8>, entry: &Entry, place: Place, count: usize) -> Place {
    let key = &*entry.key;
    let next = match &entry.value {
        Value::Str(bytes) => string(out, key, bytes, place, count),
        Value::Int(n) => string(out, key, n.to_string().as_bytes(), place, count),
        Value::List(v) => list(out, key, v, place, count),
        Value::Set(v) => set(out, key, v, place, count),
        Value::Hash(v) => hash(out, key, v, place, count),
        Value::ZSet(v) => zset(out, key, v, place, count),
        Value::Stream(v) => stream(out, key, v, place, count),
    };
    if next == Place::End && entry.expire != NO_EXPIRY {
        render(&[b"PEXPIREAT", key, entry.expire.to_string().as_bytes()], out);
    }
    next
}

fn string(out: &mut Vec<u8>, key: &[u8], bytes: &[u8], place: Place, count: usize) -> Place {
    let from = match place {
        Place::Byte(from) => from,
        _ if count == ALL => {
            render(&[&b"SET"[..], key, bytes], out);
            return Place::End;
        }
        _ => {
            out.extend_from_slice(format!("*3\r\n$3\r\nSET\r\n${}\r\n", key.len()).as_bytes());
            out.extend_from_slice(key);
            out.extend_from_slice(format!("\r\n${}\r\n", bytes.len()).as_bytes());
            0
        }
    };
    let end = bytes.len().min(from.saturating_add(PIECE));
    out.extend_from_slice(&bytes[from..end]);
    if end < bytes.len() {
        return Place::Byte(end);
    }
    out.extend_from_slice(b"\r\n");
    Place::End
}

/// Gathers elements into commands of [`ELEMENTS`] at most.
struct Batch<'a> {
    out: &'a mut Vec<u8>,
    head: [&'a [u8]; 2],
    words: Vec<Bytes>,
    /// Words of an element.
    width: usize,
}

impl<'a> Batch<'a> {
    fn new(out: &'a mut Vec<u8>, command: &'a [u8], key: &'a [u8], width: usize) -> Self {
        Batch { out, head: [command, key], words: Vec::with_capacity(ELEMENTS * width), width }
    }

    fn word(&mut self, item: Item<'_>) {
        self.words.push(item.with_bytes(|bytes| Bytes::from(bytes)));
        if self.words.len() == ELEMENTS * self.width {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let words: Vec<&[u8]> = self.head.into_iter().chain(self.words.iter().map(|w| &**w)).collect();
        render(&words, self.out);
        self.words.clear();
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

fn list(out: &mut Vec<u8>, key: &[u8], list: &List, place: Place, count: usize) -> Place {
    let from = match place {
        Place::Node(from) => from,
        _ => 0,
    };
    let mut batch = Batch::new(out, b"RPUSH", key, 1);
    let (mut n, mut bytes) = (0, 0);
    let limit = if count == ALL { ALL } else { PIECE };
    let left = list.len() - from;
    // Elements come one by one, whatever node they are in.
    let step = if limit == ALL { left } else { left.min(ELEMENTS * 8) };
    list.for_each(from as i64, step, |item| {
        if bytes < limit {
            bytes += item.byte_len();
            n += 1;
            batch.word(item);
        }
    });
    if n >= left { Place::End } else { Place::Node(from + n) }
}

fn set(out: &mut Vec<u8>, key: &[u8], set: &Set, place: Place, count: usize) -> Place {
    let mut batch = Batch::new(out, b"SADD", key, 1);
    next_scan(set.scan(cursor(place), count, &mut |member| batch.word(member)))
}

fn cursor(place: Place) -> u64 {
    match place {
        Place::Scan(cursor) => cursor,
        _ => 0,
    }
}

fn hash(out: &mut Vec<u8>, key: &[u8], hash: &Hash, place: Place, count: usize) -> Place {
    let mut deadlines = Vec::new();
    let mut batch = Batch::new(out, b"HMSET", key, 2);
    let next = next_scan(hash.scan_all(cursor(place), count, &mut |name, value, at| {
        batch.word(name);
        batch.word(value);
        deadlines.extend(at.map(|at| (name.with_bytes(|name| Bytes::from(name)), at)));
    }));
    drop(batch);
    for (name, at) in deadlines {
        render(&[b"HPEXPIREAT", key, at.to_string().as_bytes(), b"FIELDS", b"1", &name], out);
    }
    next
}

fn zset(out: &mut Vec<u8>, key: &[u8], set: &ZSet, place: Place, count: usize) -> Place {
    let from = match place {
        Place::Rank(from) => from,
        _ => 0,
    };
    let mut batch = Batch::new(out, b"ZADD", key, 2);
    set.for_ranks(from, count, false, |member, score| {
        let mut text = SmallVec::new();
        format_double(score, &mut text);
        batch.word(Item::Str(&text));
        batch.word(member);
    });
    if count >= set.len() - from { Place::End } else { Place::Rank(from + count) }
}

fn id_text(id: StreamId) -> Vec<u8> {
    let mut text = Vec::new();
    id.push(&mut text);
    text
}

fn stream(out: &mut Vec<u8>, key: &[u8], stream: &Stream, place: Place, count: usize) -> Place {
    let log = stream.log();
    match place {
        Place::Start | Place::Block(_) => {
            let from = match place {
                Place::Block(from) => from,
                _ => StreamId::MIN,
            };
            let before = out.len();
            for entry in log.entries().range(from, StreamId::MAX) {
                if count != ALL && out.len() - before > PIECE {
                    return Place::Block(entry.id);
                }
                let words: Vec<Bytes> = entry
                    .fields()
                    .flat_map(|(name, value)| [name, value])
                    .map(|item| item.with_bytes(|bytes| Bytes::from(bytes)))
                    .collect();
                let id = id_text(entry.id);
                let argv: Vec<&[u8]> =
                    [&b"XADD"[..], key, &id].into_iter().chain(words.iter().map(|w| &**w)).collect();
                render(&argv, out);
            }
            if log.entries().is_empty() {
                // An empty stream cannot be made otherwise.
                render(&[b"XADD", key, b"MAXLEN", b"0", b"0-1", b"x", b"y"], out);
            }
            let added = log.entries_added.to_string();
            let (last, deleted) = (id_text(log.last_id), id_text(log.max_deleted));
            let words =
                [&b"XSETID"[..], key, &last, b"ENTRIESADDED", added.as_bytes(), b"MAXDELETEDID", &deleted];
            render(&words, out);
            if stream.groups().len() == 0 { Place::End } else { Place::Group(0) }
        }
        Place::Group(at) | Place::Consumer(at, ..) => {
            let Some((name, group)) = stream.groups().nth(at) else { return Place::End };
            let many = if count == ALL { ALL } else { PENDING };
            match group_piece(out, key, name, group, place, many) {
                Place::End if at + 1 < stream.groups().len() => Place::Group(at + 1),
                place => place,
            }
        }
        _ => Place::End,
    }
}

/// Writes the next piece of a group; [`Place::End`] when it is complete.
fn group_piece(
    out: &mut Vec<u8>,
    key: &[u8],
    name: &[u8],
    group: &Group,
    place: Place,
    count: usize,
) -> Place {
    match place {
        Place::Group(at) => {
            let read = group.entries_read.map_or("-1".to_owned(), |n| n.to_string());
            let last = id_text(group.last_id);
            let words = [&b"XGROUP"[..], b"CREATE", key, name, &last, b"ENTRIESREAD", read.as_bytes()];
            render(&words, out);
            if group.consumers().len() == 0 { Place::End } else { Place::Consumer(at, 0, None) }
        }
        Place::Consumer(at, n, from) => {
            let Some((slot, consumer_name)) = group.consumers().nth(n) else { return Place::End };
            let Some(consumer) = group.consumer(slot) else { return Place::End };
            if consumer.pending().is_empty() {
                render(&[&b"XGROUP"[..], b"CREATECONSUMER", key, name, consumer_name], out);
            }
            let mut own = consumer.pending().range(from.unwrap_or(StreamId::MIN)..);
            for id in own.by_ref().take(count) {
                let Some(entry) = group.pending().get(id) else { continue };
                let (time, times, id) = (entry.time.to_string(), entry.count.to_string(), id_text(*id));
                let words = [
                    &b"XCLAIM"[..],
                    key,
                    name,
                    consumer_name,
                    b"0",
                    &id,
                    b"TIME",
                    time.as_bytes(),
                    b"RETRYCOUNT",
                    times.as_bytes(),
                    b"JUSTID",
                    b"FORCE",
                ];
                render(&words, out);
            }
            match own.next() {
                Some(id) => Place::Consumer(at, n, Some(*id)),
                None if n + 1 < group.consumers().len() => Place::Consumer(at, n + 1, None),
                None => Place::End,
            }
        }
        _ => Place::End,
    }
}
