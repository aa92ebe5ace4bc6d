//! A history of 2,000 commands with scripts, rollbacks, transactions and deadlines, and its append-only file cut at every
//! byte: what was acknowledged is there, no script is half done, nothing that expired comes back.

use std::path::Path;
use std::sync::Arc;
use totality_engine::engine::NoTicker;
use totality_engine::replay::Replayer;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};
use totality_persist::Persist;
use totality_persist::aof::{CommandReader, Item, Trouble};
use totality_persist::memory::MemoryDisk;
use totality_testkit::rng::Rng;
use totality_testkit::rollback::programs::{program, script_argv, write_command};
use totality_testkit::rollback::snapshot::Snapshot;

const COMMANDS: usize = 2000;
const BEGAN: u64 = 1_700_000_000_000_000;
const LOG: &str = "/data/appendonlydir/appendonly.aof.1.incr.aof";

struct Machine {
    disk: MemoryDisk,
    clock: ManualClock,
    engine: Engine,
    files: Persist,
    client: ClientId,
}

impl Machine {
    fn start(disk: MemoryDisk, clock: ManualClock) -> Result<Machine, String> {
        let mut config = Config::default();
        for (name, value) in
            [("appendonly", "yes"), ("appendfsync", "always"), ("save", ""), ("databases", "4")]
        {
            config.set(name, &[value.as_bytes()]).unwrap();
        }
        for name in ["hash-max-listpack-entries", "zset-max-listpack-entries", "set-max-listpack-entries"] {
            config.set(name, &[b"6"]).unwrap();
        }
        let mut engine = Engine::new(config, Box::new(clock.clone()), [7; 16]);
        let mut files = Persist::on(Arc::new(disk.clone()), Path::new("/data"), Arc::new(|| {}));
        files.open(&mut engine, &mut NoTicker)?;
        let client = engine.connect(ConnInfo::default());
        Ok(Machine { disk, clock, engine, files, client })
    }

    /// Runs a command until its effects are safe.
    fn call(&mut self, words: &[Vec<u8>]) -> String {
        let argv: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(self.client, &argv, &mut out, &mut NoTicker);
        // A blocking command that finds nothing is over.
        self.engine.forget_blocked(self.client);
        self.files.before_replies(&mut self.engine.sv);
        assert_eq!(self.files.fatal(), None);
        while self.engine.next_outgoing().is_some() {}
        String::from_utf8_lossy(&out).into_owned()
    }

    fn line(&mut self, line: &str) -> String {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        self.call(&words)
    }

    fn log(&self) -> Vec<u8> {
        self.disk.read(Path::new(LOG)).expect("a log")
    }

    fn state(&mut self) -> Snapshot {
        self.engine.ks.dirty = 0;
        Snapshot::of(&self.engine)
    }
}

/// What was acknowledged, and the log by then.
struct Acknowledged {
    end: usize,
    now_us: u64,
    state: Snapshot,
    /// A script or a transaction.
    whole: bool,
}

fn history(machine: &mut Machine, rng: &mut Rng) -> Vec<Acknowledged> {
    let mut all = Vec::new();
    for _ in 0..COMMANDS {
        machine.clock.advance_ms(rng.below(40) as u64);
        let whole = match rng.below(10) {
            0..=2 => {
                machine.call(&script_argv(&program(rng, false), rng.below(3) > 0));
                true
            }
            3 => {
                machine.line("MULTI");
                for _ in 0..1 + rng.below(4) {
                    machine.call(&write_command(rng, false));
                }
                machine.line("EXEC");
                true
            }
            4 => {
                machine.line(&format!("SET short:{} value PX {}", rng.below(20), 1 + rng.below(300)));
                false
            }
            5 => {
                machine.line(&format!("GET short:{}", rng.below(20)));
                false
            }
            _ => {
                machine.call(&write_command(rng, false));
                false
            }
        };
        let (end, state) = (machine.log().len(), machine.state());
        all.push(Acknowledged { end, now_us: machine.engine.sv.stamp, state, whole });
    }
    all
}

/// Where two data sets differ, but for encodings: what a command computes comes back as it is written.
fn differences(a: &Snapshot, b: &Snapshot) -> String {
    let text = a.differences(b);
    let lines: Vec<&str> = text.lines().collect();
    let content = |line: &str| {
        line.get(7..).and_then(|rest| rest.split_once(' ')).map(|(_, rest)| known_consumers(rest))
    };
    let mut out = String::new();
    for three in lines.chunks(3) {
        let same = three.len() == 3 && content(three[1]) == content(three[2]) && content(three[1]).is_some();
        if !same {
            out += &three.join("\n");
            out.push('\n');
        }
    }
    out
}

/// The text without consumers that never got anything: one that XCLAIM makes without claiming is told to nobody, as on
/// Redis.
fn known_consumers(text: &str) -> String {
    let mut parts = text.split(" consumer ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter(|part| !part.contains(", -1, {})")).fold(first, |all, part| all + " consumer " + part)
}

