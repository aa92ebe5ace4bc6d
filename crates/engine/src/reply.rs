//! The reply sink: where a handler writes its answer.
//!
//! One interface, three ends: RESP bytes for the network, values for the Lua runtime, a tree for embedders. Nothing is
//! rendered to one of them to be parsed for another.

use crate::frame::Frame;
use smallvec::SmallVec;
use totality_lua::reply::Reply as LuaReply;

/// Version of the protocol that the receiver speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proto {
    /// RESP2
    #[default]
    Resp2,
    /// RESP3
    Resp3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Array,
    Map,
    Set,
    Push,
}

/// An open container of a sink that needs to know where containers end.
#[derive(Debug, Clone, Copy)]
struct Open {
    shape: Shape,
    /// Values still to come; `usize::MAX` while the length is not known.
    left: usize,
    /// In a map: the next value is a key.
    key_next: bool,
    /// Number of Lua tables to close.
    tables: u8,
}

enum Sink<'a> {
    Resp(&'a mut Vec<u8>),
    Lua { out: &'a mut LuaReply, open: SmallVec<[Open; 4]> },
    Tree(&'a mut TreeBuilder),
}

/// Where a handler writes its reply. A handler writes exactly one value: a scalar, or a container followed by as many
/// values as it announced.
pub struct Reply<'a> {
    sink: Sink<'a>,
    proto: Proto,
    errors: u32,
}

/// A place in the output.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoint {
    at: usize,
    items: usize,
    left: usize,
}

/// Token of a container whose length was not known when it was opened.
#[must_use]
pub struct Deferred {
    at: usize,
    shape: Shape,
}

