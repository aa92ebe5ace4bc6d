//! Streams: a log of entries and the consumer groups that read it.
//!
//! What a group knows of its deliveries is one ordered map of pending entries, each with the number of its consumer;
//! consumers have a slot each and the set of their own pending ids.

pub use super::stream_undo::StreamUndo;
use super::stream_undo::{GroupUndo, GroupWas};
use std::collections::{BTreeMap, BTreeSet};
use totality_ds::StreamId;
use totality_ds::stream::{BlockLimits, Entry, Keep, StreamError};

/// Bytes that an element of an ordered map takes, as nodes are about two thirds full.
const fn node(bytes: usize) -> usize {
    bytes * 3 / 2
}

/// The entries of a stream and what it remembers of those that are gone.
#[derive(Debug, Clone, Default)]
pub struct Log {
    pub(super) entries: totality_ds::Stream,
    /// The id that was given last; new ones are greater.
    pub last_id: StreamId,
    /// The greatest id that was deleted, 0-0 for none.
    pub max_deleted: StreamId,
    /// Entries that were ever added.
    pub entries_added: u64,
}

impl Log {
    /// The entries.
    pub fn entries(&self) -> &totality_ds::Stream {
        &self.entries
    }

    /// Id of the first entry, 0-0 when there is none.
    pub fn first_id(&self) -> StreamId {
        self.entries.first_id().unwrap_or(StreamId::MIN)
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// When `id` is not greater than all before or the entry is too large; nothing is changed then.
    pub fn append<'b>(
        &mut self,
        id: StreamId,
        pairs: impl Iterator<Item = (&'b [u8], &'b [u8])> + Clone,
        limits: BlockLimits,
    ) -> Result<(), StreamError> {
        if id <= self.last_id {
            return Err(StreamError::NotGreater);
        }
        self.entries.append(id, pairs, limits)?;
        self.last_id = id;
        self.entries_added = self.entries_added.saturating_add(1);
        Ok(())
    }

    /// Removes old entries, see [`totality_ds::Stream::trim`]; gives their number.
    pub fn trim(&mut self, keep: Keep, approx: bool, limit: u64) -> u64 {
        self.entries.trim(keep, approx, limit)
    }

    /// Deletes an entry; false when it is not there.
    pub fn delete(&mut self, id: StreamId) -> bool {
        let deleted = self.entries.remove(id);
        if deleted {
            self.max_deleted = self.max_deleted.max(id);
        }
        deleted
    }

    /// Appends a block of foreign bytes, as RDB files carry them; counters are the caller's.
    ///
    /// # Errors
    /// When the block is malformed or out of order.
    pub fn push_block(&mut self, id: StreamId, block: totality_ds::Listpack) -> Result<(), StreamError> {
        self.entries.push_block(id, block)
    }

    /// True when an entry may have been deleted at or after `id`.
    fn has_gap_from(&self, id: StreamId) -> bool {
        !self.entries.is_empty() && self.max_deleted != StreamId::MIN && id <= self.max_deleted
    }

    /// How many entries were added up to `id`, as far as that can be said.
    pub(crate) fn added_up_to(&self, id: StreamId) -> Option<u64> {
        if self.entries_added == 0 {
            return Some(0);
        }
        if self.entries.is_empty() && id <= self.last_id {
            return Some(self.entries_added);
        }
        if id != StreamId::MIN && id < self.max_deleted {
            return None;
        }
        if id >= self.last_id {
            return (id == self.last_id).then_some(self.entries_added);
        }
        let first = self.first_id();
        if self.max_deleted == StreamId::MIN || self.max_deleted < first {
            let before = self.entries_added.saturating_sub(self.entries.len());
            if id < first {
                return Some(before);
            }
            if id == first {
                return Some(before + 1);
            }
        }
        None
    }
}

/// A delivery that was not acknowledged.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// When it was delivered last, in milliseconds since the Unix epoch.
    pub time: i64,
    /// How often it was delivered.
    pub count: u64,
    pub(super) consumer: u32,
}

/// A consumer of a group.
#[derive(Debug, Clone)]
pub struct Consumer {
    /// Its name.
    pub name: Box<[u8]>,
    /// When it last tried to read or claim, in milliseconds since the Unix epoch.
    pub seen: i64,
    /// When it last got something; -1: never.
    pub active: i64,
    pub(super) pending: BTreeSet<StreamId>,
}

impl Consumer {
    /// Ids of its pending entries, ascending.
    pub fn pending(&self) -> &BTreeSet<StreamId> {
        &self.pending
    }
}

/// Number of a consumer within its group.
pub type Slot = u32;

/// A consumer group.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// The id that was delivered last.
    pub last_id: StreamId,
    /// Number of entries up to that id that were ever added; `None` when it is not known.
    pub entries_read: Option<u64>,
    pub(super) pending: BTreeMap<StreamId, Pending>,
    pub(super) consumers: Vec<Option<Consumer>>,
    pub(super) free: Vec<Slot>,
    pub(super) by_name: BTreeMap<Box<[u8]>, Slot>,
    /// Bytes of the consumers' names.
    pub(super) names: usize,
    /// There while changes are to be taken back perhaps.
    pub(super) journal: Option<Box<GroupUndo>>,
}

