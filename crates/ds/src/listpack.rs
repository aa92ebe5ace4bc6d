//! Redis's listpack, byte for byte: a list of strings and integers in one allocation.
//!
//! Layout: total bytes (u32), number of elements (u16, 65535 if unknown), elements, 0xFF. An element is its encoding,
//! its data, and its length written so that it can be read from the right. Positions are byte offsets of elements and
//! are valid until the next change. Foreign bytes enter through [`Listpack::from_vec`] only, which checks all of them;
//! even so no method panics on bad bytes or positions: it sees the end of the list.

use crate::Bytes;
use crate::num::parse_i64;

const HEADER: usize = 6;
const EOF: u8 = 0xFF;
const EMPTY: [u8; 7] = [7, 0, 0, 0, 0, 0, EOF];
const LEN_UNKNOWN: u16 = u16::MAX;

/// A listpack never grows past this many bytes (1 GiB).
pub const MAX_BYTES: usize = 1 << 30;

/// One element: strings that look like integers are stored and given as integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A string that is not the canonical form of a 64-bit integer.
    Str(&'a [u8]),
    /// An integer.
    Int(i64),
}

impl Item<'_> {
    /// Calls `f` with the element as bytes; integers are printed on the stack.
    #[inline]
    pub fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Item::Str(s) => f(s),
            Item::Int(i) => f(itoa::Buffer::new().format(*i).as_bytes()),
        }
    }

    /// The element as an owned byte string.
    pub fn to_bytes(&self) -> Bytes {
        self.with_bytes(Bytes::copy_from)
    }

    /// Appends the element's bytes.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        self.with_bytes(|s| out.extend_from_slice(s));
    }

    /// The element as an integer, if it is one.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Item::Str(_) => None,
            Item::Int(i) => Some(*i),
        }
    }

    /// True if the element's bytes are `s`.
    #[inline]
    pub fn eq_bytes(&self, s: &[u8]) -> bool {
        match self {
            Item::Str(t) => *t == s,
            Item::Int(i) => parse_i64(s) == Some(*i),
        }
    }

    /// Length of the element's bytes.
    pub fn byte_len(&self) -> usize {
        self.with_bytes(<[u8]>::len)
    }
}

/// An element to look for or to write: parsed once.
#[derive(Clone, Copy)]
struct Encoded<'a> {
    head: [u8; 9],
    head_len: u8,
    body: &'a [u8],
}

impl<'a> Encoded<'a> {
    fn of_bytes(s: &'a [u8]) -> Self {
        if let Some(i) = parse_i64(s) {
            return Self::of_int(i);
        }
        let n = s.len();
        let mut head = [0; 9];
        let head_len = if n < 64 {
            head[0] = 0x80 | n as u8;
            1
        } else if n < 4096 {
            head[0] = 0xE0 | (n >> 8) as u8;
            head[1] = n as u8;
            2
        } else {
            head[0] = 0xF0;
            head[1..5].copy_from_slice(&(n as u32).to_le_bytes());
            5
        };
        Encoded { head, head_len, body: s }
    }

    fn of_int(v: i64) -> Self {
        let mut head = [0; 9];
        let le = v.to_le_bytes();
        let head_len = match v {
            0..=127 => {
                head[0] = v as u8;
                1
            }
            -4096..=4095 => {
                head[0] = 0xC0 | ((v >> 8) as u8 & 0x1F);
                head[1] = v as u8;
                2
            }
            _ => {
                let (code, n) = match v {
                    -0x8000..=0x7FFF => (0xF1, 2),
                    -0x80_0000..=0x7F_FFFF => (0xF2, 3),
                    -0x8000_0000..=0x7FFF_FFFF => (0xF3, 4),
                    _ => (0xF4, 8),
                };
                head[0] = code;
                head[1..=n].copy_from_slice(&le[..n]);
                1 + n as u8
            }
        };
        Encoded { head, head_len, body: &[] }
    }

    fn len(&self) -> usize {
        self.head_len as usize + self.body.len()
    }
}

/// Bytes of the backward length of an element of `len` bytes. The limits are those of Redis, which are one short of
/// what seven bits per byte can hold.
fn backlen_size(len: usize) -> usize {
    match len {
        0..=127 => 1,
        128..16383 => 2,
        16383..2097151 => 3,
        2097151..268435455 => 4,
        _ => 5,
    }
}

