//! A byte string of 24 bytes: short contents inline, longer ones in one exactly known allocation.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// The longest content in bytes that needs no allocation.
pub const INLINE_MAX: usize = 22;

/// Growth past this many bytes adds this much slack instead of doubling, as strings of Redis do.
const MAX_SLACK: usize = 1 << 20;

/// An owned byte string of 24 bytes that lives inside an enum without making it larger.
///
/// Up to [`INLINE_MAX`] bytes are stored inline. Longer contents are in one boxed slice whose tail may be slack
/// for appends. Slack is always zero, so that growing never exposes old data.
#[derive(Clone)]
pub struct Bytes(Repr);

#[derive(Clone)]
enum Repr {
    Inline {
        len: u8,
        data: [u8; INLINE_MAX],
    },
    // `buf.len()` is the capacity; the first `len` bytes are the content.
    Heap {
        len: u32,
        buf: Box<[u8]>,
    },
    // Contents whose capacity does not fit 32 bits; boxed, since a vector would make the enum larger.
    #[allow(clippy::box_collection)]
    Huge(Box<Vec<u8>>),
}

impl Bytes {
    /// The empty string; allocates nothing.
    #[inline]
    pub const fn new() -> Self {
        Bytes(Repr::Inline { len: 0, data: [0; INLINE_MAX] })
    }

    /// Copies `s`.
    #[inline]
    pub fn copy_from(s: &[u8]) -> Self {
        if s.len() <= INLINE_MAX {
            let mut data = [0; INLINE_MAX];
            data[..s.len()].copy_from_slice(s);
            Bytes(Repr::Inline { len: s.len() as u8, data })
        } else {
            Self::from_long(s.to_vec())
        }
    }

    fn from_long(v: Vec<u8>) -> Self {
        match u32::try_from(v.len()) {
            Ok(len) => Bytes(Repr::Heap { len, buf: v.into_boxed_slice() }),
            Err(_) => Bytes(Repr::Huge(Box::new(v))),
        }
    }

    /// The content.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, data } => data.get(..*len as usize).unwrap_or(data),
            Repr::Heap { len, buf } => buf.get(..*len as usize).unwrap_or(buf),
            Repr::Huge(v) => v,
        }
    }

    /// The content, to be changed in place without changing its length.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Repr::Inline { len, data } => &mut data[..*len as usize],
            Repr::Heap { len, buf } => &mut buf[..*len as usize],
            Repr::Huge(v) => v,
        }
    }

    /// Length of the content in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Inline { len, .. } => *len as usize,
            Repr::Heap { len, .. } => *len as usize,
            Repr::Huge(v) => v.len(),
        }
    }

    /// True if there is no content.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the content needs no allocation.
    #[inline]
    pub fn is_inline(&self) -> bool {
        matches!(self.0, Repr::Inline { .. })
    }

    /// Bytes allocated outside of the value itself, slack included.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => 0,
            Repr::Heap { buf, .. } => buf.len(),
            Repr::Huge(v) => v.capacity() + size_of::<Vec<u8>>(),
        }
    }

    /// How many bytes the content can have before it must be moved.
    #[inline]
    pub fn capacity(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => INLINE_MAX,
            Repr::Heap { buf, .. } => buf.len(),
            Repr::Huge(v) => v.capacity(),
        }
    }

    /// Moves the content to an allocation with room to spare, if it is not in one.
    pub fn spill(&mut self) {
        if !self.is_spilled() {
            let len = self.len();
            let mut buf = vec![0; len + (len / 8).max(8)];
            buf[..len].copy_from_slice(self);
            self.0 = match u32::try_from(len) {
                Ok(len) => Repr::Heap { len, buf: buf.into_boxed_slice() },
                Err(_) => {
                    buf.truncate(len);
                    Repr::Huge(Box::new(buf))
                }
            };
        }
    }

    /// True if the content is in an allocation with room to spare, as after an edit.
    #[inline]
    pub fn is_spilled(&self) -> bool {
        match &self.0 {
            Repr::Inline { .. } => false,
            Repr::Heap { len, buf } => *len as usize != buf.len(),
            Repr::Huge(_) => true,
        }
    }

    /// Makes room for a content of `need` bytes: exactly, or with slack for further appends.
    fn reserve_total(&mut self, need: usize, slack: bool) {
        if need <= self.capacity() {
            return;
        }
        let room = match (slack, self.is_empty()) {
            (false, _) => 0,
            // What is written in one go (SETRANGE, SETBIT of a new key) seldom grows further.
            (true, true) => (need / 8).clamp(8, MAX_SLACK),
            (true, false) => need.min(MAX_SLACK),
        };
        let cap = need.saturating_add(room);
        let len = self.len();
        if cap > u32::MAX as usize {
            let mut v = std::mem::take(self).into_vec();
            v.reserve_exact(cap - v.len());
            self.0 = Repr::Huge(Box::new(v));
            return;
        }
        let mut v = match std::mem::take(self).0 {
            Repr::Inline { data, .. } => {
                let mut v = Vec::with_capacity(cap);
                v.extend_from_slice(&data[..len]);
                v
            }
            Repr::Heap { buf, .. } => buf.into_vec(),
            Repr::Huge(v) => *v,
        };
        v.reserve_exact(cap - v.len());
        v.resize(cap, 0);
        self.0 = Repr::Heap { len: len as u32, buf: v.into_boxed_slice() };
    }

    /// Appends `s`; growth is amortised.
    pub fn push_slice(&mut self, s: &[u8]) {
        let old = self.len();
        let new = old + s.len();
        self.reserve_total(new, true);
        match &mut self.0 {
            Repr::Inline { len, data } => {
                data[old..new].copy_from_slice(s);
                *len = new as u8;
            }
            Repr::Heap { len, buf } => {
                buf[old..new].copy_from_slice(s);
                *len = new as u32;
            }
            Repr::Huge(v) => v.extend_from_slice(s),
        }
    }

    /// Sets the length to `new` bytes: cuts, or fills with zero bytes. Growth is amortised.
    pub fn resize(&mut self, new: usize) {
        let old = self.len();
        if new > old {
            self.reserve_total(new, true);
        }
        match &mut self.0 {
            Repr::Inline { len, data } => {
                if new < old {
                    data[new..old].fill(0);
                }
                *len = new as u8;
            }
            Repr::Heap { len, buf } => {
                if new < old {
                    buf[new..old].fill(0);
                }
                *len = new as u32;
            }
            Repr::Huge(v) => v.resize(new, 0),
        }
    }

    /// Overwrites from `offset` on with `s`, filling a gap with zero bytes. An empty `s` changes nothing.
    pub fn write_at(&mut self, offset: usize, s: &[u8]) {
        if s.is_empty() {
            return;
        }
        let end = offset + s.len();
        if end > self.len() {
            self.resize(end);
        }
        self.as_mut_slice()[offset..end].copy_from_slice(s);
    }

    /// Edits the content as a vector and takes it back. Costs a copy for inline contents and for slack.
    pub fn edit<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let mut v = std::mem::take(self).into_vec();
        let r = f(&mut v);
        *self = Bytes::from(v);
        r
    }

    /// Gives slack back; moves short contents inline.
    pub fn shrink_to_fit(&mut self) {
        if self.len() <= INLINE_MAX {
            if !self.is_inline() {
                *self = Bytes::copy_from(self.as_slice());
            }
        } else if self.capacity() > self.len() {
            let v = std::mem::take(self).into_vec();
            *self = Self::from_long(v);
        }
    }

    /// The content as a vector; without a copy if it is on the heap.
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Repr::Inline { len, data } => data[..len as usize].to_vec(),
            Repr::Heap { len, buf } => {
                let mut v = buf.into_vec();
                v.truncate(len as usize);
                v
            }
            Repr::Huge(v) => *v,
        }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(s: &[u8]) -> Self {
        Bytes::copy_from(s)
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    #[inline]
    fn from(s: &[u8; N]) -> Self {
        Bytes::copy_from(s)
    }
}

