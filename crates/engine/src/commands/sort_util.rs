//! SORT and SORT_RO: elements of a list, set or sorted set in order.

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res, SYNTAX, WRONG_TYPE};
use crate::keyspace::Keyspace;
use crate::notify::Event;
use crate::reply::Reply;
use crate::types::{End, List};
use crate::value::{Collection, Value};
use std::cmp::Ordering;
use totality_ds::{Bytes, Item};

#[derive(Default)]
struct Options<'a> {
    desc: bool,
    alpha: bool,
    limit: Option<(i64, i64)>,
    /// A pattern without `*` is the same for all elements: they are not sorted at all.
    by: Option<&'a [u8]>,
    keep_order: bool,
    gets: Vec<&'a [u8]>,
    store: Option<&'a [u8]>,
}

/// What an element is ordered by.
enum Weight {
    Number(f64),
    /// `None` where the BY pattern led to nothing: before all others.
    Text(Option<Bytes>),
    /// The element itself, as text.
    Itself,
}

/// Sorts the key at argument 1.
pub(crate) fn sort(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let mut o = parse(cx, read_only)?;
    let key = cx.args[1];
    let kind = match cx.ks.read(key) {
        None => None,
        Some(value @ (Value::List(_) | Value::Set(_) | Value::ZSet(_))) => Some(value.kind()),
        Some(_) => return Err(WRONG_TYPE),
    };
    let unordered = kind == Some(crate::value::Type::Set);
    if o.keep_order && unordered && (o.store.is_some() || cx.origin == Origin::Script) {
        // A set has no order that two servers would agree on.
        (o.keep_order, o.alpha, o.by) = (false, true, None);
    }
    let ks = &*cx.ks;
    let value = ks.view(key).map(|entry| &entry.value);
    let elements = match value {
        Some(value) => ordered(ks, value, &o)?,
        None => Vec::new(),
    };
    let Some(store) = o.store else {
        cx.reply.array(elements.len() * o.gets.len().max(1));
        elements.iter().for_each(|element| answer(ks, &mut cx.reply, element, &o.gets));
        return Ok(());
    };
    let list = built(ks, &elements, &o.gets);
    let len = list.len();
    if len == 0 {
        cx.ks.delete(store);
    } else {
        let mut guard = cx.ks.write(store);
        guard.overwrite(list.into_value());
        guard.changed(Event::list("sortstore"), len as u64);
    }
    cx.reply.len(len);
    Ok(())
}

const BY_SLOT_DENIED: CmdError = CmdError::new(
    "ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.",
);
const GET_SLOT_DENIED: CmdError = CmdError::new(
    "ERR GET option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.",
);
const BY_DENIED: CmdError =
    CmdError::new("ERR BY option of SORT denied due to insufficient ACL permissions.");
const GET_DENIED: CmdError =
    CmdError::new("ERR GET option of SORT denied due to insufficient ACL permissions.");

/// Patterns lead to keys that the table cannot tell: who uses them must be allowed to read all.
fn reads_any_key(cx: &Cx<'_>) -> bool {
    let around = crate::acl::Around::of(cx.sv, cx.ks.cur);
    cx.sv.client(cx.client).is_none_or(|client| {
        !client.restricted || crate::acl::unrestricted_keys(&client.user, cx.command, cx.args, around)
    })
}

/// In cluster mode: the keys that a pattern makes may be in other slots than the key that is sorted.
fn leaves_slot(cx: &Cx<'_>, pattern: &[u8]) -> bool {
    cx.sv.config.cluster_enabled
        && crate::cluster::pattern_slot(pattern) != Some(totality_ds::crc::key_slot(cx.args[1]))
}

