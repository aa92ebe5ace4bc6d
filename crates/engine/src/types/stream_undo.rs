//! What a stream notes of its own changes so that they can be taken back: blocks of entries, groups, consumers and
//! pending entries as they were before they were first touched.

use super::stream::{Consumer, Group, Pending, Slot, Stream, group_bytes};
use std::collections::{BTreeMap, BTreeSet};
use totality_ds::StreamId;
use totality_ds::stream::Saved;

/// Bytes that an element of an ordered map takes, nearly.
const NODE: usize = 96;

/// A stream's changes.
#[derive(Debug, Clone, Default)]
pub struct StreamUndo {
    blocks: Box<Saved>,
    /// Last id, greatest deleted id, entries ever added.
    counters: Option<(StreamId, StreamId, u64)>,
    groups: BTreeMap<Box<[u8]>, GroupWas>,
    /// Bytes behind the groups, nearly.
    heap: usize,
}

/// What a group was.
#[derive(Debug, Clone)]
pub(super) enum GroupWas {
    /// It was not there.
    Absent,
    /// It was there, and differs in this.
    Changed(Box<GroupUndo>),
    /// It was there, and before it was removed it differed in this.
    Removed(Box<Group>, Option<Box<GroupUndo>>),
}

/// A group's changes: what was touched, as it was.
#[derive(Debug, Clone)]
pub(super) struct GroupUndo {
    last_id: StreamId,
    entries_read: Option<u64>,
    pending: BTreeMap<StreamId, Option<Pending>>,
    consumers: BTreeMap<Slot, Option<ConsumerWas>>,
    heap: usize,
}

#[derive(Debug, Clone)]
struct ConsumerWas {
    name: Box<[u8]>,
    seen: i64,
    active: i64,
}

impl StreamUndo {
    /// Bytes that it holds, nearly. O(1).
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.blocks.bytes() + self.heap
    }

    pub(super) fn note_new_group(&mut self, name: &[u8]) {
        if !self.groups.contains_key(name) {
            self.put_group(name, GroupWas::Absent);
        }
    }

    pub(super) fn note_gone_group(&mut self, name: &[u8], group: Group) {
        let bytes = group_bytes(name, &group);
        let was = match self.take_group(name) {
            None => GroupWas::Removed(Box::new(group), None),
            Some(GroupWas::Changed(changes)) => GroupWas::Removed(Box::new(group), Some(changes)),
            // It came into being meanwhile.
            Some(other) => other,
        };
        self.heap += bytes;
        self.put_group(name, was);
    }

    /// The journal of a group that is about to be changed; `None` when its changes need not be noted.
    pub(super) fn of_group(&mut self, name: &[u8], group: &Group) -> Option<Box<GroupUndo>> {
        match self.take_group(name) {
            None => Some(Box::new(GroupUndo {
                last_id: group.last_id,
                entries_read: group.entries_read,
                pending: BTreeMap::new(),
                consumers: BTreeMap::new(),
                heap: 0,
            })),
            Some(GroupWas::Changed(changes)) => Some(changes),
            Some(other) => {
                self.put_group(name, other);
                None
            }
        }
    }

    fn take_group(&mut self, name: &[u8]) -> Option<GroupWas> {
        let was = self.groups.remove(name)?;
        self.heap = self.heap.saturating_sub(NODE + name.len() + was.changes_bytes());
        Some(was)
    }

    pub(super) fn put_group(&mut self, name: &[u8], was: GroupWas) {
        self.heap += NODE + name.len() + was.changes_bytes();
        self.groups.insert(name.into(), was);
    }
}

impl GroupWas {
    fn changes_bytes(&self) -> usize {
        match self {
            GroupWas::Absent | GroupWas::Removed(_, None) => 0,
            GroupWas::Changed(changes) | GroupWas::Removed(_, Some(changes)) => changes.heap,
        }
    }
}

impl GroupUndo {
    /// A consumer was created at a slot that was free.
    pub(super) fn note_new_consumer(&mut self, slot: Slot) {
        self.heap += NODE;
        self.consumers.entry(slot).or_insert(None);
    }
}

impl Group {
    /// Notes a pending entry that is about to change.
    #[inline]
    pub(super) fn note_pending(&mut self, id: StreamId) {
        if let Some(journal) = &mut self.journal {
            journal.heap += NODE;
            journal.pending.entry(id).or_insert_with(|| self.pending.get(&id).copied());
        }
    }

