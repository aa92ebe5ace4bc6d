//! What leaves a unit of execution: commands for replicas and the append-only file, published messages, keyspace
//! events. They are collected and released at the unit's end, or truncated to a mark when a scope is taken back.

use crate::client::ClientId;
use crate::notify::{Class, Event};
use std::collections::{HashSet, VecDeque};

/// Who is to see a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets {
    /// The append-only file.
    pub log: bool,
    /// Replicas.
    pub replicas: bool,
}

impl Targets {
    /// Both.
    pub const ALL: Targets = Targets { log: true, replicas: true };

    fn none(self) -> bool {
        !self.log && !self.replicas
    }
}

/// A command to be replayed elsewhere, written out once.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    /// Its database.
    db: usize,
    /// Where its bytes end; they begin at `start`.
    start: usize,
    end: usize,
    to: Targets,
}

/// Bytes that the buffer of commands keeps from one unit to the next.
const KEPT: usize = 1 << 20;

/// A message for subscribers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The channel.
    pub channel: Vec<u8>,
    /// The payload.
    pub message: Vec<u8>,
    /// Published by SPUBLISH.
    pub sharded: bool,
}

/// What concerns clients that cache keys, in the order in which it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Track {
    /// A client read a key.
    Read(ClientId, Box<[u8]>),
    /// A key changed, on behalf of a client or by itself.
    Changed(Box<[u8]>, Option<ClientId>),
    /// Databases were emptied.
    Flushed,
}

/// The buffer of effects.
#[derive(Debug)]
pub struct Effects {
    /// Somebody replays commands (a replica, the append-only file). When nobody does, none are collected.
    pub recording: bool,
    /// The command in progress said itself what is to be replayed.
    pub(crate) rewritten: bool,
    /// `redis.set_repl`: who is to see the commands of a script.
    pub(crate) targets: Targets,
    /// The collected commands do not belong together: keys that the expiry cycle, SCAN or RANDOMKEY deleted.
    pub(crate) apart: bool,
    /// `lazyfree-lazy-expire`: replicas free what expires later.
    pub(crate) lazy_expire: bool,
    /// `lazyfree-lazy-eviction`: replicas free what is evicted later.
    pub(crate) lazy_evict: bool,
    /// Somebody caches keys. When nobody does, reads and changes are not collected.
    pub(crate) tracking: bool,
    /// The client on whose behalf the unit runs.
    pub(crate) actor: Option<ClientId>,
    tracks: Vec<Track>,
    commands: Vec<Recorded>,
    /// What they look like on the wire, one after the other; in between may lie what was taken back.
    bytes: Vec<u8>,
    published: Vec<Published>,
    /// Keys that became ready for clients that wait for them, each once, in order.
    ready: VecDeque<(usize, Box<[u8]>)>,
    is_ready: HashSet<(usize, Box<[u8]>)>,
    /// What is collected now stays though a scope is taken back.
    lasting: bool,
    /// Positions of what stays: among commands, messages, ready keys, tracks.
    stays: [Vec<usize>; 4],
}

impl Default for Effects {
    fn default() -> Self {
        Effects {
            recording: false,
            rewritten: false,
            targets: Targets::ALL,
            apart: false,
            lazy_expire: false,
            lazy_evict: false,
            tracking: false,
            actor: None,
            tracks: Vec::new(),
            commands: Vec::new(),
            bytes: Vec::new(),
            published: Vec::new(),
            ready: VecDeque::new(),
            is_ready: HashSet::new(),
            lasting: false,
            stays: Default::default(),
        }
    }
}

/// How much was collected when a scope began.
#[derive(Debug, Clone, Copy)]
pub struct EffectsMark([usize; 4]);

impl Effects {
    /// Says who is to see the commands that come (`redis.set_repl`).
    pub fn set_targets(&mut self, targets: Targets) {
        self.targets = targets;
    }

    /// Collects a command for replay in database `db`.
    #[inline]
    pub fn command(&mut self, db: usize, argv: &[&[u8]]) {
        self.command_to(db, argv, self.targets);
    }

    /// The same for some only.
    #[inline]
    pub(crate) fn command_to(&mut self, db: usize, argv: &[&[u8]], to: Targets) {
        if self.recording && !to.none() {
            self.record(db, argv, to);
        }
    }

    /// Collects a command that all are to see, whatever a script wants: a deletion that time brought.
    pub(crate) fn always(&mut self, db: usize, argv: &[&[u8]]) {
        if self.recording {
            self.record(db, argv, Targets::ALL);
        }
    }

