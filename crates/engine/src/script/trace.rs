//! The trace of a dry run: what a script called, what it was answered, what keys became. Sizes are bounded everywhere,
//! since the data is the user's own and may be large.

use crate::commands::Command;
use crate::frame::Frame;
use crate::keyspace::{Keyspace, NO_EXPIRY};
use crate::reply::Reply;
use crate::spec::{Flags, KeyFlags};
use crate::value::Value;

/// Commands that are kept; more are only counted.
const MAX_COMMANDS: usize = 1000;
/// Bytes of a string that are shown.
const MAX_BYTES: usize = 256;
/// Elements of a collection that are shown.
const MAX_ELEMENTS: usize = 16;
/// Arguments of a command that are shown.
const MAX_ARGUMENTS: usize = 32;
/// Depth of nested replies that is shown.
const MAX_DEPTH: usize = 8;

/// A command that the script called.
pub struct Called {
    /// Line of the script, 0 when it is not known.
    pub line: u32,
    /// Its arguments, shortened.
    pub argv: Vec<Vec<u8>>,
    /// What it was answered, shortened.
    pub reply: Frame,
    /// Microseconds that it took.
    pub usec: u64,
    /// Its keys, and whether they were declared.
    pub keys: Vec<(Vec<u8>, bool)>,
    /// The keys that it may write: database, key, before, after.
    pub written: Vec<(usize, Vec<u8>, Frame, Frame)>,
}

/// What is collected during a dry run.
#[derive(Default)]
pub struct Trace {
    /// The commands, in order.
    pub commands: Vec<Called>,
    /// How many more there were.
    pub left_out: u64,
}

impl Trace {
    /// True while more commands are kept.
    pub(super) fn has_room(&mut self) -> bool {
        let room = self.commands.len() < MAX_COMMANDS;
        self.left_out += u64::from(!room);
        room
    }
}

/// The keys of a command: all of them, and those that it may write.
pub(super) fn keys_of<'a>(command: &Command, argv: &[&'a [u8]]) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let Ok(keys) = crate::keys::find(command.spec, argv) else { return Default::default() };
    let writes = command.spec.flags.contains(Flags::WRITE);
    let all = keys.iter().map(|(at, _)| argv[*at]).collect();
    let written = keys.iter().filter(|(_, flags)| writes && !flags.contains(KeyFlags::RO));
    (all, written.map(|(at, _)| argv[*at]).collect())
}

/// What a key is, shortened: a map of type, encoding, time to live, length and value. Null when it is absent.
pub(crate) fn preview(ks: &Keyspace, db: usize, key: &[u8]) -> Frame {
    let Some(entry) = ks.dbs()[db].dict().get_key(key) else { return Frame::Null };
    if entry.expire != NO_EXPIRY && entry.expire <= ks.now {
        return Frame::Null;
    }
    let ttl = if entry.expire == NO_EXPIRY { -1 } else { entry.expire - ks.now };
    let (len, value) = content(&entry.value, ks.now);
    let field = |name: &str, value: Frame| (Frame::Bulk(name.into()), value);
    Frame::Map(vec![
        field("type", Frame::Bulk(entry.value.kind().name().into())),
        field("encoding", Frame::Bulk(entry.value.encoding().into())),
        field("pttl", Frame::Int(ttl)),
        field("length", Frame::Int(len as i64)),
        field("value", value),
    ])
}

fn content(value: &Value, now: i64) -> (usize, Frame) {
    let bulk = |bytes: &[u8]| Frame::Bulk(shorten_bytes(bytes));
    let score = |score: f64| {
        let mut text = Default::default();
        crate::util::format_double(score, &mut text);
        Frame::Bulk(text.to_vec())
    };
    match value {
        Value::Str(bytes) => (bytes.len(), bulk(bytes)),
        Value::Int(n) => {
            let text = n.to_string();
            (text.len(), bulk(text.as_bytes()))
        }
        Value::List(v) => {
            (v.len(), Frame::Array(v.iter().take(MAX_ELEMENTS).map(|i| bulk(&i.to_bytes())).collect()))
        }
        Value::Set(v) => {
            (v.len(), Frame::Array(v.iter().take(MAX_ELEMENTS).map(|i| bulk(&i.to_bytes())).collect()))
        }
        Value::Hash(v) => {
            let fields = v.iter(now).take(MAX_ELEMENTS);
            let pairs = fields.flat_map(|(name, value)| [bulk(&name.to_bytes()), bulk(&value.to_bytes())]);
            (v.live_len(now), Frame::Array(pairs.collect()))
        }
        Value::ZSet(v) => {
            let members = v.iter().take(MAX_ELEMENTS);
            (v.len(), Frame::Array(members.flat_map(|(m, s)| [bulk(&m.to_bytes()), score(s)]).collect()))
        }
        Value::Stream(v) => {
            let entries = v.log().entries().range_rev(totality_ds::StreamId::MIN, totality_ds::StreamId::MAX);
            let mut shown: Vec<Frame> = entries
                .take(MAX_ELEMENTS / 2)
                .map(|entry| {
                    let mut id = Vec::new();
                    entry.id.push(&mut id);
                    let fields = entry.fields().take(MAX_ELEMENTS);
                    let pairs = fields.flat_map(|(f, v)| [bulk(&f.to_bytes()), bulk(&v.to_bytes())]);
                    Frame::Array(vec![Frame::Bulk(id), Frame::Array(pairs.collect())])
                })
                .collect();
            shown.reverse();
            (v.len(), Frame::Array(shown))
        }
    }
}

