//! The keys of a database that have a deadline.
//!
//! Four bytes for each: the part of its hash that the key table splits by, from which the entry is found. The index is
//! what the expiry cycle walks and what eviction among keys with a deadline chooses from, so neither looks at keys
//! that have none.

use totality_ds::dict::Seed;
use totality_ds::{Dict, Keyed};

/// Stands for one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(pub(super) u32);

impl Keyed for Mark {
    // The key is in the key table: this one is searched by hash only.
    fn key(&self) -> &[u8] {
        &[]
    }
    #[inline]
    fn hash32(&self, _seed: &Seed) -> u32 {
        self.0
    }
    #[inline]
    fn set_hash32(&mut self, hash: u32) {
        self.0 = hash;
    }
}

/// The index. Two keys may have the same hash: then it is there twice.
pub(crate) struct Volatile(pub(super) Dict<Mark>);

impl Volatile {
    pub(super) fn new(seed: [u8; 16]) -> Self {
        Volatile(Dict::new(seed))
    }

    /// Number of keys.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes that it takes. O(1).
    #[inline]
    pub(super) fn mem_bytes(&self) -> usize {
        self.0.mem_bytes()
    }

    /// The key with this hash has a deadline now.
    #[inline]
    pub(super) fn add(&mut self, hash: u32) {
        self.0.insert_new(u64::from(hash), Mark(hash));
    }

    /// The key with this hash has none any more.
    #[inline]
    pub(super) fn remove(&mut self, hash: u32) {
        if let Some(pos) = self.0.find_with(u64::from(hash), |mark| mark.0 == hash) {
            self.0.remove(pos);
        }
    }

    /// Empties it and gives what it held, so that the caller chooses when to free it.
    pub(super) fn take(&mut self) -> Dict<Mark> {
        self.0.take()
    }
}