impl Group {
    /// A group that goes on after `last_id`.
    pub fn new(last_id: StreamId, entries_read: Option<u64>) -> Self {
        Group { last_id, entries_read, ..Group::default() }
    }

    /// All pending entries, ascending.
    pub fn pending(&self) -> &BTreeMap<StreamId, Pending> {
        &self.pending
    }

    /// The consumers in the order of their names.
    pub fn consumers(&self) -> impl ExactSizeIterator<Item = (Slot, &[u8])> {
        self.by_name.iter().map(|(name, slot)| (*slot, &**name))
    }

    /// The consumer of a slot.
    pub fn consumer(&self, slot: Slot) -> Option<&Consumer> {
        self.consumers.get(slot as usize)?.as_ref()
    }

    /// The consumer that a pending entry was delivered to.
    pub fn owner(&self, pending: &Pending) -> Option<&Consumer> {
        self.consumer(pending.consumer)
    }

    /// The slot of a consumer.
    pub fn find_consumer(&self, name: &[u8]) -> Option<Slot> {
        self.by_name.get(name).copied()
    }

    /// The slot of a consumer, created if need be; true when it was.
    pub fn ensure_consumer(&mut self, name: &[u8], now: i64) -> (Slot, bool) {
        if let Some(slot) = self.find_consumer(name) {
            return (slot, false);
        }
        let consumer = Consumer { name: name.into(), seen: now, active: -1, pending: BTreeSet::new() };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.consumers[slot as usize] = Some(consumer);
                slot
            }
            None => {
                self.consumers.push(Some(consumer));
                (self.consumers.len() - 1) as Slot
            }
        };
        if let Some(journal) = &mut self.journal {
            journal.note_new_consumer(slot);
        }
        self.by_name.insert(name.into(), slot);
        self.names += 2 * name.len();
        (slot, true)
    }

    /// Sets when a consumer was last seen.
    pub fn saw(&mut self, slot: Slot, now: i64) {
        self.note_consumer(slot);
        if let Some(Some(consumer)) = self.consumers.get_mut(slot as usize) {
            consumer.seen = now;
        }
    }

    /// Sets when a consumer was last seen and when it last got something.
    pub fn set_times(&mut self, slot: Slot, seen: i64, active: i64) {
        self.note_consumer(slot);
        if let Some(Some(consumer)) = self.consumers.get_mut(slot as usize) {
            (consumer.seen, consumer.active) = (seen, active);
        }
    }

    /// Removes a consumer with its pending entries; gives their number, `None` when there is no such consumer.
    pub fn delete_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let slot = self.find_consumer(name)?;
        self.note_consumer_with_pending(slot);
        self.by_name.remove(name);
        self.names -= 2 * name.len();
        let consumer = self.consumers.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        for id in &consumer.pending {
            self.pending.remove(id);
        }
        Some(consumer.pending.len())
    }

    /// Gives an entry to a consumer, whoever had it before. Its consumer is active at `now` if that is given.
    pub fn assign(&mut self, id: StreamId, consumer: Slot, time: i64, count: u64, now: Option<i64>) {
        self.note_pending(id);
        self.note_consumer(consumer);
        let old = self.pending.insert(id, Pending { time, count, consumer });
        if let Some(old) = old.filter(|old| old.consumer != consumer)
            && let Some(Some(owner)) = self.consumers.get_mut(old.consumer as usize)
        {
            owner.pending.remove(&id);
        }
        if let Some(Some(owner)) = self.consumers.get_mut(consumer as usize) {
            owner.pending.insert(id);
            owner.active = now.unwrap_or(owner.active);
        }
    }

    /// Counts one more delivery of a pending entry to the same consumer.
    pub fn delivered_again(&mut self, id: StreamId, now: i64) {
        self.note_pending(id);
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.time = now;
            pending.count = pending.count.saturating_add(1);
        }
    }

    /// Takes an entry from the pending ones; false when it was not among them.
    pub fn acknowledge(&mut self, id: StreamId) -> bool {
        self.note_pending(id);
        let Some(pending) = self.pending.remove(&id) else { return false };
        if let Some(Some(owner)) = self.consumers.get_mut(pending.consumer as usize) {
            owner.pending.remove(&id);
        }
        true
    }

    /// Moves on to `id`, which was read just now, and keeps count if that is possible. `first` is the log's first id.
    pub fn advance(&mut self, id: StreamId, log: &Log, first: StreamId) {
        if id <= self.last_id {
            return;
        }
        match self.entries_read {
            Some(n) if self.last_id >= first && !log.has_gap_from(self.last_id) => {
                self.entries_read = Some(n.saturating_add(1));
            }
            _ if log.entries_added > 0 => self.entries_read = log.added_up_to(id),
            _ => {}
        }
        self.last_id = id;
    }

    /// Entries of the log that were not delivered yet; `None` when deletions make that unknown.
    pub fn lag(&self, log: &Log) -> Option<i64> {
        if log.entries_added == 0 {
            return Some(0);
        }
        let read = match self.entries_read {
            Some(n) if !log.has_gap_from(self.last_id) => n,
            _ => log.added_up_to(self.last_id)?,
        };
        Some(log.entries_added.wrapping_sub(read) as i64)
    }

    pub(super) fn mem(&self) -> usize {
        let pending = node(size_of::<StreamId>() + size_of::<Pending>()) + node(size_of::<StreamId>());
        let consumer = size_of::<Option<Consumer>>() + node(size_of::<(Box<[u8]>, Slot)>());
        self.pending.len() * pending + self.consumers.len() * consumer + self.names
    }
}