impl From<&str> for Bytes {
    #[inline]
    fn from(s: &str) -> Self {
        Bytes::copy_from(s.as_bytes())
    }
}

impl From<String> for Bytes {
    fn from(s: String) -> Self {
        Bytes::from(s.into_bytes())
    }
}

impl From<Vec<u8>> for Bytes {
    #[inline]
    fn from(v: Vec<u8>) -> Self {
        if v.len() <= INLINE_MAX { Bytes::copy_from(&v) } else { Self::from_long(v) }
    }
}

impl From<Box<[u8]>> for Bytes {
    fn from(b: Box<[u8]>) -> Self {
        Bytes::from(b.into_vec())
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Borrow<[u8]> for Bytes {
    #[inline]
    fn borrow(&self) -> &[u8] {
        self.as_slice()
    }
}

impl PartialEq for Bytes {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl PartialEq<[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &[u8]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<&[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_slice() == *other
    }
}

impl PartialOrd for Bytes {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_slice().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        #[allow(dead_code)]
        enum Value {
            Str(Bytes),
            Int(i64),
            List(Box<u8>),
            Set(Box<u8>),
            Hash(Box<u8>),
        }
        assert_eq!(size_of::<Bytes>(), 24);
        assert_eq!(size_of::<Option<Bytes>>(), 24);
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Option<Value>>(), 24);
    }

    #[test]
    fn inline_boundary() {
        assert_eq!(Bytes::from(&[1u8; 22][..]).heap_bytes(), 0);
        let mut new = Bytes::new();
        new.write_at(99_999, b"x");
        assert_eq!(new.heap_bytes(), 112_500);
        new.push_slice(&[1; 20_000]);
        assert_eq!(new.heap_bytes(), 240_000);
        assert_eq!(Bytes::from(&[1u8; 23][..]).heap_bytes(), 23);
        let mut b = Bytes::from(&[7u8; 40][..]);
        b.resize(3);
        b.resize(6);
        assert_eq!(&*b, &[7, 7, 7, 0, 0, 0]);
        b.shrink_to_fit();
        assert!(b.is_inline());
        assert_eq!(&*b, &[7, 7, 7, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn behaves_as_vec(start in prop::collection::vec(any::<u8>(), 0..60),
                          ops in prop::collection::vec((0u8..6, 0usize..90, prop::collection::vec(any::<u8>(), 0..50)), 0..40)) {
            let mut model = start.clone();
            let mut b = Bytes::from(start);
            for (op, n, data) in ops {
                match op {
                    0 => { model.extend_from_slice(&data); b.push_slice(&data); }
                    1 => { model.resize(n, 0); b.resize(n); }
                    2 => {
                        if !data.is_empty() {
                            if model.len() < n + data.len() { model.resize(n + data.len(), 0); }
                            model[n..n + data.len()].copy_from_slice(&data);
                        }
                        b.write_at(n, &data);
                    }
                    3 => { b.edit(|v| v.insert(0, 9)); model.insert(0, 9); }
                    4 => b.shrink_to_fit(),
                    _ => b = b.clone(),
                }
                prop_assert_eq!(b.as_slice(), model.as_slice());
                prop_assert_eq!(b.len(), model.len());
                prop_assert!(b.capacity() >= b.len());
            }
        }
    }
}
