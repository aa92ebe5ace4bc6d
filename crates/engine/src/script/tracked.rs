//! What ran: counters of each script and function. Their number is bounded, and counting allocates nothing once a
//! script is known.

use super::cache::Sha;
use super::meta::Meta;
use super::rollback::{Reason, Rollbacks};
use crate::client::{Client, ClientId};
use std::collections::HashMap;
use std::sync::Arc;

/// Steps between two powers of two.
const STEPS: usize = 4;
/// Powers of two above the first sixteen microseconds.
const OCTAVES: usize = 32;
/// Counters of a histogram.
const BUCKETS: usize = 16 + STEPS * OCTAVES;

/// Durations in microseconds: exact up to 16, then four steps to each power of two.
#[derive(Clone)]
pub struct Durations([u32; BUCKETS]);

impl Default for Durations {
    fn default() -> Self {
        Durations([0; BUCKETS])
    }
}

impl Durations {
    fn bucket(us: u64) -> usize {
        if us < 16 {
            return us as usize;
        }
        let octave = us.ilog2() as usize - 4;
        let step = (us >> (us.ilog2() - 2)) as usize & (STEPS - 1);
        (16 + octave * STEPS + step).min(BUCKETS - 1)
    }

    /// The greatest duration that a counter counts.
    fn highest(bucket: usize) -> u64 {
        if bucket < 16 {
            return bucket as u64;
        }
        let (octave, step) = ((bucket - 16) / STEPS, (bucket - 16) % STEPS);
        ((STEPS + step + 1) as u64) * (1 << (octave + 2)) - 1
    }

    #[inline]
    fn record(&mut self, us: u64) {
        let count = &mut self.0[Self::bucket(us)];
        *count = count.saturating_add(1);
    }

    /// The duration in microseconds that `percent` of all do not exceed, at most a quarter too long.
    pub fn percentile(&self, percent: u64) -> u64 {
        let total: u64 = self.0.iter().map(|n| u64::from(*n)).sum();
        let wanted = (total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.0.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return Self::highest(bucket);
            }
        }
        0
    }
}

/// What is tracked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// A script, by its SHA1.
    Script(Sha),
    /// A function, by its name.
    Function(Box<[u8]>),
}

/// Counters of one script or function.
pub struct Tracked {
    /// What it is.
    pub id: Id,
    /// What it says of itself.
    pub meta: Arc<Meta>,
    /// Counters.
    pub counts: Counts,
    /// Names this entry for ever: its place may be another's later.
    serial: u64,
    /// Used since the hand passed.
    recent: bool,
}

/// Most codes and error prefixes of one script that are told apart.
const KINDS: usize = 16;

/// Counters.
#[derive(Default, Clone)]
pub struct Counts {
    /// Runs.
    pub calls: u64,
    /// Runs that answered an error.
    pub failed: u64,
    /// Answers of EVALSHA that it is not in the cache.
    pub noscripts: u64,
    /// Runs stopped by SCRIPT KILL or FUNCTION KILL.
    pub kills: u64,
    /// Microseconds in all.
    pub usec: u64,
    /// The longest run, in microseconds.
    pub max_usec: u64,
    /// Microseconds of processor time in all. Short runs are not measured: they count as they lasted.
    pub cpu_usec: u64,
    /// Commands that it called.
    pub commands: u64,
    /// Write commands that it called.
    pub writes: u64,
    /// Most bytes that a run held in the Lua heap.
    pub max_bytes: usize,
    /// What was taken back.
    pub rollbacks: Rollbacks,
    /// Errors by their first word.
    pub errors: Vec<(Box<[u8]>, u64)>,
    /// Result codes: integer answers, and the first elements of arrays.
    pub codes: Vec<(i64, u64)>,
    /// Answers with a code that found no room in `codes`.
    pub other_codes: u64,
    /// Durations.
    pub durations: Durations,
    /// Who ran it last.
    pub caller: Caller,
}

/// Who ran a script last.
#[derive(Debug, Default, Clone)]
pub struct Caller {
    /// The client.
    pub client: Option<ClientId>,
    /// What it was when it left; while it is there, it is asked itself.
    pub gone: Option<Box<Identity>>,
    /// When, in microseconds since the Unix epoch.
    pub at_us: u64,
}

/// What a client is known by.
#[derive(Debug, Default, Clone)]
pub struct Identity {
    /// Address.
    pub addr: String,
    /// Name of the client.
    pub name: Vec<u8>,
    /// ACL user.
    pub user: Vec<u8>,
}

impl Identity {
    /// What a client is known by now.
    pub fn of(client: &Client) -> Identity {
        Identity {
            addr: client.conn.addr.to_string(),
            name: client.name.clone(),
            user: client.user.name.clone(),
        }
    }
}