    fn record(&mut self, db: usize, argv: &[&[u8]], to: Targets) {
        self.note_lasting(0);
        let start = self.bytes.len();
        render(argv, &mut self.bytes);
        self.commands.push(Recorded { db, start, end: self.bytes.len(), to });
    }

    /// The command by which replicas delete a key past its deadline.
    pub(crate) fn expired_by(&self) -> &'static [u8] {
        if self.lazy_expire { b"UNLINK" } else { b"DEL" }
    }

    /// A key was deleted because of its deadline.
    pub(crate) fn deletion(&mut self, db: usize, key: &[u8]) {
        self.gone(db, key, self.expired_by());
    }

    /// A key was deleted for memory.
    pub(crate) fn eviction(&mut self, db: usize, key: &[u8]) {
        self.gone(db, key, if self.lazy_evict { b"UNLINK" } else { b"DEL" });
    }

    fn gone(&mut self, db: usize, key: &[u8], by: &'static [u8]) {
        // To all: a replica must not keep what is gone here.
        self.always(db, &[by, key]);
    }

    /// Collects a message for subscribers.
    pub fn publish(&mut self, channel: &[u8], message: &[u8], sharded: bool) {
        self.note_lasting(1);
        self.published.push(Published { channel: channel.to_vec(), message: message.to_vec(), sharded });
    }

    /// Collects the messages of a keyspace event.
    pub(crate) fn event(&mut self, selected: Class, db: usize, key: &[u8], event: Event) {
        if selected.contains(Class::KEYSPACE) {
            let mut channel = format!("__keyspace@{db}__:").into_bytes();
            channel.extend_from_slice(key);
            self.publish(&channel, event.name.as_bytes(), false);
        }
        if selected.contains(Class::KEYEVENT) {
            self.publish(format!("__keyevent@{db}__:{}", event.name).as_bytes(), key, false);
        }
    }

    /// A key changed: clients that cache it must forget it.
    #[inline]
    pub(crate) fn invalidate(&mut self, key: &[u8]) {
        if self.tracking {
            self.track(Track::Changed(key.into(), self.actor));
        }
    }

    /// A key went by itself: because of its deadline or for memory.
    #[inline]
    pub(crate) fn invalidate_gone(&mut self, key: &[u8]) {
        if self.tracking {
            self.track(Track::Changed(key.into(), None));
        }
    }

    /// Databases were emptied: clients must forget all that they cache.
    pub(crate) fn invalidate_all(&mut self) {
        if self.tracking {
            self.track(Track::Flushed);
        }
    }

    /// A client read a key and wants to hear when it changes.
    pub(crate) fn note_read(&mut self, client: ClientId, key: &[u8]) {
        self.tracks.push(Track::Read(client, key.into()));
    }

    #[cold]
    fn track(&mut self, track: Track) {
        self.note_lasting(3);
        self.tracks.push(track);
    }

    /// Takes what concerns clients that cache keys.
    pub(crate) fn take_tracks(&mut self) -> Vec<Track> {
        std::mem::take(&mut self.tracks)
    }

    /// A key that clients wait for is there.
    #[cold]
    pub(crate) fn mark_ready(&mut self, db: usize, key: &[u8]) {
        if self.is_ready.insert((db, key.into())) {
            self.note_lasting(2);
            self.ready.push_back((db, key.into()));
        }
    }

    /// Takes the key that became ready first.
    pub(crate) fn take_ready(&mut self) -> Option<(usize, Box<[u8]>)> {
        let slot = self.ready.pop_front()?;
        self.is_ready.remove(&slot);
        Some(slot)
    }

    /// True when a key became ready.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Says whether what comes now stays though a scope is taken back: deletions of keys past their deadline.
    #[inline]
    pub(crate) fn set_lasting(&mut self, lasting: bool) {
        self.lasting = lasting;
    }

    fn counts(&self) -> [usize; 4] {
        [self.commands.len(), self.published.len(), self.ready.len(), self.tracks.len()]
    }

    fn note_lasting(&mut self, kind: usize) {
        if self.lasting {
            let at = self.counts()[kind];
            self.stays[kind].push(at);
        }
    }

    /// How much is collected: a mark for [`Effects::truncate`].
    pub fn mark(&self) -> EffectsMark {
        EffectsMark(self.counts())
    }

    /// Forgets what was collected after a mark was taken, but for what stays.
    pub fn truncate(&mut self, mark: EffectsMark) {
        let [commands, published, ready, tracks] = mark.0;
        let gone = keep(self.commands.len(), commands, &mut self.stays[0], |a, b| self.commands.swap(a, b));
        self.commands.truncate(gone);
        self.bytes.truncate(self.commands.last().map_or(0, |command| command.end));
        let gone =
            keep(self.published.len(), published, &mut self.stays[1], |a, b| self.published.swap(a, b));
        self.published.truncate(gone);
        let gone = keep(self.ready.len(), ready, &mut self.stays[2], |a, b| self.ready.swap(a, b));
        for slot in self.ready.drain(gone..) {
            self.is_ready.remove(&slot);
        }
        self.truncate_tracks(tracks);
    }

    /// What was read is remembered though the scope is taken back: it was sent.
    fn truncate_tracks(&mut self, mark: usize) {
        let stays = std::mem::take(&mut self.stays[3]);
        let came: Vec<Track> = self.tracks.drain(mark.min(self.tracks.len())..).collect();
        for (at, track) in (mark..).zip(came) {
            if matches!(track, Track::Read(..)) || stays.binary_search(&at).is_ok() {
                if !matches!(track, Track::Read(..)) {
                    self.stays[3].push(self.tracks.len());
                }
                self.tracks.push(track);
            }
        }
        self.stays[3].splice(0..0, stays.into_iter().filter(|at| *at < mark));
    }

    /// No scope is open any more: what stays need not be known.
    pub(crate) fn end_scopes(&mut self) {
        self.stays.iter_mut().for_each(Vec::clear);
    }

    /// True when nothing was collected.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
            && self.published.is_empty()
            && self.ready.is_empty()
            && self.tracks.is_empty()
    }

    /// Forgets everything that was collected.
    pub(crate) fn forget(&mut self) {
        self.commands.clear();
        self.bytes.clear();
        self.published.clear();
        self.ready.clear();
        self.is_ready.clear();
    }

    /// True when commands were collected.
    #[inline]
    pub(crate) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Takes the collected commands.
    pub(crate) fn take_commands(&mut self) -> Unit {
        let apart = std::mem::take(&mut self.apart);
        Unit { commands: std::mem::take(&mut self.commands), bytes: std::mem::take(&mut self.bytes), apart }
    }

    /// Gives back the memory of commands that were sent.
    pub(crate) fn reuse(&mut self, unit: Unit) {
        let Unit { mut commands, mut bytes, .. } = unit;
        if bytes.capacity() <= KEPT && commands.capacity() <= KEPT / size_of::<Recorded>() {
            commands.clear();
            bytes.clear();
            (self.commands, self.bytes) = (commands, bytes);
        }
    }

    /// Takes the collected messages.
    pub fn take_published(&mut self) -> Vec<Published> {
        std::mem::take(&mut self.published)
    }
}

