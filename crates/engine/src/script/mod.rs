//! Scripts and functions.

/// Compiled scripts and libraries.
#[derive(Default)]
pub struct Scripts {}

impl Scripts {
    /// Bytes that scripts take.
    pub fn memory(&self) -> usize {
        0
    }
    /// Number of scripts in the cache.
    pub fn len(&self) -> usize {
        0
    }
    /// True without scripts.
    pub fn is_empty(&self) -> bool {
        true
    }
    /// Number of functions.
    pub fn functions(&self) -> usize {
        0
    }
    /// Number of libraries.
    pub fn libraries(&self) -> usize {
        0
    }
}