/// How a run ended, as far as the run itself knows.
pub struct Outcome {
    /// Whose.
    pub slot: u32,
    /// Its result code, if it has one.
    pub code: Option<i64>,
    /// First word of the error that it answered.
    pub error: Option<Box<[u8]>>,
    /// Why it was taken back.
    pub rollback: Option<Reason>,
    /// It was killed.
    pub killed: bool,
    /// Processor time in microseconds where it was measured.
    pub cpu_usec: Option<u64>,
    /// Commands that it called.
    pub commands: u64,
    /// Write commands among them.
    pub writes: u64,
    /// Bytes of the Lua heap at its end.
    pub bytes: usize,
}

/// All that is tracked.
#[derive(Default)]
pub struct Tracker {
    entries: Vec<Tracked>,
    places: HashMap<Id, u32>,
    /// Where the search for a place to reuse goes on.
    hand: usize,
    serial: u64,
    /// A run that ended and its processor time where it was measured, until the gate knows how long it took.
    pending: Option<(u32, Option<u64>)>,
    /// Answers of EVALSHA that a script is not in the cache.
    pub noscripts: u64,
    /// Runs that were killed.
    pub kills: u64,
}

/// No place.
pub const NOWHERE: u32 = u32::MAX;

impl Tracker {
    /// All entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Tracked> {
        self.entries.iter()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry at a place.
    pub fn get(&self, place: u32) -> Option<&Tracked> {
        self.entries.get(place as usize)
    }

    /// Bytes that all this takes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Tracked>()
    }

    /// The place of a script that begins to run. `hint` is where it was the last time.
    #[inline]
    pub fn enter_script(
        &mut self,
        hint: u32,
        sha: &Sha,
        max: usize,
        meta: impl FnOnce() -> Arc<Meta>,
    ) -> u32 {
        if (hint as usize) < max
            && let Some(entry) = self.entries.get_mut(hint as usize)
            && matches!(&entry.id, Id::Script(own) if own == sha)
        {
            entry.recent = true;
            return hint;
        }
        self.enter(Id::Script(*sha), max, meta)
    }

    /// The same for a function.
    #[inline]
    pub fn enter_function(
        &mut self,
        hint: u32,
        name: &[u8],
        max: usize,
        meta: impl FnOnce() -> Arc<Meta>,
    ) -> u32 {
        if (hint as usize) < max
            && let Some(entry) = self.entries.get_mut(hint as usize)
            && matches!(&entry.id, Id::Function(own) if **own == *name)
        {
            entry.recent = true;
            return hint;
        }
        self.enter(Id::Function(name.into()), max, meta)
    }

    #[cold]
    fn enter(&mut self, id: Id, max: usize, meta: impl FnOnce() -> Arc<Meta>) -> u32 {
        self.shrink(max);
        if max == 0 {
            return NOWHERE;
        }
        if let Some(place) = self.places.get(&id).copied() {
            if let Some(entry) = self.entries.get_mut(place as usize) {
                entry.recent = true;
                // The library may have been replaced.
                entry.meta = meta();
            }
            return place;
        }
        self.serial += 1;
        let entry = Tracked {
            id: id.clone(),
            meta: meta(),
            counts: Counts::default(),
            serial: self.serial,
            recent: true,
        };
        let place = if self.entries.len() < max { self.entries.len() } else { self.victim() };
        match self.entries.get_mut(place) {
            Some(old) => {
                self.places.remove(&old.id);
                *old = entry;
            }
            None => self.entries.push(entry),
        }
        self.places.insert(id, place as u32);
        place as u32
    }

    /// A place whose script was not used since the hand passed last.
    fn victim(&mut self) -> usize {
        for _ in 0..2 * self.entries.len() {
            self.hand = (self.hand + 1) % self.entries.len();
            if !std::mem::take(&mut self.entries[self.hand].recent) {
                break;
            }
        }
        self.hand
    }

    /// Drops entries past `max`.
    fn shrink(&mut self, max: usize) {
        if self.entries.len() <= max {
            return;
        }
        for entry in self.entries.drain(max.min(self.entries.len())..) {
            self.places.remove(&entry.id);
        }
        self.hand = 0;
    }

    /// Counts what a run knows of its end; [`Tracker::ended`] counts the rest.
    #[inline]
    pub fn finish(&mut self, outcome: Outcome) {
        let Some(entry) = self.entries.get_mut(outcome.slot as usize) else { return };
        let counts = &mut entry.counts;
        counts.commands += outcome.commands;
        counts.writes += outcome.writes;
        counts.max_bytes = counts.max_bytes.max(outcome.bytes);
        if let Some(code) = outcome.code {
            counts.code(code);
        }
        if let Some(error) = outcome.error {
            counts.failed += 1;
            counts.error(error);
        }
        if let Some(reason) = outcome.rollback {
            counts.rollbacks.count(reason);
        }
        if outcome.killed {
            counts.kills += 1;
            self.kills += 1;
        }
        self.pending = Some((outcome.slot, outcome.cpu_usec));
    }

    /// Counts the run that just ended.
    #[inline]
    pub fn ended(&mut self, usec: u64, client: ClientId, now_us: u64) {
        let Some((place, cpu_usec)) = self.pending.take() else { return };
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        let counts = &mut entry.counts;
        counts.calls += 1;
        counts.usec += usec;
        counts.max_usec = counts.max_usec.max(usec);
        counts.cpu_usec += cpu_usec.unwrap_or(usec);
        counts.durations.record(usec);
        counts.caller.client = Some(client);
        counts.caller.at_us = now_us;
    }

    /// A client that ran scripts leaves: what it was known by stays.
    #[cold]
    pub fn leaves(&mut self, client: &Client) {
        for entry in &mut self.entries {
            let caller = &mut entry.counts.caller;
            if caller.client == Some(client.id) {
                caller.gone = Some(Box::new(Identity::of(client)));
            }
        }
    }

    /// EVALSHA found nothing.
    #[cold]
    pub fn missed(&mut self, sha: &Sha) {
        self.noscripts += 1;
        if let Some(place) = self.places.get(&Id::Script(*sha))
            && let Some(entry) = self.entries.get_mut(*place as usize)
        {
            entry.counts.noscripts += 1;
        }
    }

    /// The entry that a SHA1 in hexadecimal digits or a name means; of several with this name the one used last.
    pub fn find(&self, word: &[u8]) -> Option<&Tracked> {
        self.entries.get(self.position(word)?)
    }

    fn position(&self, word: &[u8]) -> Option<usize> {
        if let Some(place) = super::cache::parse_hex(word).and_then(|sha| self.places.get(&Id::Script(sha))) {
            return Some(*place as usize);
        }
        let named = |(_, entry): &(usize, &Tracked)| {
            entry.meta.name.as_bytes() == word
                || entry.meta.label().is_some_and(|label| label.as_bytes() == word)
                || matches!(&entry.id, Id::Function(name) if **name == *word)
        };
        let found = self.entries.iter().enumerate().filter(named);
        found.max_by_key(|(_, entry)| entry.counts.caller.at_us).map(|(place, _)| place)
    }

    /// Sets the counters of one entry, or of all, to zero. False when there is no such entry.
    pub fn reset(&mut self, word: Option<&[u8]>) -> bool {
        let Some(word) = word else {
            self.entries.iter_mut().for_each(|entry| entry.counts = Counts::default());
            (self.noscripts, self.kills) = (0, 0);
            return true;
        };
        let entry = self.position(word).and_then(|place| self.entries.get_mut(place));
        entry.map(|entry| entry.counts = Counts::default()).is_some()
    }

    /// What a client keeps of the script that it ran: see [`Tracker::label_of`].
    #[inline]
    pub fn ticket(&self, place: u32) -> Ticket {
        Ticket { place, serial: self.entries.get(place as usize).map_or(0, |entry| entry.serial) }
    }

    /// The name of the script that a client ran, while it is tracked and has one.
    pub fn label_of(&self, ticket: Ticket) -> Option<String> {
        let entry = self.entries.get(ticket.place as usize).filter(|entry| entry.serial == ticket.serial)?;
        entry.meta.label()
    }
}

