//! Writing replies: functions that append to a `Vec<u8>`, and [`Writer`], which knows the client's protocol.

/// The protocol version that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Proto {
    /// RESP2, what every connection begins with.
    #[default]
    Resp2,
    /// RESP3, after `HELLO 3`.
    Resp3,
}

/// `+OK`
pub const OK: &[u8] = b"+OK\r\n";
/// `+PONG`
pub const PONG: &[u8] = b"+PONG\r\n";
/// `+QUEUED`
pub const QUEUED: &[u8] = b"+QUEUED\r\n";
const CRLF: &[u8] = b"\r\n";

/// Appends `prefix`, the number and the line end: `:5`, `*3`, `$12` …
#[inline]
pub fn header(out: &mut Vec<u8>, prefix: u8, n: i64) {
    if (0..10).contains(&n) {
        out.extend_from_slice(&[prefix, b'0' + n as u8, b'\r', b'\n']);
        return;
    }
    // One append of a small array is cheaper than three of its parts.
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(n).as_bytes();
    let mut line = [0u8; 24];
    line[0] = prefix;
    let end = 1 + digits.len();
    line[1..end].copy_from_slice(digits);
    line[end] = b'\r';
    line[end + 1] = b'\n';
    out.extend_from_slice(&line[..end + 2]);
}

/// Appends `+text`. Line ends within the text become blanks, since they would break the protocol.
pub fn simple(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'+');
    one_line(out, text);
    out.extend_from_slice(CRLF);
}

/// Appends an error whose text begins with its code: `error(out, b"ERR no such key")`. A `-` in front is accepted.
pub fn error(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'-');
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let end = text.iter().rposition(|c| !matches!(c, b'\r' | b'\n')).map_or(0, |i| i + 1);
    one_line(out, &text[..end]);
    out.extend_from_slice(CRLF);
}

fn one_line(out: &mut Vec<u8>, text: &[u8]) {
    let start = out.len();
    out.extend_from_slice(text);
    if memchr::memchr2(b'\r', b'\n', text).is_some() {
        for c in &mut out[start..] {
            if matches!(c, b'\r' | b'\n') {
                *c = b' ';
            }
        }
    }
}

/// Appends `:n`.
#[inline]
pub fn integer(out: &mut Vec<u8>, n: i64) {
    header(out, b':', n);
}

/// Appends a bulk string.
#[inline]
pub fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + 16);
    header(out, b'$', bytes.len() as i64);
    out.extend_from_slice(bytes);
    out.extend_from_slice(CRLF);
}

/// Appends a bulk string that holds the decimal digits of `n`.
pub fn bulk_integer(out: &mut Vec<u8>, n: i64) {
    bulk(out, itoa::Buffer::new().format(n).as_bytes());
}

/// Appends a command as clients, the AOF and replication send it: an array of bulk strings.
pub fn command<A: AsRef<[u8]>>(out: &mut Vec<u8>, argv: &[A]) {
    header(out, b'*', argv.len() as i64);
    for arg in argv {
        bulk(out, arg.as_ref());
    }
}

/// The place of a header whose count is not known yet. Close it with [`Writer::close_array`] and its kin.
#[derive(Debug)]
#[must_use]
pub struct Deferred {
    /// Offset of the header in the output.
    at: usize,
}

/// Bytes kept free for a deferred header: those of a one-digit count.
const RESERVED: usize = 4;