impl<'a> Reply<'a> {
    /// A reply that is rendered to RESP.
    pub fn resp(out: &'a mut Vec<u8>, proto: Proto) -> Self {
        Reply { sink: Sink::Resp(out), proto, errors: 0 }
    }
    /// A reply that becomes values of a script; `proto` is what the script chose by `redis.setresp`.
    pub fn lua(out: &'a mut LuaReply, proto: Proto) -> Self {
        Reply { sink: Sink::Lua { out, open: SmallVec::new() }, proto, errors: 0 }
    }
    /// A reply that becomes a tree.
    pub fn tree(tree: &'a mut TreeBuilder, proto: Proto) -> Self {
        Reply { sink: Sink::Tree(tree), proto, errors: 0 }
    }
    /// The same end, lent for a nested command (EXEC). Only valid where the whole nested reply is one value here.
    pub fn reborrow(&mut self) -> Reply<'_> {
        let sink = match &mut self.sink {
            Sink::Resp(out) => Sink::Resp(out),
            Sink::Lua { out, open } => Sink::Lua { out, open: open.clone() },
            Sink::Tree(tree) => Sink::Tree(tree),
        };
        Reply { sink, proto: self.proto, errors: 0 }
    }
    /// The protocol version that shapes are chosen by.
    pub fn proto(&self) -> Proto {
        self.proto
    }
    /// Changes the protocol version (HELLO answers in the new one).
    pub fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
    }
    /// True for RESP3.
    pub fn resp3(&self) -> bool {
        self.proto == Proto::Resp3
    }
    /// True when the values go to a script.
    pub fn is_lua(&self) -> bool {
        matches!(self.sink, Sink::Lua { .. })
    }
    /// Bytes in the output that it is rendered to; `None` where values are not rendered.
    #[inline]
    pub fn written(&self) -> Option<usize> {
        match &self.sink {
            Sink::Resp(out) => Some(out.len()),
            _ => None,
        }
    }
    /// Where the output is, for [`Reply::rewind`].
    pub fn checkpoint(&self) -> Checkpoint {
        match &self.sink {
            Sink::Resp(out) => Checkpoint { at: out.len(), items: 0, left: 0 },
            Sink::Lua { .. } => Checkpoint { at: 0, items: 0, left: 0 },
            Sink::Tree(tree) => {
                let top = tree.stack.last();
                let (items, left) = top.map_or((0, 0), |(_, left, items)| (items.len(), *left));
                Checkpoint { at: tree.stack.len(), items, left }
            }
        }
    }

    /// Forgets what was written since: not for replies to scripts.
    pub fn rewind(&mut self, to: Checkpoint) {
        match &mut self.sink {
            Sink::Resp(out) => out.truncate(to.at),
            Sink::Lua { .. } => debug_assert!(false, "a reply to a script cannot be rewound"),
            Sink::Tree(tree) => {
                tree.stack.truncate(to.at);
                tree.done = None;
                if let Some((_, left, items)) = tree.stack.last_mut() {
                    items.truncate(to.items);
                    *left = to.left;
                }
            }
        }
    }

    /// The text of the error that was written since, if what was written is one.
    pub fn error_since(&self, since: Checkpoint) -> Option<Vec<u8>> {
        match &self.sink {
            Sink::Resp(out) => {
                let text = out.get(since.at..)?.strip_prefix(b"-")?;
                Some(text.strip_suffix(b"\r\n").unwrap_or(text).to_vec())
            }
            Sink::Lua { .. } => None,
            Sink::Tree(tree) => {
                let last = match tree.stack.last() {
                    Some((_, _, items)) => items.get(since.items),
                    // The container is full with it.
                    None => match tree.done.as_ref()? {
                        Frame::Array(items) => items.last(),
                        frame => Some(frame),
                    },
                };
                match last? {
                    Frame::Error(text) => Some(text.clone()),
                    _ => None,
                }
            }
        }
    }

    /// Writes bytes that are RESP already and no reply: a message that must come before it. False where values are not
    /// rendered.
    pub(crate) fn message(&mut self, bytes: &[u8]) -> bool {
        match &mut self.sink {
            Sink::Resp(out) => {
                out.extend_from_slice(bytes);
                true
            }
            _ => false,
        }
    }
    /// Errors written so far.
    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        match &mut self.sink {
            Sink::Resp(out) => out.extend_from_slice(b"+OK\r\n"),
            _ => self.simple("OK"),
        }
    }

    /// A status.
    pub fn simple(&mut self, text: &str) {
        self.status(text.as_bytes());
    }

    /// A status given as bytes without line breaks.
    pub fn status(&mut self, text: &[u8]) {
        match &mut self.sink {
            Sink::Resp(out) => line(out, b'+', text),
            Sink::Lua { out, open } => {
                place(out, open);
                out.table(0, 1);
                out.key(b"ok");
                out.str(text);
                out.end();
                self.lua_done();
            }
            Sink::Tree(tree) => tree.push(Frame::Simple(String::from_utf8_lossy(text).into_owned())),
        }
    }

    /// An error; line breaks in it become spaces.
    pub fn error(&mut self, text: &[u8]) {
        self.errors += 1;
        match &mut self.sink {
            Sink::Resp(out) => {
                out.push(b'-');
                out.extend(text.iter().map(|b| if matches!(b, b'\r' | b'\n') { b' ' } else { *b }));
                out.extend_from_slice(b"\r\n");
            }
            Sink::Lua { out, open } => {
                place(out, open);
                out.table(0, 2);
                out.key(b"err");
                out.str(text);
                // The gate counted it: raising it again must not count twice.
                out.key(b"ignore_error_stats_update");
                out.bool(true);
                out.end();
                self.lua_done();
            }
            Sink::Tree(tree) => tree.push(Frame::Error(text.to_vec())),
        }
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, n: i64) {
        match &mut self.sink {
            Sink::Resp(out) => number(out, b':', n),
            Sink::Lua { .. } => self.lua_number(n as f64),
            Sink::Tree(tree) => tree.push(Frame::Int(n)),
        }
    }

    /// An integer that is a length or a count.
    #[inline]
    pub fn len(&mut self, n: usize) {
        self.int(n as i64);
    }

    /// A string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        match &mut self.sink {
            Sink::Resp(out) => {
                number(out, b'$', bytes.len() as i64);
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Sink::Lua { .. } => self.lua_str(bytes),
            Sink::Tree(tree) => tree.push(Frame::Bulk(bytes.to_vec())),
        }
    }

    /// An integer as a string.
    pub fn bulk_int(&mut self, n: i64) {
        let mut buf = itoa::Buffer::new();
        self.bulk(buf.format(n).as_bytes());
    }

    /// A double; in RESP2 a string.
    pub fn double(&mut self, d: f64) {
        if let Sink::Tree(tree) = &mut self.sink
            && self.proto == Proto::Resp3
        {
            tree.push(Frame::Double(d));
            return;
        }
        match (&mut self.sink, self.proto) {
            (Sink::Lua { out, open }, Proto::Resp3) => {
                place(out, open);
                out.table(0, 1);
                out.key(b"double");
                out.number(d);
                out.end();
                self.lua_done();
            }
            (Sink::Resp(out), Proto::Resp3) => line(out, b',', &totality_ds::num::F64Text::new(d)),
            _ => self.bulk(&totality_ds::num::F64Text::new(d)),
        }
    }

    /// A double with up to 17 decimals and no trailing zeros, as positions are shown; in RESP2 a string.
    pub fn decimal(&mut self, d: f64) {
        let text = format!("{d:.17}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp3) => line(out, b',', text.as_bytes()),
            (_, Proto::Resp2) => self.bulk(text.as_bytes()),
            _ => self.double(d),
        }
    }

    /// A boolean; in RESP2 1 or 0.
    pub fn bool(&mut self, b: bool) {
        match (&mut self.sink, self.proto) {
            (_, Proto::Resp2) => self.int(i64::from(b)),
            (Sink::Resp(out), _) => out.extend_from_slice(if b { b"#t\r\n" } else { b"#f\r\n" }),
            (Sink::Lua { out, open }, _) => {
                place(out, open);
                out.bool(b);
                self.lua_done();
            }
            (Sink::Tree(tree), _) => tree.push(Frame::Bool(b)),
        }
    }

    /// Null.
    #[inline]
    pub fn null(&mut self) {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp2) => out.extend_from_slice(b"$-1\r\n"),
            (Sink::Resp(out), Proto::Resp3) => out.extend_from_slice(b"_\r\n"),
            (Sink::Lua { .. }, _) => self.lua_null(),
            (Sink::Tree(tree), _) => tree.push(Frame::Null),
        }
    }

    /// Null where RESP2 has the null array.
    pub fn null_array(&mut self) {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp2) => out.extend_from_slice(b"*-1\r\n"),
            (Sink::Tree(tree), Proto::Resp2) => tree.push(Frame::NullArray),
            _ => self.null(),
        }
    }

    /// An array of `n` values, which follow.
    #[inline]
    pub fn array(&mut self, n: usize) {
        match &mut self.sink {
            Sink::Resp(out) => number(out, b'*', n as i64),
            _ => self.open(Shape::Array, n),
        }
    }

    /// A map of `n` pairs; key and value follow alternately. In RESP2 an array of twice the length.
    pub fn map(&mut self, n: usize) {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp3) => number(out, b'%', n as i64),
            (Sink::Resp(out), Proto::Resp2) => number(out, b'*', 2 * n as i64),
            (_, Proto::Resp3) => self.open(Shape::Map, 2 * n),
            (_, Proto::Resp2) => self.open(Shape::Array, 2 * n),
        }
    }

    /// A set of `n` values; in RESP2 an array.
    pub fn set(&mut self, n: usize) {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp3) => number(out, b'~', n as i64),
            (_, Proto::Resp3) => self.open(Shape::Set, n),
            (_, Proto::Resp2) => self.array(n),
        }
    }

    /// An out-of-band message of `n` values; in RESP2 an array.
    pub fn push(&mut self, n: usize) {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp3) => number(out, b'>', n as i64),
            (_, Proto::Resp3) => self.open(Shape::Push, n),
            (_, Proto::Resp2) => self.array(n),
        }
    }

    /// An attribute of `n` pairs, which follow and describe the reply after them. False, with nothing written, where
    /// there are none: in RESP2, for scripts and for trees.
    #[must_use]
    pub fn attribute(&mut self, n: usize) -> bool {
        match (&mut self.sink, self.proto) {
            (Sink::Resp(out), Proto::Resp3) => {
                number(out, b'|', n as i64);
                true
            }
            _ => false,
        }
    }

    /// A text with a three-letter format; in RESP2 a string.
    pub fn verbatim(&mut self, format: &str, text: &[u8]) {
        match (&mut self.sink, self.proto) {
            (_, Proto::Resp2) => self.bulk(text),
            (Sink::Resp(out), _) => {
                number(out, b'=', text.len() as i64 + 4);
                out.extend_from_slice(format.as_bytes());
                out.push(b':');
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            (Sink::Lua { out, open }, _) => {
                place(out, open);
                out.table(0, 1);
                out.key(b"verbatim_string");
                out.table(0, 2);
                out.key(b"format");
                out.str(format.as_bytes());
                out.key(b"string");
                out.str(text);
                out.end();
                out.end();
                self.lua_done();
            }
            (Sink::Tree(tree), _) => tree.push(Frame::Verbatim(format.to_owned(), text.to_vec())),
        }
    }

    /// An integer of any size in decimal digits; in RESP2 a string. Line breaks become spaces.
    pub fn big_number(&mut self, digits: &[u8]) {
        match (&mut self.sink, self.proto) {
            (_, Proto::Resp2) => self.bulk(digits),
            (Sink::Resp(out), _) => {
                out.push(b'(');
                out.extend(digits.iter().map(|b| if matches!(b, b'\r' | b'\n') { b' ' } else { *b }));
                out.extend_from_slice(b"\r\n");
            }
            (Sink::Lua { out, open }, _) => {
                place(out, open);
                out.table(0, 1);
                out.key(b"big_number");
                out.str(digits);
                out.end();
                self.lua_done();
            }
            (Sink::Tree(tree), _) => {
                tree.push(Frame::BigNumber(String::from_utf8_lossy(digits).into_owned()));
            }
        }
    }

    /// A value that was collected before.
    pub fn frame(&mut self, frame: &Frame) {
        match frame {
            Frame::Null => self.null(),
            Frame::NullArray => self.null_array(),
            Frame::Simple(text) => self.simple(text),
            Frame::Error(text) => self.error(text),
            Frame::Int(n) => self.int(*n),
            Frame::Bulk(bytes) => self.bulk(bytes),
            Frame::Double(d) => self.double(*d),
            Frame::Bool(b) => self.bool(*b),
            Frame::Array(items) => {
                self.array(items.len());
                items.iter().for_each(|item| self.frame(item));
            }
            Frame::Map(pairs) => {
                self.map(pairs.len());
                for (key, value) in pairs {
                    self.frame(key);
                    self.frame(value);
                }
            }
            Frame::Set(items) => {
                self.set(items.len());
                items.iter().for_each(|item| self.frame(item));
            }
            Frame::Push(items) => {
                self.push(items.len());
                items.iter().for_each(|item| self.frame(item));
            }
            Frame::Verbatim(format, text) => self.verbatim(format, text),
            Frame::BigNumber(digits) => self.big_number(digits.as_bytes()),
        }
    }

    /// Opens an array whose length is told to [`Reply::end`].
    pub fn array_deferred(&mut self) -> Deferred {
        self.defer(Shape::Array)
    }
    /// Opens a set whose length is told to [`Reply::end`].
    pub fn set_deferred(&mut self) -> Deferred {
        self.defer(if self.resp3() { Shape::Set } else { Shape::Array })
    }
    /// Opens a map whose number of pairs is told to [`Reply::end`].
    pub fn map_deferred(&mut self) -> Deferred {
        self.defer(Shape::Map)
    }

    fn defer(&mut self, shape: Shape) -> Deferred {
        if let Sink::Resp(out) = &mut self.sink {
            return Deferred { at: out.len(), shape };
        }
        let shape = if shape == Shape::Map && !self.resp3() { Shape::Array } else { shape };
        self.open(shape, usize::MAX);
        Deferred { at: 0, shape }
    }

    /// Closes a deferred container of `n` values (of a map: pairs).
    pub fn end(&mut self, deferred: Deferred, n: usize) {
        match &mut self.sink {
            Sink::Resp(out) => {
                let (mark, n) = match (deferred.shape, self.proto) {
                    (Shape::Map, Proto::Resp3) => (b'%', n),
                    (Shape::Map, Proto::Resp2) => (b'*', 2 * n),
                    (Shape::Set, _) => (b'~', n),
                    (Shape::Push, _) => (b'>', n),
                    (Shape::Array, _) => (b'*', n),
                };
                let mut header = Vec::with_capacity(16);
                number(&mut header, mark, n as i64);
                out.splice(deferred.at..deferred.at, header);
            }
            Sink::Lua { out, open } => {
                if let Some(top) = open.pop() {
                    for _ in 0..top.tables {
                        out.end();
                    }
                    self.lua_done();
                }
            }
            Sink::Tree(tree) => tree.close(),
        }
    }

    fn open(&mut self, shape: Shape, left: usize) {
        match &mut self.sink {
            Sink::Resp(_) => {}
            Sink::Tree(tree) => tree.open(shape, left),
            Sink::Lua { out, open } => {
                place(out, open);
                let hint = if left == usize::MAX { 0 } else { left };
                let tables = match shape {
                    Shape::Array | Shape::Push => {
                        out.table(hint, 0);
                        1
                    }
                    Shape::Map | Shape::Set => {
                        out.table(0, 1);
                        out.key(if shape == Shape::Map { b"map" } else { b"set" });
                        out.table(0, if shape == Shape::Map { hint / 2 } else { hint });
                        2
                    }
                };
                open.push(Open { shape, left, key_next: true, tables });
                if left == 0 {
                    let top = open.pop().map_or(0, |top| top.tables);
                    for _ in 0..top {
                        out.end();
                    }
                    self.lua_done();
                }
            }
        }
    }

    /// A value was written to the Lua sink: closes what is full.
    fn lua_done(&mut self) {
        let Sink::Lua { out, open } = &mut self.sink else { return };
        while let Some(top) = open.last_mut() {
            if top.shape == Shape::Set {
                out.bool(true);
            }
            if top.left != usize::MAX {
                top.left -= 1;
            }
            top.key_next = !top.key_next;
            if top.left != 0 {
                return;
            }
            for _ in 0..top.tables {
                out.end();
            }
            open.pop();
        }
    }

    fn lua_str(&mut self, bytes: &[u8]) {
        let Sink::Lua { out, open } = &mut self.sink else { return };
        match open.last_mut() {
            Some(top) if top.shape == Shape::Map && top.key_next => {
                out.key(bytes);
                top.key_next = false;
                if top.left != usize::MAX {
                    top.left -= 1;
                }
                return;
            }
            Some(top) if top.shape == Shape::Set => {
                out.key(bytes);
            }
            _ => out.str(bytes),
        }
        self.lua_done();
    }

    fn lua_number(&mut self, n: f64) {
        let Sink::Lua { out, open } = &mut self.sink else { return };
        match open.last_mut() {
            Some(top) if top.shape == Shape::Map && top.key_next => {
                out.key_number(n);
                top.key_next = false;
                if top.left != usize::MAX {
                    top.left -= 1;
                }
                return;
            }
            Some(top) if top.shape == Shape::Set => {
                out.key_number(n);
                return self.lua_done();
            }
            _ => {}
        }
        out.number(n);
        self.lua_done();
    }

    fn lua_null(&mut self) {
        let resp3 = self.resp3();
        let Sink::Lua { out, open } = &mut self.sink else { return };
        place(out, open);
        if resp3 {
            out.nil();
        } else {
            out.bool(false);
        }
        self.lua_done();
    }
}

