//! A disk that is full, broken, or loses its power: what was acknowledged is there afterwards, and what cannot be kept is
//! not acknowledged.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use totality_engine::engine::NoTicker;
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::Request;
use totality_engine::state::ServerState;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock, Outgoing, Ticker};
use totality_persist::Persist;
use totality_persist::disk::Disk;
use totality_persist::memory::{BROKEN, FULL, Fault, MemoryDisk, Op};

const MISCONF_FULL: &str = "-MISCONF Errors writing to the AOF file: No space left on device\r\n";
const MISCONF_BROKEN: &str = "-MISCONF Errors writing to the AOF file: Input/output error\r\n";
const MISCONF_SAVE: &str = "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.\r\n";

struct Machine {
    disk: MemoryDisk,
    clock: ManualClock,
    engine: Engine,
    files: Persist,
    client: ClientId,
    log: String,
}

struct Files<'a>(&'a mut Persist);

impl Ticker for Files<'_> {
    fn persist(&mut self, ks: &mut Keyspace, sv: &mut ServerState, request: Request) -> Result<(), String> {
        self.0.request(ks, sv, request, &mut NoTicker)
    }
}

impl Machine {
    fn start(disk: MemoryDisk, clock: &ManualClock, options: &[(&str, &str)]) -> Machine {
        let mut config = Config::default();
        config.set("save", &[b""]).unwrap();
        for (name, value) in options {
            config.set(name, &[value.as_bytes()]).unwrap();
        }
        let mut engine = Engine::new(config, Box::new(clock.clone()), [7; 16]);
        let mut files = Persist::on(Arc::new(disk.clone()), Path::new("/data"), Arc::new(|| {}));
        files.open(&mut engine, &mut NoTicker).unwrap_or_else(|why| panic!("{why}"));
        let client = engine.connect(ConnInfo::default());
        Machine { disk, clock: clock.clone(), engine, files, client, log: String::new() }
    }

    /// The reply of a command, if it may leave.
    fn call(&mut self, line: &str) -> Option<String> {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(self.client, &argv, &mut out, &mut Files(&mut self.files));
        self.turn();
        self.files.fatal().is_none().then(|| String::from_utf8_lossy(&out).into_owned())
    }

    fn turn(&mut self) {
        self.files.before_replies(&mut self.engine.sv);
        self.files.turn(&mut self.engine);
        while let Some(outgoing) = self.engine.next_outgoing() {
            if let Outgoing::Log { text, .. } = outgoing {
                self.log += &String::from_utf8_lossy(&text);
                self.log.push('\n');
            }
        }
    }

    fn expect(&mut self, line: &str, reply: &str) {
        assert_eq!(self.call(line).as_deref(), Some(reply), "{line}; {}", self.log);
    }

    fn pass(&mut self, time: Duration) {
        self.clock.advance_ms(time.as_millis() as u64);
        self.disk.advance(time);
    }

    /// Turns until this holds.
    fn until(&mut self, what: impl Fn(&Machine) -> bool) {
        let began = Instant::now();
        while !what(self) {
            assert!(began.elapsed() < Duration::from_secs(20), "it does not come: {}", self.log);
            self.turn();
            std::thread::yield_now();
        }
    }

    fn sync(&mut self) {
        self.pass(Duration::from_secs(1));
        self.turn();
        self.until(|m| !m.engine.sv.persist.log.pending_fsync && m.engine.sv.persist.log.buffer.is_empty());
    }

    fn settle(&mut self) {
        self.until(|m| m.engine.sv.persist.job.is_none());
    }

    fn info(&mut self, field: &str) {
        let text = self.call("INFO persistence").unwrap();
        assert!(text.contains(&format!("{field}\r\n")), "no {field} in {text}");
    }

    /// The same data set after the machine lost its power.
    fn crashed(&self, torn: usize, options: &[(&str, &str)]) -> Machine {
        Machine::start(self.disk.crash(torn), &self.clock, options)
    }
}

