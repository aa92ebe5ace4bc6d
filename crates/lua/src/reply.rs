//! Results of a host call.

/// Results of a host call, as a flat list of operations: no tree is built and nothing is interned until the call
/// returns. A table is opened with [`Reply::table`], filled, and closed with [`Reply::end`]. Inside a table a plain
/// value is appended at the next array index; a value after [`Reply::key`] goes under that name.
#[derive(Default)]
pub struct Reply {
    pub(crate) ops: Vec<Op>,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Nil,
    Bool(bool),
    Number(f64),
    /// Range of `bytes`
    Str(u32, u32),
    /// Range of `bytes`; names the next value
    Key(u32, u32),
    /// A number that is the key of the next value
    KeyNumber(f64),
    /// The next value of the open table is a key
    AsKey,
    /// Expected array items and named fields, both only hints
    Table(u32, u32),
    End,
    /// Argument `i` of the call itself, returned as it is
    Arg(u32),
}

impl Reply {
    /// Appends `nil`.
    #[inline]
    pub fn nil(&mut self) {
        self.ops.push(Op::Nil);
    }
    /// Appends a boolean.
    #[inline]
    pub fn bool(&mut self, b: bool) {
        self.ops.push(Op::Bool(b));
    }
    /// Appends a number.
    #[inline]
    pub fn number(&mut self, n: f64) {
        self.ops.push(Op::Number(n));
    }
    /// Appends a string.
    #[inline]
    pub fn str(&mut self, s: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(s);
        self.ops.push(Op::Str(start, self.bytes.len() as u32));
    }
    /// Appends a string that `write` produces in place.
    #[inline]
    pub fn str_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len() as u32;
        write(&mut self.bytes);
        self.ops.push(Op::Str(start, self.bytes.len() as u32));
    }
    /// Names the next value appended inside the open table.
    #[inline]
    pub fn key(&mut self, name: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        self.ops.push(Op::Key(start, self.bytes.len() as u32));
    }
    /// Makes a number the key of the next value appended inside the open table. It must not be NaN.
    #[inline]
    pub fn key_number(&mut self, n: f64) {
        self.ops.push(Op::KeyNumber(n));
    }
    /// Makes the next value, whatever it is, the key of the one after it. A pair whose key cannot be one (nil, NaN) is
    /// left out.
    #[inline]
    pub fn as_key(&mut self) {
        self.ops.push(Op::AsKey);
    }
    /// Opens a table; `array` and `named` are hints of how many items and fields follow.
    #[inline]
    pub fn table(&mut self, array: usize, named: usize) {
        self.ops.push(Op::Table(array.min(u32::MAX as usize) as u32, named.min(u32::MAX as usize) as u32));
    }
    /// Closes the open table.
    #[inline]
    pub fn end(&mut self) {
        self.ops.push(Op::End);
    }
    /// Appends argument `i` of this very call, unchanged (identity of tables kept).
    #[inline]
    pub fn arg(&mut self, i: usize) {
        self.ops.push(Op::Arg(i as u32));
    }
    /// Forgets what was written, for an error that replaces a half-written result.
    #[inline]
    pub fn clear(&mut self) {
        self.ops.clear();
        self.bytes.clear();
    }
    /// Bytes held at the moment, for limits.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.ops.len() * size_of::<Op>()
    }
}