/// Makes the value that follows a key, where a script's set or map wants one: Redis takes any value for that, so that
/// a set of statuses is a table whose keys are tables.
fn place(out: &mut LuaReply, open: &[Open]) {
    match open.last() {
        Some(top) if top.shape == Shape::Set || top.shape == Shape::Map && top.key_next => out.as_key(),
        _ => {}
    }
}

fn line(out: &mut Vec<u8>, mark: u8, text: &[u8]) {
    out.push(mark);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn number(out: &mut Vec<u8>, mark: u8, n: i64) {
    if (0..10).contains(&n) {
        out.extend_from_slice(&[mark, b'0' + n as u8, b'\r', b'\n']);
        return;
    }
    let mut buf = itoa::Buffer::new();
    line(out, mark, buf.format(n).as_bytes());
}

/// Collects a reply as a [`Frame`].
#[derive(Default)]
pub struct TreeBuilder {
    stack: Vec<(Shape, usize, Vec<Frame>)>,
    done: Option<Frame>,
}

impl TreeBuilder {
    /// The finished value; `None` when nothing was written.
    pub fn finish(mut self) -> Option<Frame> {
        while !self.stack.is_empty() {
            self.close();
        }
        self.done
    }

    fn open(&mut self, shape: Shape, left: usize) {
        self.stack.push((shape, left, Vec::new()));
        if left == 0 {
            self.close();
        }
    }

    fn push(&mut self, frame: Frame) {
        match self.stack.last_mut() {
            None => self.done = Some(frame),
            Some((_, left, items)) => {
                items.push(frame);
                if *left != usize::MAX {
                    *left -= 1;
                    if *left == 0 {
                        self.close();
                    }
                }
            }
        }
    }

    fn close(&mut self) {
        let Some((shape, _, items)) = self.stack.pop() else { return };
        let frame = match shape {
            Shape::Array => Frame::Array(items),
            Shape::Set => Frame::Set(items),
            Shape::Push => Frame::Push(items),
            Shape::Map => {
                let mut pairs = Vec::with_capacity(items.len() / 2);
                let mut items = items.into_iter();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    pairs.push((key, value));
                }
                Frame::Map(pairs)
            }
        };
        self.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resp2_and_resp3_shapes() {
        let mut out = Vec::new();
        let mut r = Reply::resp(&mut out, Proto::Resp2);
        r.map(1);
        r.bulk(b"k");
        r.double(1.5);
        r.null();
        r.bool(true);
        assert_eq!(out, b"*2\r\n$1\r\nk\r\n$3\r\n1.5\r\n$-1\r\n:1\r\n");
        let mut out = Vec::new();
        let mut r = Reply::resp(&mut out, Proto::Resp3);
        r.map(1);
        r.bulk(b"k");
        r.double(1.5);
        r.null();
        r.bool(true);
        assert_eq!(out, b"%1\r\n$1\r\nk\r\n,1.5\r\n_\r\n#t\r\n");
    }

    #[test]
    fn a_deferred_array_gets_its_header_afterwards() {
        let mut out = Vec::new();
        let mut r = Reply::resp(&mut out, Proto::Resp2);
        let d = r.array_deferred();
        r.int(1);
        r.int(20);
        r.end(d, 2);
        assert_eq!(out, b"*2\r\n:1\r\n:20\r\n");
    }

    #[test]
    fn a_tree_nests() {
        let mut tree = TreeBuilder::default();
        let mut r = Reply::tree(&mut tree, Proto::Resp3);
        r.array(2);
        r.map(1);
        r.bulk(b"k");
        r.int(1);
        let d = r.set_deferred();
        r.bulk(b"x");
        r.end(d, 1);
        assert_eq!(
            tree.finish(),
            Some(Frame::Array(vec![
                Frame::Map(vec![(Frame::Bulk(b"k".to_vec()), Frame::Int(1))]),
                Frame::Set(vec![Frame::Bulk(b"x".to_vec())]),
            ]))
        );
    }
}