fn fault(op: Op, path: &str, errno: i32) -> Fault {
    Fault { op, path: path.to_owned(), errno, written: 0 }
}

const ALWAYS: [(&str, &str); 2] = [("appendonly", "yes"), ("appendfsync", "always")];
const EVERYSEC: [(&str, &str); 2] = [("appendonly", "yes"), ("appendfsync", "everysec")];

#[test]
fn under_always_a_reply_whose_effect_is_not_safe_does_not_leave() {
    for (op, errno, text) in [
        (
            Op::Write,
            FULL,
            "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting... (No space left on device)",
        ),
        (
            Op::Sync,
            BROKEN,
            "Can't persist AOF for fsync error when the AOF fsync policy is 'always': Input/output error. Exiting...",
        ),
    ] {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut m = Machine::start(MemoryDisk::default(), &clock, &ALWAYS);
        m.expect("SET a 1", "+OK\r\n");
        m.disk.fail(fault(op, "incr", errno));
        assert_eq!(m.call("SET b 2"), None);
        assert_eq!(m.files.fatal(), Some(text));
        assert!(m.log.contains(text), "{}", m.log);
        assert_eq!(m.call("SET c 3"), None, "nothing is acknowledged any more");
        let mut m = m.crashed(0, &ALWAYS);
        m.expect("GET a", "$1\r\n1\r\n");
        m.expect("GET c", "$-1\r\n");
    }
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    // How much of the write arrives, and whether what arrived can be taken back.
    for (written, cut) in [(0, true), (9, true), (9, false)] {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut m = Machine::start(MemoryDisk::default(), &clock, &EVERYSEC);
        m.expect("SET a 1", "+OK\r\n");
        m.sync();
        m.disk.fail(Fault { written, ..fault(Op::Write, "incr", FULL) });
        if !cut {
            m.disk.fail(fault(Op::Cut, "incr", BROKEN));
        }
        // The policy allows that it is lost; from now on nothing is.
        m.expect("SET b 2", "+OK\r\n");
        for line in ["SET c 3", "DEL a", "PING", "INCR n"] {
            m.expect(line, MISCONF_FULL);
        }
        m.expect("MULTI", "+OK\r\n");
        m.expect("SET c 3", MISCONF_FULL);
        m.expect("EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n");
        m.expect("GET b", "$1\r\n2\r\n");
        m.info("aof_last_write_status:err");
        assert!(m.log.contains("Error writing to the AOF file: No space left on device"), "{}", m.log);
        m.disk.heal();
        m.turn();
        assert!(m.log.contains("AOF write error looks solved. The server can write again."), "{}", m.log);
        m.info("aof_last_write_status:ok");
        m.expect("SET c 3", "+OK\r\n");
        m.sync();
        let mut m = m.crashed(0, &EVERYSEC);
        m.expect("MGET a b c", "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    }
}

#[test]
fn after_a_failed_fsync_only_a_new_base_makes_it_whole() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let mut m = Machine::start(MemoryDisk::default(), &clock, &EVERYSEC);
    m.expect("SET a 1", "+OK\r\n");
    m.disk.fail(fault(Op::Sync, "incr", BROKEN));
    m.pass(Duration::from_secs(1));
    m.turn();
    m.until(|m| m.engine.sv.persist.log.error.is_some());
    m.expect("SET b 2", MISCONF_BROKEN);
    m.info("aof_last_write_status:err");
    m.disk.heal();
    m.pass(Duration::from_secs(5));
    m.turn();
    m.expect("SET b 2", MISCONF_BROKEN);
    // A script that may write says it in its own words.
    let reply = m.call("EVAL #!lua\nreturn(1) 0").unwrap();
    assert!(reply.starts_with("-MISCONF Redis is configured to persist data to AOF"), "{reply}");
    m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
    m.settle();
    m.expect("SET b 2", "+OK\r\n");
    m.sync();
    let mut m = m.crashed(0, &EVERYSEC);
    m.expect("MGET a b", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

#[test]
fn a_snapshot_that_fails_leaves_the_old_one_and_stops_writes() {
    let options = [("save", "3600 1")];
    let clock = ManualClock::new(1_700_000_000_000_000);
    for (op, path) in [
        (Op::Open, "temp-totality"),
        (Op::Write, "temp-totality"),
        (Op::Sync, "temp-totality"),
        (Op::Rename, "dump.rdb"),
        (Op::SyncDir, "data"),
    ] {
        let mut m = Machine::start(MemoryDisk::default(), &clock, &options);
        m.expect("SET a 1", "+OK\r\n");
        m.expect("SAVE", "+OK\r\n");
        m.expect("SET a 2", "+OK\r\n");
        m.disk.fail(fault(op, path, FULL));
        m.expect("SAVE", "-ERR\r\n");
        // SAVE tells its caller; only what nobody waits for stops the others.
        m.expect("SET a 3", "+OK\r\n");
        let reply = m.call("BGSAVE").unwrap();
        assert_eq!(reply.starts_with("-ERR"), op == Op::Open, "{op:?}: {reply}");
        m.settle();
        m.info("rdb_last_bgsave_status:err");
        assert!(m.log.contains("No space left on device"), "{op:?}: {}", m.log);
        m.expect("SET a 4", MISCONF_SAVE);
        m.expect("GET a", "$1\r\n3\r\n");
        m.expect("CONFIG SET stop-writes-on-bgsave-error no", "+OK\r\n");
        m.expect("SET a 5", "+OK\r\n");
        m.expect("CONFIG SET stop-writes-on-bgsave-error yes", "+OK\r\n");
        // What is on the disk is a whole snapshot: the last that did not fail.
        let left = m.crashed(usize::MAX, &options).call("GET a").unwrap();
        assert!(left == "$1\r\n1\r\n" || op == Op::SyncDir, "{op:?}: {left}");
        m.disk.heal();
        m.expect("BGSAVE", "+Background saving started\r\n");
        m.settle();
        m.expect("SET a 6", "+OK\r\n");
        let mut m = m.crashed(0, &options);
        m.expect("GET a", "$1\r\n5\r\n");
    }
}

#[test]
fn a_rewrite_that_fails_loses_nothing() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    for (op, path) in [
        (Op::Open, "temp-totality"),
        (Op::Write, "temp-totality"),
        (Op::Sync, "temp-totality"),
        (Op::Rename, "base.rdb"),
        (Op::Open, ".2.incr"),
        (Op::Rename, "manifest"),
        (Op::Write, "manifest"),
        (Op::Sync, "manifest"),
    ] {
        let mut m = Machine::start(MemoryDisk::default(), &clock, &ALWAYS);
        m.expect("SET a 1", "+OK\r\n");
        m.disk.fail(fault(op, path, FULL));
        m.call("BGREWRITEAOF");
        m.settle();
        m.info("aof_last_bgrewrite_status:err");
        m.expect("SET b 2", "+OK\r\n");
        let mut crashed = m.crashed(0, &ALWAYS);
        crashed.expect("MGET a b", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
        m.disk.heal();
        m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
        m.settle();
        m.info("aof_last_bgrewrite_status:ok");
        m.expect("SET c 3", "+OK\r\n");
        let mut m = m.crashed(0, &ALWAYS);
        m.expect("MGET a b c", "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    }
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// The numbers of the list, which must be all from 1 to some number, that one.
fn last(m: &mut Machine) -> u64 {
    let reply = m.call("LRANGE l 0 -1").unwrap();
    let numbers: Vec<u64> =
        reply.split("\r\n").filter(|l| !l.starts_with(['*', '$'])).filter_map(|l| l.parse().ok()).collect();
    assert!(numbers.iter().enumerate().all(|(i, n)| *n == i as u64 + 1), "{numbers:?}");
    numbers.len() as u64
}

#[test]
fn whatever_fails_what_was_acknowledged_under_always_is_there() {
    for seed in 1..=150 {
        let mut rng = Rng(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut m = Machine::start(MemoryDisk::default(), &clock, &ALWAYS);
        let (mut tried, mut acknowledged) = (0, 0);
        for _ in 0..rng.below(120) {
            match rng.below(12) {
                0 => drop(m.call("BGREWRITEAOF")),
                1 => {
                    let ops = [Op::Open, Op::Write, Op::Sync, Op::Cut, Op::Rename, Op::SyncDir];
                    let paths = ["incr", "base", "manifest", "temp-totality", ".2.", "data"];
                    let (op, path) = (ops[rng.below(6) as usize], paths[rng.below(6) as usize]);
                    let errno = if rng.below(2) == 0 { FULL } else { BROKEN };
                    m.disk.fail(Fault { written: rng.below(30) as usize, ..fault(op, path, errno) });
                }
                2 | 3 => m.disk.heal(),
                4 => m.settle(),
                _ => {
                    tried += 1;
                    match m.call(&format!("RPUSH l {tried}")) {
                        Some(reply) if reply.starts_with(':') => acknowledged = tried,
                        Some(_) => tried -= 1,
                        None => break,
                    }
                }
            }
        }
        let torn = rng.below(60) as usize;
        let found = last(&mut m.crashed(torn, &ALWAYS));
        assert!((acknowledged..=tried).contains(&found), "seed {seed}: {found} of {acknowledged}, {tried}");
    }
}

#[test]
fn everysec_loses_a_second_at_most() {
    for seed in 1..=40 {
        let mut rng = Rng(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut m = Machine::start(MemoryDisk::default(), &clock, &EVERYSEC);
        let (mut now, mut times) = (0, Vec::new());
        for i in 0..100 + rng.below(300) {
            let step = 1 + rng.below(20);
            now += step;
            m.pass(Duration::from_millis(step));
            m.expect(&format!("RPUSH l {}", i + 1), &format!(":{}\r\n", i + 1));
            times.push(now);
            // The disk is faster than the next command.
            m.until(|m| !m.engine.sv.persist.log.pending_fsync);
        }
        let torn = rng.below(100) as usize;
        let found = last(&mut m.crashed(torn, &EVERYSEC)) as usize;
        let lost = times.get(found).map_or(0, |at| now - at);
        assert!(lost <= 1000, "seed {seed}: {lost} ms are lost");
    }
}

#[test]
fn saving_is_no_write() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let mut m = Machine::start(MemoryDisk::default(), &clock, &ALWAYS);
    for line in ["SET a 1", "SAVE", "SET b 1"] {
        m.expect(line, "+OK\r\n");
    }
    m.call("SHUTDOWN SAVE");
    let log = m.disk.read(Path::new("/data/appendonlydir/appendonly.aof.1.incr.aof")).expect("the log");
    let log = String::from_utf8(log).unwrap();
    assert!(log.contains("SET\r\n$1\r\nb"), "{log}");
    assert!(!log.contains("SAVE") && !log.contains("SHUTDOWN"), "{log}");
}

#[test]
fn rewrites_that_fail_again_and_again_are_put_off() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let mut m = Machine::start(MemoryDisk::default(), &clock, &EVERYSEC);
    m.expect("CONFIG SET auto-aof-rewrite-percentage 1 auto-aof-rewrite-min-size 1kb", "+OK\r\n");
    for failures in 1..=3 {
        m.disk.fail(fault(Op::Write, "temp-totality", FULL));
        m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
        m.settle();
        m.info(&format!("aof_rewrites_consecutive_failures:{failures}"));
        m.disk.heal();
    }
    m.expect(&format!("SET a {}", "x".repeat(5000)), "+OK\r\n");
    let parts = |m: &Machine| m.disk.files(Path::new("/data/appendonlydir")).len();
    let before = parts(&m);
    for _ in 0..5 {
        m.files.cron(&mut m.engine);
        m.turn();
    }
    assert_eq!(m.log.matches("triggered the limit, will retry in 1 minutes").count(), 1, "{}", m.log);
    assert!(m.engine.sv.persist.job.is_none());
    assert_eq!(parts(&m), before);
    // Whoever asks for one gets it.
    m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
    m.settle();
    m.info("aof_rewrites_consecutive_failures:0");
    m.info("aof_last_bgrewrite_status:ok");
}

#[test]
fn an_interrupted_move_of_an_old_file_goes_on() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let disk = MemoryDisk::default();
    disk.put(Path::new("/data/appendonly.aof"), b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n");
    disk.put(Path::new("/data/appendonlydir/appendonly.aof.manifest"), b"file appendonly.aof seq 1 type b\n");
    let mut m = Machine::start(disk, &clock, &EVERYSEC);
    m.expect("GET a", "$1\r\nb\r\n");
    assert!(m.log.contains("Successfully migrated an old-style AOF file (appendonly.aof)"), "{}", m.log);
    let mut m = m.crashed(0, &EVERYSEC);
    m.expect("GET a", "$1\r\nb\r\n");
}

#[test]
fn what_is_no_command_is_not_passed_over() {
    for (command, why) in [
        (&b"*1\r\n$3\r\nSET\r\n"[..], "wrong number of arguments for 'set' command"),
        (b"*2\r\n$3\r\nBLA\r\n$1\r\na\r\n", "unknown command 'BLA'"),
        (b"*2\r\n$6\r\nCONFIG\r\n$3\r\nbla\r\n", "unknown subcommand 'bla'"),
        (b"*1\r\n$5\r\nMULTI\r\n*1\r\n$3\r\nSET\r\n*1\r\n$4\r\nEXEC\r\n", "wrong number of arguments"),
    ] {
        let disk = MemoryDisk::default();
        let dir = "/data/appendonlydir/appendonly.aof";
        disk.put(Path::new(&format!("{dir}.manifest")), b"file appendonly.aof.1.incr.aof seq 1 type i\n");
        disk.put(Path::new(&format!("{dir}.1.incr.aof")), command);
        let config = Config { appendonly: true, ..Config::default() };
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(config, Box::new(clock), [7; 16]);
        let mut files = Persist::on(Arc::new(disk), Path::new("/data"), Arc::new(|| {}));
        let refused = files.open(&mut engine, &mut NoTicker).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn what_a_new_base_holds_is_safe() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let mut m = Machine::start(MemoryDisk::default(), &clock, &[("rdb-key-save-delay", "100000000")]);
    m.expect("SET a 1", "+OK\r\n");
    m.expect("BGSAVE", "+Background saving started\r\n");
    m.expect("CONFIG SET appendonly yes", "+OK\r\n");
    m.files.config_changed(&mut m.engine, "appendonly");
    // The rewrite waits for the snapshot, and this write for the rewrite.
    m.expect("SET a 2", "+OK\r\n");
    assert!(!m.engine.sv.is_safe(m.client));
    m.expect("CONFIG SET rdb-key-save-delay 0", "+OK\r\n");
    m.files.config_changed(&mut m.engine, "rdb-key-save-delay");
    m.settle();
    m.pass(Duration::from_secs(1));
    m.files.cron(&mut m.engine);
    m.settle();
    assert!(m.engine.sv.is_safe(m.client));
    let mut m = m.crashed(0, &EVERYSEC);
    m.expect("GET a", "$1\r\n2\r\n");
}

/// A machine whose first base is held up while more is written than memory should hold.
fn first_base() -> Machine {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let options = [("rdb-key-save-delay", "1000000"), ("enable-debug-command", "yes")];
    let mut m = Machine::start(MemoryDisk::default(), &clock, &options);
    m.expect("DEBUG POPULATE 20", "+OK\r\n");
    m.expect("CONFIG SET appendonly yes", "+OK\r\n");
    m.files.cron(&mut m.engine);
    for i in 0..50 {
        m.expect(&format!("SET big:{i} {}", "x".repeat(10_000)), "+OK\r\n");
    }
    m.info("aof_rewrite_in_progress:1");
    let waits = m.engine.sv.persist.log.buffer.len();
    assert!(waits < 100_000, "{waits} bytes wait in memory");
    m
}

#[test]
fn what_is_written_while_the_first_base_is_made_takes_no_memory() {
    let mut m = first_base();
    m.expect("CONFIG SET rdb-key-save-delay 0", "+OK\r\n");
    m.files.config_changed(&mut m.engine, "rdb-key-save-delay");
    m.settle();
    m.info("aof_last_bgrewrite_status:ok");
    m.expect("SET last 1", "+OK\r\n");
    m.sync();
    let mut m = m.crashed(0, &EVERYSEC);
    m.expect("DBSIZE", ":71\r\n");
    m.expect("STRLEN big:0", ":10000\r\n");
    m.expect("STRLEN big:49", ":10000\r\n");
    m.expect("GET last", "$1\r\n1\r\n");
}

#[test]
fn a_first_part_that_cannot_be_written_is_begun_anew() {
    let mut m = first_base();
    m.disk.fail(fault(Op::Write, "-incr.aof", FULL));
    m.expect(&format!("SET more {}", "x".repeat(100_000)), "+OK\r\n");
    m.turn();
    m.info("aof_rewrite_in_progress:0");
    m.info("aof_last_bgrewrite_status:err");
    assert!(m.log.contains("Removing the temp incr aof file"), "{}", m.log);
    assert!(!m.disk.files(Path::new("/data/appendonlydir")).iter().any(|f| f.ends_with("incr.aof")));
    m.expect(&format!("SET more {}", "y".repeat(100_000)), "+OK\r\n");
    assert!(m.engine.sv.persist.log.buffer.is_empty(), "the next base will have it");
    m.disk.heal();
    m.expect("CONFIG SET rdb-key-save-delay 0", "+OK\r\n");
    m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
    m.settle();
    m.info("aof_last_bgrewrite_status:ok");
    m.expect("SET last 1", "+OK\r\n");
    m.sync();
    let mut m = m.crashed(0, &EVERYSEC);
    m.expect("DBSIZE", ":72\r\n");
}

#[test]
fn a_rewrite_while_the_log_is_off_leaves_a_base_alone() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let mut m = Machine::start(MemoryDisk::default(), &clock, &EVERYSEC);
    m.expect("SET a 1", "+OK\r\n");
    m.expect("CONFIG SET appendonly no", "+OK\r\n");
    m.files.cron(&mut m.engine);
    m.expect("BGREWRITEAOF", "+Background append only file rewriting started\r\n");
    m.settle();
    let manifest = m.disk.read(Path::new("/data/appendonlydir/appendonly.aof.manifest")).unwrap();
    assert_eq!(String::from_utf8(manifest).unwrap(), "file appendonly.aof.2.base.rdb seq 2 type b\n");
    assert_eq!(m.disk.files(Path::new("/data/appendonlydir")).len(), 2);
}

#[test]
fn what_is_not_known_is_told_from_what_is_damaged() {
    const DAMAGED: &str = "Terminating server after rdb file reading failure.";
    let clock = ManualClock::new(1_700_000_000_000_000);
    // A type that nobody has, and one of a later version; a database that is not a number; a key twice.
    for (body, damaged, text) in [
        (&b"\x08"[..], false, "Unknown type or opcode when loading DB"),
        (b"\x16", false, "Can't handle foreign type or opcode 22 in RDB with version 9"),
        (b"\xfe\xc0", true, "a length was expected"),
        (b"\x00\x06opcode\x01a\x00\x06opcode\x01a", true, "RDB has duplicated key 'opcode' in DB 0"),
    ] {
        let disk = MemoryDisk::default();
        disk.put(Path::new("/data/dump.rdb"), &[b"REDIS0009", body].concat());
        let mut engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
        let mut files = Persist::on(Arc::new(disk), Path::new("/data"), Arc::new(|| {}));
        let why = files.open(&mut engine, &mut NoTicker).expect_err("it is not loaded");
        assert!(why.starts_with(&format!("Error loading dump.rdb: {text}")), "{why}");
        assert_eq!(why.contains(DAMAGED), damaged, "{why}");
    }
}
