//! Fuzz targets as plain functions: each takes any bytes and panics only when something of ours is wrong. Tests replay
//! the corpus under `fuzz/corpus` and changed copies of it; `fuzz/` gives the same functions to cargo-fuzz.

use crate::rng::Rng;
use crate::value;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use totality::{Db, Frame, Options, Session};
use totality_engine::engine::NoTicker;
use totality_engine::{Config, Engine, ManualClock};
use totality_persist::Persist;
use totality_persist::memory::MemoryDisk;
use totality_resp::{Limits, Parsed, Parser, ReplyParser};
use totality_server::config_file::CommandLine;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets; the name is also the folder of its corpus.
pub const TARGETS: [Target; 9] = [
    ("requests", requests),
    ("replies", replies),
    ("listpack", listpack),
    ("scripts", scripts),
    ("libraries", libraries),
    ("configuration", configuration),
    ("payloads", payloads),
    ("snapshots", snapshots),
    ("logs", logs),
];

/// What clients send: split at any byte it gives the same commands as in one piece.
pub fn requests(bytes: &[u8]) {
    let whole = commands(bytes, &[]);
    let Some((&first, _)) = bytes.split_first() else { return };
    let cut = usize::from(first) % bytes.len();
    assert_eq!(commands(bytes, &[cut]), whole, "split at {cut}");
    let all: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(commands(bytes, &all), whole, "split at every byte");
}

/// The commands in a stream that arrives in pieces, and the protocol error that ended it.
fn commands(bytes: &[u8], cuts: &[usize]) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
    let limits = Limits::default();
    let (mut parser, mut out, mut start) = (Parser::new(), Vec::new(), 0);
    for end in cuts.iter().copied().chain([bytes.len()]) {
        loop {
            let buffer = &bytes[start.min(end)..end];
            match parser.parse(buffer, &limits) {
                Ok(Parsed::Command(used)) => {
                    out.push(parser.args(buffer).map(<[u8]>::to_vec).collect());
                    start += used;
                }
                Ok(Parsed::Empty(used)) => start += used,
                Ok(Parsed::More(_)) => break,
                Err(why) => return (out, Some(format!("{why:?}"))),
            }
        }
    }
    (out, None)
}

/// What servers send: our parser and the tests' own agree on what is a reply and where it ends.
pub fn replies(bytes: &[u8]) {
    if let (Ok(Some((_, ours))), Ok((_, theirs))) = (ReplyParser::new().parse(bytes), value::parse(bytes)) {
        assert_eq!(ours, theirs);
    }
}

