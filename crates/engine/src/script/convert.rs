//! A script's result as a reply, by Redis's rules: numbers lose their fraction, arrays end at the first nil, tables
//! with a field `err`, `ok`, `double`, `big_number`, `verbatim_string`, `map` or `set` are what the field says.
//!
//! Works on a stack of its own, so a table that holds itself ends in an error at a bounded depth.

use crate::reply::{Deferred, Reply};
use crate::stats::{Limited, Stats};
use crate::util::until_nul;
use totality_lua::{TableRef, ValueRef};

/// How large a reply may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes, roughly: a value counts as its text and 16 bytes.
    pub bytes: u64,
    /// Nested tables. Redis's own conversion runs out of Lua stack at 7960.
    pub depth: usize,
}

/// A table that is being written.
enum Open<'a> {
    Array { table: TableRef<'a>, next: i64, len: i64 },
    Map { table: TableRef<'a>, cursor: usize, value: Option<ValueRef<'a>>, count: usize, deferred: Deferred },
    Set { table: TableRef<'a>, cursor: usize, count: usize, deferred: Deferred },
}

/// Writes `value` to `reply`. `resp3` is what the script chose by `redis.setresp`: booleans depend on it. A reply past
/// the bounds becomes an error.
pub fn write(value: ValueRef<'_>, resp3: bool, reply: &mut Reply<'_>, stats: &mut Stats, bounds: Bounds) {
    let start = reply.checkpoint();
    let mut bytes = 0;
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut current = Some(value);
    loop {
        if let Some(value) = current.take() {
            bytes += 16;
            if let ValueRef::Str(s) = value {
                bytes += s.len() as u64;
            }
            if bytes > bounds.bytes {
                stats.limited(Limited::ReplySize);
                stats.count_error(b"ERR");
                reply.rewind(start);
                return reply.error(b"ERR reply of the script is larger than script-max-reply-size");
            }
            match value {
                ValueRef::Str(s) => reply.bulk(s),
                ValueRef::Number(n) => reply.int(truncate(n)),
                ValueRef::Bool(b) if resp3 => reply.bool(b),
                ValueRef::Bool(true) => reply.int(1),
                ValueRef::Table(_) if open.len() >= bounds.depth => {
                    stats.limited(Limited::ReplyDepth);
                    stats.count_error(b"ERR");
                    reply.error(b"ERR reached lua stack limit");
                }
                ValueRef::Table(table) => {
                    if let Some(container) = begin(table, reply, stats) {
                        open.push(container);
                    }
                }
                _ => reply.null(),
            }
        }
        // The innermost open table gives the next value, or closes.
        let Some(top) = open.last_mut() else { return };
        match top {
            Open::Array { table, next, len } if *next <= *len => {
                current = Some(table.index(*next));
                *next += 1;
            }
            Open::Map { value, .. } if value.is_some() => current = value.take(),
            Open::Map { table, cursor, value, count, .. } => {
                if let Some((at, k, v)) = table.next(*cursor) {
                    *cursor = at;
                    *count += 1;
                    *value = Some(v);
                    current = Some(k);
                }
            }
            Open::Set { table, cursor, count, .. } => {
                if let Some((at, k, _)) = table.next(*cursor) {
                    *cursor = at;
                    *count += 1;
                    current = Some(k);
                }
            }
            Open::Array { .. } => {}
        }
        if current.is_none() {
            let closed = open.pop();
            if let Some(Open::Map { count, deferred, .. } | Open::Set { count, deferred, .. }) = closed {
                reply.end(deferred, count);
            }
        }
    }
}

/// Writes a table that is a scalar in disguise, or opens a container.
fn begin<'a>(table: TableRef<'a>, reply: &mut Reply<'_>, stats: &mut Stats) -> Option<Open<'a>> {
    if let ValueRef::Str(text) = table.field(b"err") {
        if !matches!(table.field(b"ignore_error_stats_update"), ValueRef::Bool(true)) {
            stats.count_custom_error(crate::stats::error_code(until_nul(text)));
        }
        reply.error(until_nul(text));
        return None;
    }
    if let ValueRef::Str(text) = table.field(b"ok") {
        let text = until_nul(text);
        let text: Vec<u8> = text.iter().map(|b| if matches!(b, b'\r' | b'\n') { b' ' } else { *b }).collect();
        reply.status(&text);
        return None;
    }
    if let ValueRef::Number(n) = table.field(b"double") {
        reply.double(n);
        return None;
    }
    if let ValueRef::Str(digits) = table.field(b"big_number") {
        let digits: Vec<u8> =
            digits.iter().map(|b| if matches!(b, b'\r' | b'\n') { b' ' } else { *b }).collect();
        reply.big_number(&digits);
        return None;
    }
    if let ValueRef::Table(verbatim) = table.field(b"verbatim_string")
        && let (ValueRef::Str(format), ValueRef::Str(text)) =
            (verbatim.field(b"format"), verbatim.field(b"string"))
    {
        let mut word = String::from_utf8_lossy(format).into_owned();
        word.truncate(word.char_indices().nth(3).map_or(word.len(), |(at, _)| at));
        while word.len() < 3 {
            word.push(' ');
        }
        reply.verbatim(&word, text);
        return None;
    }
    if let ValueRef::Table(table) = table.field(b"map") {
        let deferred = reply.map_deferred();
        return Some(Open::Map { table, cursor: 0, value: None, count: 0, deferred });
    }
    if let ValueRef::Table(table) = table.field(b"set") {
        let deferred = reply.set_deferred();
        return Some(Open::Set { table, cursor: 0, count: 0, deferred });
    }
    let mut len = 0;
    while !matches!(table.index(len + 1), ValueRef::Nil) {
        len += 1;
    }
    reply.array(len as usize);
    Some(Open::Array { table, next: 1, len })
}

/// C's conversion of a double to a 64-bit integer, as x86-64 does it: out of range gives the smallest.
pub fn truncate(n: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&n) { n as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::truncate;

    #[test]
    fn numbers_lose_their_fraction() {
        assert_eq!(truncate(3.99), 3);
        assert_eq!(truncate(-3.99), -3);
        assert_eq!(truncate(f64::NAN), i64::MIN);
        assert_eq!(truncate(1e300), i64::MIN);
    }
}
