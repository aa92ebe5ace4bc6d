//! Reading replies, for clients, tests and tools.

use crate::int::parse_i64;

/// Deepest nesting of a reply that is read.
const MAX_DEPTH: usize = 1024;
/// Longest line (status, error, number) that is waited for, in bytes.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// A reply as a tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// `+…`
    Simple(Vec<u8>),
    /// `-…` or RESP3's `!…`: the text with its code, without the `-`.
    Error(Vec<u8>),
    /// `:…`
    Integer(i64),
    /// `$…`
    Bulk(Vec<u8>),
    /// `$-1`, `*-1` or `_`
    Null,
    /// `*…`
    Array(Vec<Reply>),
    /// `%…`
    Map(Vec<(Reply, Reply)>),
    /// `~…`
    Set(Vec<Reply>),
    /// `>…`
    Push(Vec<Reply>),
    /// `,…`: the text as it came.
    Double(Vec<u8>),
    /// `#t` or `#f`
    Bool(bool),
    /// `(…`: the text as it came.
    BigNumber(Vec<u8>),
    /// `=…`: format and text.
    Verbatim([u8; 3], Vec<u8>),
    /// `|…`: pairs, and the reply that they describe.
    Attribute(Vec<(Reply, Reply)>, Box<Reply>),
}

impl Reply {
    /// The bytes of a string of any kind, status and verbatim text included.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Reply::Simple(b) | Reply::Bulk(b) | Reply::Verbatim(_, b) => Some(b),
            _ => None,
        }
    }

    /// The value of an integer reply.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Reply::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// The elements of an array, set or push.
    pub fn as_array(&self) -> Option<&[Reply]> {
        match self {
            Reply::Array(v) | Reply::Set(v) | Reply::Push(v) => Some(v),
            _ => None,
        }
    }

    /// The text of an error reply.
    pub fn as_error(&self) -> Option<&[u8]> {
        match self {
            Reply::Error(e) => Some(e),
            _ => None,
        }
    }
}

/// The bytes are not a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyError {
    /// No reply begins with this byte.
    Type(u8),
    /// A length or number that is none.
    Number,
    /// A line without end.
    TooLong,
    /// Nested too deeply.
    TooDeep,
}

impl std::fmt::Display for ReplyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplyError::Type(c) => {
                write!(f, "Protocol error, got '{}' as reply type byte", char::from(*c).escape_default())
            }
            ReplyError::Number => f.write_str("Protocol error, bad number in reply"),
            ReplyError::TooLong => f.write_str("Protocol error, line too long"),
            ReplyError::TooDeep => f.write_str("Protocol error, reply nested too deeply"),
        }
    }
}

impl std::error::Error for ReplyError {}

/// A collection under way.
#[derive(Debug)]
struct Open {
    kind: u8,
    left: usize,
    items: Vec<Reply>,
}

/// Reads replies incrementally. As with [`crate::Parser`], the caller keeps the bytes and passes the slice that
/// starts at the first byte of the reply under way.
///
/// ```
/// use totality_resp::{Reply, ReplyParser};
/// let mut p = ReplyParser::new();
/// assert_eq!(p.parse(b"*2\r\n:1\r\n$2\r\nh"), Ok(None));
/// let (reply, used) = p.parse(b"*2\r\n:1\r\n$2\r\nhi\r\n+next").unwrap().unwrap();
/// assert_eq!(reply, Reply::Array(vec![Reply::Integer(1), Reply::Bulk(b"hi".to_vec())]));
/// assert_eq!(used, 16);
/// ```
#[derive(Debug, Default)]
pub struct ReplyParser {
    open: Vec<Open>,
    pos: usize,
    /// Up to here no line end was found.
    scanned: usize,
}

impl ReplyParser {
    /// A parser at the start of a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads on: the reply and the bytes that it took, or `None` when more are needed.
    pub fn parse(&mut self, buf: &[u8]) -> Result<Option<(Reply, usize)>, ReplyError> {
        while let Some(item) = self.item(buf)? {
            if let Some(reply) = self.add(item) {
                let used = self.pos;
                *self = Self::default();
                return Ok(Some((reply, used)));
            }
        }
        Ok(None)
    }