/// A listpack from a file: refused, or sound in both directions.
pub fn listpack(bytes: &[u8]) {
    let Ok(list) = totality_ds::Listpack::from_vec(bytes.to_vec()) else { return };
    let forward: Vec<_> = list.iter().map(|item| item.to_bytes().to_vec()).collect();
    let mut backward: Vec<_> = list.iter_rev().map(|item| item.to_bytes().to_vec()).collect();
    backward.reverse();
    assert_eq!(forward, backward);
    assert_eq!(forward.len(), list.len());
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Runs a command; None for an error reply, which is as good as any other.
fn call(words: &[&[u8]]) -> Option<Frame> {
    SESSION.with_borrow_mut(|session| {
        let open = || Db::open(Options::default()).and_then(|db| db.session());
        let session = session.get_or_insert_with(|| open().unwrap_or_else(|e| panic!("{e}")));
        session.call(words).ok()
    })
}

/// The text of a script: compiled, not run (it may never end).
pub fn scripts(bytes: &[u8]) {
    call(&[b"SCRIPT", b"LOAD", bytes]);
    call(&[b"SCRIPT", b"FLUSH"]);
}

/// Functions of the libraries that read foreign bytes.
pub fn libraries(bytes: &[u8]) {
    const SCRIPT: &[u8] = b"local a, b = ARGV[1], ARGV[2] \
        pcall(function() return cjson.encode(cjson.decode(a)) end) \
        pcall(function() return cmsgpack.pack(cmsgpack.unpack(a)) end) \
        pcall(cmsgpack.unpack_limit, a, 2, 0) \
        pcall(struct.unpack, a, b) pcall(struct.pack, a, 1, b, 3, 4) pcall(struct.size, a) \
        pcall(string.format, a, 1, b, 2.5, 'x') \
        pcall(string.find, b, a) pcall(string.gsub, b, a, '%0') pcall(string.match, b, a) \
        pcall(tonumber, a) pcall(tonumber, a, 36) pcall(loadstring, a) pcall(bit.tohex, a) return 1";
    // Patterns may take time exponential in the subject in the worst case: it stays small.
    let bytes = &bytes[..bytes.len().min(300)];
    let (a, b) = bytes.split_at(bytes.len() / 2);
    call(&[b"EVAL", SCRIPT, b"0", a, &b[..b.len().min(40)]]);
}

/// A configuration file's text.
pub fn configuration(bytes: &[u8]) {
    let options = String::from_utf8_lossy(bytes).into_owned();
    // `include` would read whatever file the bytes name.
    if options.to_ascii_lowercase().contains("include") {
        return;
    }
    let line = CommandLine { options, ..CommandLine::default() };
    let _ = line.load(&mut Config::default());
}

/// A payload of DUMP without its seal, behind a byte for its version: refused, or a value like any other, which DUMP and
/// RESTORE keep.
pub fn payloads(bytes: &[u8]) {
    let Some((version, body)) = bytes.split_first() else { return };
    let mut payload = body.to_vec();
    totality_rdb::payload::seal(&mut payload, u16::from(*version));
    if call(&[b"RESTORE", b"a", b"0", &payload, b"REPLACE"]).is_none() {
        return;
    }
    let Some(Frame::Bulk(again)) = call(&[b"DUMP", b"a"]) else { panic!("DUMP of what was restored") };
    assert!(call(&[b"RESTORE", b"b", b"0", &again, b"REPLACE"]).is_some(), "a value of ours is refused");
    for key in [b"a", b"b"] {
        // Whatever it is, the commands of its type can use it.
        for words in [
            &[b"APPEND", &key[..], b"x"][..],
            &[b"LPUSH", key, b"x"],
            &[b"LSET", key, b"-1", b"y"],
            &[b"SADD", key, b"x"],
            &[b"SREM", key, b"x"],
            &[b"SPOP", key],
            &[b"ZADD", key, b"1", b"x"],
            &[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"],
            &[b"HSET", key, b"x", b"y"],
            &[b"HGETALL", key],
            &[b"XADD", key, b"*", b"f", b"v"],
            &[b"XRANGE", key, b"-", b"+"],
            &[b"XINFO", b"STREAM", key, b"FULL"],
            &[b"XTRIM", key, b"MAXLEN", b"1"],
        ] {
            call(words);
        }
    }
}

/// A snapshot file without its checksum: refused, or a list of keys.
pub fn snapshots(bytes: &[u8]) {
    use totality_rdb::file::{Event, FileReader};
    // Events, and whether the end was among them: after an error the offsets may differ.
    let read = |file: &mut dyn FnMut() -> Option<bool>| {
        let mut n = 0;
        loop {
            match file() {
                Some(true) => n += 1,
                Some(false) => return (n, true),
                None => return (n, false),
            }
        }
    };
    let open = FileReader::open(totality_rdb::Slice::new(bytes), true, false);
    let Ok(mut whole) = open else { return };
    let Ok(mut pieces) = FileReader::open(totality_rdb::Streamed::new(Piecewise(bytes), true), true, false)
    else {
        panic!("a stream is read otherwise than a slice");
    };
    let next = |event: Result<Event, totality_rdb::Error>| event.ok().map(|e| !matches!(e, Event::End));
    let a = read(&mut || next(whole.next_event()));
    let b = read(&mut || next(pieces.next_event()));
    assert_eq!(a, b, "a stream is read otherwise than a slice");
    assert!(!a.1 || whole.offset() == pieces.offset());
}

/// Words of commands that take as long as they please when they are run again.
const SLOW: [&[u8]; 6] = [b"eval", b"fcall", b"function", b"debug", b"setrange", b"setbit"];

/// An append-only file, or (where it begins like one) its manifest: refused, or a data set that is the same when it is
/// opened once more.
pub fn logs(bytes: &[u8]) {
    const DIR: &str = "/data/appendonlydir/";
    let lower = bytes.to_ascii_lowercase();
    if SLOW.iter().any(|word| lower.windows(word.len()).any(|w| w == *word)) {
        return;
    }
    let disk = MemoryDisk::default();
    let put = |name: &str, bytes: &[u8]| disk.put(Path::new(&format!("{DIR}appendonly.aof{name}")), bytes);
    if bytes.starts_with(b"file") {
        put(".manifest", bytes);
        put(".1.incr.aof", b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n");
    } else {
        put(".manifest", b"file appendonly.aof.1.incr.aof seq 1 type i\n");
        put(".1.incr.aof", bytes);
    }
    let Some(first) = keys_of(&disk) else { return };
    assert_eq!(keys_of(&disk), Some(first), "the second time it is another data set");
}

/// How many keys there are when it is opened.
fn keys_of(disk: &MemoryDisk) -> Option<usize> {
    let config = Config { appendonly: true, databases: 4, ..Config::default() };
    let mut engine = Engine::new(config, Box::new(ManualClock::new(1_700_000_000_000_000)), [1; 16]);
    let mut files = Persist::on(Arc::new(disk.clone()), Path::new("/data"), Arc::new(|| {}));
    files.open(&mut engine, &mut NoTicker).ok()?;
    Some(engine.ks.dbs().iter().map(|db| db.len()).sum())
}

/// Gives three bytes at a time.
struct Piecewise<'a>(&'a [u8]);

impl std::io::Read for Piecewise<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(self.0.len()).min(3);
        buf[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

/// A changed copy of an input: bytes flipped, removed, doubled or taken from elsewhere.
pub fn change(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(out.len() + 1);
        match rng.below(6) {
            0 if at < out.len() => out[at] ^= 1 << rng.below(8),
            1 if at < out.len() => out[at] = rng.next_u64() as u8,
            2 if at < out.len() => drop(out.drain(at..(at + 1 + rng.below(4)).min(out.len()))),
            3 => out.insert(at, *b"\r\n$*0129-\"'%[({\xff\0".get(rng.below(17)).unwrap_or(&b'x')),
            4 if at < out.len() => {
                let piece = out[at..(at + 1 + rng.below(12)).min(out.len())].to_vec();
                out.splice(at..at, piece);
            }
            _ => out.truncate(at),
        }
    }
    out
}
