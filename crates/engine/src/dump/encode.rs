//! Values into bytes.

use crate::keyspace::{Entry, Keyspace, NO_EXPIRY};
use crate::types::{Group, Hash, List, Stream};
use crate::value::Value;
use totality_ds::quicklist::Node;
use totality_ds::{Item, StreamId};
use totality_rdb::{VERSION, VERSION_REDIS_8, VERSION_VALKEY_9, Writer, file, types};

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

/// Writes a key with all that belongs to it, as a snapshot file has it.
pub fn write_key(w: &mut Writer, ks: &Keyspace, entry: &Entry, version: u16, policy: &str) {
    let expire = Some(entry.expire).filter(|at| *at != NO_EXPIRY);
    let idle = policy.ends_with("lru").then(|| ks.idle_seconds(entry));
    let freq = policy.ends_with("lfu").then(|| ks.frequency(entry));
    file::before_key(w, expire, idle, freq);
    w.byte(value_type(&entry.value, version));
    w.string(&entry.key);
    write_value(w, &entry.value, version);
}

/// Writes a value without its type.
pub fn write_value(w: &mut Writer, value: &Value, version: u16) {
    match value {
        Value::Str(bytes) => w.string(bytes),
        Value::Int(n) => w.int(*n),
        Value::List(list) => write_list(w, list),
        Value::Set(set) => match (set.as_intset(), set.as_listpack()) {
            (Some(ints), _) => w.string(ints.as_bytes()),
            (_, Some(pack)) if version >= VERSION => w.string(pack.as_bytes()),
            _ => {
                w.len(set.len() as u64);
                set.iter().for_each(|member| w.item(member));
            }
        },
        Value::Hash(hash) => write_hash(w, hash, version),
        Value::ZSet(set) => match set.listpack() {
            Some(pack) => w.string(pack.as_bytes()),
            None => {
                w.len(set.len() as u64);
                // From the greatest to the smallest, as Redis does.
                set.for_ranks(set.len().saturating_sub(1), set.len(), true, |member, score| {
                    w.item(member);
                    w.double(score);
                });
            }
        },
        Value::Stream(stream) => write_stream(w, stream, version),
    }
}

fn write_list(w: &mut Writer, list: &List) {
    if let Some(pack) = list.listpack() {
        w.len(1);
        w.len(PACKED);
        w.string(pack.as_bytes());
    }
    let Some(quick) = list.quicklist() else { return };
    w.len(quick.nodes().len() as u64);
    for node in quick.nodes() {
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
}

fn write_hash(w: &mut Writer, hash: &Hash, version: u16) {
    if let Some(pack) = hash.as_listpack() {
        return w.string(pack.as_bytes());
    }
    let first = hash.next_deadline();
    if let (Some(first), ..VERSION_VALKEY_9) = (first, version) {
        w.millis(first);
    }
    w.len(hash.len() as u64);
    for (name, value, at) in hash.iter_all() {
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
    }
}

fn id_as_lengths(w: &mut Writer, id: StreamId) {
    w.len(id.ms);
    w.len(id.seq);
}

fn write_stream(w: &mut Writer, stream: &Stream, version: u16) {
    let log = stream.log();
    let blocks = log.entries().blocks();
    w.len(blocks.len() as u64);
    for (id, block) in blocks {
        w.string(&id.to_be_bytes());
        w.string(block.as_bytes());
    }
    w.len(log.entries().len());
    id_as_lengths(w, log.last_id);
    id_as_lengths(w, log.first_id());
    id_as_lengths(w, log.max_deleted);
    w.len(log.entries_added);
    let groups = stream.groups();
    w.len(groups.len() as u64);
    for (name, group) in groups {
        w.item(Item::Str(name));
        write_group(w, group, version);
    }
}

fn write_group(w: &mut Writer, group: &Group, version: u16) {
    id_as_lengths(w, group.last_id);
    w.len(group.entries_read.unwrap_or(u64::MAX));
    w.len(group.pending().len() as u64);
    for (id, pending) in group.pending() {
        w.id(*id);
        w.millis(pending.time);
        w.len(pending.count);
    }
    let consumers = group.consumers();
    w.len(consumers.len() as u64);
    for (slot, name) in consumers {
        let Some(consumer) = group.consumer(slot) else { continue };
        w.string(name);
        w.millis(consumer.seen);
        if version >= VERSION {
            w.millis(consumer.active);
        }
        w.len(consumer.pending().len() as u64);
        consumer.pending().iter().for_each(|id| w.id(*id));
    }
}