/// Moves those of `len` elements that stay to the front of what came after `mark`, and says how many are left then.
fn keep(len: usize, mark: usize, stays: &mut [usize], mut swap: impl FnMut(usize, usize)) -> usize {
    let mut next = mark.min(len);
    for at in stays.iter_mut().filter(|at| **at >= mark) {
        swap(next, *at);
        *at = next;
        next += 1;
    }
    next
}

/// The commands of one unit.
#[derive(Debug)]
pub(crate) struct Unit {
    commands: Vec<Recorded>,
    bytes: Vec<u8>,
    apart: bool,
}

const MULTI: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
const EXEC: &[u8] = b"*1\r\n$4\r\nEXEC\r\n";

impl Unit {
    /// Hands the unit to `put` in pieces, as a replica reads it: `SELECT` where the database changes, `MULTI`/`EXEC`
    /// around more than one command unless they stand apart. Only commands of which `wanted` holds.
    pub(crate) fn write(
        &self,
        selected: &mut Option<usize>,
        wanted: impl Fn(Targets) -> bool,
        put: &mut dyn FnMut(&[u8]),
    ) {
        let commands = || self.commands.iter().filter(|command| wanted(command.to));
        let many = !self.apart && commands().nth(1).is_some();
        if many {
            // SELECT comes after it, as Redis has it.
            put(MULTI);
        }
        for command in commands() {
            select(command.db, selected, put);
            put(&self.bytes[command.start..command.end]);
        }
        if many {
            put(EXEC);
        }
    }
}

fn select(db: usize, selected: &mut Option<usize>, put: &mut dyn FnMut(&[u8])) {
    if *selected != Some(db) {
        let mut bytes = Vec::with_capacity(32);
        render(&[b"SELECT", itoa::Buffer::new().format(db).as_bytes()], &mut bytes);
        put(&bytes);
        *selected = Some(db);
    }
}

