//! Everything that an engine's data set is, in a form that can be compared: content, encoding, deadline of every key,
//! and the counters that go with it.

use std::collections::BTreeMap;
use totality_engine::types::{Group, Stream};
use totality_engine::{Engine, Value};

/// A data set, key by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    keys: BTreeMap<(usize, Vec<u8>), String>,
    dirty: u64,
}

impl Snapshot {
    /// The data set of an engine.
    ///
    /// # Panics
    /// When a counter does not agree with the data.
    pub fn of(engine: &Engine) -> Snapshot {
        let mut keys = BTreeMap::new();
        for (number, db) in engine.ks.dbs().iter().enumerate() {
            let (mut expires, mut timed, mut bytes) = (0, 0, 0);
            for entry in db.dict().iter() {
                expires += usize::from(entry.expire != 0);
                timed += usize::from(matches!(&entry.value, Value::Hash(hash) if hash.has_deadlines()));
                bytes += entry.key.heap_bytes() + entry.value.mem();
                let text =
                    format!("{} ttl {} {}", entry.value.encoding(), entry.expire, content(&entry.value));
                keys.insert((number, entry.key.to_vec()), text);
            }
            assert_eq!(expires, db.expires(), "keys with a deadline in database {number}");
            assert_eq!(timed, db.timed_hashes(), "hashes with deadlines in database {number}");
            assert_eq!(bytes, db.accounted_bytes(), "bytes of database {number}");
        }
        Snapshot { keys, dirty: engine.ks.dirty }
    }

    /// Where two data sets differ; empty when they do not.
    pub fn differences(&self, other: &Snapshot) -> String {
        let mut out = String::new();
        if self.dirty != other.dirty {
            out += &format!("dirty: {} -> {}\n", self.dirty, other.dirty);
        }
        let all: std::collections::BTreeSet<_> = self.keys.keys().chain(other.keys.keys()).collect();
        for key in all {
            let (a, b) = (self.keys.get(key), other.keys.get(key));
            if a != b {
                let shown = |text: Option<&String>| match text {
                    None => "absent".to_owned(),
                    Some(text) => text.chars().take(700).collect(),
                };
                let name = key.1.escape_ascii();
                out += &format!("{}:{name}\n   was {}\n   is  {}\n", key.0, shown(a), shown(b));
            }
        }
        out
    }
}

/// The content of a value: compact ones byte for byte, others in an order of their own.
fn content(value: &Value) -> String {
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all.join(" ")
    };
    match value {
        Value::Int(n) => n.to_string(),
        Value::Str(bytes) => bytes.escape_ascii().to_string(),
        Value::List(list) => match list.listpack() {
            Some(pack) => pack.as_bytes().escape_ascii().to_string(),
            None => list.iter().map(|item| format!("{:?}", item.to_bytes())).collect::<Vec<_>>().join(" "),
        },
        Value::Set(set) => match (set.as_listpack(), set.as_intset()) {
            (Some(pack), _) => pack.as_bytes().escape_ascii().to_string(),
            (_, Some(ints)) => ints.as_bytes().escape_ascii().to_string(),
            _ => sorted(set.iter().map(|item| format!("{:?}", item.to_bytes())).collect()),
        },
        Value::Hash(hash) => match hash.as_listpack() {
            Some(pack) => pack.as_bytes().escape_ascii().to_string(),
            None => {
                let mut fields = Vec::new();
                hash.scan_all(0, usize::MAX, &mut |name, value, at| {
                    fields.push(format!("{:?}={:?}@{at:?}", name.to_bytes(), value.to_bytes()));
                });
                sorted(fields)
            }
        },
        Value::ZSet(set) => match set.listpack() {
            Some(pack) => pack.as_bytes().escape_ascii().to_string(),
            None => set
                .iter()
                .map(|(member, score)| format!("{:?}:{:x}", member.to_bytes(), score.to_bits()))
                .collect::<Vec<_>>()
                .join(" "),
        },
        Value::Stream(stream) => stream_content(stream),
    }
}

fn stream_content(stream: &Stream) -> String {
    let log = stream.log();
    let mut out = format!("last {:?} deleted {:?} added {}", log.last_id, log.max_deleted, log.entries_added);
    for (id, block) in log.entries().blocks() {
        out += &format!(" block {id:?} {}", block.as_bytes().escape_ascii());
    }
    out += &format!(" len {}", stream.len());
    for (name, group) in stream.groups() {
        out += &format!(" group {} {}", name.escape_ascii(), group_content(group));
    }
    out
}

fn group_content(group: &Group) -> String {
    let mut out = format!("last {:?} read {:?}", group.last_id, group.entries_read);
    for (id, pending) in group.pending() {
        let owner = group.owner(pending).map(|consumer| consumer.name.escape_ascii().to_string());
        out += &format!(" {id:?} at {} times {} of {owner:?}", pending.time, pending.count);
    }
    for (slot, name) in group.consumers() {
        let consumer = group.consumer(slot).map(|c| (c.seen, c.active, c.pending()));
        out += &format!(" consumer {} {consumer:?}", name.escape_ascii());
    }
    out
}
