//! Cutting a line into arguments: inline commands and configuration lines.

use crate::request::Span;

/// The line has an open quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbalanced;

impl std::fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unbalanced quotes")
    }
}

impl std::error::Error for Unbalanced {}

/// Cuts `line` at blanks. `"…"` understands `\n \r \t \b \a \xHH \" \\`, `'…'` only `\'`. A NUL byte ends the line.
pub fn split_args(line: &[u8]) -> Result<Vec<Vec<u8>>, Unbalanced> {
    let (mut text, mut spans) = (Vec::new(), Vec::new());
    split_into(line, &mut text, &mut spans)?;
    Ok(spans.iter().map(|s| text[s.start..s.start + s.len].to_vec()).collect())
}

/// Like [`split_args`], but appends the unquoted bytes to `text` and one span into it per argument to `spans`.
pub(crate) fn split_into(line: &[u8], text: &mut Vec<u8>, spans: &mut Vec<Span>) -> Result<(), Unbalanced> {
    let line = &line[..memchr::memchr(0, line).unwrap_or(line.len())];
    let mut i = 0;
    loop {
        while line.get(i).is_some_and(|c| is_space(*c)) {
            i += 1;
        }
        if i >= line.len() {
            return Ok(());
        }
        let start = text.len();
        i = token(line, i, text)?;
        spans.push(Span { start, len: text.len() - start });
    }
}

/// Appends the token that starts at `i`; gives the position after it. A token may mix quoted and bare parts.
fn token(line: &[u8], mut i: usize, text: &mut Vec<u8>) -> Result<usize, Unbalanced> {
    while let Some(&c) = line.get(i) {
        i = match c {
            b' ' | b'\n' | b'\r' | b'\t' => return Ok(i + 1),
            b'"' => double_quoted(line, i + 1, text)?,
            b'\'' => single_quoted(line, i + 1, text)?,
            c => {
                text.push(c);
                i + 1
            }
        };
    }
    Ok(i)
}

fn double_quoted(line: &[u8], mut i: usize, text: &mut Vec<u8>) -> Result<usize, Unbalanced> {
    loop {
        match line.get(i..).unwrap_or_default() {
            [] => return Err(Unbalanced),
            [b'\\', b'x', h, l, ..] if h.is_ascii_hexdigit() && l.is_ascii_hexdigit() => {
                text.push(hex(*h) << 4 | hex(*l));
                i += 4;
            }
            [b'\\', c, ..] => {
                text.push(match c {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    c => *c,
                });
                i += 2;
            }
            [b'"', ..] => return Ok(i + 1),
            [c, ..] => {
                text.push(*c);
                i += 1;
            }
        }
    }
}

fn single_quoted(line: &[u8], mut i: usize, text: &mut Vec<u8>) -> Result<usize, Unbalanced> {
    loop {
        match line.get(i..).unwrap_or_default() {
            [] => return Err(Unbalanced),
            [b'\\', b'\'', ..] => {
                text.push(b'\'');
                i += 2;
            }
            [b'\'', ..] => return Ok(i + 1),
            [c, ..] => {
                text.push(*c);
                i += 1;
            }
        }
    }
}

/// C's `isspace` in the C locale.
fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn hex(c: u8) -> u8 {
    match c {
        b'0'..=b'9' => c - b'0',
        b'a'..=b'f' => c - b'a' + 10,
        _ => c.wrapping_sub(b'A').wrapping_add(10),
    }
}

/// Appends `text` in double quotes so that [`split_args`] reads it back: printable ASCII as is, the rest escaped.
pub fn quote(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &c in text {
        match c {
            b'\\' | b'"' => out.extend_from_slice(&[b'\\', c]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            b' '..=b'~' => out.push(c),
            c => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\x");
                out.push(DIGITS[usize::from(c >> 4)]);
                out.push(DIGITS[usize::from(c & 15)]);
            }
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::{quote, split_args};

    fn split(line: &str) -> Option<Vec<String>> {
        let args = split_args(line.as_bytes()).ok()?;
        Some(args.into_iter().map(|a| a.iter().map(|b| char::from(*b)).collect()).collect())
    }

    #[test]
    fn follows_the_quoting_rules() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \t\x0b ", &[]),
            ("set a b", &["set", "a", "b"]),
            ("  set\ta  b ", &["set", "a", "b"]),
            (r#"set "a b" c"#, &["set", "a b", "c"]),
            (r#"set "\x41\n\t\r\a\b\"\\\q""#, &["set", "A\n\t\r\u{7}\u{8}\"\\q"]),
            (r#"set "\xzz""#, &["set", "xzz"]),
            (r"set 'a\'b\n'", &["set", r"a'b\n"]),
            (r#"set "" ''"#, &["set", "", ""]),
            (r#"foo"bar" x"#, &["foobar", "x"]),
            // As Valkey 9 reads it; Redis refuses what follows a closing quote.
            (r#"""a"b "c'd ' e"#, &["ab cd ", "e"]),
            ("a\x0bb c", &["a\x0bb", "c"]),
            ("a b\0c d", &["a", "b"]),
        ];
        for (line, want) in cases {
            let want: Vec<String> = want.iter().map(|s| (*s).to_string()).collect();
            assert_eq!(split(line), Some(want), "{line:?}");
        }
    }

    #[test]
    fn refuses_unbalanced_quotes() {
        for line in [r#"set "a"#, "set 'a", "set 'b'a'r", r#"set "a\"#, r#"set "a\""#] {
            assert_eq!(split(line), None, "{line:?}");
        }
    }

    #[test]
    fn quoted_text_reads_back() {
        let all: Vec<u8> = (0..=255).collect();
        let mut line = Vec::new();
        quote(&mut line, &all);
        assert_eq!(split_args(&line), Ok(vec![all]));
    }
}
