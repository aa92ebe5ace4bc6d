//! One command: its words in one buffer.

/// The words of a command, in one allocation for the bytes and one for the ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Words {
    /// No words yet.
    pub fn new() -> Words {
        Words { bytes: Vec::with_capacity(192), ends: Vec::with_capacity(16) }
    }

    /// A command of these words.
    pub fn of(words: &[&str]) -> Words {
        let mut out = Words::new();
        words.iter().for_each(|w| out.push(w.as_bytes()));
        out
    }

    /// Appends a word.
    pub fn push(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
    }

    /// Appends a word made of parts.
    pub fn push_parts(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|p| self.bytes.extend_from_slice(p));
        self.ends.push(self.bytes.len());
    }

    /// Appends a number in decimal.
    pub fn push_int<I: itoa::Integer>(&mut self, n: I) {
        self.push(itoa::Buffer::new().format(n).as_bytes());
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A word by its place, from 0.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let start = if i == 0 { 0 } else { *self.ends.get(i - 1)? };
        self.bytes.get(start..*self.ends.get(i)?)
    }

    /// The words in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// Appends the command in RESP form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        out.reserve(self.bytes.len() + 16 * (self.len() + 1));
        out.push(b'*');
        out.extend_from_slice(digits.format(self.len()).as_bytes());
        out.extend_from_slice(b"\r\n");
        for word in self.iter() {
            out.push(b'$');
            out.extend_from_slice(digits.format(word.len()).as_bytes());
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(word);
            out.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_apart() {
        let mut words = Words::of(&["SET", "", "v"]);
        words.push_int(-7);
        words.push_parts(&[b"a{", b"t", b"}"]);
        let all: Vec<&[u8]> = words.iter().collect();
        assert_eq!(all, [&b"SET"[..], b"", b"v", b"-7", b"a{t}"]);
        let mut out = Vec::new();
        Words::of(&["GET", "k"]).encode(&mut out);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
        assert_eq!(words.get(9), None);
    }
}
