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
    make(object, &Config::of(ks), &mut || true)
}

/// The same; `pause` is called now and then while a long value is made. False: it is given up.
///
/// # Errors
/// The same, and when `pause` says so.
pub(crate) fn into_value_pausing(
    object: Object,
    ks: &mut Keyspace,
    pause: &mut dyn FnMut(&mut Keyspace) -> bool,
) -> Res<Value> {
    let config = Config::of(ks);
    make(object, &config, &mut || pause(ks))
}

/// What decides encodings.
struct Config {
    set: SetCfg,
    zset: ZSetCfg,
    hash: HashCfg,
    list_size: i64,
}

impl Config {
    fn of(ks: &Keyspace) -> Config {
        Config {
            set: SetCfg::of(ks),
            zset: ZSetCfg::of(ks),
            hash: HashCfg::of(ks),
            list_size: ks.enc.list_size,
        }
    }
}

/// Elements between two pauses.
const PAUSE: usize = 512;

/// Calls `f` for each element, and pauses.
fn each<T>(
    elements: impl IntoIterator<Item = T>,
    pause: &mut dyn FnMut() -> bool,
    mut f: impl FnMut(T) -> Res<()>,
) -> Res<()> {
    for (i, element) in elements.into_iter().enumerate() {
        f(element)?;
        if i % PAUSE == PAUSE - 1 && !pause() {
            return Err("loading was stopped");
        }
    }
    Ok(())
}

fn make(object: Object, config: &Config, pause: &mut dyn FnMut() -> bool) -> Res<Value> {
    Ok(match object {
        Object::Str(bytes) => match crate::util::parse_i64(&bytes) {
            Some(n) => Value::Int(n),
            None => Value::Str(bytes),
        },
        Object::List(items) => {
            let mut quick = Quicklist::new(crate::types::fill(config.list_size));
            each(items, pause, |item: Bytes| {
                quick.push_back(&item);
                Ok(())
            })?;
            list(quick, config)
        }
        Object::Nodes(nodes) => {
            let mut quick = Quicklist::new(crate::types::fill(config.list_size));
            each(nodes, pause, |node: Node| {
                quick.push_node(node);
                Ok(())
            })?;
            list(quick, config)
        }
        Object::Set(members) => Value::Set(Box::new(set(members, &config.set, pause)?)),
        Object::IntSet(ints) => Value::Set(Box::new(Set::from_intset(ints, &config.set))),
        Object::SetPack(pack) => Value::Set(Box::new(
            Set::from_listpack(pack, &config.set).ok_or("Set listpack integrity check failed.")?,
        )),
        Object::ZSet(members) => Value::ZSet(zset(members, &config.zset, pause)?),
        Object::ZSetPack(pack) => Value::ZSet(
            ZSet::from_listpack(pack, &config.zset).ok_or("Zset listpack integrity check failed.")?,
        ),
        Object::Hash(fields) => Value::Hash(hash(fields, &config.hash, pause)?),
        Object::HashPack(pack) => Value::Hash(
            Hash::from_listpack(pack, &config.hash).ok_or("Hash listpack integrity check failed.")?,
        ),
        Object::Stream(stream) => Value::Stream(Box::new(self::stream(*stream, pause)?)),
    })
}

fn list(quick: Quicklist, config: &Config) -> Value {
    let mut list = List::from(quick);
    list.choose(config.list_size);
    Value::List(Box::new(list))
}

fn set(members: Vec<Bytes>, cfg: &SetCfg, pause: &mut dyn FnMut() -> bool) -> Res<Set> {
    let first = members.first().ok_or("empty set")?;
    let mut set = Set::for_member(first, members.len(), cfg);
    each(
        members,
        pause,
        |member| {
            if set.add(&member, cfg) { Ok(()) } else { Err("Duplicate set members detected") }
        },
    )?;
    Ok(set)
}

fn zset(members: Vec<(Bytes, f64)>, cfg: &ZSetCfg, pause: &mut dyn FnMut() -> bool) -> Res<ZSet> {
    let longest = members.iter().map(|(member, _)| member.len()).max().unwrap_or(0);
    let mut set = ZSet::for_members(members.len(), longest, cfg);
    each(members, pause, |(member, score)| match set.add(&member, score, ZAdd::default(), cfg) {
        Added::New(_) => Ok(()),
        _ => Err("Zset with dup elements detected"),
    })?;
    Ok(set)
}

fn hash(fields: Vec<HashField>, cfg: &HashCfg, pause: &mut dyn FnMut() -> bool) -> Res<Hash> {
    let mut hash = Hash::new();
    hash.reserve(fields.len(), cfg);
    each(fields, pause, |field| {
        let ttl = field.deadline.map_or(FieldTtl::Clear, FieldTtl::At);
        // Nothing is past its deadline while it is loaded.
        match hash.put(&field.name, &field.value, ttl, i64::MIN, cfg) {
            Put::Added => Ok(()),
            _ => Err("Hash with dup elements"),
        }
    })?;
    Ok(hash)
}

fn stream(object: StreamObject, pause: &mut dyn FnMut() -> bool) -> Res<Stream> {
    let StreamObject { entries, last_id, max_deleted, entries_added, groups } = object;
    let mut stream = Stream::loaded(entries, last_id, max_deleted, entries_added);
    for object in &groups {
        let group = group(&stream, object, pause)?;
        if !stream.add_group(&object.name, group) {
            return Err("Duplicated consumer group name");
        }
    }
    Ok(stream)
}

fn group(stream: &Stream, object: &GroupObject, pause: &mut dyn FnMut() -> bool) -> Res<Group> {
    let read = match object.estimate {
        true => stream.log().added_up_to(object.last_id),
        false => object.entries_read,
    };
    let mut group = Group::new(object.last_id, read);
    for consumer in &object.consumers {
        let (slot, _) = group.ensure_consumer(&consumer.name, consumer.seen);
        each(&consumer.pending, pause, |entry| {
            group.assign(entry.id, slot, entry.time, entry.count, None);
            Ok(())
        })?;
        group.set_times(slot, consumer.seen, consumer.active);
    }
    Ok(group)
}
