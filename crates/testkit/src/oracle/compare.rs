//! When two replies count as the same.

use super::differences::Differences;
use crate::client::{Command, Reply};
use crate::value::Value;

/// How a command's reply is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Byte for byte.
    Exact,
    /// A time that goes on between the two servers: numbers may differ by this much.
    Near(i64),
    /// Byte for byte while the collection is compact, else the same elements in any order.
    Unordered,
    /// As `Unordered`, but elements are pairs.
    UnorderedPairs,
    /// As `UnorderedPairs`, and the second of each pair is a number, however it is written.
    Scores,
    /// Drawn at random: only the shape is compared.
    Random,
}

/// The rule for a command.
pub fn rule(command: &Command) -> Rule {
    let name = command.first().map(|n| n.to_ascii_uppercase()).unwrap_or_default();
    // How many elements one step of a scan gives is each server's own affair.
    let whole = command.iter().any(|w| w == b"1000");
    match name.as_slice() {
        b"SCAN" | b"HSCAN" | b"SSCAN" | b"ZSCAN" if !whole => Rule::Random,
        b"TTL" | b"EXPIRETIME" => Rule::Near(1),
        b"PTTL" | b"PEXPIRETIME" => Rule::Near(2_000),
        b"ZSCAN" => Rule::Scores,
        b"HGETALL" | b"HSCAN" => Rule::UnorderedPairs,
        b"HKEYS" | b"HVALS" | b"SMEMBERS" | b"SINTER" | b"SUNION" | b"SDIFF" | b"KEYS" | b"SCAN"
        | b"SSCAN" => Rule::Unordered,
        b"RANDOMKEY" | b"HRANDFIELD" | b"SRANDMEMBER" | b"ZRANDMEMBER" | b"SPOP" => Rule::Random,
        b"SORT" | b"SORT_RO" => Rule::Unordered,
        _ => Rule::Exact,
    }
}

/// Are the replies the same under the command's rule, or a listed difference?
pub fn same(command: &Command, ours: &Reply, theirs: &Reply, listed: &Differences) -> bool {
    ours.raw == theirs.raw
        || same_value(rule(command), &ours.value, &theirs.value)
        || listed.allows(command, &ours.value, &theirs.value)
}

/// EXEC: each reply under the rule of the command that was queued for it.
pub fn same_exec(queued: &[Command], ours: &Reply, theirs: &Reply, listed: &Differences) -> bool {
    let (Value::Array(a), Value::Array(b)) = (&ours.value, &theirs.value) else {
        return ours.raw == theirs.raw;
    };
    a.len() == b.len()
        && a.iter().zip(b).enumerate().all(|(i, (a, b))| match queued.get(i) {
            Some(c) => a == b || same_value(rule(c), a, b) || listed.allows(c, a, b),
            None => a == b,
        })
}

fn same_value(rule: Rule, ours: &Value, theirs: &Value) -> bool {
    match (rule, ours, theirs) {
        (Rule::Near(by), Value::Int(a), Value::Int(b)) => *a > 0 && *b > 0 && a.abs_diff(*b) <= by as u64,
        (Rule::Unordered | Rule::UnorderedPairs, Value::Map(a), Value::Map(b)) => sorted(a) == sorted(b),
        (Rule::Unordered, Value::Set(_), Value::Set(_)) => sorted(&ours.items()) == sorted(&theirs.items()),
        (Rule::Unordered | Rule::UnorderedPairs | Rule::Scores, Value::Array(a), Value::Array(b)) => {
            unordered(rule, a, b)
        }
        (Rule::Random, a, b) => shape(a) == shape(b),
        _ => false,
    }
}

fn unordered(rule: Rule, ours: &[Value], theirs: &[Value]) -> bool {
    // SCAN and its kin: the cursor, then the elements.
    if let ([Value::Bulk(c1), Value::Array(a)], [Value::Bulk(c2), Value::Array(b)]) = (ours, theirs) {
        return c1 == c2 && unordered(rule, a, b);
    }
    let pairs = |v: &[Value]| v.chunks(2).map(<[Value]>::to_vec).collect::<Vec<_>>();
    match rule {
        Rule::UnorderedPairs => sorted(&pairs(ours)) == sorted(&pairs(theirs)),
        Rule::Scores => {
            let read =
                |v: &[Value]| v.chunks(2).map(|p| (p[0].clone(), p.get(1).map(number))).collect::<Vec<_>>();
            sorted(&read(ours)) == sorted(&read(theirs))
        }
        _ => sorted(ours) == sorted(theirs),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.bytes().and_then(|b| std::str::from_utf8(b).ok()?.parse().ok())
}

fn sorted<T: std::fmt::Debug>(items: &[T]) -> Vec<String> {
    let mut shown: Vec<String> = items.iter().map(|i| format!("{i:?}")).collect();
    shown.sort();
    shown
}

fn shape(value: &Value) -> String {
    match value {
        Value::Array(v) => format!("array {} {}", v.len(), v.first().map(shape).unwrap_or_default()),
        Value::Set(v) => format!("set {}", v.len()),
        Value::Map(v) => format!("map {}", v.len()),
        Value::Bulk(_) => "string".into(),
        other => format!("{other:?}"),
    }
}
