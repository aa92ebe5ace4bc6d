//! Replies as text: as `redis-cli` prints them on a terminal, and as JSON.

use totality_resp::Reply;

/// As `redis-cli` prints it, without the last line break.
pub fn text(reply: &Reply) -> String {
    let mut out = String::new();
    write(reply, "", &mut out);
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write(reply: &Reply, indent: &str, out: &mut String) {
    match reply {
        Reply::Simple(b) | Reply::Verbatim(_, b) => out.push_str(&lossy(b)),
        Reply::Error(b) => out.push_str(&format!("(error) {}", lossy(b))),
        Reply::Integer(n) => out.push_str(&format!("(integer) {n}")),
        Reply::Double(b) => out.push_str(&format!("(double) {}", lossy(b))),
        Reply::BigNumber(b) => out.push_str(&format!("(big number) {}", lossy(b))),
        Reply::Bool(b) => out.push_str(if *b { "(true)" } else { "(false)" }),
        Reply::Bulk(b) => {
            let mut quoted = Vec::new();
            totality_resp::quote(&mut quoted, b);
            out.push_str(&lossy(&quoted));
        }
        Reply::Null => out.push_str("(nil)"),
        Reply::Array(items) => return list(items, ')', "array", indent, out),
        Reply::Set(items) => return list(items, '~', "set", indent, out),
        Reply::Push(items) => return list(items, ')', "push", indent, out),
        Reply::Map(pairs) => return map(pairs, indent, out),
        Reply::Attribute(_, inner) => return write(inner, indent, out),
    }
    out.push('\n');
}

/// Writes the number of an element and returns the indentation of what belongs to it.
fn number(i: usize, of: usize, mark: char, indent: &str, out: &mut String) -> String {
    let width = of.to_string().len();
    out.push_str(if i == 0 { "" } else { indent });
    out.push_str(&format!("{:>width$}{mark} ", i + 1));
    format!("{indent}{}", " ".repeat(width + 2))
}

fn list(items: &[Reply], mark: char, name: &str, indent: &str, out: &mut String) {
    if items.is_empty() {
        out.push_str(&format!("(empty {name})\n"));
    }
    for (i, item) in items.iter().enumerate() {
        let inner = number(i, items.len(), mark, indent, out);
        write(item, &inner, out);
    }
}

fn map(pairs: &[(Reply, Reply)], indent: &str, out: &mut String) {
    if pairs.is_empty() {
        out.push_str("(empty hash)\n");
    }
    for (i, (key, value)) in pairs.iter().enumerate() {
        let inner = number(i, pairs.len(), '#', indent, out);
        write(key, &inner, out);
        out.pop();
        out.push_str(" => ");
        write(value, &inner, out);
    }
}

/// As JSON on one line: statuses and strings as strings, doubles and integers as numbers, nil as null, errors inside
/// arrays as `{"error": …}`. Bytes that are not UTF-8 become `\u00xx`.
pub fn json(reply: &Reply) -> String {
    let mut out = String::new();
    write_json(reply, &mut out);
    out
}

fn write_json(reply: &Reply, out: &mut String) {
    match reply {
        Reply::Simple(b) | Reply::Verbatim(_, b) | Reply::Bulk(b) => string(b, out),
        Reply::Integer(n) => out.push_str(&n.to_string()),
        // JSON has neither infinity nor NaN.
        Reply::Double(b) if lossy(b).parse().is_ok_and(f64::is_finite) => out.push_str(&lossy(b)),
        Reply::Double(b) => string(b, out),
        Reply::BigNumber(b) => out.push_str(&lossy(b)),
        Reply::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Reply::Null => out.push_str("null"),
        Reply::Error(b) => {
            out.push_str("{\"error\":");
            string(b, out);
            out.push('}');
        }
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write_json(item, out);
            }
            out.push(']');
        }
        Reply::Map(pairs) => {
            out.push('{');
            for (i, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                match key {
                    Reply::Simple(b) | Reply::Bulk(b) | Reply::Verbatim(_, b) => string(b, out),
                    // Names in JSON are strings.
                    other => string(json(other).as_bytes(), out),
                }
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
        Reply::Attribute(_, inner) => write_json(inner, out),
    }
}

fn string(bytes: &[u8], out: &mut String) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if (c as u32) < 32 => out.push_str(&format!("\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\u{b:04x}")));
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_redis_cli_prints() {
        let reply = Reply::Array(vec![
            Reply::Integer(1),
            Reply::Array(vec![Reply::Bulk(b"a\n".to_vec()), Reply::Null]),
        ]);
        assert_eq!(text(&reply), "1) (integer) 1\n2) 1) \"a\\n\"\n   2) (nil)");
        assert_eq!(text(&Reply::Array(vec![])), "(empty array)");
    }

    #[test]
    fn prints_json() {
        let map = Reply::Map(vec![
            (Reply::Bulk(b"a\"\xff".to_vec()), Reply::Double(b"1.5".to_vec())),
            (
                Reply::Integer(2),
                Reply::Array(vec![Reply::Null, Reply::Bool(true), Reply::Double(b"inf".to_vec())]),
            ),
        ]);
        assert_eq!(json(&map), r#"{"a\"\u00ff":1.5,"2":[null,true,"inf"]}"#);
    }
}
