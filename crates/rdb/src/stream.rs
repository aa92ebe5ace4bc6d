//! Streams.

use crate::error::Error;
use crate::input::{Input, Pause, Reader};
use crate::object::{rest, rest_part};
use crate::types;
use std::collections::{BTreeMap, BTreeSet};
use totality_ds::{Bytes, Listpack, Stream, StreamId};

/// A stream as it was read.
#[derive(Debug)]
pub struct StreamObject {
    /// The entries, all checked.
    pub entries: Stream,
    /// The id that was given last.
    pub last_id: StreamId,
    /// The greatest id that was deleted.
    pub max_deleted: StreamId,
    /// Entries that were ever added.
    pub entries_added: u64,
    /// The groups.
    pub groups: Vec<GroupObject>,
}

/// A consumer group.
#[derive(Debug)]
pub struct GroupObject {
    /// Its name.
    pub name: Bytes,
    /// The id that was delivered last.
    pub last_id: StreamId,
    /// Entries read so far: `None` when unknown, and in older versions, which do not say.
    pub entries_read: Option<u64>,
    /// An older version: the number of entries read is to be estimated.
    pub estimate: bool,
    /// The consumers.
    pub consumers: Vec<ConsumerObject>,
}

/// A consumer.
#[derive(Debug)]
pub struct ConsumerObject {
    /// Its name.
    pub name: Bytes,
    /// When it last tried to read, in milliseconds since the Unix epoch.
    pub seen: i64,
    /// When it last got something; -1: never.
    pub active: i64,
    /// What it did not acknowledge.
    pub pending: Vec<PendingObject>,
}

/// A delivery that was not acknowledged.
#[derive(Debug, Clone, Copy)]
pub struct PendingObject {
    /// The entry.
    pub id: StreamId,
    /// When it was delivered, in milliseconds since the Unix epoch.
    pub time: i64,
    /// How often it was delivered.
    pub count: u64,
}

fn id_as_lengths<I: Input>(r: &mut Reader<I>) -> Result<StreamId, Error> {
    Ok(StreamId { ms: r.length()?, seq: r.length()? })
}

pub(crate) fn read<I: Input>(r: &mut Reader<I>, ty: u8, pause: Pause<'_>) -> Result<StreamObject, Error> {
    let mut entries = Stream::new();
    for i in 0..r.length()? {
        let key = r.string()?;
        let Ok(key) = <[u8; 16]>::try_from(&key[..]) else {
            return Err(r.corrupt("Stream node key entry is not the size of a stream ID"));
        };
        let block = Listpack::from_vec(r.blob()?)
            .map_err(|_| r.corrupt("Stream listpack integrity check failed."))?;
        if block.is_empty() {
            return Err(r.corrupt("Empty listpack inside stream"));
        }
        entries
            .push_block(StreamId::from_be_bytes(key), block)
            .map_err(|_| r.corrupt("Stream listpack integrity check failed."))?;
        rest_part(r, i, pause)?;
    }
    let len = r.length()?;
    if len != entries.len() {
        return Err(r.corrupt("Stream length inconsistent with its entries"));
    }
    let last_id = id_as_lengths(r)?;
    let (mut max_deleted, mut entries_added) = (StreamId::MIN, len);
    if ty >= types::STREAM_2 {
        // The first entry's id follows from the entries.
        id_as_lengths(r)?;
        max_deleted = id_as_lengths(r)?;
        entries_added = r.length()?;
    }
    if entries.last_id().is_some_and(|last| last > last_id) {
        return Err(r.corrupt("Stream's last ID is smaller than that of its last entry"));
    }
    let mut groups = Vec::new();
    let mut names = BTreeSet::new();
    for _ in 0..r.length()? {
        let group = group(r, ty, pause)?;
        if !names.insert(group.name.to_vec()) {
            return Err(r.corrupt("Duplicated consumer group name"));
        }
        groups.push(group);
    }
    Ok(StreamObject { entries, last_id, max_deleted, entries_added, groups })
}

fn group<I: Input>(r: &mut Reader<I>, ty: u8, pause: Pause<'_>) -> Result<GroupObject, Error> {
    let name = r.string()?;
    let last_id = id_as_lengths(r)?;
    let entries_read = if ty >= types::STREAM_2 {
        // All bits set: unknown.
        Some(r.length()?).filter(|n| *n <= i64::MAX as u64)
    } else {
        None
    };
    // What is known of each pending entry, and whether a consumer has it.
    let mut pending: BTreeMap<StreamId, (PendingObject, bool)> = BTreeMap::new();
    for i in 0..r.length()? {
        let id = r.id()?;
        let entry = PendingObject { id, time: r.millis()?, count: r.length()? };
        if pending.insert(id, (entry, false)).is_some() {
            return Err(r.corrupt("Duplicated global PEL entry loading stream consumer group"));
        }
        rest(r, i, pause)?;
    }
    let mut consumers = Vec::new();
    let mut names = BTreeSet::new();
    for _ in 0..r.length()? {
        let name = r.string()?;
        if !names.insert(name.to_vec()) {
            return Err(r.corrupt("Duplicate stream consumer detected"));
        }
        let seen = r.millis()?;
        let active = if ty >= types::STREAM_3 { r.millis()? } else { seen };
        let mut own = Vec::new();
        for i in 0..r.length()? {
            let id = r.id()?;
            match pending.get_mut(&id) {
                Some((entry, taken)) if !*taken => {
                    *taken = true;
                    own.push(*entry);
                }
                Some(_) => {
                    return Err(r.corrupt("Duplicated consumer PEL entry loading a stream consumer group"));
                }
                None => return Err(r.corrupt("Consumer entry not found in group global PEL")),
            }
            rest(r, i, pause)?;
        }
        consumers.push(ConsumerObject { name, seen, active, pending: own });
    }
    // Bit by bit: to free all at once takes long.
    let mut count = 0;
    while let Some((_, (_, taken))) = pending.pop_first() {
        if !taken {
            return Err(r.corrupt("NACK entry without consumer"));
        }
        rest(r, count, pause)?;
        count += 1;
    }
    Ok(GroupObject { name, last_id, entries_read, estimate: ty < types::STREAM_2, consumers })
}