/// Appends replies in one client's protocol. Costs nothing to make: one per command is fine.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    proto: Proto,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, proto: Proto) -> Self {
        Writer { out, proto }
    }

    /// The protocol that is written.
    #[inline]
    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// Changes the protocol for what follows (`HELLO`).
    pub fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
    }

    /// The output, for bytes that are RESP already.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Bytes written so far, with what stood in the buffer before.
    #[inline]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// True when the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Takes back what was written after the buffer was `len` bytes long.
    pub fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
    }

    fn resp3(&self) -> bool {
        self.proto == Proto::Resp3
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        self.out.extend_from_slice(OK);
    }

    /// A status reply. See [`simple`].
    pub fn simple(&mut self, text: &[u8]) {
        simple(self.out, text);
    }

    /// An error reply. See [`error`].
    pub fn error(&mut self, text: &[u8]) {
        error(self.out, text);
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, n: i64) {
        integer(self.out, n);
    }

    /// A bulk string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        bulk(self.out, bytes);
    }

    /// A bulk string with the digits of `n`.
    pub fn bulk_integer(&mut self, n: i64) {
        bulk_integer(self.out, n);
    }

    /// No value: `$-1`, in RESP3 `_`.
    #[inline]
    pub fn null(&mut self) {
        self.out.extend_from_slice(if self.resp3() { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// No array: `*-1`, in RESP3 `_`.
    pub fn null_array(&mut self) {
        self.out.extend_from_slice(if self.resp3() { b"_\r\n" } else { b"*-1\r\n" });
    }

    /// Header of an array of `n` elements.
    #[inline]
    pub fn array(&mut self, n: usize) {
        header(self.out, b'*', n as i64);
    }

    /// Header of a map of `pairs` pairs; in RESP2 an array of twice as many elements.
    pub fn map(&mut self, pairs: usize) {
        let (prefix, n) = self.map_shape(pairs);
        header(self.out, prefix, n);
    }

    fn map_shape(&self, pairs: usize) -> (u8, i64) {
        if self.resp3() { (b'%', pairs as i64) } else { (b'*', pairs as i64 * 2) }
    }

    /// Header of a set of `n` elements; in RESP2 an array.
    pub fn set(&mut self, n: usize) {
        header(self.out, if self.resp3() { b'~' } else { b'*' }, n as i64);
    }

    /// Header of a message out of turn of `n` elements; in RESP2 an array.
    pub fn push(&mut self, n: usize) {
        header(self.out, if self.resp3() { b'>' } else { b'*' }, n as i64);
    }

    /// Header of an attribute of `pairs` pairs in front of a reply. RESP3 only: returns false, with nothing written,
    /// in RESP2.
    #[must_use]
    pub fn attribute(&mut self, pairs: usize) -> bool {
        if self.resp3() {
            header(self.out, b'|', pairs as i64);
        }
        self.resp3()
    }

    /// `#t` or `#f`; in RESP2 `:1` or `:0`.
    pub fn bool(&mut self, b: bool) {
        self.out.extend_from_slice(match (self.resp3(), b) {
            (true, true) => b"#t\r\n",
            (true, false) => b"#f\r\n",
            (false, true) => b":1\r\n",
            (false, false) => b":0\r\n",
        });
    }

    /// A double given as text; in RESP2 a bulk string.
    pub fn double_raw(&mut self, text: &[u8]) {
        self.prefixed(b',', text);
    }

    /// A big number given as decimal text; in RESP2 a bulk string.
    pub fn big_number(&mut self, text: &[u8]) {
        self.prefixed(b'(', text);
    }

    fn prefixed(&mut self, prefix: u8, text: &[u8]) {
        if self.resp3() {
            self.out.reserve(text.len() + 3);
            self.out.push(prefix);
            self.out.extend_from_slice(text);
            self.out.extend_from_slice(CRLF);
        } else {
            bulk(self.out, text);
        }
    }

    /// Text with a format of three letters (`txt`, `mkd`); in RESP2 a bulk string.
    pub fn verbatim(&mut self, format: [u8; 3], text: &[u8]) {
        if !self.resp3() {
            return bulk(self.out, text);
        }
        header(self.out, b'=', text.len() as i64 + 4);
        self.out.extend_from_slice(&format);
        self.out.push(b':');
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(CRLF);
    }

    /// Leaves room for a header whose count will be known later. Nested ones are closed innermost first.
    pub fn defer(&mut self) -> Deferred {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; RESERVED]);
        Deferred { at }
    }

    /// Fills in an array of `n` elements.
    pub fn close_array(&mut self, place: Deferred, n: usize) {
        self.close(place, b'*', n as i64);
    }

    /// Fills in a set of `n` elements; in RESP2 an array.
    pub fn close_set(&mut self, place: Deferred, n: usize) {
        self.close(place, if self.resp3() { b'~' } else { b'*' }, n as i64);
    }

    /// Fills in a map of `pairs` pairs; in RESP2 an array of twice as many elements.
    pub fn close_map(&mut self, place: Deferred, pairs: usize) {
        let (prefix, n) = self.map_shape(pairs);
        self.close(place, prefix, n);
    }

    fn close(&mut self, place: Deferred, prefix: u8, n: i64) {
        let mut head = Vec::with_capacity(24);
        header(&mut head, prefix, n);
        let at = place.at.min(self.out.len());
        let extra = head.len().saturating_sub(RESERVED);
        if extra > 0 {
            // The count has more than one digit: move the elements once to make room for the rest.
            let end = self.out.len();
            self.out.resize(end + extra, 0);
            self.out.copy_within(at..end, at + extra);
        }
        if let Some(room) = self.out.get_mut(at..at + head.len()) {
            room.copy_from_slice(&head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(f: impl Fn(&mut Writer<'_>)) -> (String, String) {
        let one = |proto| {
            let mut out = b"x".to_vec();
            f(&mut Writer::new(&mut out, proto));
            String::from_utf8(out).unwrap()[1..].replace("\r\n", " ")
        };
        (one(Proto::Resp2), one(Proto::Resp3))
    }

    #[test]
    fn each_type_in_each_protocol() {
        type Case = (fn(&mut Writer<'_>), &'static str, &'static str);
        let cases: &[Case] = &[
            (|w| w.ok(), "+OK ", "+OK "),
            (|w| w.simple(b"a\r\nb"), "+a  b ", "+a  b "),
            (|w| w.error(b"ERR a\nb\r\n"), "-ERR a b ", "-ERR a b "),
            (|w| w.error(b"-WRONGTYPE x"), "-WRONGTYPE x ", "-WRONGTYPE x "),
            (|w| w.integer(i64::MIN), ":-9223372036854775808 ", ":-9223372036854775808 "),
            (|w| w.integer(7), ":7 ", ":7 "),
            (|w| w.bulk(b""), "$0  ", "$0  "),
            (|w| w.bulk(b"0123456789"), "$10 0123456789 ", "$10 0123456789 "),
            (|w| w.bulk_integer(-12), "$3 -12 ", "$3 -12 "),
            (|w| w.null(), "$-1 ", "_ "),
            (|w| w.null_array(), "*-1 ", "_ "),
            (|w| w.array(12), "*12 ", "*12 "),
            (|w| w.map(6), "*12 ", "%6 "),
            (|w| w.set(2), "*2 ", "~2 "),
            (|w| w.push(3), "*3 ", ">3 "),
            (|w| assert_eq!(w.attribute(1), w.proto() == Proto::Resp3), "", "|1 "),
            (|w| w.bool(true), ":1 ", "#t "),
            (|w| w.bool(false), ":0 ", "#f "),
            (|w| w.double_raw(b"1.5"), "$3 1.5 ", ",1.5 "),
            (|w| w.big_number(b"-3"), "$2 -3 ", "(-3 "),
            (|w| w.verbatim(*b"txt", b"hello"), "$5 hello ", "=9 txt:hello "),
        ];
        for (i, (f, two, three)) in cases.iter().enumerate() {
            assert_eq!(both(f), ((*two).to_string(), (*three).to_string()), "case {i}");
        }
    }

    #[test]
    fn deferred_headers_of_any_width() {
        for n in [0usize, 1, 9, 10, 99, 1000] {
            let (two, three) = both(|w| {
                let outer = w.defer();
                let map = w.defer();
                let set = w.defer();
                for _ in 0..n {
                    w.integer(1);
                }
                w.close_set(set, n);
                w.close_map(map, n);
                w.close_array(outer, 1);
            });
            let ones = ":1 ".repeat(n);
            assert_eq!(two, format!("*1 *{} *{n} {ones}", n * 2));
            assert_eq!(three, format!("*1 %{n} ~{n} {ones}"));
        }
    }

    #[test]
    fn a_command_is_an_array_of_bulk_strings() {
        let mut out = Vec::new();
        command(&mut out, &["SET", "k", ""]);
        assert_eq!(out, b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
    }
}
