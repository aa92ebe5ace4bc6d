//! The list value.

/// A list.
#[derive(Debug, Clone, Default)]
pub struct List {}

impl List {
    /// Number of elements.
    pub fn len(&self) -> usize {
        0
    }
    /// Bytes on the heap. O(1).
    pub fn mem(&self) -> usize {
        0
    }
    /// Name of the encoding.
    pub fn encoding(&self) -> &'static str {
        "listpack"
    }
}
