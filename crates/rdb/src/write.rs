//! Encoding.

use totality_ds::Item;
use totality_ds::StreamId;
use totality_ds::lzf;
use totality_ds::num::parse_i64;

/// Strings up to this many bytes are never compressed.
const COMPRESS_FROM: usize = 21;
/// Longest digits of an integer that is written as one.
const DIGITS: usize = 11;

/// Appends to a buffer what the format is made of.
#[derive(Debug, Default)]
pub struct Writer {
    /// The bytes so far; the owner may take them at any time.
    pub out: Vec<u8>,
    compressor: Option<lzf::Compressor>,
}

impl Writer {
    /// An empty buffer. `compress`: longer strings are compressed where that saves something.
    pub fn new(compress: bool) -> Self {
        Writer { out: Vec::new(), compressor: compress.then(lzf::Compressor::new) }
    }

    /// One byte: a type or an opcode.
    #[inline]
    pub fn byte(&mut self, b: u8) {
        self.out.push(b);
    }

    /// A length or another unsigned number.
    #[inline]
    pub fn len(&mut self, n: u64) {
        match n {
            0..64 => self.out.push(n as u8),
            64..16384 => self.out.extend_from_slice(&[0x40 | (n >> 8) as u8, n as u8]),
            _ => match u32::try_from(n) {
                Ok(n) => {
                    self.out.push(0x80);
                    self.out.extend_from_slice(&n.to_be_bytes());
                }
                Err(_) => {
                    self.out.push(0x81);
                    self.out.extend_from_slice(&n.to_be_bytes());
                }
            },
        }
    }

    /// A string.
    #[inline]
    pub fn string(&mut self, s: &[u8]) {
        if s.len() <= DIGITS
            && let Some(n) = parse_i64(s)
            && self.small_int(n)
        {
            return;
        }
        if s.len() >= COMPRESS_FROM && self.compressed(s) {
            return;
        }
        self.len(s.len() as u64);
        self.out.extend_from_slice(s);
    }

    #[cold]
    fn compressed(&mut self, s: &[u8]) -> bool {
        let Some(packed) = self.compressor.as_mut().and_then(|c| c.compress(s)) else { return false };
        self.out.push(0xC3);
        self.len(packed.len() as u64);
        self.len(s.len() as u64);
        self.out.extend_from_slice(&packed);
        true
    }

    /// An integer in as few bytes as its value needs; false when it needs more than four.
    fn small_int(&mut self, n: i64) -> bool {
        if let Ok(n) = i8::try_from(n) {
            self.out.extend_from_slice(&[0xC0, n as u8]);
        } else if let Ok(n) = i16::try_from(n) {
            self.out.push(0xC1);
            self.out.extend_from_slice(&n.to_le_bytes());
        } else if let Ok(n) = i32::try_from(n) {
            self.out.push(0xC2);
            self.out.extend_from_slice(&n.to_le_bytes());
        } else {
            return false;
        }
        true
    }

    /// A string that is an integer.
    pub fn int(&mut self, n: i64) {
        if !self.small_int(n) {
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(n).as_bytes();
            self.len(digits.len() as u64);
            self.out.extend_from_slice(digits);
        }
    }

    /// A string that is an element of a compact value.
    #[inline]
    pub fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Int(n) => self.int(n),
            Item::Str(s) => self.string(s),
        }
    }

    /// A time in milliseconds since the Unix epoch.
    pub fn millis(&mut self, at: i64) {
        self.out.extend_from_slice(&at.to_le_bytes());
    }

    /// A score.
    #[inline]
    pub fn double(&mut self, score: f64) {
        self.out.extend_from_slice(&score.to_le_bytes());
    }

    /// The id of a stream's entry, as it stands in a list of pending ones.
    pub fn id(&mut self, id: StreamId) {
        self.out.extend_from_slice(&id.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(f: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut w = Writer::new(true);
        f(&mut w);
        w.out
    }

    #[test]
    fn lengths_and_integers_as_the_format_has_them() {
        assert_eq!(written(|w| w.len(63)), [63]);
        assert_eq!(written(|w| w.len(64)), [0x40, 64]);
        assert_eq!(written(|w| w.len(16383)), [0x7F, 0xFF]);
        assert_eq!(written(|w| w.len(16384)), [0x80, 0, 0, 0x40, 0]);
        assert_eq!(written(|w| w.len(1 << 32)), [0x81, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(written(|w| w.string(b"-1")), [0xC0, 0xFF]);
        assert_eq!(written(|w| w.string(b"300")), [0xC1, 0x2C, 1]);
        assert_eq!(written(|w| w.string(b"-2147483648")), [0xC2, 0, 0, 0, 0x80]);
        assert_eq!(written(|w| w.string(b"2147483648"))[0], 10);
        assert_eq!(written(|w| w.string(b"01")), [2, b'0', b'1']);
        assert_eq!(written(|w| w.int(1 << 40))[0], 13);
        assert_eq!(written(|w| w.string(&[b'a'; 100]))[0], 0xC3);
        assert_eq!(written(|w| w.string(&[b'a'; 20]))[0], 20);
    }
}
