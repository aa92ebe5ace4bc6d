//! Slots of commands and of the data set.

use super::SLOTS;
use crate::client::Multi;
use crate::commands::Command;
use crate::error::CmdError;
use crate::keys;
use crate::keyspace::Keyspace;
use std::ops::Range;
use std::sync::LazyLock;
use totality_ds::crc::{crc16, key_slot};

/// Keys of one command, or of one transaction, in more than one slot.
pub(crate) const CROSS_SLOT: CmdError =
    CmdError::new("CROSSSLOT Keys in request don't hash to the same slot");

/// The slot of all keys of a command, `None` without keys. EXEC has the keys of what is queued.
///
/// # Errors
/// [`CROSS_SLOT`].
pub(crate) fn slot_of(
    command: &Command,
    argv: &[&[u8]],
    multi: Option<&Multi>,
) -> Result<Option<u16>, CmdError> {
    let mut slot = None;
    if command.spec.name != "exec" {
        add(&mut slot, command, argv)?;
        return Ok(slot);
    }
    for queued in multi.into_iter().flat_map(|multi| &multi.queue) {
        let argv: Vec<&[u8]> = queued.argv.iter().map(|arg| &**arg).collect();
        add(&mut slot, queued.command, &argv)?;
    }
    Ok(slot)
}

fn add(slot: &mut Option<u16>, command: &Command, argv: &[&[u8]]) -> Result<(), CmdError> {
    if command.spec.keys.is_empty() {
        return Ok(());
    }
    // Arguments that make no sense have no keys: the command itself will say what is wrong.
    let Ok(keys) = keys::find_routed(command.spec, argv) else { return Ok(()) };
    for (at, _) in keys {
        let next = key_slot(argv[at]);
        if slot.replace(next).is_some_and(|first| first != next) {
            return Err(CROSS_SLOT);
        }
    }
    Ok(())
}

/// A number that names a slot.
pub(crate) fn slot_number(n: i64) -> Option<u16> {
    u16::try_from(n).ok().filter(|slot| usize::from(*slot) < SLOTS)
}

/// An argument that names a slot.
///
/// # Errors
/// In Redis's words.
pub(crate) fn slot_arg(arg: &[u8]) -> Result<u16, CmdError> {
    const BAD: CmdError = CmdError::new("ERR Invalid or out of range slot");
    crate::util::parse_i64(arg).and_then(slot_number).ok_or(BAD)
}

/// Digits and letters in the order in which tags are tried.
const TAG_BYTES: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Texts of up to three letters by the slot that they hash to, the shortest first. Made once, in about 30,000 steps.
static TAGS: LazyLock<Vec<[u8; 3]>> = LazyLock::new(|| {
    let mut tags = vec![[0; 3]; SLOTS];
    let mut left = SLOTS;
    let mut add = |tag: [u8; 3]| {
        let len = tag.iter().take_while(|byte| **byte != 0).count();
        let place = &mut tags[usize::from(crc16(&tag[..len])) % SLOTS];
        if place[0] == 0 {
            *place = tag;
            left -= 1;
        }
        left == 0
    };
    let one = TAG_BYTES.iter().map(|a| [*a, 0, 0]);
    let two = TAG_BYTES.iter().flat_map(|a| TAG_BYTES.iter().map(move |b| [*a, *b, 0]));
    let pairs = TAG_BYTES.iter().flat_map(|a| TAG_BYTES.iter().map(move |b| (*a, *b)));
    let three = pairs.flat_map(|(a, b)| TAG_BYTES.iter().map(move |c| [a, b, *c]));
    let _all = one.chain(two).chain(three).any(&mut add);
    tags
});

/// A short text that hashes to a slot.
pub(crate) fn tag_of(slot: u16) -> &'static str {
    let tag = &TAGS[usize::from(slot) % SLOTS];
    let len = tag.iter().take_while(|byte| **byte != 0).count();
    std::str::from_utf8(&tag[..len]).unwrap_or_default()
}

/// Numbers of keys by slot. Counted when somebody asks and the data set is not what it was the last time: one pass
/// over the keys, and nothing on the way of those who change them.
#[derive(Debug, Default)]
pub(crate) struct SlotCounts {
    counts: Vec<u32>,
    /// The databases that were counted, and what the data set looked like.
    seen: Option<(Range<usize>, [u64; 3], usize)>,
}

impl SlotCounts {
    /// The numbers of keys of all slots, of all databases together.
    pub(crate) fn of(&mut self, ks: &Keyspace) -> &[u32] {
        self.count(ks, 0..ks.dbs().len())
    }

    /// The same of one database.
    pub(crate) fn of_db(&mut self, ks: &Keyspace, db: usize) -> &[u32] {
        self.count(ks, db..db + 1)
    }

    fn count(&mut self, ks: &Keyspace, of: Range<usize>) -> &[u32] {
        let dbs = &ks.dbs()[of.clone()];
        let keys = dbs.iter().map(|db| db.len()).sum();
        let now = Some((of, [ks.dirty, ks.stats.expired, ks.stats.evicted], keys));
        if self.seen != now || self.counts.is_empty() {
            self.counts.clear();
            self.counts.resize(SLOTS, 0);
            for entry in dbs.iter().flat_map(|db| db.dict().iter()) {
                self.counts[usize::from(key_slot(&entry.key))] += 1;
            }
            self.seen = now;
        }
        &self.counts
    }

    /// Up to `max` keys of a slot, of the database that is selected.
    pub(crate) fn keys<'k>(&mut self, ks: &'k Keyspace, slot: u16, max: usize) -> Vec<&'k [u8]> {
        let max = max.min(self.of_db(ks, ks.cur)[usize::from(slot)] as usize);
        let keys = ks.dbs()[ks.cur].dict().iter().map(|entry| &*entry.key);
        keys.filter(|key| key_slot(key) == slot).take(max).collect()
    }
}

/// The slot of all keys that a pattern matches, `None` when they may be in several.
pub(crate) fn pattern_slot(pattern: &[u8]) -> Option<u16> {
    let mut open = None;
    let mut tagged = true;
    for (i, byte) in pattern.iter().enumerate() {
        match byte {
            b'*' | b'?' | b'[' | b'\\' => return None,
            b'{' if tagged && open.is_none() => open = Some(i),
            // An empty tag is none: the whole key is hashed.
            b'}' if open == i.checked_sub(1) && open.is_some() => (open, tagged) = (None, false),
            b'}' if open.is_some() => return open.map(|open| crc16(&pattern[open + 1..i]) % SLOTS as u16),
            _ => {}
        }
    }
    Some(crc16(pattern) % SLOTS as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_a_tag() {
        for slot in 0..SLOTS as u16 {
            assert_eq!(key_slot(tag_of(slot).as_bytes()), slot);
        }
        // The texts that Valkey's nodes put in their cursors.
        assert_eq!([0, 1, 582, 1649, 10088, 16383].map(tag_of), ["06S", "Qi", "b9D", "bQs", "aTL", "6ZJ"]);
    }

    #[test]
    fn a_pattern_has_a_slot_when_its_tag_is_fixed() {
        assert_eq!(pattern_slot(b"{user}:*"), Some(key_slot(b"user")));
        assert_eq!(pattern_slot(b"w_*"), None);
        assert_eq!(pattern_slot(b"*{user}"), None);
        assert_eq!(pattern_slot(b"{}{user}:x"), Some(key_slot(b"{}{user}:x")));
        assert_eq!(pattern_slot(b"plain"), Some(key_slot(b"plain")));
    }
}
