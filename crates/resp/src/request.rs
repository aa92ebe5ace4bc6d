//! Client requests: multibulk and inline commands, read incrementally from a buffer that the caller owns.

use crate::int::parse_i64;
use crate::split::split_into;

/// Longest inline command and longest header line, in bytes, that may be waited for.
pub const INLINE_MAX: usize = 64 * 1024;

/// Most arguments of one command.
pub const MAX_ARGS: i64 = i32::MAX as i64;

/// An argument of this many bytes or more deserves a buffer of its exact size (see [`Parsed::More`]).
pub const BIG_ARG: usize = 32 * 1024;

/// Arguments and bytes per argument that a client may send before it has authenticated.
const UNAUTH_MAX_ARGS: i64 = 10;
const UNAUTH_MAX_BULK: i64 = 16 * 1024;

/// `bulk` while the next header is yet to be read.
const NO_BULK: usize = usize::MAX;

/// A range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Length in bytes.
    pub len: usize,
}

/// What a client may send at the moment.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest argument in bytes (`proto-max-bulk-len`).
    pub max_bulk: u64,
    /// False while the client must still authenticate: then only small commands are read.
    pub authenticated: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_bulk: 512 * 1024 * 1024, authenticated: true }
    }
}

/// Result of [`Parser::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The command is not complete. The number says how many more bytes are surely needed (at least 1): when it is
    /// large, an argument of known length is under way and the buffer is best grown to exactly that.
    More(usize),
    /// A command of this many bytes is complete; its arguments can be had from the parser.
    Command(usize),
    /// An empty command of this many bytes (a blank line, `*0`, `*-1`), to be skipped without an answer.
    Empty(usize),
}

/// Why a connection must be closed. `Display` gives the text of the error reply, without the leading `ERR `.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolError {
    /// A `*` line without end.
    TooBigMbulkCount,
    /// A `$` line without end.
    TooBigBulkCount,
    /// The number after `*` is no number, or too large.
    InvalidMultibulkLength,
    /// The number after `$` is no number, negative or above `proto-max-bulk-len`.
    InvalidBulkLength,
    /// Something else (given) stands where a `$` must be.
    ExpectedDollar(u8),
    /// A line or an argument does not end with `\r\n`.
    InvalidCrlf,
    /// Quotes of an inline command do not match.
    UnbalancedQuotes,
    /// An inline command without end.
    TooBigInline,
    /// Too many arguments for a client that has not authenticated.
    UnauthMultibulkLength,
    /// Too long an argument for a client that has not authenticated.
    UnauthBulkLength,
}

impl ProtocolError {
    /// Appends the complete error reply.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"-ERR Protocol error: ");
        match self {
            // The byte goes out as it came, but for line ends.
            ProtocolError::ExpectedDollar(c) => {
                out.extend_from_slice(b"expected '$', got '");
                out.push(if matches!(c, b'\r' | b'\n') { b' ' } else { c });
                out.push(b'\'');
            }
            e => out.extend_from_slice(e.text().as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
    }

    fn text(self) -> &'static str {
        match self {
            ProtocolError::TooBigMbulkCount => "too big mbulk count string",
            ProtocolError::TooBigBulkCount => "too big bulk count string",
            ProtocolError::InvalidMultibulkLength => "invalid multibulk length",
            ProtocolError::InvalidBulkLength => "invalid bulk length",
            ProtocolError::ExpectedDollar(_) => "expected '$'",
            ProtocolError::InvalidCrlf => "invalid CRLF in request",
            ProtocolError::UnbalancedQuotes => "unbalanced quotes in request",
            ProtocolError::TooBigInline => "too big inline request",
            ProtocolError::UnauthMultibulkLength => "unauthenticated multibulk length",
            ProtocolError::UnauthBulkLength => "unauthenticated bulk length",
        }
    }
}

impl std::fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Protocol error: {}", self.text())?;
        if let ProtocolError::ExpectedDollar(c) = self {
            write!(f, ", got '{}'", char::from(*c).escape_default())?;
        }
        Ok(())
    }
}

impl std::error::Error for ProtocolError {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of the command is known.
    Start,
    /// Inside a multibulk command.
    Bulks,
    /// A complete command was given out.
    Done,
}