fn write_backlen(out: &mut [u8], len: usize) {
    let n = out.len();
    for (i, b) in out.iter_mut().enumerate() {
        let bits = (len >> (7 * (n - 1 - i))) as u8 & 0x7F;
        *b = if i == 0 { bits } else { bits | 0x80 };
    }
}

/// What the bytes at the start of `p` say: encoded length without backward length, and the element.
/// None at the end and on anything malformed.
#[inline]
fn decode(p: &[u8]) -> Option<(usize, Item<'_>)> {
    let b = *p.first()?;
    let string = |head: usize, n: usize| {
        let s = p.get(head..head.checked_add(n)?)?;
        Some((head + n, Item::Str(s)))
    };
    let int = |n: usize| {
        let raw = p.get(1..1 + n)?;
        let mut le = [if raw[n - 1] & 0x80 != 0 { 0xFF } else { 0 }; 8];
        le[..n].copy_from_slice(raw);
        Some((1 + n, Item::Int(i64::from_le_bytes(le))))
    };
    match b {
        0..=0x7F => Some((1, Item::Int(b as i64))),
        0x80..=0xBF => string(1, (b & 0x3F) as usize),
        0xC0..=0xDF => {
            let v = ((b as i64 & 0x1F) << 8) | *p.get(1)? as i64;
            Some((2, Item::Int(if v >= 1 << 12 { v - (1 << 13) } else { v })))
        }
        0xE0..=0xEF => string(2, ((b as usize & 0x0F) << 8) | *p.get(1)? as usize),
        0xF0 => string(5, u32::from_le_bytes(p.get(1..5)?.try_into().ok()?) as usize),
        0xF1 => int(2),
        0xF2 => int(3),
        0xF3 => int(4),
        0xF4 => int(8),
        _ => None,
    }
}

/// Encoded length of the element at the start of `p`, without looking at its data.
#[inline]
fn encoded_len(p: &[u8]) -> Option<usize> {
    Some(match *p.first()? {
        0..=0x7F => 1,
        b @ 0x80..=0xBF => 1 + (b & 0x3F) as usize,
        0xC0..=0xDF => 2,
        b @ 0xE0..=0xEF => 2 + (((b as usize & 0x0F) << 8) | *p.get(1)? as usize),
        0xF0 => 5 + u32::from_le_bytes(p.get(1..5)?.try_into().ok()?) as usize,
        0xF1 => 3,
        0xF2 => 4,
        0xF3 => 5,
        0xF4 => 9,
        _ => return None,
    })
}

/// Foreign bytes are not a well-formed listpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed listpack")
    }
}

impl std::error::Error for Malformed {}

/// The list. See the module's documentation.
pub struct Listpack {
    // The header says how much of it is the list; the rest is slack. So a list takes two words where it lies.
    buf: Box<[u8]>,
}

impl Clone for Listpack {
    fn clone(&self) -> Self {
        Listpack { buf: self.as_bytes().into() }
    }
}

impl PartialEq for Listpack {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Listpack {}

impl std::fmt::Debug for Listpack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Default for Listpack {
    fn default() -> Self {
        Self::new()
    }
}

/// The capacity for `bytes` bytes. A small list gets what the allocator would give anyway (multiples of 16, of which it
/// keeps 8 itself), as there are many of them; a large one room to grow, as moving it takes long.
fn room(bytes: usize) -> usize {
    const SMALL: usize = 256;
    let wanted = if bytes <= SMALL { bytes } else { bytes + bytes / 8 };
    (wanted + 8).next_multiple_of(16) - 8
}

impl Listpack {
    /// An empty list (seven bytes).
    pub fn new() -> Self {
        Listpack { buf: Box::new(EMPTY) }
    }

    /// An empty list with room for `bytes` bytes in all.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut buf = vec![0; bytes.clamp(EMPTY.len(), MAX_BYTES)].into_boxed_slice();
        buf[..EMPTY.len()].copy_from_slice(&EMPTY);
        Listpack { buf }
    }

    /// Takes foreign bytes after checking every element.
    ///
    /// # Errors
    /// [`Malformed`] if the header, an element or the end is not as it must be.
    pub fn from_vec(buf: Vec<u8>) -> Result<Self, Malformed> {
        if validate(&buf) { Ok(Listpack { buf: buf.into_boxed_slice() }) } else { Err(Malformed) }
    }