fn shorten_bytes(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() <= MAX_BYTES {
        return bytes.to_vec();
    }
    let mut short = bytes[..MAX_BYTES].to_vec();
    short.extend_from_slice(format!("... ({} more bytes)", bytes.len() - MAX_BYTES).as_bytes());
    short
}

/// Arguments, shortened.
pub(super) fn shorten_argv(argv: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> = argv.iter().take(MAX_ARGUMENTS).map(|arg| shorten_bytes(arg)).collect();
    if argv.len() > MAX_ARGUMENTS {
        out.push(format!("... ({} more arguments)", argv.len() - MAX_ARGUMENTS).into_bytes());
    }
    out
}

/// A reply, shortened.
pub(super) fn shorten(frame: &Frame) -> Frame {
    shorten_to(frame, MAX_DEPTH)
}

fn shorten_to(frame: &Frame, depth: usize) -> Frame {
    let list = |items: &[Frame]| -> Vec<Frame> {
        let mut out: Vec<Frame> = match depth.checked_sub(1) {
            None => Vec::new(),
            Some(depth) => items.iter().take(MAX_ELEMENTS).map(|item| shorten_to(item, depth)).collect(),
        };
        if items.len() > out.len() {
            out.push(Frame::Bulk(format!("... ({} more elements)", items.len() - out.len()).into_bytes()));
        }
        out
    };
    match frame {
        Frame::Bulk(bytes) => Frame::Bulk(shorten_bytes(bytes)),
        Frame::Verbatim(_, bytes) => Frame::Bulk(shorten_bytes(bytes)),
        Frame::Array(items) => Frame::Array(list(items)),
        Frame::Set(items) => Frame::Set(list(items)),
        Frame::Push(items) => Frame::Array(list(items)),
        Frame::Map(pairs) => {
            let shown = pairs.iter().take(if depth == 0 { 0 } else { MAX_ELEMENTS });
            let depth = depth.saturating_sub(1);
            Frame::Map(shown.map(|(k, v)| (shorten_to(k, depth), shorten_to(v, depth))).collect())
        }
        other => other.clone(),
    }
}

impl Trace {
    /// Writes the commands: an array of maps.
    pub(crate) fn write(&self, reply: &mut Reply<'_>) {
        reply.array(self.commands.len());
        for called in &self.commands {
            reply.map(6);
            reply.bulk(b"line");
            reply.int(i64::from(called.line));
            reply.bulk(b"command");
            reply.array(called.argv.len());
            called.argv.iter().for_each(|arg| reply.bulk(arg));
            reply.bulk(b"reply");
            reply.frame(&called.reply);
            reply.bulk(b"usec");
            reply.int(called.usec as i64);
            reply.bulk(b"keys");
            reply.array(called.keys.len());
            for (key, declared) in &called.keys {
                reply.map(2);
                reply.bulk(b"key");
                reply.bulk(key);
                reply.bulk(b"declared");
                reply.bool(*declared);
            }
            reply.bulk(b"written");
            write_changes(&called.written, reply);
        }
    }
}

/// Writes what keys were and became: an array of maps.
pub(crate) fn write_changes(changes: &[(usize, Vec<u8>, Frame, Frame)], reply: &mut Reply<'_>) {
    reply.array(changes.len());
    for (db, key, before, after) in changes {
        reply.map(4);
        reply.bulk(b"db");
        reply.len(*db);
        reply.bulk(b"key");
        reply.bulk(key);
        reply.bulk(b"before");
        reply.frame(before);
        reply.bulk(b"after");
        reply.frame(after);
    }
}