fn parse<'a>(cx: &Cx<'a>, read_only: bool) -> Res<Options<'a>> {
    let mut o = Options::default();
    let mut i = 2;
    while i < cx.argc() {
        let left = cx.argc() - i - 1;
        if cx.is(i, "ASC") {
            o.desc = false;
        } else if cx.is(i, "DESC") {
            o.desc = true;
        } else if cx.is(i, "ALPHA") {
            o.alpha = true;
        } else if cx.is(i, "LIMIT") && left >= 2 {
            o.limit = Some((cx.int(i + 1)?, cx.int(i + 2)?));
            i += 2;
        } else if !read_only && cx.is(i, "STORE") && left >= 1 {
            o.store = Some(cx.args[i + 1]);
            i += 1;
        } else if cx.is(i, "BY") && left >= 1 {
            o.by = Some(cx.args[i + 1]);
            if cx.args[i + 1].contains(&b'*') && leaves_slot(cx, cx.args[i + 1]) {
                return Err(BY_SLOT_DENIED);
            }
            if cx.args[i + 1].contains(&b'*') && !reads_any_key(cx) {
                return Err(BY_DENIED);
            }
            // One constant pattern is enough, whatever patterns stand beside it.
            o.keep_order |= !cx.args[i + 1].contains(&b'*');
            i += 1;
        } else if cx.is(i, "GET") && left >= 1 {
            if cx.args[i + 1] != b"#" && leaves_slot(cx, cx.args[i + 1]) {
                return Err(GET_SLOT_DENIED);
            }
            if !reads_any_key(cx) {
                return Err(GET_DENIED);
            }
            o.gets.push(cx.args[i + 1]);
            i += 1;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    Ok(o)
}

/// The range of places that LIMIT selects of `len` elements: begin and end, the end excluded.
fn limits(limit: Option<(i64, i64)>, len: usize) -> (usize, usize) {
    let (start, count) = limit.unwrap_or((0, -1));
    let start = usize::try_from(start).unwrap_or(0).min(len);
    let count = usize::try_from(count).unwrap_or(len);
    (start, start.saturating_add(count).min(len))
}

/// The elements that are answered, in their order.
fn ordered(ks: &Keyspace, value: &Value, o: &Options<'_>) -> Res<Vec<Bytes>> {
    let len = match value {
        Value::List(list) => list.len(),
        Value::Set(set) => set.len(),
        Value::ZSet(zset) => zset.len(),
        _ => 0,
    };
    let (start, end) = limits(o.limit, len);
    if o.keep_order && !matches!(value, Value::Set(_)) {
        return Ok(native(value, start, end, len, o.desc));
    }
    let elements: Vec<Bytes> = match value {
        Value::List(list) => list.iter().map(|item| item.to_bytes()).collect(),
        Value::Set(set) => set.iter().map(|item| item.to_bytes()).collect(),
        Value::ZSet(zset) => zset.iter().map(|(item, _)| item.to_bytes()).collect(),
        _ => Vec::new(),
    };
    let mut elements = if o.keep_order { elements } else { sorted(ks, elements, o)? };
    elements.truncate(end);
    elements.drain(..start);
    Ok(elements)
}

/// A range of the elements in the order that the list or sorted set has.
fn native(value: &Value, start: usize, end: usize, len: usize, desc: bool) -> Vec<Bytes> {
    let count = end - start;
    let mut out = Vec::with_capacity(count);
    if count == 0 {
        return out;
    }
    let mut push = |item: Item<'_>| out.push(item.to_bytes());
    match value {
        Value::List(list) if desc => list.for_each((len - end) as i64, count, push),
        Value::List(list) => list.for_each(start as i64, count, push),
        Value::ZSet(zset) => {
            let first = if desc { len - 1 - start } else { start };
            zset.for_ranks(first, count, desc, |item, _| push(item));
        }
        _ => {}
    }
    if desc && matches!(value, Value::List(_)) {
        out.reverse();
    }
    out
}

fn sorted(ks: &Keyspace, elements: Vec<Bytes>, o: &Options<'_>) -> Res<Vec<Bytes>> {
    const NOT_NUMBER: CmdError = CmdError::new("ERR One or more scores can't be converted into double");
    let mut weighted = Vec::with_capacity(elements.len());
    for element in elements {
        let weight = match (o.by, o.alpha) {
            (None, true) => Weight::Itself,
            (None, false) => Weight::Number(number(&element).ok_or(NOT_NUMBER)?),
            (Some(by), true) => Weight::Text(with_pattern(ks, by, &element, |text| text.map(Bytes::from))),
            (Some(by), false) => {
                let weight = with_pattern(ks, by, &element, |text| text.map_or(Some(0.0), number));
                Weight::Number(weight.ok_or(NOT_NUMBER)?)
            }
        };
        weighted.push((weight, element));
    }
    // Stable: texts that are equal keep the order in which they came.
    weighted.sort_by(|a, b| {
        let order = compare(a, b);
        if o.desc { order.reverse() } else { order }
    });
    Ok(weighted.into_iter().map(|(_, element)| element).collect())
}

fn compare(a: &(Weight, Bytes), b: &(Weight, Bytes)) -> Ordering {
    match (&a.0, &b.0) {
        // Equal numbers are ordered by the elements themselves, so that the order is always the same.
        (Weight::Number(x), Weight::Number(y)) => {
            x.partial_cmp(y).unwrap_or(Ordering::Equal).then_with(|| a.1.cmp(&b.1))
        }
        (Weight::Text(x), Weight::Text(y)) => x.cmp(y),
        _ => a.1.cmp(&b.1),
    }
}

/// A weight as `strtod` reads it: nothing is 0; what is out of range is refused.
fn number(text: &[u8]) -> Option<f64> {
    let value = totality_ds::num::parse_f64_loose(text)?;
    let infinite = || text.iter().any(|b| matches!(b, b'i' | b'I'));
    (value.is_finite() || infinite()).then_some(value)
}

/// Looks up what a pattern of BY or GET leads to for an element: `#` is the element itself; else the first `*` stands
/// for the element, and what follows `->` is a field of a hash.
fn with_pattern<R>(ks: &Keyspace, pattern: &[u8], element: &[u8], f: impl FnOnce(Option<&[u8]>) -> R) -> R {
    if pattern == b"#" {
        return f(Some(element));
    }
    let Some(star) = pattern.iter().position(|b| *b == b'*') else { return f(None) };
    let (before, after) = (&pattern[..star], &pattern[star + 1..]);
    let arrow = after.windows(2).position(|pair| pair == b"->").filter(|at| at + 2 < after.len());
    let (after, field) = match arrow {
        Some(at) => (&after[..at], Some(&after[at + 2..])),
        None => (after, None),
    };
    let mut key: smallvec::SmallVec<[u8; 64]> = smallvec::SmallVec::from_slice(before);
    key.extend_from_slice(element);
    key.extend_from_slice(after);
    match (ks.view(&key).map(|entry| &entry.value), field) {
        (Some(Value::Hash(hash)), Some(field)) => match hash.get(field, ks.now) {
            Some(item) => item.with_bytes(|bytes| f(Some(bytes))),
            None => f(None),
        },
        (Some(value), None) => match value.as_str() {
            Ok(text) => f(Some(&text)),
            Err(_) => f(None),
        },
        _ => f(None),
    }
}

fn answer(ks: &Keyspace, reply: &mut Reply<'_>, element: &[u8], gets: &[&[u8]]) {
    if gets.is_empty() {
        reply.bulk(element);
    }
    for get in gets {
        with_pattern(ks, get, element, |found| match found {
            Some(bytes) => reply.bulk(bytes),
            None => reply.null(),
        });
    }
}

/// The list that STORE keeps; what is not found is an empty string.
fn built(ks: &Keyspace, elements: &[Bytes], gets: &[&[u8]]) -> List {
    let size = ks.enc.list_size;
    let mut list = List::new();
    let mut push = |bytes: &[u8]| {
        list.prepare(size, bytes.len(), 1);
        list.push(End::Right, bytes);
    };
    for element in elements {
        if gets.is_empty() {
            push(element);
        }
        for get in gets {
            with_pattern(ks, get, element, |found| push(found.unwrap_or(b"")));
        }
    }
    list.choose(size);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_stay_inside() {
        assert_eq!(limits(None, 5), (0, 5));
        assert_eq!(limits(Some((1, 2)), 5), (1, 3));
        assert_eq!(limits(Some((-3, 2)), 5), (0, 2));
        assert_eq!(limits(Some((9, 2)), 5), (5, 5));
        assert_eq!(limits(Some((1, -1)), 5), (1, 5));
        assert_eq!(limits(Some((i64::MAX, i64::MAX)), 5), (5, 5));
    }
}