    /// The whole listpack, header included.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.buf[..self.byte_len()]
    }

    /// The whole listpack as a vector.
    pub fn into_vec(self) -> Vec<u8> {
        let len = self.byte_len();
        let mut out = self.buf.into_vec();
        out.truncate(len);
        out
    }

    /// Size of the whole listpack in bytes.
    #[inline]
    pub fn byte_len(&self) -> usize {
        let total = self.buf.first_chunk().map_or(0, |total| u32::from_le_bytes(*total) as usize);
        total.min(self.buf.len())
    }

    /// Allocated bytes.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        self.buf.len()
    }

    /// Number of elements: O(1) below 65,535, a walk otherwise.
    #[inline]
    pub fn len(&self) -> usize {
        let n = self.header_len();
        if n == LEN_UNKNOWN { self.iter().count() } else { n as usize }
    }

    /// True if there is no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buf.get(HEADER).is_none_or(|&b| b == EOF)
    }

    /// True if `add` more bytes keep the listpack within [`MAX_BYTES`].
    #[inline]
    pub fn safe_to_add(&self, add: usize) -> bool {
        self.byte_len().saturating_add(add) <= MAX_BYTES
    }

    #[inline]
    fn header_len(&self) -> u16 {
        match self.buf.get(4..6) {
            Some(b) => u16::from_le_bytes([b[0], b[1]]),
            None => 0,
        }
    }

    fn set_header_len(&mut self, n: u16) {
        self.buf[4..6].copy_from_slice(&n.to_le_bytes());
    }

    fn set_total(&mut self, n: usize) {
        self.buf[..4].copy_from_slice(&(n as u32).to_le_bytes());
    }

    /// Moves the list into an allocation of `n` bytes, which must hold it.
    fn set_capacity(&mut self, n: usize) {
        let mut buf = std::mem::take(&mut self.buf).into_vec();
        buf.reserve_exact(n.saturating_sub(buf.len()));
        buf.resize(n, 0);
        self.buf = buf.into_boxed_slice();
    }

    /// The first element's position.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.at(HEADER)
    }

    /// `pos` if an element starts there, None at the end.
    #[inline]
    fn at(&self, pos: usize) -> Option<usize> {
        match self.as_bytes().get(pos) {
            Some(&b) if b != EOF => Some(pos),
            _ => None,
        }
    }

    /// The last element's position.
    #[inline]
    pub fn last(&self) -> Option<usize> {
        self.prev(self.byte_len() - 1)
    }

    /// Offset just behind the element at `pos`.
    #[inline]
    fn skip(&self, pos: usize) -> Option<usize> {
        let len = encoded_len(self.as_bytes().get(pos..)?)?;
        pos.checked_add(len + backlen_size(len))
    }

    /// The position of the element after the one at `pos`.
    #[inline]
    pub fn next(&self, pos: usize) -> Option<usize> {
        self.at(self.skip(pos)?)
    }

    /// The position of the element before the one at `pos`.
    #[inline]
    pub fn prev(&self, pos: usize) -> Option<usize> {
        if pos <= HEADER || pos >= self.byte_len() {
            return None;
        }
        let mut len = 0usize;
        for i in 0..5 {
            let b = *self.buf.get(pos - 1 - i)?;
            len |= ((b & 0x7F) as usize) << (7 * i);
            if b & 0x80 == 0 {
                let p = pos.checked_sub(len + backlen_size(len))?;
                return if p >= HEADER { Some(p) } else { None };
            }
        }
        None
    }

    /// The position of element `index`, counted from 0, or from the end by -1, -2…
    pub fn seek(&self, mut index: i64) -> Option<usize> {
        let n = self.header_len();
        let mut forward = index >= 0;
        if n != LEN_UNKNOWN {
            let n = n as i64;
            if index < 0 {
                index = index.checked_add(n)?;
            }
            if index < 0 || index >= n {
                return None;
            }
            forward = index <= n / 2;
            if !forward {
                index -= n;
            }
        }
        if forward {
            let mut p = self.first()?;
            for _ in 0..index {
                p = self.next(p)?;
            }
            Some(p)
        } else {
            let mut p = self.last()?;
            for _ in 0..-(index + 1) {
                p = self.prev(p)?;
            }
            Some(p)
        }
    }

    /// The element at `pos`; an empty string if there is none.
    #[inline]
    pub fn get(&self, pos: usize) -> Item<'_> {
        match decode(self.as_bytes().get(pos..).unwrap_or(&[])) {
            Some((_, item)) => item,
            None => Item::Str(&[]),
        }
    }

    /// Element `index` (negative from the end).
    pub fn get_index(&self, index: i64) -> Option<Item<'_>> {
        Some(self.get(self.seek(index)?))
    }

    /// All elements from the first to the last.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { lp: self, pos: HEADER }
    }

    /// All elements from the one at `pos` to the last.
    #[inline]
    pub fn iter_from(&self, pos: usize) -> Iter<'_> {
        Iter { lp: self, pos }
    }

    /// All elements from the last to the first.
    pub fn iter_rev(&self) -> impl Iterator<Item = Item<'_>> {
        let mut pos = self.last();
        std::iter::from_fn(move || {
            let p = pos?;
            pos = self.prev(p);
            Some(self.get(p))
        })
    }

    /// Finds an element equal to `needle` from `start` on, comparing one element and skipping the next `skip`.
    pub fn find(&self, start: Option<usize>, needle: &[u8], skip: usize) -> Option<usize> {
        let int = parse_i64(needle);
        let mut pos = self.at(start.unwrap_or(HEADER))?;
        loop {
            let (len, item) = decode(self.buf.get(pos..)?)?;
            let hit = match (item, int) {
                (Item::Int(a), Some(b)) => a == b,
                (Item::Str(s), None) => s == needle,
                _ => false,
            };
            if hit {
                return Some(pos);
            }
            pos = self.at(pos + len + backlen_size(len))?;
            for _ in 0..skip {
                pos = self.next(pos)?;
            }
        }
    }

    /// Makes the bytes `at..at+old` a gap of `new` bytes.
    fn gap(&mut self, at: usize, old: usize, new: usize) {
        let len = self.byte_len();
        let end = len - old + new;
        if end > self.buf.len() {
            self.set_capacity(room(end));
        }
        self.buf.copy_within(at + old..len, at + new);
        self.set_total(end);
        if new < old && self.buf.len() > 64 && end * 2 < self.buf.len() {
            self.set_capacity(room(end));
        }
    }

    fn put(&mut self, at: usize, old: usize, e: Encoded<'_>) {
        let len = e.len();
        let back = backlen_size(len);
        self.gap(at, old, len + back);
        let head = e.head_len as usize;
        self.buf[at..at + head].copy_from_slice(&e.head[..head]);
        self.buf[at + head..at + len].copy_from_slice(e.body);
        write_backlen(&mut self.buf[at + len..at + len + back], len);
    }

    fn insert_encoded(&mut self, at: usize, e: Encoded<'_>) {
        let at = at.clamp(HEADER, self.byte_len() - 1);
        self.put(at, 0, e);
        let n = self.header_len();
        if n != LEN_UNKNOWN {
            self.set_header_len(n + 1);
        }
    }

    /// Appends a string; it is stored as an integer if it is the canonical form of one.
    #[inline]
    pub fn push_back(&mut self, s: &[u8]) {
        self.insert_encoded(self.byte_len() - 1, Encoded::of_bytes(s));
    }

    /// Appends an integer.
    #[inline]
    pub fn push_back_int(&mut self, v: i64) {
        self.insert_encoded(self.byte_len() - 1, Encoded::of_int(v));
    }

    /// Appends an element of another listpack.
    #[inline]
    pub fn push_back_item(&mut self, item: Item<'_>) {
        match item {
            Item::Str(s) => self.push_back(s),
            Item::Int(i) => self.push_back_int(i),
        }
    }

    /// Inserts a string before the first element.
    pub fn push_front(&mut self, s: &[u8]) {
        self.insert_encoded(HEADER, Encoded::of_bytes(s));
    }

    /// Inserts an integer before the first element.
    pub fn push_front_int(&mut self, v: i64) {
        self.insert_encoded(HEADER, Encoded::of_int(v));
    }

    /// Inserts a string before the element at `pos`, whose position the new element takes.
    pub fn insert_before(&mut self, pos: usize, s: &[u8]) {
        self.insert_encoded(pos, Encoded::of_bytes(s));
    }

    /// Inserts an integer before the element at `pos`, whose position the new element takes.
    pub fn insert_before_int(&mut self, pos: usize, v: i64) {
        self.insert_encoded(pos, Encoded::of_int(v));
    }

    /// Inserts a string after the element at `pos`; gives the new element's position.
    pub fn insert_after(&mut self, pos: usize, s: &[u8]) -> usize {
        let at = self.skip(pos).unwrap_or(usize::MAX).min(self.byte_len() - 1);
        self.insert_encoded(at, Encoded::of_bytes(s));
        at
    }

    fn replace_encoded(&mut self, pos: usize, e: Encoded<'_>) {
        if let Some(end) = self.skip(pos)
            && end < self.byte_len()
        {
            self.put(pos, end - pos, e);
        }
    }

    /// Replaces the element at `pos` by a string; the position stays.
    pub fn replace(&mut self, pos: usize, s: &[u8]) {
        self.replace_encoded(pos, Encoded::of_bytes(s));
    }

    /// Replaces the element at `pos` by an integer; the position stays.
    pub fn replace_int(&mut self, pos: usize, v: i64) {
        self.replace_encoded(pos, Encoded::of_int(v));
    }

    /// Removes the element at `pos`; gives the position of the one that followed.
    pub fn delete(&mut self, pos: usize) -> Option<usize> {
        self.delete_from(pos, 1)
    }

    /// Removes up to `num` elements from the one at `pos` on; gives the position of the one that followed.
    pub fn delete_from(&mut self, pos: usize, num: usize) -> Option<usize> {
        let mut end = self.at(pos)?;
        let mut gone = 0usize;
        while gone < num
            && let Some(e) = self.at(end).and_then(|e| self.skip(e))
            && e < self.byte_len()
        {
            end = e;
            gone += 1;
        }
        self.gap(pos, end - pos, 0);
        let n = self.header_len();
        if n != LEN_UNKNOWN {
            self.set_header_len(n.saturating_sub(gone as u16));
        }
        self.at(pos)
    }

    /// Removes up to `num` elements from element `index` (negative from the end) on.
    pub fn delete_range(&mut self, index: i64, num: usize) {
        if num == 0 {
            return;
        }
        if let Some(pos) = self.seek(index) {
            self.delete_from(pos, num);
        }
    }

    /// Appends all elements of `other`.
    pub fn append(&mut self, other: &Listpack) {
        let n = self.len() + other.len();
        let body = &other.as_bytes()[HEADER..other.byte_len() - 1];
        let at = self.byte_len() - 1;
        self.gap(at, 0, body.len());
        self.buf[at..at + body.len()].copy_from_slice(body);
        self.set_header_len(n.min(LEN_UNKNOWN as usize) as u16);
    }

    /// Gives slack back.
    pub fn shrink_to_fit(&mut self) {
        self.set_capacity(self.byte_len());
    }
}