    /// Puts a finished item into the innermost open collection, closing those that it fills.
    fn add(&mut self, item: Option<Reply>) -> Option<Reply> {
        let mut item = item?;
        loop {
            let Some(top) = self.open.last_mut() else { return Some(item) };
            top.items.push(item);
            top.left -= 1;
            if top.left > 0 {
                return None;
            }
            let full = self.open.pop()?;
            item = close(full.kind, full.items);
        }
    }

    /// The next item: outer `None` when bytes are missing, inner `None` when it opened a collection.
    fn item(&mut self, buf: &[u8]) -> Result<Option<Option<Reply>>, ReplyError> {
        let Some(&kind) = buf.get(self.pos) else { return Ok(None) };
        if !b"+-:$*%~>,#(=!|_".contains(&kind) {
            return Err(ReplyError::Type(kind));
        }
        let Some((line, next)) = self.line(buf)? else { return Ok(None) };
        let reply = match kind {
            b'+' => Reply::Simple(line.to_vec()),
            b'-' => Reply::Error(line.to_vec()),
            b':' => Reply::Integer(parse_i64(line).ok_or(ReplyError::Number)?),
            b',' => Reply::Double(line.to_vec()),
            b'(' => Reply::BigNumber(line.to_vec()),
            b'_' => Reply::Null,
            b'#' => Reply::Bool(match line {
                b"t" => true,
                b"f" => false,
                _ => return Err(ReplyError::Number),
            }),
            b'$' | b'=' | b'!' => match length(line)? {
                None => Reply::Null,
                Some(n) => {
                    let Some(bytes) = next.checked_add(n).and_then(|end| buf.get(next..end)) else {
                        return Ok(None);
                    };
                    if buf.len() < next + n + 2 {
                        return Ok(None);
                    }
                    self.advance(next + n + 2);
                    return string(kind, bytes).map(|r| Some(Some(r)));
                }
            },
            _ => match length(line)? {
                None => Reply::Null,
                Some(n) => {
                    self.advance(next);
                    return self.collection(kind, n).map(Some);
                }
            },
        };
        self.advance(next);
        Ok(Some(Some(reply)))
    }

    fn collection(&mut self, kind: u8, n: usize) -> Result<Option<Reply>, ReplyError> {
        let left = match kind {
            b'%' => n.checked_mul(2),
            // The described reply is one more item.
            b'|' => n.checked_mul(2).and_then(|n| n.checked_add(1)),
            _ => Some(n),
        };
        let left = left.ok_or(ReplyError::Number)?;
        if left == 0 {
            return Ok(Some(close(kind, Vec::new())));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(ReplyError::TooDeep);
        }
        // The count comes from the peer: reserve a little, grow by what really arrives.
        self.open.push(Open { kind, left, items: Vec::with_capacity(left.min(64)) });
        Ok(None)
    }

    fn advance(&mut self, to: usize) {
        self.pos = to;
        self.scanned = to;
    }

    /// The line at `pos` without its first byte and its end, and the position after it.
    fn line<'b>(&mut self, buf: &'b [u8]) -> Result<Option<(&'b [u8], usize)>, ReplyError> {
        let mut from = self.scanned.max(self.pos + 1).min(buf.len());
        while let Some(i) = memchr::memchr(b'\r', &buf[from..]) {
            let end = from + i;
            match buf.get(end + 1) {
                Some(b'\n') => return Ok(Some((buf.get(self.pos + 1..end).unwrap_or_default(), end + 2))),
                Some(_) => from = end + 1,
                None => {
                    self.scanned = end;
                    return Ok(None);
                }
            }
        }
        self.scanned = buf.len();
        if buf.len() - self.pos.min(buf.len()) > MAX_LINE { Err(ReplyError::TooLong) } else { Ok(None) }
    }
}

fn length(line: &[u8]) -> Result<Option<usize>, ReplyError> {
    match parse_i64(line).ok_or(ReplyError::Number)? {
        -1 => Ok(None),
        n => usize::try_from(n).map(Some).map_err(|_| ReplyError::Number),
    }
}

