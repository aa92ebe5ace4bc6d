//! How the debugger shows values of the script and replies of commands: in the words that `redis-cli --ldb` expects.

use crate::frame::Frame;
use crate::stats::escape;
use totality_lua::numfmt::{Spec, format_float};
use totality_lua::{TableRef, ValueRef};

/// Nested tables that are shown: Redis's bound.
const MAX_DEPTH: usize = 10;
/// Bytes of one value: tables that hold each other would never end.
const MAX_BYTES: usize = 1 << 20;

/// Appends bytes in quotes.
fn quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escape(&bytes[..bytes.len().min(MAX_BYTES)], out);
    out.push(b'"');
}

/// Appends a value of the script.
pub(super) fn value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    value_at(value, out, 0);
}

fn value_at(value: ValueRef<'_>, out: &mut Vec<u8>, depth: usize) {
    if depth == MAX_DEPTH {
        out.extend_from_slice(b"<max recursion level reached! Nested table?>");
        return;
    }
    match value {
        ValueRef::Nil => out.extend_from_slice(b"nil"),
        ValueRef::Bool(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
        ValueRef::Number(n) => format_float(out, &Spec::default(), n, b'g'),
        ValueRef::Str(s) => quoted(s, out),
        ValueRef::Table(table) => table_at(table, out, depth + 1),
        // There is no address to show.
        other => out.extend_from_slice(format!("\"{}@0x0\"", other.type_name()).as_bytes()),
    }
}

/// A table whose keys are 1, 2, 3 … in the order of its walk is shown as a list, any other with its keys.
fn table_at(table: TableRef<'_>, out: &mut Vec<u8>, depth: usize) {
    let mut expected = 0.0;
    let mut list = true;
    each(table, |key, _| {
        expected += 1.0;
        list = matches!(key, ValueRef::Number(n) if n == expected);
        list
    });
    out.push(b'{');
    let mut first = true;
    each(table, |key, item| {
        if !std::mem::take(&mut first) {
            out.extend_from_slice(b"; ");
        }
        if out.len() > MAX_BYTES {
            out.extend_from_slice(b"...");
            return false;
        }
        if !list {
            out.push(b'[');
            value_at(key, out, depth);
            out.extend_from_slice(b"]=");
        }
        value_at(item, out, depth);
        true
    });
    out.push(b'}');
}

fn each<'a>(table: TableRef<'a>, mut see: impl FnMut(ValueRef<'a>, ValueRef<'a>) -> bool) {
    let mut cursor = 0;
    while let Some((next, key, value)) = table.next(cursor) {
        cursor = next;
        if !see(key, value) {
            return;
        }
    }
}

/// Appends a reply. `resp3` tells how the script asked for its replies.
pub(super) fn reply(frame: &Frame, resp3: bool, out: &mut Vec<u8>) {
    if out.len() > MAX_BYTES {
        return out.extend_from_slice(b"...");
    }
    let list = |open: &[u8], items: &[Frame], close: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(open);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            reply(item, resp3, out);
        }
        out.extend_from_slice(close);
    };
    match frame {
        Frame::Null | Frame::NullArray if resp3 => out.extend_from_slice(b"(null)"),
        Frame::Null | Frame::NullArray => out.extend_from_slice(b"NULL"),
        Frame::Simple(text) => quoted(format!("+{text}").as_bytes(), out),
        Frame::Error(text) => quoted(&[b"-", text.as_slice()].concat(), out),
        Frame::Int(n) => out.extend_from_slice(n.to_string().as_bytes()),
        Frame::Bulk(bytes) => quoted(bytes, out),
        Frame::Verbatim(_, bytes) if !resp3 => quoted(bytes, out),
        Frame::Double(n) if !resp3 => quoted(&double(*n), out),
        Frame::Double(n) => {
            out.extend_from_slice(b"(double) ");
            out.extend_from_slice(&double(*n));
        }
        Frame::Bool(b) if resp3 => out.extend_from_slice(if *b { b"#true" } else { b"#false" }),
        Frame::Bool(b) => out.extend_from_slice(if *b { b"1" } else { b"0" }),
        Frame::Array(items) | Frame::Push(items) => list(b"[", items, b"]", out),
        Frame::Set(items) if resp3 => list(b"~(", items, b")", out),
        Frame::Set(items) => list(b"[", items, b"]", out),
        Frame::Map(pairs) if resp3 => {
            out.push(b'{');
            for (i, (key, value)) in pairs.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                reply(key, resp3, out);
                out.extend_from_slice(b" => ");
                reply(value, resp3, out);
            }
            out.push(b'}');
        }
        Frame::Map(pairs) => {
            out.push(b'[');
            for (i, item) in pairs.iter().flat_map(|(key, value)| [key, value]).enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                reply(item, resp3, out);
            }
            out.push(b']');
        }
        // Redis's debugger shows nothing of these.
        Frame::Verbatim(..) | Frame::BigNumber(_) => {}
    }
}

fn double(n: f64) -> Vec<u8> {
    let mut text = smallvec::SmallVec::new();
    crate::util::format_double(n, &mut text);
    text.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(frame: &Frame, resp3: bool) -> String {
        let mut out = Vec::new();
        reply(frame, resp3, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn replies_in_both_protocols() {
        let map = Frame::Map(vec![
            (Frame::Bulk(b"a\n".to_vec()), Frame::Double(1.5)),
            (Frame::Null, Frame::Bool(true)),
        ]);
        let set = Frame::Set(vec![Frame::Int(-1), Frame::Simple("OK".to_owned())]);
        let all = Frame::Array(vec![map, set, Frame::Error(b"ERR x".to_vec()), Frame::Array(Vec::new())]);
        assert_eq!(shown(&all, true), r#"[{"a\n" => (double) 1.5,(null) => #true},~(-1,"+OK"),"-ERR x",[]]"#);
        assert_eq!(shown(&all, false), r#"[["a\n","1.5",NULL,1],[-1,"+OK"],"-ERR x",[]]"#);
    }

    #[test]
    fn a_reply_is_bounded() {
        let many = Frame::Array(vec![Frame::Bulk(vec![b'x'; 1000]); 5000]);
        assert!(shown(&many, false).len() < MAX_BYTES + 100_000);
    }
}
