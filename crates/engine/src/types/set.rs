//! The set value.

/// A set.
#[derive(Debug, Clone, Default)]
pub struct Set {}

impl Set {
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