fn string(kind: u8, bytes: &[u8]) -> Result<Reply, ReplyError> {
    Ok(match (kind, bytes) {
        (b'!', _) => Reply::Error(bytes.to_vec()),
        (b'=', [a, b, c, b':', text @ ..]) => Reply::Verbatim([*a, *b, *c], text.to_vec()),
        (b'=', _) => return Err(ReplyError::Number),
        _ => Reply::Bulk(bytes.to_vec()),
    })
}

fn close(kind: u8, mut items: Vec<Reply>) -> Reply {
    match kind {
        b'%' => Reply::Map(pairs(items)),
        b'~' => Reply::Set(items),
        b'>' => Reply::Push(items),
        b'|' => {
            let described = items.pop().unwrap_or(Reply::Null);
            Reply::Attribute(pairs(items), Box::new(described))
        }
        _ => Reply::Array(items),
    }
}

fn pairs(items: Vec<Reply>) -> Vec<(Reply, Reply)> {
    let mut out = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(k), Some(v)) = (items.next(), items.next()) {
        out.push((k, v));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Result<Option<(Reply, usize)>, ReplyError> {
        ReplyParser::new().parse(bytes)
    }

    #[test]
    fn reads_every_type() {
        let bulk = |s: &str| Reply::Bulk(s.as_bytes().to_vec());
        let cases: Vec<(&str, Reply)> = vec![
            ("+OK|", Reply::Simple(b"OK".to_vec())),
            ("-ERR x|", Reply::Error(b"ERR x".to_vec())),
            ("!5|ERR x|", Reply::Error(b"ERR x".to_vec())),
            (":-12|", Reply::Integer(-12)),
            ("$0||", bulk("")),
            ("$4|a|b|", bulk("a\r\nb")),
            ("$-1|", Reply::Null),
            ("*-1|", Reply::Null),
            ("_|", Reply::Null),
            ("*0|", Reply::Array(vec![])),
            ("*2|:1|*1|_|", Reply::Array(vec![Reply::Integer(1), Reply::Array(vec![Reply::Null])])),
            ("%1|+a|:1|", Reply::Map(vec![(Reply::Simple(b"a".to_vec()), Reply::Integer(1))])),
            ("~1|#t|", Reply::Set(vec![Reply::Bool(true)])),
            (">1|#f|", Reply::Push(vec![Reply::Bool(false)])),
            (",1.5|", Reply::Double(b"1.5".to_vec())),
            ("(123|", Reply::BigNumber(b"123".to_vec())),
            ("=7|txt:abc|", Reply::Verbatim(*b"txt", b"abc".to_vec())),
        ];
        for (text, want) in cases {
            let bytes = text.replace('|', "\r\n");
            assert_eq!(one(bytes.as_bytes()), Ok(Some((want, bytes.len()))), "{text}");
        }
        let attribute = b"|1\r\n+k\r\n+v\r\n:5\r\n";
        let pair = (Reply::Simple(b"k".to_vec()), Reply::Simple(b"v".to_vec()));
        let want = Reply::Attribute(vec![pair], Box::new(Reply::Integer(5)));
        assert_eq!(one(attribute), Ok(Some((want, attribute.len()))));
    }

    #[test]
    fn refuses_what_is_no_reply() {
        assert_eq!(one(b"hello\r\n"), Err(ReplyError::Type(b'h')));
        assert_eq!(one(b":x\r\n"), Err(ReplyError::Number));
        assert_eq!(one(b"$-2\r\n"), Err(ReplyError::Number));
        assert_eq!(one(b"#x\r\n"), Err(ReplyError::Number));
        assert_eq!(one(b"=2\r\nab\r\n"), Err(ReplyError::Number));
        assert_eq!(one(&b"*1\r\n".repeat(MAX_DEPTH + 1)), Err(ReplyError::TooDeep));
        assert_eq!(one(b"*9223372036854775807\r\n"), Ok(None));
        assert_eq!(one(b"$9223372036854775807\r\n"), Ok(None));
        assert_eq!(one(b"%9223372036854775807\r\n"), Ok(None));
    }
}