/// Writes a command as a client sends it.
pub fn render(argv: &[&[u8]], out: &mut Vec<u8>) {
    let room: usize = argv.iter().map(|arg| arg.len() + 16).sum();
    out.reserve(room + 16);
    number(b'*', argv.len(), out);
    for arg in argv {
        number(b'$', arg.len(), out);
        out.extend_from_slice(arg);
        out.extend_from_slice(b"\r\n");
    }
}

/// A mark, a number and a line's end. Most numbers are small, and a piece of constant size is the cheapest to append.
#[inline]
fn number(mark: u8, n: usize, out: &mut Vec<u8>) {
    let digit = |n: usize| b'0' + (n % 10) as u8;
    match n {
        0..10 => out.extend_from_slice(&[mark, digit(n), b'\r', b'\n']),
        10..100 => out.extend_from_slice(&[mark, digit(n / 10), digit(n), b'\r', b'\n']),
        _ => {
            out.push(mark);
            out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(effects: &mut Effects, selected: &mut Option<usize>, wanted: fn(Targets) -> bool) -> String {
        let unit = effects.take_commands();
        let mut out = Vec::new();
        unit.write(selected, wanted, &mut |bytes| out.extend_from_slice(bytes));
        effects.reuse(unit);
        let text = String::from_utf8(out).expect("text");
        text.split("\r\n").filter(|part| !part.starts_with(['*', '$'])).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_need() {
        for n in [0, 1, 9, 10, 11, 99, 100, 101, 999, 70_000] {
            let (arg, mut out) = (vec![b'x'; n], Vec::new());
            render(&vec![&arg[..]; n.clamp(1, 101)], &mut out);
            let one = format!("${n}\r\n{}\r\n", "x".repeat(n));
            let expected = format!("*{}\r\n{}", n.clamp(1, 101), one.repeat(n.clamp(1, 101)));
            assert!(out == expected.as_bytes(), "{n}");
        }
    }

    #[test]
    fn units_are_written_as_redis_does() {
        let (mut effects, mut selected) = (Effects { recording: true, ..Effects::default() }, None);
        effects.command(0, &[b"SET", b"a", b"1"]);
        assert_eq!(written(&mut effects, &mut selected, |to| to.log), "SELECT 0 SET a 1 ");
        effects.command(2, &[b"SET", b"a", b"1"]);
        effects.command(3, &[b"DEL", b"b"]);
        let text = "MULTI SELECT 2 SET a 1 SELECT 3 DEL b EXEC ";
        assert_eq!(written(&mut effects, &mut selected, |to| to.log), text);
        effects.apart = true;
        effects.deletion(3, b"x");
        effects.deletion(3, b"y");
        assert_eq!(written(&mut effects, &mut selected, |to| to.log), "DEL x DEL y ");
        assert!(written(&mut effects, &mut selected, |to| to.log).is_empty());
    }

    #[test]
    fn replicas_and_the_file_may_see_different_commands() {
        let mut effects = Effects { recording: true, ..Effects::default() };
        effects.set_targets(Targets { log: true, replicas: false });
        effects.command(0, &[b"SET", b"a", b"1"]);
        effects.set_targets(Targets { log: false, replicas: false });
        effects.command(0, &[b"SET", b"b", b"1"]);
        effects.set_targets(Targets::ALL);
        effects.command(0, &[b"SET", b"c", b"1"]);
        let unit = effects.take_commands();
        let write = |wanted: fn(Targets) -> bool| {
            let mut out = Vec::new();
            unit.write(&mut Some(0), wanted, &mut |bytes| out.extend_from_slice(bytes));
            String::from_utf8(out).expect("text")
        };
        assert_eq!(write(|to| to.replicas), "*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$1\r\n1\r\n");
        assert_eq!(write(|to| to.log).matches("SET").count(), 2);
        assert!(write(|to| to.log).starts_with("*1\r\n$5\r\nMULTI"));
    }

    #[test]
    fn what_is_taken_back_leaves_no_bytes() {
        let mut effects = Effects { recording: true, ..Effects::default() };
        effects.command(0, &[b"SET", b"a", b"1"]);
        let mark = effects.mark();
        effects.command(0, &[b"SET", b"b", b"1"]);
        effects.set_lasting(true);
        effects.deletion(0, b"gone");
        effects.set_lasting(false);
        effects.command(0, &[b"SET", b"c", b"1"]);
        effects.truncate(mark);
        effects.command(0, &[b"SET", b"d", b"1"]);
        effects.end_scopes();
        let text = "MULTI SET a 1 DEL gone SET d 1 EXEC ";
        assert_eq!(written(&mut effects, &mut Some(0), |to| to.log), text);
    }
}
