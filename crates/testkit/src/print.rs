//! Replies as `redis-cli` prints them on a terminal.

use crate::value::Value;
use crate::words::quote;

/// The text of a reply without a final newline.
pub fn reply(value: &Value) -> String {
    let mut out = String::new();
    write(value, "", &mut out);
    while out.ends_with('\n') {
        out.pop();
    }
    out
}

fn write(value: &Value, prefix: &str, out: &mut String) {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    match value {
        Value::Status(b) | Value::Verbatim(b) => out.push_str(&text(b)),
        Value::Error(b) => out.push_str(&format!("(error) {}", text(b))),
        Value::Int(n) => out.push_str(&format!("(integer) {n}")),
        Value::Double(b) => out.push_str(&format!("(double) {}", text(b))),
        Value::Big(b) => out.push_str(&format!("(big number) {}", text(b))),
        Value::Bool(b) => out.push_str(if *b { "(true)" } else { "(false)" }),
        Value::Bulk(b) => out.push_str(&quote(b)),
        Value::Nil => out.push_str("(nil)"),
        Value::Array(v) => return list(v, ")", "array", prefix, out),
        Value::Set(v) => return list(v, "~", "set", prefix, out),
        Value::Push(v) => return list(v, ")", "push", prefix, out),
        Value::Map(m) => return map(m, prefix, out),
    }
    out.push('\n');
}

fn width(n: usize) -> usize {
    n.to_string().len()
}

fn list(items: &[Value], mark: &str, name: &str, prefix: &str, out: &mut String) {
    if items.is_empty() {
        out.push_str(&format!("(empty {name})\n"));
    }
    let w = width(items.len());
    let inner = format!("{prefix}{}", " ".repeat(w + 2));
    for (i, item) in items.iter().enumerate() {
        let lead = if i == 0 { "" } else { prefix };
        out.push_str(&format!("{lead}{:>w$}{mark} ", i + 1));
        write(item, &inner, out);
    }
}

fn map(pairs: &[(Value, Value)], prefix: &str, out: &mut String) {
    if pairs.is_empty() {
        out.push_str("(empty hash)\n");
    }
    let w = width(pairs.len());
    let inner = format!("{prefix}{}", " ".repeat(w + 2));
    for (i, (key, value)) in pairs.iter().enumerate() {
        let lead = if i == 0 { "" } else { prefix };
        out.push_str(&format!("{lead}{:>w$}# ", i + 1));
        write(key, &inner, out);
        out.pop();
        out.push_str(" => ");
        write(value, &inner, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::parse;

    fn shown(bytes: &[u8]) -> String {
        reply(&parse(bytes).unwrap().0)
    }

    #[test]
    fn prints_what_redis_cli_prints() {
        assert_eq!(shown(b"*0\r\n"), "(empty array)");
        assert_eq!(shown(b"$2\r\na\xff\r\n"), r#""a\xff""#);
        assert_eq!(shown(b"*2\r\n:1\r\n*2\r\n+OK\r\n$-1\r\n"), "1) (integer) 1\n2) 1) OK\n   2) (nil)");
        assert_eq!(shown(b"%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n"), "1# a => (integer) 1\n2# b => (empty array)");
    }
}