/// Bytes that a string takes as an element.
pub fn entry_size(s: &[u8]) -> usize {
    let n = Encoded::of_bytes(s).len();
    n + backlen_size(n)
}

/// Bytes that an integer takes as an element.
pub fn entry_size_int(v: i64) -> usize {
    let n = Encoded::of_int(v).len();
    n + backlen_size(n)
}

/// True if `buf` is a well-formed listpack: header, every element and its backward length, end, count.
pub fn validate(buf: &[u8]) -> bool {
    if buf.len() < HEADER + 1 || buf.len() > MAX_BYTES || buf[buf.len() - 1] != EOF {
        return false;
    }
    if u32::from_le_bytes([buf[0], buf[1], buf[2], buf[3]]) as usize != buf.len() {
        return false;
    }
    let end = buf.len() - 1;
    let (mut pos, mut count) = (HEADER, 0usize);
    while pos < end {
        let Some((len, _)) = decode(&buf[pos..end]) else { return false };
        let n = backlen_size(len);
        let mut back = [0u8; 5];
        write_backlen(&mut back[..n], len);
        if buf[pos..end].get(len..len + n) != Some(&back[..n]) {
            return false;
        }
        pos += len + n;
        count += 1;
    }
    let n = u16::from_le_bytes([buf[4], buf[5]]);
    pos == end && (n == LEN_UNKNOWN || n as usize == count)
}

/// Elements from left to right.
#[derive(Clone)]
pub struct Iter<'a> {
    lp: &'a Listpack,
    pos: usize,
}

impl Iter<'_> {
    /// Position of the element that comes next.
    pub fn pos(&self) -> usize {
        self.pos
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        let (len, item) = decode(self.lp.buf.get(self.pos..)?)?;
        self.pos += len + backlen_size(len);
        Some(item)
    }
}

impl<'a> IntoIterator for &'a Listpack {
    type Item = Item<'a>;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[cfg(test)]
#[path = "listpack_tests.rs"]
mod tests;
