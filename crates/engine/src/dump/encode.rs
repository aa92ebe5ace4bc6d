//! Values into bytes.

use super::piece::{ALL, PENDING, PIECE, Place, next_scan};
use crate::keyspace::{Entry, Keyspace, NO_EXPIRY};
use crate::types::{Group, Hash, List, Set, Stream, ZSet};
use crate::value::Value;
use totality_ds::quicklist::Node;
use totality_ds::{Item, StreamId};
use totality_rdb::{VERSION, VERSION_7_0, VERSION_REDIS_8, VERSION_VALKEY_9, Writer, file, types};

/// The containers of a list's nodes.
const PLAIN: u64 = 1;
const PACKED: u64 = 2;

/// The version that a value needs: `wanted`, or a newer one where that cannot hold it.
pub fn value_version(value: &Value, wanted: u16) -> u16 {
    match value {
        Value::Hash(hash) if hash.has_deadlines() && wanted < VERSION_REDIS_8 => VERSION_VALKEY_9,
        _ => wanted,
    }
}

/// The oldest version that carries a value whole, for servers of which nothing is known; `wanted` where an older one
/// would lose something (when a consumer of a stream was last active) or does not know it (deadlines of fields).
pub fn portable_version(value: &Value, wanted: u16) -> u16 {
    match value {
        Value::Stream(_) => wanted,
        Value::Hash(hash) if hash.has_deadlines() => wanted,
        _ => wanted.min(VERSION_7_0),
    }
}

/// The type of a value in this version of the format.
pub(super) fn value_type(value: &Value, version: u16) -> u8 {
    match value {
        Value::Str(_) | Value::Int(_) => types::STRING,
        Value::List(_) => types::LIST_QUICKLIST_2,
        Value::Set(set) if set.as_intset().is_some() => types::SET_INTSET,
        Value::Set(set) if set.as_listpack().is_some() && version >= VERSION => types::SET_LISTPACK,
        Value::Set(_) => types::SET,
        Value::Hash(hash) if hash.as_listpack().is_some() => types::HASH_LISTPACK,
        Value::Hash(hash) if !hash.has_deadlines() => types::HASH,
        Value::Hash(_) if version >= VERSION_VALKEY_9 => types::HASH_2,
        Value::Hash(_) => types::HASH_METADATA,
        Value::ZSet(set) if set.listpack().is_some() => types::ZSET_LISTPACK,
        Value::ZSet(_) => types::ZSET_2,
        Value::Stream(_) if version >= VERSION => types::STREAM_3,
        Value::Stream(_) => types::STREAM_2,
    }
}

/// Writes what stands before the value of a key in a snapshot file: its deadline, how it was used, its type and name.
pub fn write_key_head(w: &mut Writer, ks: &Keyspace, entry: &Entry, version: u16, policy: &str) {
    let expire = Some(entry.expire).filter(|at| *at != NO_EXPIRY);
    let idle = policy.ends_with("lru").then(|| ks.idle_seconds(entry));
    let freq = policy.ends_with("lfu").then(|| ks.frequency(entry));
    file::before_key(w, expire, idle, freq);
    w.byte(value_type(&entry.value, version));
    w.string(&entry.key);
}

/// Writes a value without its type.
pub fn write_value(w: &mut Writer, value: &Value, version: u16) {
    let mut place = Place::Start;
    while place != Place::End {
        place = write_piece(w, value, version, place, ALL);
    }
}

/// Writes the next piece of a value, about `count` of its parts, and says where to go on. The value must not change in
/// between.
pub fn write_piece(w: &mut Writer, value: &Value, version: u16, place: Place, count: usize) -> Place {
    match value {
        Value::Str(bytes) => string(w, bytes, place, count),
        Value::Int(n) => {
            w.int(*n);
            Place::End
        }
        Value::List(v) => list(w, v, place, count),
        Value::Set(v) => set(w, v, version, place, count),
        Value::Hash(v) => hash(w, v, version, place, count),
        Value::ZSet(v) => zset(w, v, place, count),
        Value::Stream(v) => stream(w, v, version, place, count),
    }
}

fn whole(w: &mut Writer, bytes: &[u8]) -> Place {
    w.string(bytes);
    Place::End
}

fn string(w: &mut Writer, bytes: &[u8], place: Place, count: usize) -> Place {
    let from = match place {
        Place::Byte(from) => from,
        _ if count == ALL => return whole(w, bytes),
        // Compressing it would take as long as writing it in pieces is to avoid.
        _ => {
            w.len(bytes.len() as u64);
            0
        }
    };
    let end = bytes.len().min(from.saturating_add(PIECE));
    w.out.extend_from_slice(&bytes[from..end]);
    if end == bytes.len() { Place::End } else { Place::Byte(end) }
}

fn list(w: &mut Writer, list: &List, place: Place, count: usize) -> Place {
    let Some(quick) = list.quicklist() else {
        if let Some(pack) = list.listpack() {
            w.len(1);
            w.len(PACKED);
            w.string(pack.as_bytes());
        }
        return Place::End;
    };
    let nodes = quick.nodes();
    let all = nodes.len();
    let from = match place {
        Place::Node(from) => from,
        _ => {
            w.len(all as u64);
            0
        }
    };
    for node in nodes.skip(from).take(count) {
        match node {
            Node::Pack(pack) => {
                w.len(PACKED);
                w.string(pack.as_bytes());
            }
            Node::Plain(bytes) => {
                w.len(PLAIN);
                w.string(bytes);
            }
        }
    }
    if count >= all - from { Place::End } else { Place::Node(from + count) }
}