/// Bytes that a group takes.
pub(super) fn group_bytes(name: &[u8], group: &Group) -> usize {
    node(size_of::<(Box<[u8]>, Group)>()) + name.len() + group.mem()
}

/// A stream.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    pub(super) log: Log,
    pub(super) groups: BTreeMap<Box<[u8]>, Group>,
    pub(super) groups_mem: usize,
    /// There while changes are to be taken back perhaps.
    pub(super) journal: Option<Box<StreamUndo>>,
}

impl Stream {
    /// No entries, no groups.
    pub fn new() -> Self {
        Self::default()
    }

    /// A stream of entries that were loaded; groups are added afterwards.
    pub(crate) fn loaded(
        entries: totality_ds::Stream,
        last_id: StreamId,
        max_deleted: StreamId,
        entries_added: u64,
    ) -> Self {
        Stream { log: Log { entries, last_id, max_deleted, entries_added }, ..Self::default() }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.log.entries.len() as usize
    }

    /// True when there is no entry. The key stays nevertheless.
    pub fn is_empty(&self) -> bool {
        self.log.entries.is_empty()
    }

    /// The entries.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The entries, to be changed.
    pub fn log_mut(&mut self) -> &mut Log {
        &mut self.log
    }

    /// The entry with this id.
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.log.entries.get(id)
    }

    /// The groups in the order of their names.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&[u8], &Group)> {
        self.groups.iter().map(|(name, group)| (&**name, group))
    }

    /// The group of this name.
    pub fn group(&self, name: &[u8]) -> Option<&Group> {
        self.groups.get(name)
    }

    /// Adds a group; false when the name is taken.
    pub fn add_group(&mut self, name: &[u8], group: Group) -> bool {
        if self.groups.contains_key(name) {
            return false;
        }
        if let Some(journal) = &mut self.journal {
            journal.note_new_group(name);
        }
        self.groups_mem += group_bytes(name, &group);
        self.groups.insert(name.into(), group);
        true
    }

    /// Changes a group by `f`, which may read the log; `None` when there is no such group.
    pub fn with_group<R>(&mut self, name: &[u8], f: impl FnOnce(&mut Group, &Log) -> R) -> Option<R> {
        let group = self.groups.get_mut(name)?;
        let before = group.mem();
        group.journal = self.journal.as_mut().and_then(|journal| journal.of_group(name, group));
        let result = f(group, &self.log);
        if let (Some(journal), Some(changes)) = (&mut self.journal, group.journal.take()) {
            journal.put_group(name, GroupWas::Changed(changes));
        }
        self.groups_mem = (self.groups_mem + group.mem()).saturating_sub(before);
        Some(result)
    }

    /// True while a group has not read the message or has it pending.
    pub fn is_needed(&self, id: StreamId) -> bool {
        self.groups.values().any(|group| group.last_id < id || group.pending.contains_key(&id))
    }

    /// Lets all groups forget that the message is pending; `note` is told the names of those that knew it.
    pub fn forget_pending(&mut self, id: StreamId, mut note: impl FnMut(&[u8])) {
        let knowing = self.groups.iter().filter(|(_, group)| group.pending.contains_key(&id));
        let names: Vec<Box<[u8]>> = knowing.map(|(name, _)| name.clone()).collect();
        for name in names {
            self.with_group(&name, |group, _| group.acknowledge(id));
            note(&name);
        }
    }

    /// Removes a group; false when there is none.
    pub fn remove_group(&mut self, name: &[u8]) -> bool {
        let Some(group) = self.groups.remove(name) else { return false };
        self.groups_mem = self.groups_mem.saturating_sub(group_bytes(name, &group));
        if let Some(journal) = &mut self.journal {
            journal.note_gone_group(name, group);
        }
        true
    }

    /// Bytes behind the stream. O(1).
    pub fn mem(&self) -> usize {
        self.log.entries.mem_bytes() + self.groups_mem
    }

    /// About the number of allocations that it consists of, as far as it is cheap to tell. O(G) for G groups.
    pub fn pieces(&self) -> usize {
        let group = |group: &Group| 1 + group.consumers.len() + group.pending.len();
        self.log.entries.blocks().len() + self.groups.values().map(group).sum::<usize>()
    }

    /// The encoding, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        "stream"
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
