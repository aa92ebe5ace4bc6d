//! Redis's intset, byte for byte: a sorted array of 16-, 32- or 64-bit integers in one allocation.

const HEADER: usize = 8;

/// Foreign bytes are not a well-formed intset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed intset")
    }
}

impl std::error::Error for Malformed {}

/// A sorted set of integers. The width of all is the one that the widest ever added needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntSet {
    buf: Vec<u8>,
}

fn width_of(v: i64) -> usize {
    if i16::try_from(v).is_ok() {
        2
    } else if i32::try_from(v).is_ok() {
        4
    } else {
        8
    }
}

impl Default for IntSet {
    fn default() -> Self {
        Self::new()
    }
}

impl IntSet {
    /// An empty set (eight bytes).
    pub fn new() -> Self {
        IntSet { buf: vec![2, 0, 0, 0, 0, 0, 0, 0] }
    }

    /// Takes foreign bytes after checking size, width and order.
    ///
    /// # Errors
    /// [`Malformed`] if they are not a sorted intset without duplicates.
    pub fn from_vec(buf: Vec<u8>) -> Result<Self, Malformed> {
        if buf.len() < HEADER {
            return Err(Malformed);
        }
        let set = IntSet { buf };
        let width = u32::from_le_bytes([set.buf[0], set.buf[1], set.buf[2], set.buf[3]]);
        let sized = matches!(width, 2 | 4 | 8)
            && set.buf.len() as u64 == HEADER as u64 + width as u64 * set.len() as u64;
        if sized && (1..set.len()).all(|i| set.at(i - 1) < set.at(i)) { Ok(set) } else { Err(Malformed) }
    }

    /// The whole intset, header included.
    pub fn as_bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Allocated bytes.
    pub fn heap_bytes(&self) -> usize {
        self.buf.capacity()
    }

    /// Number of integers.
    #[inline]
    pub fn len(&self) -> usize {
        u32::from_le_bytes([self.buf[4], self.buf[5], self.buf[6], self.buf[7]]) as usize
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn width(&self) -> usize {
        self.buf[0] as usize
    }

    /// The integer at an index that must be below the length.
    #[inline]
    fn at(&self, i: usize) -> i64 {
        let w = self.width();
        let s = &self.buf[HEADER + i * w..HEADER + (i + 1) * w];
        match *s {
            [a, b] => i16::from_le_bytes([a, b]) as i64,
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]) as i64,
            [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }

    /// The integer at `index` in ascending order.
    pub fn get(&self, index: usize) -> Option<i64> {
        if index < self.len() { Some(self.at(index)) } else { None }
    }

    fn search(&self, v: i64) -> Result<usize, usize> {
        let n = self.len();
        if n == 0 {
            return Err(0);
        }
        // Adding at the ends is common.
        if v > self.at(n - 1) {
            return Err(n);
        }
        if v < self.at(0) {
            return Err(0);
        }
        let (mut lo, mut hi) = (0, n);
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            match self.at(mid).cmp(&v) {
                std::cmp::Ordering::Less => lo = mid + 1,
                std::cmp::Ordering::Greater => hi = mid,
                std::cmp::Ordering::Equal => return Ok(mid),
            }
        }
        Err(lo)
    }

    /// True if `v` is in the set.
    pub fn contains(&self, v: i64) -> bool {
        width_of(v) <= self.width() && self.search(v).is_ok()
    }

    fn set_len(&mut self, n: usize) {
        self.buf[4..8].copy_from_slice(&(n as u32).to_le_bytes());
    }

    /// Adds `v`; false if it was there.
    pub fn insert(&mut self, v: i64) -> bool {
        let w = width_of(v);
        if w > self.width() {
            self.widen(w);
        }
        let Err(i) = self.search(v) else { return false };
        let w = self.width();
        let at = HEADER + i * w;
        let old = self.buf.len();
        if self.buf.capacity() - old < w {
            self.buf.reserve_exact(w + old / 8);
        }
        self.buf.resize(old + w, 0);
        self.buf.copy_within(at..old, at + w);
        self.buf[at..at + w].copy_from_slice(&v.to_le_bytes()[..w]);
        self.set_len(self.len() + 1);
        true
    }

    fn widen(&mut self, w: usize) {
        let n = self.len();
        let mut buf = Vec::with_capacity(HEADER + (n + 1) * w);
        buf.extend_from_slice(&(w as u32).to_le_bytes());
        buf.extend_from_slice(&(n as u32).to_le_bytes());
        for v in self.iter() {
            buf.extend_from_slice(&v.to_le_bytes()[..w]);
        }
        self.buf = buf;
    }

    /// Removes `v`; false if it was not there. The width stays.
    pub fn remove(&mut self, v: i64) -> bool {
        if width_of(v) > self.width() {
            return false;
        }
        let Ok(i) = self.search(v) else { return false };
        let w = self.width();
        let at = HEADER + i * w;
        self.buf.drain(at..at + w);
        self.set_len(self.len() - 1);
        if self.buf.capacity() > 64 && self.buf.len() * 2 < self.buf.capacity() {
            self.buf.shrink_to(self.buf.len() + self.buf.len() / 8);
        }
        true
    }

    /// All integers, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + '_ {
        (0..self.len()).map(|i| self.at(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn bytes_as_redis() {
        let mut s = IntSet::new();
        for v in [5, -1, 3] {
            assert!(s.insert(v));
        }
        assert!(!s.insert(3));
        assert_eq!(s.as_bytes(), [2, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0xFF, 3, 0, 5, 0]);
        s.insert(70_000);
        assert_eq!(s.as_bytes()[..8], [4, 0, 0, 0, 4, 0, 0, 0]);
        s.insert(i64::MIN);
        assert_eq!(s.as_bytes()[0], 8);
        assert_eq!(s.iter().collect::<Vec<_>>(), [i64::MIN, -1, 3, 5, 70_000]);
        assert!(s.remove(i64::MIN));
        assert_eq!(s.as_bytes()[0], 8);
    }

    #[test]
    fn refuses_bad_bytes() {
        for bad in [
            &[][..],
            &[2, 0, 0, 0, 1, 0, 0, 0],
            &[3, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0],
            &[2, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
        ] {
            assert!(IntSet::from_vec(bad.to_vec()).is_err());
        }
    }

    proptest! {
        #[test]
        fn behaves_as_set(ops in prop::collection::vec((any::<bool>(), prop_oneof![-20i64..20, -70_000i64..70_000, any::<i64>()]), 0..200)) {
            let (mut s, mut model) = (IntSet::new(), BTreeSet::new());
            for (add, v) in ops {
                prop_assert_eq!(s.contains(v), model.contains(&v));
                if add { prop_assert_eq!(s.insert(v), model.insert(v)); }
                else { prop_assert_eq!(s.remove(v), model.remove(&v)); }
            }
            prop_assert!(s.iter().eq(model.iter().copied()));
            prop_assert_eq!(IntSet::from_vec(s.as_bytes().to_vec()).unwrap(), s);
        }

        #[test]
        fn survives_garbage(b in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(s) = IntSet::from_vec(b) {
                s.contains(7);
                s.iter().count();
            }
        }
    }
}