/// How many bytes of it are whole units.
fn sound(bytes: &[u8]) -> usize {
    let mut reader = CommandReader::new(bytes, 0);
    let (mut unit, mut valid) = (false, 0);
    loop {
        match reader.next_item() {
            Ok(Item::Command(argv)) => match argv[0].to_ascii_lowercase().as_slice() {
                b"multi" => unit = true,
                b"exec" => unit = false,
                _ => {}
            },
            Ok(Item::Stamp(_)) => {}
            Ok(Item::End) | Err(Trouble::Cut) => return valid,
            Err(trouble) => panic!("{trouble:?}"),
        }
        if !unit {
            valid = reader.offset() as usize;
        }
    }
}

#[test]
fn a_log_cut_at_any_byte_is_what_was_acknowledged() {
    let mut rng = Rng::new(20);
    let clock = ManualClock::new(BEGAN);
    let mut machine = Machine::start(MemoryDisk::default(), clock.clone()).unwrap();
    let history = history(&mut machine, &mut rng);
    let log = machine.log();
    let base = machine.disk.clone();
    assert!(history.last().is_some_and(|last| last.end == log.len()));

    // Forward, unit by unit: the state is the acknowledged one wherever one was acknowledged.
    let again = ManualClock::new(BEGAN);
    let mut other = Machine::start(MemoryDisk::default(), again.clone()).unwrap();
    let reader = other.engine.connect(ConnInfo::default());
    let mut replayer = Replayer::begin(&mut other.engine.ks, reader);
    let (mut from, mut units, mut boundaries, mut cuts) = (0, 0, vec![0], 0);
    for (i, known) in history.iter().enumerate() {
        again.set_us(known.now_us);
        other.engine.wake();
        let before = units;
        while from < known.end {
            let len = first_unit(&log[from..]);
            // Any byte within it: nothing of it counts.
            for cut in 1..len {
                assert_eq!(sound(&log[from..from + cut]), 0, "{cut} bytes of a unit at {from}");
                cuts += 1;
            }
            let mut commands = CommandReader::new(&log[from..from + len], 0);
            while let Item::Command(argv) = commands.next_item().unwrap() {
                let Engine { ks, sv } = &mut other.engine;
                replayer.run(ks, sv, argv, &mut NoTicker).unwrap();
            }
            // The choice of a database stands before a unit.
            units += usize::from(!log[from..].starts_with(b"*2\r\n$6\r\nSELECT\r\n"));
            from += len;
            boundaries.push(from);
        }
        assert!(!replayer.in_unit());
        assert!(!known.whole || units - before <= 1, "command {i} is in {} units", units - before);
        let differences = differences(&known.state, &other.state());
        assert!(differences.is_empty(), "behind command {i}:\n{differences}");
    }
    assert_eq!(replayer.errors.0, 0, "{:?}", replayer.errors.1);
    assert!(units > COMMANDS / 4, "{units} units");

    // The loader itself, at a sample of the bytes.
    let mut compared = 0;
    for n in 0..200 {
        let cut = if n % 2 == 0 { rng.below(log.len()) } else { boundaries[rng.below(boundaries.len())] };
        let disk = base.crash(0);
        disk.put(Path::new(LOG), &log[..cut]);
        let end = *boundaries.iter().rfind(|end| **end <= cut).unwrap();
        // It is opened later: what is past its deadline is not seen by anybody.
        let known = history.iter().rfind(|known| known.end <= cut);
        let now = known.map_or(BEGAN, |known| known.now_us);
        let mut opened = Machine::start(disk, ManualClock::new(now)).unwrap();
        assert_eq!(opened.log().len(), end, "{cut}");
        if let Some(known) = known.filter(|known| known.end == end) {
            let differences = differences(&known.state, &opened.state());
            assert!(differences.is_empty(), "cut at {cut}:\n{differences}");
            compared += 1;
        }
        opened.clock.advance_ms(400);
        for i in 0..20 {
            let reply = opened.line(&format!("GET short:{i}"));
            assert!(reply == "$-1\r\n" || reply.contains("WRONGTYPE"), "short:{i} is back: {reply}");
        }
    }
    println!(
        "{} bytes, {units} units, {cuts} cuts within one, {compared} states after the loader",
        log.len()
    );
    assert!(compared > 90, "{compared}");
}

/// Bytes of the first unit.
fn first_unit(bytes: &[u8]) -> usize {
    let mut reader = CommandReader::new(bytes, 0);
    let mut unit = false;
    loop {
        match reader.next_item().unwrap() {
            Item::Command(argv) => match argv[0].to_ascii_lowercase().as_slice() {
                b"multi" => unit = true,
                b"exec" => unit = false,
                _ => {}
            },
            Item::Stamp(_) => continue,
            Item::End => panic!("no unit"),
        }
        if !unit {
            return reader.offset() as usize;
        }
    }
}
