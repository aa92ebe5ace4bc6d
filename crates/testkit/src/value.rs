//! Replies as a tree. Parsed here independently of `totality-resp`, so that a fault in our codec cannot hide itself.

/// One reply of RESP2 or RESP3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `+OK`
    Status(Vec<u8>),
    /// `-ERR …`
    Error(Vec<u8>),
    /// `:1`
    Int(i64),
    /// `$1 x`
    Bulk(Vec<u8>),
    /// `$-1`, `*-1` or `_`
    Nil,
    /// `*`
    Array(Vec<Value>),
    /// `%`
    Map(Vec<(Value, Value)>),
    /// `~`
    Set(Vec<Value>),
    /// `>`
    Push(Vec<Value>),
    /// `,` with its text as sent
    Double(Vec<u8>),
    /// `#`
    Bool(bool),
    /// `(`
    Big(Vec<u8>),
    /// `=` without the three-letter format
    Verbatim(Vec<u8>),
}

/// Why bytes are not a reply.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    /// More bytes are needed.
    Incomplete,
    /// No bytes after these can make it a reply; says why.
    Malformed(String),
}

/// Deepest nesting that a test may receive.
const MAX_DEPTH: usize = 3_000;

/// Reads one reply from the start of `bytes` and says how many bytes it took.
pub fn parse(bytes: &[u8]) -> Result<(Value, usize), Wrong> {
    let mut at = 0;
    let value = one(bytes, &mut at, 0)?;
    Ok((value, at))
}

fn line<'a>(bytes: &'a [u8], at: &mut usize) -> Result<&'a [u8], Wrong> {
    let rest = &bytes[*at..];
    let end = rest.windows(2).position(|w| w == b"\r\n").ok_or(Wrong::Incomplete)?;
    *at += end + 2;
    Ok(&rest[..end])
}

fn number(text: &[u8]) -> Result<i64, Wrong> {
    let bad = || Wrong::Malformed(format!("bad number {}", text.escape_ascii()));
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).ok_or_else(bad)
}

fn many(bytes: &[u8], at: &mut usize, n: i64, depth: usize) -> Result<Vec<Value>, Wrong> {
    (0..n).map(|_| one(bytes, at, depth + 1)).collect()
}

fn blob(bytes: &[u8], at: &mut usize, n: i64) -> Result<Vec<u8>, Wrong> {
    let n = n as usize;
    let rest = &bytes[*at..];
    if rest.len() < n + 2 {
        return Err(Wrong::Incomplete);
    }
    if &rest[n..n + 2] != b"\r\n" {
        return Err(Wrong::Malformed("bulk string without its end".into()));
    }
    *at += n + 2;
    Ok(rest[..n].to_vec())
}

fn one(bytes: &[u8], at: &mut usize, depth: usize) -> Result<Value, Wrong> {
    if depth > MAX_DEPTH {
        return Err(Wrong::Malformed("nested too deep".into()));
    }
    let kind = *bytes.get(*at).ok_or(Wrong::Incomplete)?;
    *at += 1;
    let head = line(bytes, at)?;
    Ok(match kind {
        b'+' => Value::Status(head.to_vec()),
        b'-' => Value::Error(head.to_vec()),
        b':' => Value::Int(number(head)?),
        b',' => Value::Double(head.to_vec()),
        b'(' => Value::Big(head.to_vec()),
        b'#' => Value::Bool(head == b"t"),
        b'_' => Value::Nil,
        b'$' | b'=' | b'!' => {
            let n = number(head)?;
            if n < 0 {
                return Ok(Value::Nil);
            }
            let text = blob(bytes, at, n)?;
            match kind {
                b'$' => Value::Bulk(text),
                b'!' => Value::Error(text),
                _ => Value::Verbatim(text.get(4..).unwrap_or_default().to_vec()),
            }
        }
        b'*' | b'~' | b'>' | b'%' | b'|' if number(head)? < 0 => Value::Nil,
        b'*' => Value::Array(many(bytes, at, number(head)?, depth)?),
        b'~' => Value::Set(many(bytes, at, number(head)?, depth)?),
        b'>' => Value::Push(many(bytes, at, number(head)?, depth)?),
        b'%' => {
            let flat = many(bytes, at, number(head)?.saturating_mul(2), depth)?;
            Value::Map(flat.chunks_exact(2).map(|p| (p[0].clone(), p[1].clone())).collect())
        }
        b'|' => {
            many(bytes, at, number(head)?.saturating_mul(2), depth)?;
            one(bytes, at, depth)?
        }
        other => return Err(Wrong::Malformed(format!("byte {:?} does not start a reply", other as char))),
    })
}

impl Value {
    /// The bytes of a string, status, error, double, big number or verbatim text.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Status(b) | Value::Error(b) | Value::Bulk(b) | Value::Double(b) => Some(b),
            Value::Big(b) | Value::Verbatim(b) => Some(b),
            _ => None,
        }
    }

    /// The bytes as text, for messages and simple checks; empty for what has none.
    pub fn text(&self) -> String {
        self.bytes().map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default()
    }

    /// The number of an integer reply.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The elements of an array, set or push; a map's keys and values in turn.
    pub fn items(&self) -> Vec<Value> {
        match self {
            Value::Array(v) | Value::Set(v) | Value::Push(v) => v.clone(),
            Value::Map(m) => m.iter().flat_map(|(k, v)| [k.clone(), v.clone()]).collect(),
            _ => Vec::new(),
        }
    }

    /// True for an error reply.
    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error(_))
    }

    /// What RESP2 shows for a RESP3 value: maps flat, sets as arrays, doubles and verbatim text as strings, booleans
    /// as 1 and 0.
    pub fn downgrade(self) -> Value {
        match self {
            Value::Array(v) | Value::Set(v) | Value::Push(v) => {
                Value::Array(v.into_iter().map(Value::downgrade).collect())
            }
            Value::Map(m) => {
                Value::Array(m.into_iter().flat_map(|(k, v)| [k.downgrade(), v.downgrade()]).collect())
            }
            Value::Double(b) | Value::Big(b) | Value::Verbatim(b) => Value::Bulk(b),
            Value::Bool(b) => Value::Int(b.into()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_a_reply_is_incomplete() {
        let bytes = b"*4\r\n$3\r\na\r\n\r\n%1\r\n+k\r\n,1.5\r\n~1\r\n#t\r\n=7\r\ntxt:a\r\n\r\n";
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end]), Err(Wrong::Incomplete), "{end}");
        }
        let (value, used) = parse(bytes).unwrap();
        assert_eq!(used, bytes.len());
        assert_eq!(value.items()[3], Value::Verbatim(b"a\r\n".to_vec()[..3].to_vec()));
    }

    #[test]
    fn resp3_shows_as_resp2() {
        let map = Value::Map(vec![(Value::Bulk(b"a".to_vec()), Value::Double(b"1.5".to_vec()))]);
        let flat = Value::Array(vec![Value::Bulk(b"a".to_vec()), Value::Bulk(b"1.5".to_vec())]);
        assert_eq!(map.downgrade(), flat);
    }
}
