//! What a DUMP payload holds, whoever made it: one text for one value, whatever its encoding and version.

use std::fmt::Write;
use totality_ds::quicklist::Node;
use totality_ds::{Bytes, Listpack, StreamId};
use totality_rdb::{Object, StreamObject, payload};

/// The text.
///
/// # Errors
/// Why the payload cannot be read.
pub fn canonical(dump: &[u8]) -> Result<String, String> {
    let (body, version) = payload::open(dump, true, true).ok_or("version or checksum are wrong")?;
    let object = payload::read(body, version).map_err(|e| format!("{e:?}"))?;
    Ok(match object {
        Object::Str(s) => string(&s),
        Object::List(items) => list(items.iter().map(|item| item.to_vec())),
        Object::Nodes(nodes) => list(nodes.iter().flat_map(node)),
        Object::Set(items) => sorted("set", items.iter().map(|item| shown(item))),
        Object::IntSet(set) => sorted("set", set.iter().map(|n| n.to_string())),
        Object::SetPack(lp) => sorted("set", items(&lp).iter().map(|item| shown(item))),
        Object::ZSet(items) => sorted("zset", items.iter().map(|(m, score)| scored(m, *score))),
        Object::ZSetPack(lp) => sorted("zset", items(&lp).chunks(2).map(|p| scored(&p[0], score(&p[1])))),
        Object::HashPack(lp) => sorted("hash", items(&lp).chunks(2).map(|p| field(&p[0], &p[1], None))),
        Object::Hash(fields) => sorted("hash", fields.iter().map(|f| field(&f.name, &f.value, f.deadline))),
        Object::Stream(stream) => of_stream(&stream),
    })
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// A HyperLogLog remembers its cardinality when it is asked for, which is no content.
fn string(bytes: &Bytes) -> String {
    let mut bytes = bytes.to_vec();
    if bytes.starts_with(b"HYLL") && bytes.len() > 16 {
        bytes[8..16].fill(0);
    }
    format!("string {}", shown(&bytes))
}

fn items(lp: &Listpack) -> Vec<Vec<u8>> {
    lp.iter().map(|item| item.to_bytes().to_vec()).collect()
}

fn node(node: &Node) -> Vec<Vec<u8>> {
    match node {
        Node::Pack(lp) => items(lp),
        Node::Plain(item) => vec![item.to_vec()],
    }
}

fn list(items: impl Iterator<Item = Vec<u8>>) -> String {
    let items: Vec<String> = items.map(|item| shown(&item)).collect();
    format!("list {}", items.join(" "))
}

fn sorted(kind: &str, items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    items.sort();
    format!("{kind} {}", items.join(" "))
}

fn score(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn scored(member: &[u8], score: f64) -> String {
    // The two zeros are one score.
    format!("{}={:e}", shown(member), score + 0.0)
}

fn field(name: &[u8], value: &[u8], deadline: Option<i64>) -> String {
    format!("{}={}@{}", shown(name), shown(value), deadline.unwrap_or(-1))
}

/// Entries, ids and groups; not when consumers were seen, which each server notes for itself.
fn of_stream(stream: &StreamObject) -> String {
    let mut out = format!(
        "stream last={:?} deleted={:?} added={}",
        stream.last_id, stream.max_deleted, stream.entries_added
    );
    for entry in stream.entries.range(StreamId::MIN, StreamId::MAX) {
        let _ = write!(out, " {:?}", entry.id);
        for (name, value) in entry.fields() {
            let _ = write!(out, ",{}={}", shown(&name.to_bytes()), shown(&value.to_bytes()));
        }
    }
    let mut groups = Vec::new();
    for group in &stream.groups {
        let consumers = group.consumers.iter().map(|consumer| {
            let pending: Vec<String> =
                consumer.pending.iter().map(|p| format!("{:?}*{}", p.id, p.count)).collect();
            format!("{}[{}]", shown(&consumer.name), pending.join(","))
        });
        let consumers = sorted("consumers", consumers);
        groups.push(format!(
            "{} last={:?} read={:?} {consumers}",
            shown(&group.name),
            group.last_id,
            group.entries_read
        ));
    }
    let _ = write!(out, " {}", sorted("groups", groups.into_iter()));
    out
}