fn set(w: &mut Writer, set: &Set, version: u16, place: Place, count: usize) -> Place {
    match (set.as_intset(), set.as_listpack()) {
        (Some(ints), _) => return whole(w, ints.as_bytes()),
        (_, Some(pack)) if version >= VERSION => return whole(w, pack.as_bytes()),
        _ => {}
    }
    let cursor = scanned(w, place, set.len());
    next_scan(set.scan(cursor, count, &mut |member| w.item(member)))
}

fn hash(w: &mut Writer, hash: &Hash, version: u16, place: Place, count: usize) -> Place {
    if let Some(pack) = hash.as_listpack() {
        return whole(w, pack.as_bytes());
    }
    let first = hash.next_deadline();
    if let (Place::Start, Some(first), ..VERSION_VALKEY_9) = (place, first, version) {
        w.millis(first);
    }
    let cursor = scanned(w, place, hash.len());
    next_scan(hash.scan_all(cursor, count, &mut |name, value, at| {
        match first {
            // One more than the difference to the earliest; 0 for none.
            Some(first) if version < VERSION_VALKEY_9 => {
                w.len(at.map_or(0, |at| (at.saturating_sub(first) as u64).saturating_add(1)));
            }
            _ => {}
        }
        w.item(name);
        w.item(value);
        if first.is_some() && version >= VERSION_VALKEY_9 {
            w.millis(at.unwrap_or(-1));
        }
    }))
}

/// Where a walk through a table goes on; at its beginning the number of elements is written.
fn scanned(w: &mut Writer, place: Place, len: usize) -> u64 {
    match place {
        Place::Scan(cursor) => cursor,
        _ => {
            w.len(len as u64);
            0
        }
    }
}

fn zset(w: &mut Writer, set: &ZSet, place: Place, count: usize) -> Place {
    if let Some(pack) = set.listpack() {
        return whole(w, pack.as_bytes());
    }
    // From the greatest to the smallest, as Redis does.
    let left = match place {
        Place::Rank(left) => left,
        _ => {
            w.len(set.len() as u64);
            set.len()
        }
    };
    if left > 0 {
        set.for_ranks(left - 1, count.min(left), true, |member, score| {
            w.item(member);
            w.double(score);
        });
    }
    if count >= left { Place::End } else { Place::Rank(left - count) }
}

fn id_as_lengths(w: &mut Writer, id: StreamId) {
    w.len(id.ms);
    w.len(id.seq);
}

fn stream(w: &mut Writer, stream: &Stream, version: u16, place: Place, count: usize) -> Place {
    let log = stream.log();
    match place {
        Place::Start | Place::Block(_) => {
            let from = match place {
                Place::Block(from) => from,
                _ => {
                    w.len(log.entries().blocks().len() as u64);
                    StreamId::MIN
                }
            };
            let mut blocks = log.entries().blocks_from(from);
            for (id, block) in blocks.by_ref().take(count) {
                w.string(&id.to_be_bytes());
                w.string(block.as_bytes());
            }
            if let Some((id, _)) = blocks.next() {
                return Place::Block(id);
            }
            w.len(log.entries().len());
            id_as_lengths(w, log.last_id);
            id_as_lengths(w, log.first_id());
            id_as_lengths(w, log.max_deleted);
            w.len(log.entries_added);
            w.len(stream.groups().len() as u64);
            if stream.groups().len() == 0 { Place::End } else { Place::Group(0) }
        }
        Place::Group(at) | Place::Pending(at, _) | Place::Consumer(at, ..) => {
            let Some((name, group)) = stream.groups().nth(at) else { return Place::End };
            let many = if count == ALL { ALL } else { PENDING };
            match group_piece(w, name, group, version, place, many) {
                Place::End if at + 1 < stream.groups().len() => Place::Group(at + 1),
                place => place,
            }
        }
        _ => Place::End,
    }
}

/// Writes the next piece of a group; [`Place::End`] when it is complete.
fn group_piece(
    w: &mut Writer,
    name: &[u8],
    group: &Group,
    version: u16,
    place: Place,
    count: usize,
) -> Place {
    match place {
        Place::Group(at) => {
            w.item(Item::Str(name));
            id_as_lengths(w, group.last_id);
            w.len(group.entries_read.unwrap_or(u64::MAX));
            w.len(group.pending().len() as u64);
            Place::Pending(at, StreamId::MIN)
        }
        Place::Pending(at, from) => {
            let mut pending = group.pending().range(from..);
            for (id, pending) in pending.by_ref().take(count) {
                w.id(*id);
                w.millis(pending.time);
                w.len(pending.count);
            }
            if let Some((id, _)) = pending.next() {
                return Place::Pending(at, *id);
            }
            w.len(group.consumers().len() as u64);
            if group.consumers().len() == 0 { Place::End } else { Place::Consumer(at, 0, None) }
        }
        Place::Consumer(at, n, from) => {
            let Some((slot, name)) = group.consumers().nth(n) else { return Place::End };
            let Some(consumer) = group.consumer(slot) else { return Place::End };
            if from.is_none() {
                w.string(name);
                w.millis(consumer.seen);
                if version >= VERSION {
                    w.millis(consumer.active);
                }
                w.len(consumer.pending().len() as u64);
            }
            let mut own = consumer.pending().range(from.unwrap_or(StreamId::MIN)..);
            own.by_ref().take(count).for_each(|id| w.id(*id));
            match own.next() {
                Some(id) => Place::Consumer(at, n, Some(*id)),
                None if n + 1 < group.consumers().len() => Place::Consumer(at, n + 1, None),
                None => Place::End,
            }
        }
        _ => Place::End,
    }
}