    /// Notes a consumer that is about to change.
    #[inline]
    pub(super) fn note_consumer(&mut self, slot: Slot) {
        let Some(journal) = &mut self.journal else { return };
        let Some(Some(now)) = self.consumers.get(slot as usize) else { return };
        journal.consumers.entry(slot).or_insert_with(|| {
            journal.heap += NODE + now.name.len();
            Some(ConsumerWas { name: now.name.clone(), seen: now.seen, active: now.active })
        });
    }

    /// Notes a consumer that is about to go with its pending entries.
    pub(super) fn note_consumer_with_pending(&mut self, slot: Slot) {
        if self.journal.is_none() {
            return;
        }
        self.note_consumer(slot);
        let ids: Vec<StreamId> =
            self.consumer(slot).map_or(Vec::new(), |c| c.pending().iter().copied().collect());
        ids.into_iter().for_each(|id| self.note_pending(id));
    }

    fn undo(&mut self, was: GroupUndo) {
        (self.last_id, self.entries_read) = (was.last_id, was.entries_read);
        for id in was.pending.keys() {
            if let Some(now) = self.pending.remove(id)
                && let Some(Some(owner)) = self.consumers.get_mut(now.consumer as usize)
            {
                owner.pending.remove(id);
            }
        }
        let mut left: BTreeMap<Slot, BTreeSet<StreamId>> = BTreeMap::new();
        for slot in was.consumers.keys() {
            if let Some(now) = self.consumers.get_mut(*slot as usize).and_then(Option::take) {
                self.by_name.remove(&now.name);
                self.names -= 2 * now.name.len();
                left.insert(*slot, now.pending);
            }
        }
        for (slot, was) in was.consumers {
            let Some(ConsumerWas { name, seen, active }) = was else { continue };
            let pending = left.remove(&slot).unwrap_or_default();
            self.by_name.insert(name.clone(), slot);
            self.names += 2 * name.len();
            // A scope inside of this one may have given the place up.
            if self.consumers.len() <= slot as usize {
                self.consumers.resize_with(slot as usize + 1, || None);
            }
            self.consumers[slot as usize] = Some(Consumer { name, seen, active, pending });
        }
        for (id, was) in was.pending {
            let Some(was) = was else { continue };
            self.pending.insert(id, was);
            if let Some(Some(owner)) = self.consumers.get_mut(was.consumer as usize) {
                owner.pending.insert(id);
            }
        }
        while self.consumers.last().is_some_and(Option::is_none) {
            self.consumers.pop();
        }
        let free = self.consumers.iter().enumerate().filter(|(_, c)| c.is_none());
        self.free = free.map(|(slot, _)| slot as Slot).collect();
    }
}

impl Stream {
    /// Gives the stream a journal to note its changes in.
    pub(crate) fn keep_changes(&mut self, mut journal: Box<StreamUndo>) {
        journal.counters.get_or_insert((self.log.last_id, self.log.max_deleted, self.log.entries_added));
        self.log.entries.save_changes(std::mem::take(&mut journal.blocks));
        self.journal = Some(journal);
    }

    /// Takes the journal away.
    pub(crate) fn take_journal(&mut self) -> Option<Box<StreamUndo>> {
        let mut journal = self.journal.take()?;
        journal.blocks = self.log.entries.take_saved()?;
        Some(journal)
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, undo: StreamUndo) {
        self.log.entries.restore(*undo.blocks);
        if let Some((last_id, max_deleted, entries_added)) = undo.counters {
            self.log.last_id = last_id;
            self.log.max_deleted = max_deleted;
            self.log.entries_added = entries_added;
        }
        for (name, was) in undo.groups {
            if let Some(now) = self.groups.remove(&name) {
                self.groups_mem = self.groups_mem.saturating_sub(group_bytes(&name, &now));
                if let GroupWas::Changed(changes) = was {
                    self.put_back(name, now, Some(changes));
                    continue;
                }
            }
            if let GroupWas::Removed(group, changes) = was {
                self.put_back(name, *group, changes);
            }
        }
    }

    fn put_back(&mut self, name: Box<[u8]>, mut group: Group, changes: Option<Box<GroupUndo>>) {
        if let Some(changes) = changes {
            group.undo(*changes);
        }
        self.groups_mem += group_bytes(&name, &group);
        self.groups.insert(name, group);
    }
}
