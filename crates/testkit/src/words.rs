//! Words as `redis-cli` reads and prints them.

/// Splits a line as `redis-cli` does: blanks separate, `"…"` knows `\n \r \t \b \a \xHH \"`, `'…'` knows `\'`.
/// `None` when quotes are unbalanced or a closing quote is followed by something else than a blank.
pub fn split(line: &str) -> Option<Vec<Vec<u8>>> {
    let mut rest = line.as_bytes();
    let mut words = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let Some((&c, tail)) = rest.split_first() {
            match c {
                b'"' => rest = double_quoted(tail, &mut word)?,
                b'\'' => rest = single_quoted(tail, &mut word)?,
                c if c.is_ascii_whitespace() => break,
                c => {
                    word.push(c);
                    rest = tail;
                }
            }
        }
        words.push(word);
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [b'"', tail @ ..] => return closed(tail),
            [b'\\', b'x', a, b, tail @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                let hex = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
                word.push(hex(*a) << 4 | hex(*b));
                rest = tail;
            }
            [b'\\', c, tail @ ..] => {
                word.push(match c {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    c => *c,
                });
                rest = tail;
            }
            [c, tail @ ..] => {
                word.push(*c);
                rest = tail;
            }
            [] => return None,
        }
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [b'\'', tail @ ..] => return closed(tail),
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                rest = tail;
            }
            [c, tail @ ..] => {
                word.push(*c);
                rest = tail;
            }
            [] => return None,
        }
    }
}

fn closed(tail: &[u8]) -> Option<&[u8]> {
    tail.first().is_none_or(u8::is_ascii_whitespace).then_some(tail)
}

/// A string in double quotes with everything unprintable escaped, as `redis-cli` prints bulk strings.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &b in bytes {
        match b {
            b'\\' | b'"' => {
                out.push('\\');
                out.push(b as char);
            }
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            7 => out.push_str("\\a"),
            8 => out.push_str("\\b"),
            b' '..=b'~' => out.push(b as char),
            b => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out.push('"');
    out
}

/// A command as a line that can be pasted into `redis-cli`: only words that need it are quoted.
pub fn join<W: AsRef<[u8]>>(words: &[W]) -> String {
    let plain = |w: &[u8]| {
        !w.is_empty() && w.iter().all(|&b| matches!(b, b'!'..=b'~') && !matches!(b, b'"' | b'\'' | b'\\'))
    };
    let word = |w: &W| match w.as_ref() {
        w if plain(w) => String::from_utf8_lossy(w).into_owned(),
        w => quote(w),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_redis_cli() {
        let words = split(r#"set "a b\x00\n" 'it\'s' "" plain"#).unwrap();
        assert_eq!(words, [&b"set"[..], b"a b\0\n", b"it's", b"", b"plain"]);
        assert!(split(r#"get "open"#).is_none());
        assert!(split(r#"get "a"b"#).is_none());
    }

    #[test]
    fn join_is_undone_by_split() {
        let words = [&b"SET"[..], b"", b"a b", b"\xff\0\"\\'", b"tab\t"];
        assert_eq!(split(&join(&words)).unwrap(), words);
    }
}