/// Which script a client ran.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    place: u32,
    serial: u64,
}

impl Counts {
    fn code(&mut self, code: i64) {
        if let Some((_, n)) = self.codes.iter_mut().find(|(c, _)| *c == code) {
            *n += 1;
        } else if self.codes.len() < KINDS {
            self.codes.push((code, 1));
        } else {
            self.other_codes += 1;
        }
    }

    #[cold]
    fn error(&mut self, code: Box<[u8]>) {
        if let Some((_, n)) = self.errors.iter_mut().find(|(c, _)| *c == code) {
            *n += 1;
        } else if self.errors.len() < KINDS {
            self.errors.push((code, 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(n: u8) -> Sha {
        [n; 20]
    }

    #[test]
    fn durations_are_right_to_a_quarter() {
        let mut d = Durations::default();
        for us in 0..100_000 {
            d.record(us);
        }
        for percent in [50, 99, 100] {
            let (found, exact) = (d.percentile(percent), percent * 1000);
            assert!(found + 1 >= exact && found <= exact * 5 / 4, "{percent}: {found}");
        }
        for us in (0..64).map(|bit| 1u64 << bit) {
            assert!(Durations::highest(Durations::bucket(us)) >= us.min(Durations::highest(BUCKETS - 1)));
        }
        assert_eq!(Durations::default().percentile(99), 0);
    }

    #[test]
    fn the_number_of_entries_is_bounded_and_what_is_used_stays() {
        let mut t = Tracker::default();
        let mut kept = NOWHERE;
        for n in 0..100 {
            kept = t.enter_script(kept, &sha(0), 8, Arc::default);
            t.enter_script(NOWHERE, &sha(n), 8, Arc::default);
            assert!(t.len() <= 8);
        }
        assert!(t.places.contains_key(&Id::Script(sha(0))));
        assert_eq!(t.places.len(), t.len());
        let ticket = t.ticket(kept);
        t.enter_script(NOWHERE, &sha(200), 1, Arc::default);
        assert_eq!(t.len(), 1);
        assert_eq!(t.label_of(ticket), None);
        assert_eq!(t.enter_script(NOWHERE, &sha(201), 0, Arc::default), NOWHERE);
    }
}