/// Reads one connection's commands.
///
/// The caller keeps the bytes and passes, each time, the slice that starts at the first byte of the command under
/// way. All positions are relative to that byte, so the buffer may be moved or compacted between calls. What was
/// read of an incomplete command is remembered: no byte is looked at twice.
///
/// ```
/// use totality_resp::{Limits, Parsed, Parser};
/// let (mut p, limits) = (Parser::new(), Limits::default());
/// assert_eq!(p.parse(b"*2\r\n$4\r\nECHO\r\n$2\r\nh", &limits), Ok(Parsed::More(3)));
/// let buf = b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n";
/// assert_eq!(p.parse(buf, &limits), Ok(Parsed::Command(buf.len())));
/// assert_eq!(p.args(buf).collect::<Vec<_>>(), [&b"ECHO"[..], b"hi"]);
/// ```
#[derive(Debug)]
pub struct Parser {
    state: State,
    /// The spans of the finished command point into `text`, not into the caller's buffer.
    inline: bool,
    /// Arguments still to be read.
    left: usize,
    /// Length of the argument under way, or `NO_BULK`.
    bulk: usize,
    /// Start of what is not yet understood.
    pos: usize,
    /// Up to here no line end was found after `pos`.
    scanned: usize,
    spans: Vec<Span>,
    /// Unquoted bytes of an inline command.
    text: Vec<u8>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the start of a command. Allocates nothing.
    pub const fn new() -> Self {
        Parser {
            state: State::Start,
            inline: false,
            left: 0,
            bulk: NO_BULK,
            pos: 0,
            scanned: 0,
            spans: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Number of arguments of the command that [`Parser::parse`] completed.
    pub fn argc(&self) -> usize {
        self.spans.len()
    }

    /// The arguments of the completed command; `buf` is the slice that `parse` saw.
    pub fn args<'a>(&'a self, buf: &'a [u8]) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        let source: &'a [u8] = if self.inline { &self.text } else { buf };
        self.spans.iter().map(move |s| source.get(s.start..s.start + s.len).unwrap_or_default())
    }

    /// True while a part of a command has been read.
    pub fn in_command(&self) -> bool {
        self.state == State::Bulks
    }

    /// Bytes of memory held by the parser itself, beside the caller's buffer.
    pub fn memory(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.text.capacity()
    }

    /// Bytes read so far of the command under way, the protocol's own included.
    pub fn args_bytes(&self) -> usize {
        if self.in_command() { self.pos } else { 0 }
    }

    /// Forgets what was read and gives the memory back.
    pub fn release(&mut self) {
        *self = Self::new();
    }

    /// Reads on. `buf` starts at the first byte of the command under way and holds all that has arrived since.
    #[inline]
    pub fn parse(&mut self, buf: &[u8], limits: &Limits) -> Result<Parsed, ProtocolError> {
        if self.state == State::Done {
            self.restart();
        }
        if self.state == State::Start {
            match buf.first() {
                None => return Ok(Parsed::More(1)),
                Some(b'*') => {}
                Some(_) => return self.inline(buf),
            }
            let Some((n, next)) = self.number(buf, ProtocolError::TooBigMbulkCount)? else {
                return Ok(Parsed::More(1));
            };
            let n = n.filter(|n| *n <= MAX_ARGS).ok_or(ProtocolError::InvalidMultibulkLength)?;
            if n > UNAUTH_MAX_ARGS && !limits.authenticated {
                return Err(ProtocolError::UnauthMultibulkLength);
            }
            if n <= 0 {
                self.state = State::Done;
                return Ok(Parsed::Empty(next));
            }
            self.left = n as usize;
            self.pos = next;
            self.state = State::Bulks;
        }
        self.bulks(buf, limits)
    }

    #[inline]
    fn bulks(&mut self, buf: &[u8], limits: &Limits) -> Result<Parsed, ProtocolError> {
        while self.left > 0 {
            if self.bulk == NO_BULK {
                if let Some(c) = buf.get(self.pos)
                    && *c != b'$'
                    && self.line_arrived(buf)
                {
                    return Err(ProtocolError::ExpectedDollar(*c));
                }
                let Some((n, next)) = self.number(buf, ProtocolError::TooBigBulkCount)? else {
                    return Ok(Parsed::More(1));
                };
                let n = n.filter(|n| *n >= 0 && *n as u64 <= limits.max_bulk);
                let n = n.ok_or(ProtocolError::InvalidBulkLength)?;
                if n > UNAUTH_MAX_BULK && !limits.authenticated {
                    return Err(ProtocolError::UnauthBulkLength);
                }
                self.bulk = usize::try_from(n).map_err(|_| ProtocolError::InvalidBulkLength)?;
                self.pos = next;
            }
            let end = self.pos.saturating_add(self.bulk).saturating_add(2);
            if end > buf.len() {
                // The other arguments need at least "$0\r\n\r\n" each; asking for them too saves nothing.
                return Ok(Parsed::More(end - buf.len()));
            }
            if buf.get(end - 2..end) != Some(b"\r\n") {
                return Err(ProtocolError::InvalidCrlf);
            }
            self.spans.push(Span { start: self.pos, len: self.bulk });
            self.pos = end;
            self.scanned = end;
            self.bulk = NO_BULK;
            self.left -= 1;
        }
        self.state = State::Done;
        Ok(Parsed::Command(self.pos))
    }

    /// Is the line at `pos` here with the byte after its `\r`?
    #[cold]
    fn line_arrived(&self, buf: &[u8]) -> bool {
        let rest = buf.get(self.pos..).unwrap_or_default();
        memchr::memchr(b'\r', rest).is_some_and(|i| i + 1 < rest.len())
    }

    /// The number of the header line at `pos` (past its first byte) and the position after the line. Outer `None`: the
    /// line is not complete. Inner `None`: not a number.
    #[inline]
    fn number(
        &mut self,
        buf: &[u8],
        too_big: ProtocolError,
    ) -> Result<Option<(Option<i64>, usize)>, ProtocolError> {
        let digit = |c: u8| i64::from(c - b'0');
        match buf.get(self.pos + 1..) {
            Some([a @ b'0'..=b'9', b'\r', b'\n', ..]) => Ok(Some((Some(digit(*a)), self.pos + 4))),
            Some([a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', ..]) => {
                Ok(Some((Some(digit(*a) * 10 + digit(*b)), self.pos + 5)))
            }
            Some([a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b'\r', b'\n', ..]) => {
                Ok(Some((Some(digit(*a) * 100 + digit(*b) * 10 + digit(*c)), self.pos + 6)))
            }
            _ => self.number_slow(buf, too_big),
        }
    }

    #[cold]
    #[inline(never)]
    fn number_slow(
        &mut self,
        buf: &[u8],
        too_big: ProtocolError,
    ) -> Result<Option<(Option<i64>, usize)>, ProtocolError> {
        let from = self.scanned.max(self.pos).min(buf.len());
        match memchr::memchr(b'\r', &buf[from..]) {
            None => {
                self.scanned = buf.len();
                if buf.len().saturating_sub(self.pos) > INLINE_MAX { Err(too_big) } else { Ok(None) }
            }
            Some(i) => {
                let end = from + i;
                self.scanned = end;
                match buf.get(end + 1) {
                    None => return Ok(None),
                    Some(b'\n') => {}
                    Some(_) => return Err(ProtocolError::InvalidCrlf),
                }
                let text = buf.get(self.pos + 1..end).unwrap_or_default();
                Ok(Some((parse_i64(text), end + 2)))
            }
        }
    }

    #[cold]
    fn inline(&mut self, buf: &[u8]) -> Result<Parsed, ProtocolError> {
        let from = self.scanned.min(buf.len());
        let found = memchr::memchr2(b'\n', 0, &buf[from..]).filter(|i| buf[from + i] == b'\n');
        let Some(i) = found else {
            // As in Redis a zero byte hides the end of the line, so that binary rubbish is not taken for commands.
            self.scanned = memchr::memchr(0, &buf[from..]).map_or(buf.len(), |i| from + i);
            if buf.len() > INLINE_MAX {
                return Err(ProtocolError::TooBigInline);
            }
            return Ok(Parsed::More(1));
        };
        let end = from + i;
        let line = &buf[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.inline = true;
        split_into(line, &mut self.text, &mut self.spans).map_err(|_| ProtocolError::UnbalancedQuotes)?;
        self.state = State::Done;
        Ok(if self.spans.is_empty() { Parsed::Empty(end + 1) } else { Parsed::Command(end + 1) })
    }

    #[inline]
    fn restart(&mut self) {
        self.state = State::Start;
        self.bulk = NO_BULK;
        self.left = 0;
        self.pos = 0;
        self.scanned = 0;
        self.spans.clear();
        if self.inline {
            self.inline = false;
            self.text.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8], limits: &Limits) -> Option<String> {
        let mut out = Vec::new();
        Parser::new().parse(bytes, limits).err()?.write(&mut out);
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn errors_have_redis_texts() {
        let open = Limits::default();
        let closed = Limits { authenticated: false, ..open };
        let small = Limits { max_bulk: 10, ..open };
        let long = |head: &str| [head.as_bytes(), &vec![b'1'; INLINE_MAX + 1]].concat();
        let cases: &[(&[u8], &Limits, &str)] = &[
            (&long("*"), &open, "too big mbulk count string"),
            (&long("*1\r\n$"), &open, "too big bulk count string"),
            (&long("PING"), &open, "too big inline request"),
            (b"*3000000000\r\n", &open, "invalid multibulk length"),
            (b"*x\r\n", &open, "invalid multibulk length"),
            (b"*\r\n", &open, "invalid multibulk length"),
            (b"*1\r\n$-10\r\n", &open, "invalid bulk length"),
            (b"*1\r\n$2000000000\r\n", &open, "invalid bulk length"),
            (b"*1\r\n$blabla\r\n", &open, "invalid bulk length"),
            (b"*1\r\n$11\r\n", &small, "invalid bulk length"),
            (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", &open, "expected '$', got 'f'"),
            (b"*1\r\n\r\n", &open, "expected '$', got ' '"),
            (b"*3\rx$3\r\n", &open, "invalid CRLF in request"),
            (b"*3x\n$3\r\n", &open, "invalid multibulk length"),
            (b"*1\r\n$3\rxSET\r\n", &open, "invalid CRLF in request"),
            (b"*1\r\n$3\r\nSET\rx", &open, "invalid CRLF in request"),
            (b"*1\r\n$3\r\nSETx\n", &open, "invalid CRLF in request"),
            (b"*11\r\n", &closed, "unauthenticated multibulk length"),
            (b"*1\r\n$16385\r\n", &closed, "unauthenticated bulk length"),
            (b"SET \"a\r\n", &open, "unbalanced quotes in request"),
        ];
        for (bytes, limits, text) in cases {
            let want = format!("-ERR Protocol error: {text}\r\n");
            assert_eq!(error(bytes, limits), Some(want));
        }
        assert_eq!(error(b"*10\r\n", &closed), None);
        assert_eq!(error(b"*1\r\n$16384\r\n", &closed), None);
    }

    #[test]
    fn empty_commands_are_skipped() {
        for (bytes, len) in [(&b"\r\n"[..], 2), (b"\n", 1), (b"  \r\n", 4), (b"*0\r\n", 4), (b"*-1\r\n", 5)] {
            assert_eq!(Parser::new().parse(bytes, &Limits::default()), Ok(Parsed::Empty(len)));
        }
        assert_eq!(Parser::new().parse(b"*-10\r\n", &Limits::default()), Ok(Parsed::Empty(6)));
    }

    #[test]
    fn tells_how_much_of_a_big_argument_is_missing() {
        let mut p = Parser::new();
        let head = b"*2\r\n$3\r\nGET\r\n$100000\r\n";
        assert_eq!(p.parse(head, &Limits::default()), Ok(Parsed::More(100_002)));
        assert!(p.in_command());
    }

    #[test]
    fn a_postponed_command_can_be_read_again() {
        let mut p = Parser::new();
        for bytes in [&b"*1\r\n$4\r\nPING\r\n"[..], b"PING 'x y'\r\n"] {
            for _ in 0..2 {
                assert_eq!(p.parse(bytes, &Limits::default()), Ok(Parsed::Command(bytes.len())));
                assert_eq!(p.args(bytes).next(), Some(&b"PING"[..]));
            }
        }
    }
}
