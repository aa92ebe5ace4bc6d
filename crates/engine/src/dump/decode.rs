//! Bytes into values: chooses the encoding by the configuration, as Redis does when it loads, and refuses what no
//! command could have made.

use crate::keyspace::Keyspace;
use crate::types::{
    Added, FieldTtl, Group, Hash, HashCfg, List, Put, Set, SetCfg, Stream, ZAdd, ZSet, ZSetCfg,
};
use crate::value::Value;
use totality_ds::quicklist::Node;
use totality_ds::{Bytes, Quicklist};
use totality_rdb::{GroupObject, HashField, Object, StreamObject};

type Res<T> = Result<T, &'static str>;

/// Makes a value of what was read.
///
/// # Errors
/// What is wrong: a member twice, scores out of order, names without values.
pub fn into_value(object: Object, ks: &Keyspace) -> Res<Value> {
    Ok(match object {
        Object::Str(bytes) => match crate::util::parse_i64(&bytes) {
            Some(n) => Value::Int(n),
            None => Value::Str(bytes),
        },
        Object::List(items) => list(ks, |quick| items.iter().for_each(|item| quick.push_back(item))),
        Object::Nodes(nodes) => {
            list(ks, |quick| nodes.into_iter().for_each(|node: Node| quick.push_node(node)))
        }
        Object::Set(members) => Value::Set(Box::new(set(&members, &SetCfg::of(ks))?)),
        Object::IntSet(ints) => Value::Set(Box::new(Set::from_intset(ints, &SetCfg::of(ks)))),
        Object::SetPack(pack) => Value::Set(Box::new(
            Set::from_listpack(pack, &SetCfg::of(ks)).ok_or("Set listpack integrity check failed.")?,
        )),
        Object::ZSet(members) => Value::ZSet(zset(&members, &ZSetCfg::of(ks))?),
        Object::ZSetPack(pack) => Value::ZSet(
            ZSet::from_listpack(pack, &ZSetCfg::of(ks)).ok_or("Zset listpack integrity check failed.")?,
        ),
        Object::Hash(fields) => Value::Hash(hash(&fields, &HashCfg::of(ks))?),
        Object::HashPack(pack) => Value::Hash(
            Hash::from_listpack(pack, &HashCfg::of(ks)).ok_or("Hash listpack integrity check failed.")?,
        ),
        Object::Stream(stream) => Value::Stream(Box::new(self::stream(*stream)?)),
    })
}

fn list(ks: &Keyspace, fill: impl FnOnce(&mut Quicklist)) -> Value {
    let mut quick = Quicklist::new(crate::types::fill(ks.enc.list_size));
    fill(&mut quick);
    let mut list = List::from(quick);
    list.choose(ks.enc.list_size);
    Value::List(Box::new(list))
}

fn set(members: &[Bytes], cfg: &SetCfg) -> Res<Set> {
    let first = members.first().ok_or("empty set")?;
    let mut set = Set::for_member(first, members.len(), cfg);
    for member in members {
        if !set.add(member, cfg) {
            return Err("Duplicate set members detected");
        }
    }
    Ok(set)
}

fn zset(members: &[(Bytes, f64)], cfg: &ZSetCfg) -> Res<ZSet> {
    let longest = members.iter().map(|(member, _)| member.len()).max().unwrap_or(0);
    let mut set = ZSet::for_members(members.len(), longest, cfg);
    for (member, score) in members {
        if !matches!(set.add(member, *score, ZAdd::default(), cfg), Added::New(_)) {
            return Err("Zset with dup elements detected");
        }
    }
    Ok(set)
}

fn hash(fields: &[HashField], cfg: &HashCfg) -> Res<Hash> {
    let mut hash = Hash::new();
    hash.reserve(fields.len(), cfg);
    for field in fields {
        let ttl = field.deadline.map_or(FieldTtl::Clear, FieldTtl::At);
        // Nothing is past its deadline while it is loaded.
        if !matches!(hash.put(&field.name, &field.value, ttl, i64::MIN, cfg), Put::Added) {
            return Err("Hash with dup elements");
        }
    }
    Ok(hash)
}

fn stream(object: StreamObject) -> Res<Stream> {
    let StreamObject { entries, last_id, max_deleted, entries_added, groups } = object;
    let mut stream = Stream::loaded(entries, last_id, max_deleted, entries_added);
    for object in &groups {
        let group = group(&stream, object);
        if !stream.add_group(&object.name, group) {
            return Err("Duplicated consumer group name");
        }
    }
    Ok(stream)
}

fn group(stream: &Stream, object: &GroupObject) -> Group {
    let read = match object.estimate {
        true => stream.log().added_up_to(object.last_id),
        false => object.entries_read,
    };
    let mut group = Group::new(object.last_id, read);
    for consumer in &object.consumers {
        let (slot, _) = group.ensure_consumer(&consumer.name, consumer.seen);
        for entry in &consumer.pending {
            group.assign(entry.id, slot, entry.time, entry.count, None);
        }
        group.set_times(slot, consumer.seen, consumer.active);
    }
    group
}
