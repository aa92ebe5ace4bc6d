//! Deadlines of single fields: a table beside the fields, there only when a field has one.

use std::collections::BTreeSet;
use totality_ds::dict::Seed;
use totality_ds::{Bytes, Dict, Keyed};

/// Bytes that a place in the tree of deadlines takes: the element and its share of nodes that are three quarters full.
const TREE_PLACE: usize = size_of::<(i64, Bytes)>() * 4 / 3 + 4;

#[derive(Debug, Clone)]
struct Timed {
    name: Bytes,
    at: i64,
}

impl Keyed for Timed {
    fn key(&self) -> &[u8] {
        &self.name
    }
}

/// Fields with their deadlines in milliseconds since the Unix epoch, by name and by time.
#[derive(Clone)]
pub(super) struct Deadlines {
    by_name: Dict<Timed>,
    by_time: BTreeSet<(i64, Bytes)>,
    /// Heap bytes of the names, which are stored twice.
    heap: usize,
}

impl Deadlines {
    pub(super) fn new(seed: Seed) -> Self {
        Deadlines { by_name: Dict::new(seed), by_time: BTreeSet::new(), heap: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    pub(super) fn mem(&self) -> usize {
        size_of::<Self>() + self.by_name.mem_bytes() + self.heap + self.by_time.len() * TREE_PLACE
    }

    /// The deadline of a field; `hash` is that of its name.
    #[inline]
    pub(super) fn get(&self, hash: u64, name: &[u8]) -> Option<i64> {
        self.by_name.find(hash, name).map(|pos| self.by_name.get(pos).at)
    }

    /// Sets or removes a field's deadline; gives the one that it had.
    pub(super) fn set(&mut self, hash: u64, name: &[u8], at: Option<i64>) -> Option<i64> {
        let pos = self.by_name.find(hash, name);
        match (pos, at) {
            (None, None) => None,
            (None, Some(at)) => {
                let name = Bytes::from(name);
                self.heap += 2 * name.heap_bytes();
                self.by_time.insert((at, name.clone()));
                self.by_name.insert_new(hash, Timed { name, at });
                None
            }
            (Some(pos), Some(at)) => {
                let timed = self.by_name.get_mut(pos);
                let old = std::mem::replace(&mut timed.at, at);
                if old != at {
                    let name = timed.name.clone();
                    self.by_time.remove(&(old, name.clone()));
                    self.by_time.insert((at, name));
                }
                Some(old)
            }
            (Some(pos), None) => {
                let timed = self.by_name.remove(pos);
                self.heap -= 2 * timed.name.heap_bytes();
                self.by_time.remove(&(timed.at, timed.name));
                Some(timed.at)
            }
        }
    }

    /// The earliest deadline.
    pub(super) fn first(&self) -> Option<i64> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// How many deadlines are not after `now`.
    pub(super) fn expired(&self, now: i64) -> usize {
        self.by_time.iter().take_while(|(at, _)| *at <= now).count()
    }

    /// Name of the field whose deadline is the earliest, when that is not after `now`.
    pub(super) fn due(&self, now: i64) -> Option<&Bytes> {
        self.by_time.first().filter(|(at, _)| *at <= now).map(|(_, name)| name)
    }
}
