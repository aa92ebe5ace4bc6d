//! Snapshots without fork: whatever is written meanwhile, the file holds the data set of the moment when it began.

use totality_engine::dump::load::{Fault, LoadOptions, Purpose, begin_snapshot, load};
use totality_engine::engine::NoTicker;
use totality_engine::execute::update_recording;
use totality_engine::loading;
use totality_engine::persistence::LogState;
use totality_engine::replay::Replayer;
use totality_engine::{After, Busy, ClientId, Config, ConnInfo, Engine, ManualClock, Ticker};
use totality_rdb::file::{self, FileReader};
use totality_rdb::{Slice, Streamed, Writer, types};

const DATABASES: usize = 3;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn engine(clock: &ManualClock) -> (Engine, ClientId) {
    let mut config = Config::default();
    config.set("databases", &[b"3"]).unwrap();
    config.set("enable-debug-command", &[b"yes"]).unwrap();
    // Most values are of the kind that is written in pieces.
    for name in ["hash-max-listpack-entries", "zset-max-listpack-entries", "list-max-listpack-size"] {
        config.set(name, &[b"3"]).unwrap();
    }
    for name in ["set-max-listpack-entries", "set-max-intset-entries", "stream-node-max-entries"] {
        config.set(name, &[b"3"]).unwrap();
    }
    let mut engine = Engine::new(config, Box::new(clock.clone()), [5; 16]);
    let client = engine.connect(ConnInfo::default());
    (engine, client)
}

fn run(engine: &mut Engine, client: ClientId, line: &str) -> String {
    try_run(engine, client, line).0
}

fn try_run(engine: &mut Engine, client: ClientId, line: &str) -> (String, After) {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let mut out = Vec::new();
    engine.wake();
    let after = engine.execute(client, &words, &mut out, &mut NoTicker);
    while engine.next_outgoing().is_some() {}
    (String::from_utf8_lossy(&out).into_owned(), after)
}

/// Runs a command; one that has to wait waits. Gives how often it had to.
fn run_patiently(engine: &mut Engine, client: ClientId, line: &str, file: &mut Vec<u8>) -> (String, usize) {
    for waits in 0..200 {
        let (reply, after) = try_run(engine, client, line);
        if after != After::Postponed {
            return (reply, waits);
        }
        assert_eq!(reply, "", "{line}");
        while !engine.ks.take_snapshot_moved() {
            assert!(engine.ks.snapshot_is_awaited(), "{line}");
            engine.ks.snapshot_step(&mut || true);
            file.append(&mut engine.ks.take_snapshot_bytes());
        }
    }
    panic!("{line} waits for ever")
}

fn command(rng: &mut Rng, keys: u64) -> String {
    let (key, other) = (rng.below(keys), rng.below(keys));
    let n = rng.below(1000);
    match rng.below(36) {
        30 => format!(
            "EVAL redis.call('SET','k{other}',{n});redis.call('SREM','s{key}','a{n}')return{{redis.call('DEL','l{other}'),redis.call('HSET','h{key}','a{n}','b')}} 0"
        ),
        31 => format!(
            "EVAL redis.call('PEXPIRE','k{other}',{n});redis.call('RENAME','z{key}','z{other}')return{{redis.call('ZADD','z{key}',1,'a')}} 0"
        ),
        32 => format!(
            "EVAL return{{redis.call('RPUSH','l{key}',1,2,3),redis.call('LTRIM','l{key}',1,-1),redis.call('APPEND','k{other}','x'),redis.call('XADD','x{other}','*','a','b')}} 0"
        ),
        33 => format!(
            "EVAL redis.call('SETRANGE','k{key}',2,'abc')redis.call('FLUSHDB')return{{redis.call('SADD','s{key}',1)}} {}",
            n % 20 + 30
        ),
        34 => format!(
            "EVAL redis.call('SADD','s{key}',1)redis.call('SPOP','s{other}')redis.call('SMOVE','s{key}','s{other}',1)return{{redis.call('COPY','k{key}','k{other}','REPLACE')}} 0"
        ),
        35 => format!(
            "EVAL redis.call('INCR','k{key}')redis.call('SWAPDB',0,1)return{{redis.call('LPOP','l{key}'),redis.call('ZADD','z{key}',{n},'m')}} 0"
        ),
        26 => format!("XGROUP CREATE x{key} g{} 0", n % 3),
        27 => format!("XREADGROUP GROUP g{} c{} COUNT 2 STREAMS x{key} >", n % 3, n % 4),
        28 => format!("XACK x{key} g{} 1700000000000-{}", n % 3, n % 5),
        29 => format!("EVAL return{{redis.call('RPUSH','l{key}',1),redis.call('SADD','s{key}','a{n}')}} 0"),
        0..=4 => format!("SET k{key} value{n}"),
        5 => format!("SET k{key} {n} PX {}", 1 + n),
        6 => format!("DEL k{key}"),
        7 => format!("RENAME k{key} k{other}"),
        8 => format!("COPY k{key} k{other} REPLACE"),
        9 => format!("RPUSH l{key} a{n} b{n}"),
        10 => format!("LPOP l{key}"),
        11 => format!("SADD s{key} {n} x{n}"),
        12 => format!("SPOP s{key}"),
        13 => format!("HSET h{key} f{} {n}", n % 20),
        14 => format!("HPEXPIRE h{key} {} FIELDS 1 f{}", 1 + n, n % 20),
        15 => format!("ZADD z{key} {n} m{}", n % 30),
        16 => format!("ZREM z{key} m{}", n % 30),
        17 => format!("XADD x{key} * f {n}"),
        18 => format!("XTRIM x{key} MAXLEN 2"),
        19 => format!("PEXPIRE k{key} {}", 1 + n * 3),
        20 => format!("PERSIST k{key}"),
        21 => format!("APPEND k{key} tail"),
        22 => format!("MOVE k{key} {}", n % DATABASES as u64),
        23 => format!("SELECT {}", n % DATABASES as u64),
        24 if n < 60 => format!("SWAPDB {} {}", n % 3, key % 3),
        25 if n < 40 => "FLUSHDB".to_owned(),
        25 if n < 50 => "FLUSHALL".to_owned(),
        _ => format!("GET k{key}"),
    }
}

/// The digest of what a file holds.
fn digest(file: &[u8], clock: &ManualClock) -> String {
    let (mut engine, client) = engine(clock);
    let mut reader = FileReader::open(Slice::new(file), true, true).unwrap();
    load(&mut engine.ks, &mut engine.sv, client, &mut reader, LoadOptions::default(), &mut NoTicker).unwrap();
    run(&mut engine, client, "DEBUG DIGEST")
}

/// The digest of what commands make.
fn digest_of_commands(file: &[u8], clock: &ManualClock) -> String {
    let (mut engine, client) = engine(clock);
    let reader = engine.connect(ConnInfo::default());
    let mut replayer = Replayer::begin(&mut engine.ks, reader);
    let mut parser = totality_resp::Parser::default();
    let mut rest = file;
    while !rest.is_empty() {
        let limits = totality_resp::Limits { max_bulk: 1 << 29, authenticated: true };
        let Ok(totality_resp::Parsed::Command(n)) = parser.parse(rest, &limits) else { panic!("no command") };
        let argv = parser.args(rest).map(<[u8]>::to_vec).collect();
        replayer.run(&mut engine.ks, &mut engine.sv, argv, &mut NoTicker).unwrap();
        rest = &rest[n..];
    }
    let (errors, first) = replayer.end(&mut engine.ks, &engine.sv);
    assert_eq!((errors, first), (0, None));
    run(&mut engine, client, "DEBUG DIGEST")
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let crc = totality_ds::crc::crc64(0, &file);
    file.extend_from_slice(&crc.to_le_bytes());
    file
}

/// The file of a snapshot, with `between` called between its steps.
fn snapshot(engine: &mut Engine, purpose: Purpose, mut between: impl FnMut(&mut Engine)) -> Vec<u8> {
    snapshot_with(engine, purpose, |engine, _| between(engine))
}

/// The same; `between` may make steps of its own and append what they gave.
fn snapshot_with(
    engine: &mut Engine,
    purpose: Purpose,
    mut between: impl FnMut(&mut Engine, &mut Vec<u8>),
) -> Vec<u8> {
    begin_snapshot(&mut engine.ks, &engine.sv, purpose);
    engine.ks.slow_snapshot();
    let mut file = Vec::new();
    loop {
        let ended = engine.ks.snapshot_step(&mut || true);
        file.append(&mut engine.ks.take_snapshot_bytes());
        if ended {
            engine.ks.drop_snapshot();
            return if purpose == Purpose::Commands { file } else { sealed(file) };
        }
        between(engine, &mut file);
    }
}

#[test]
fn a_snapshot_is_of_the_moment_when_it_began() {
    written_meanwhile(Purpose::File, digest);
}

#[test]
fn commands_are_of_the_moment_when_they_were_begun() {
    written_meanwhile(Purpose::Commands, digest_of_commands);
}

fn written_meanwhile(purpose: Purpose, digest: fn(&[u8], &ManualClock) -> String) {
    for seed in 1..=60 {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let (mut engine, client) = engine(&clock);
        // What is pending and no longer there has no command that would make it.
        let left_out = if purpose == Purpose::Commands { "XTRIM" } else { "FLUSH" };
        let mut rng = Rng(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let keys = if seed % 3 == 0 { 20 } else { 400 };
        for _ in 0..3000 {
            let line = command(&mut rng, keys);
            if !line.starts_with("FLUSH") && !line.starts_with(left_out) {
                run(&mut engine, client, &line);
            }
        }
        let at_once = snapshot(&mut engine, Purpose::File, |_| {});
        let mut scopes = 0;
        let meanwhile = snapshot(&mut engine, purpose, |engine| {
            for _ in 0..rng.below(4) {
                let scope = rng.below(5) == 0;
                if scope {
                    engine.ks.open_scope();
                }
                for _ in 0..1 + rng.below(3) {
                    let line = command(&mut rng, keys);
                    run(engine, client, &line);
                }
                if scope {
                    scopes += 1;
                    if rng.below(2) == 0 {
                        engine.ks.take_back();
                    } else {
                        engine.ks.commit_scope();
                    }
                }
            }
            if rng.below(10) == 0 {
                clock.advance_ms(rng.below(50));
                engine.cron();
            }
        });
        assert!(seed % 3 == 0 || scopes > 0);
        assert_eq!(self::digest(&at_once, &clock), digest(&meanwhile, &clock), "seed {seed}");
    }
}

#[test]
fn a_snapshot_that_is_given_up_leaves_nothing() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let (mut engine, client) = engine(&clock);
    (0..100).for_each(|i| drop(run(&mut engine, client, &format!("SET k{i} {i}"))));
    begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
    run(&mut engine, client, "FLUSHALL");
    engine.ks.drop_snapshot();
    run(&mut engine, client, "SET k 1");
    let file = snapshot(&mut engine, Purpose::File, |_| {});
    let (mut other, reader) = self::engine(&clock);
    run(&mut other, reader, "SET k 1");
    assert_eq!(digest(&file, &clock), run(&mut other, reader, "DEBUG DIGEST"));
}

#[test]
fn a_large_value_that_goes_is_handed_over() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    for purpose in [Purpose::File, Purpose::Commands] {
        let (mut engine, client) = engine(&clock);
        for i in 0..20_000 {
            for key in ["deleted", "overwritten", "expired", "moved", "half"] {
                run(&mut engine, client, &format!("HSET {key} field-{i} some-value-{i}"));
            }
        }
        run(&mut engine, client, "PEXPIRE expired 1000");
        let before = run(&mut engine, client, "DEBUG DIGEST");
        let used = engine.ks.used_memory();
        begin_snapshot(&mut engine.ks, &engine.sv, purpose);
        let mut file = Vec::new();
        // One of them is half written.
        while file.len() < 1000 {
            engine.ks.snapshot_step(&mut || true);
            file.append(&mut engine.ks.take_snapshot_bytes());
        }
        for line in ["DEL deleted half", "SET overwritten x", "UNLINK moved"] {
            assert_eq!(try_run(&mut engine, client, line).1, After::Continue, "{line}");
        }
        clock.advance_ms(2000);
        assert_eq!(run(&mut engine, client, "EXISTS expired"), ":0\r\n");
        run(&mut engine, client, "HSET half new 1");
        assert!(engine.ks.used_memory() < used / 10);
        let early = engine.ks.take_snapshot_bytes().len();
        assert!(early < 1000, "{early} bytes were written at once");
        assert!(engine.ks.snapshot_copied() > 1_000_000);
        finish(&mut engine, &mut file);
        let clock = ManualClock::new(1_700_000_000_000_000);
        let after = match purpose {
            Purpose::Commands => digest_of_commands(&file, &clock),
            _ => digest(&sealed(file), &clock),
        };
        assert_eq!(before, after);
    }
}

#[test]
fn who_wants_to_change_a_large_value_waits_until_it_is_written() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let (mut engine, client) = engine(&clock);
    for i in 0..5000 {
        run(&mut engine, client, &format!("SADD set m{i}"));
        run(&mut engine, client, &format!("RPUSH list {i}-and-quite-a-few-more-bytes-of-text"));
        run(&mut engine, client, &format!("XADD stream 1-{} f value-{i}-of-quite-a-few-bytes", i + 1));
    }
    run(&mut engine, client, &format!("SET string {}", "x".repeat(2 << 20)));
    run(&mut engine, client, "SET other 1");
    let before = run(&mut engine, client, "DEBUG DIGEST");
    begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
    let (mut file, mut steps) = (Vec::new(), 0);
    for line in ["SADD set new", "RPUSH list new", "XTRIM stream MAXLEN 1", "APPEND string y", "SET other 2"]
    {
        let waits = line != "SET other 2";
        assert_eq!(try_run(&mut engine, client, line).1 == After::Postponed, waits, "{line}");
        // What only reads does not wait.
        assert_eq!(run(&mut engine, client, "SISMEMBER set m1"), ":1\r\n");
        while waits && !engine.ks.take_snapshot_moved() {
            engine.ks.snapshot_step(&mut || true);
            file.append(&mut engine.ks.take_snapshot_bytes());
            steps += 1;
        }
        if waits {
            assert_eq!(try_run(&mut engine, client, line).1, After::Continue, "{line}");
        }
    }
    assert!(steps > 20, "{steps} steps");
    while !engine.ks.snapshot_step(&mut || true) {
        file.append(&mut engine.ks.take_snapshot_bytes());
    }
    file.append(&mut engine.ks.take_snapshot_bytes());
    engine.ks.drop_snapshot();
    assert_eq!(digest(&sealed(file), &clock), before);
    // A transaction waits as a whole.
    begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
    for line in ["MULTI", "SET other 3", "SELECT 0", "SADD set newer"] {
        assert_eq!(try_run(&mut engine, client, line).1, After::Continue, "{line}");
    }
    assert_eq!(try_run(&mut engine, client, "EXEC").1, After::Postponed);
    assert_eq!(run_patiently(&mut engine, client, "EXEC", &mut Vec::new()).0, "*3\r\n+OK\r\n+OK\r\n:1\r\n");
    // Nor does who overwrites or removes the whole of it wait: the snapshot takes it over.
    for line in ["SUNIONSTORE set other-set", "SETEX string 10 short", "UNLINK stream"] {
        assert_eq!(try_run(&mut engine, client, line).1, After::Continue, "{line}");
    }
    // One that is given up holds nobody up.
    assert_eq!(try_run(&mut engine, client, "RPUSH list newer").1, After::Postponed);
    engine.ks.drop_snapshot();
    assert!(engine.ks.take_snapshot_moved());
    assert_eq!(try_run(&mut engine, client, "RPUSH list newer").1, After::Continue);
}

/// A large value of each kind.
fn fill_large(engine: &mut Engine, client: ClientId) {
    for i in 0..3000 {
        let text = format!("{i}-and-quite-a-few-more-bytes-of-text-so-that-it-is-long");
        run(engine, client, &format!("HSET hash {text} {i}"));
        run(engine, client, &format!("SADD set {text}"));
        run(engine, client, &format!("ZADD zset {i} {text}"));
        run(engine, client, &format!("RPUSH list {text}"));
        run(engine, client, &format!("XADD stream 1-{} f {text}", i + 1));
    }
    run(engine, client, &format!("SET string {}", "x".repeat(2 << 20)));
}

/// Appends the rest of a snapshot.
fn finish(engine: &mut Engine, file: &mut Vec<u8>) {
    loop {
        let ended = engine.ks.snapshot_step(&mut || true);
        file.append(&mut engine.ks.take_snapshot_bytes());
        if ended {
            return engine.ks.drop_snapshot();
        }
    }
}

/// The whole file, when `file` is its beginning.
fn rest(engine: &mut Engine, mut file: Vec<u8>) -> Vec<u8> {
    finish(engine, &mut file);
    sealed(file)
}

#[test]
fn a_script_that_changes_a_large_value_is_taken_back_and_waits() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let edits = [
        "redis.call('HSET','hash','a','b')redis.call('SREM','set','x')redis.call('SADD','set','x')redis.call('ZINCRBY','zset',1,'a')redis.call('RPUSH','list','a')redis.call('XADD','stream','2-*','a','b')redis.call('APPEND','string','a')",
        "for\ti=1,6\tdo\tlocal\tkey=({'hash','set','zset','list','stream','string'})[i]redis.pcall('RENAME',key,'new-'..key)end",
        "for\ti=1,6\tdo\tredis.pcall('EXPIRE',({'hash','set','zset','list','stream','string'})[i],100)end",
    ];
    for edit in edits {
        for header in ["", "---\t@rollback\ton\n"] {
            let (mut engine, client) = engine(&clock);
            fill_large(&mut engine, client);
            run(&mut engine, client, "SET n 1");
            run(&mut engine, client, "SET gone 1 PX 10");
            let listener = engine.connect(ConnInfo::default());
            run(&mut engine, listener, "SUBSCRIBE news");
            clock.advance_ms(20);
            let before = run(&mut engine, client, "DEBUG DIGEST");
            begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
            let mut file = Vec::new();
            let script = format!(
                "EVAL {header}redis.call('INCR','n')redis.call('PUBLISH','news',redis.call('EXISTS','gone')){edit}\treturn\tredis.call('INCR','n') 0"
            );
            let dirty = engine.ks.dirty;
            let (reply, after) = try_run(&mut engine, client, &script);
            assert_eq!((reply.as_str(), after), ("", After::Postponed), "{edit}");
            let early = engine.ks.snapshot_copied();
            assert!(early < 1000, "something large was written at once");
            assert_eq!(engine.ks.dirty, dirty);
            assert_eq!(run(&mut engine, client, "GET n"), "$1\r\n1\r\n", "it was taken back");
            // What only reads does not wait, nor does what changes something small.
            let fine = [
                "EVAL return\tredis.call('HLEN','hash') 1 hash",
                "EVAL return\tredis.call('SET','m',1) 0",
                "EVAL_RO return\tredis.call('HLEN','hash') 1 hash",
            ];
            for line in fine {
                assert_eq!(try_run(&mut engine, client, line).1, After::Continue, "{line}");
            }
            run(&mut engine, client, "DEL m");
            let (reply, waits) = run_patiently(&mut engine, client, &script, &mut file);
            assert_eq!((reply.as_str(), waits), (":3\r\n", 6), "{edit}");
            assert!(engine.ks.snapshot_copied() - early < 10_000, "something large was written at once");
            assert_eq!(run(&mut engine, client, "GET n"), "$1\r\n3\r\n");
            let expected = run(&mut engine, client, "DEBUG DIGEST");
            let file = rest(&mut engine, file);
            assert_eq!(digest(&file, &clock), before, "{edit}");
            assert_eq!(run(&mut engine, client, "DEBUG DIGEST"), expected);
        }
    }
}

#[test]
fn what_a_scope_removed_goes_to_the_snapshot_or_comes_back() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let edit = "redis.call('DEL','hash','zset','list','stream')redis.call('SET','set','short')redis.call('SET','string','short')redis.call('RPUSH','hash','a')redis.call('DEL','hash','set')redis.call('INCR','n')";
    for (purpose, half) in [(Purpose::File, false), (Purpose::File, true), (Purpose::Commands, true)] {
        for (header, end, stays) in [
            ("", "", true),
            ("---\t@rollback\ton\n", "", true),
            ("---\t@rollback\ton\n", "error('no')", false),
            ("", "redis.call('DEL','n')redis.call('INCR','string')", true),
        ] {
            let (mut engine, client) = engine(&clock);
            fill_large(&mut engine, client);
            let before = run(&mut engine, client, "DEBUG DIGEST");
            begin_snapshot(&mut engine.ks, &engine.sv, purpose);
            let mut file = Vec::new();
            // One of them is half written.
            while half && file.len() < 1000 {
                engine.ks.snapshot_step(&mut || true);
                file.append(&mut engine.ks.take_snapshot_bytes());
            }
            let script = format!("EVAL {header}{edit}{end} 0");
            assert_eq!(try_run(&mut engine, client, &script).1, After::Continue, "{script}");
            let early = engine.ks.take_snapshot_bytes();
            assert!(early.len() < 1000, "{} bytes were written at once", early.len());
            file.extend_from_slice(&early);
            let after = run(&mut engine, client, "DEBUG DIGEST");
            assert_eq!(after != before, stays, "{script}");
            assert_eq!(engine.ks.snapshot_copied() > 1_000_000, stays, "{script}");
            finish(&mut engine, &mut file);
            let found = match purpose {
                Purpose::Commands => digest_of_commands(&file, &clock),
                _ => digest(&sealed(file), &clock),
            };
            assert_eq!(found, before, "{script}");
            assert_eq!(run(&mut engine, client, "DEBUG DIGEST"), after);
            assert_eq!(engine.ks.used_memory(), engine.ks.recount_memory());
        }
    }
}

#[test]
fn a_script_that_cannot_be_taken_back_has_it_written_at_once() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let many = "for\ti=1,60000\tdo\tredis.call('SET','key:'..i,i)end\t";
    let savepoint = "redis.savepoint(function()redis.call('INCR','n')end)";
    for before in [many, savepoint] {
        let (mut engine, client) = engine(&clock);
        fill_large(&mut engine, client);
        let was = run(&mut engine, client, "DEBUG DIGEST");
        begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
        let script = format!("EVAL {before}return\tredis.call('SADD','set','new') 0");
        let (reply, after) = try_run(&mut engine, client, &script);
        assert_eq!((reply.as_str(), after), (":1\r\n", After::Continue), "{before}");
        assert!(engine.ks.take_snapshot_bytes().len() > 100_000);
        engine.ks.drop_snapshot();
        let (mut engine, client) = self::engine(&clock);
        fill_large(&mut engine, client);
        begin_snapshot(&mut engine.ks, &engine.sv, Purpose::File);
        run(&mut engine, client, "MULTI");
        run(&mut engine, client, &script);
        assert_eq!(try_run(&mut engine, client, "EXEC").1, After::Continue, "nobody knew");
        let file = rest(&mut engine, Vec::new());
        assert_eq!(digest(&file, &clock), was);
    }
}

/// Commands whose outcome is no chance.
fn certain(rng: &mut Rng, keys: u64) -> String {
    loop {
        let line = command(rng, keys);
        if !line.contains("SPOP") {
            return line;
        }
    }
}

#[test]
fn who_waits_has_his_effects_once_and_in_order() {
    let mut waited = 0;
    for seed in 1..=12 {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut rng = Rng(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let mut both = [engine(&clock), engine(&clock)];
        for (engine, _) in &mut both {
            engine.sv.persist.log.state = LogState::On;
            update_recording(&mut engine.ks, &engine.sv);
            if seed % 2 == 0 {
                engine.sv.config.set("transaction-rollback", &[b"yes"]).unwrap();
            }
        }
        for _ in 0..2000 {
            let line = certain(&mut rng, 100);
            if !line.starts_with("FLUSH") {
                both.iter_mut().for_each(|(engine, client)| drop(run(engine, *client, &line)));
            }
        }
        let [(engine, client), (other, twin)] = &mut both;
        let before = snapshot(engine, Purpose::File, |_| {});
        let mut transaction = false;
        let meanwhile = snapshot_with(engine, Purpose::File, |engine, file| {
            for _ in 0..rng.below(4) {
                let line = match rng.below(8) {
                    0 if transaction => "EXEC".to_owned(),
                    0 => "MULTI".to_owned(),
                    _ => certain(&mut rng, 100),
                };
                transaction = if line == "MULTI" { true } else { transaction && line != "EXEC" };
                let (reply, waits) = run_patiently(engine, *client, &line, file);
                waited += waits;
                assert_eq!(reply, run(other, *twin, &line), "seed {seed}: {line}");
            }
        });
        let (log, other_log) = (&engine.sv.persist.log.buffer, &other.sv.persist.log.buffer);
        assert!(log == other_log, "seed {seed}: the effects are not the same");
        assert_eq!(digest(&before, &clock), digest(&meanwhile, &clock), "seed {seed}");
        for (engine, client) in [(engine, client), (other, twin)] {
            run(engine, *client, "DISCARD");
            assert_eq!(engine.ks.undo.depth(), 0);
            assert_eq!(engine.ks.used_memory(), engine.ks.recount_memory());
        }
    }
    assert!(waited > 100, "{waited}");
}

/// Counts how often others could be served; the loading ends at the last time that is allowed.
struct Visits {
    seen: usize,
    allowed: usize,
    clock: ManualClock,
}

impl Ticker for Visits {
    fn tick(&mut self, busy: &mut Busy<'_>) {
        self.seen += 1;
        self.clock.advance_ms(5);
        if self.seen == self.allowed {
            busy.stop_loading();
        }
    }
}

/// Loads a file of one value into engines that are looked at all the time, and into one that is told to stop.
fn loads_with_visits(clock: &ManualClock, name: &str, file: &[u8], before: &str, least: usize) {
    for allowed in [usize::MAX, 7] {
        let (mut engine, client) = self::engine(clock);
        engine.sv.config.set("loading-process-events-interval-bytes", &[b"1024"]).unwrap();
        let mut reader = FileReader::open(Streamed::new(file, true), true, true).unwrap();
        loading::begin(&mut engine.sv, file.len() as u64);
        let mut visits = Visits { seen: 0, allowed, clock: clock.clone() };
        let options = LoadOptions::default();
        let loaded = load(&mut engine.ks, &mut engine.sv, client, &mut reader, options, &mut visits);
        loading::end(&mut engine.sv);
        if allowed == 7 {
            assert_eq!(loaded.unwrap_err().fault, Fault::Stopped, "{name}");
            assert_eq!((visits.seen, engine.ks.dbs()[0].len()), (7, 0), "{name}");
            continue;
        }
        assert_eq!(loaded.unwrap().keys, 1, "{name}");
        assert!(visits.seen > least, "{name}: {} times", visits.seen);
        assert_eq!(run(&mut engine, client, "DEBUG DIGEST"), before, "{name}");
    }
}

#[test]
fn others_are_served_while_one_long_value_is_loaded() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    for fill in [
        "HSET v field-# value",
        "SADD v member-#",
        "ZADD v 1 member-#",
        "RPUSH v an-element-of-some-bytes-#",
        "XADD v 1-# field a-value-of-some-bytes",
    ] {
        let (mut engine, client) = engine(&clock);
        for i in 1..=50_000 {
            run(&mut engine, client, &fill.replace('#', &i.to_string()));
        }
        let before = run(&mut engine, client, "DEBUG DIGEST");
        let file = snapshot(&mut engine, Purpose::File, |_| {});
        loads_with_visits(&clock, fill, &file, &before, 20);
    }
}

#[test]
fn others_are_served_while_pending_entries_are_loaded() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let (mut engine, client) = engine(&clock);
    run(&mut engine, client, "XGROUP CREATE v readers 0 MKSTREAM");
    for i in 1..=50_000 {
        run(&mut engine, client, &format!("XADD v 1-{i} f v"));
    }
    let entries = snapshot(&mut engine, Purpose::File, |_| {});
    run(&mut engine, client, "XREADGROUP GROUP readers one COUNT 20000 STREAMS v >");
    run(&mut engine, client, "XREADGROUP GROUP readers two STREAMS v >");
    let before = run(&mut engine, client, "DEBUG DIGEST");
    let file = snapshot(&mut engine, Purpose::File, |_| {});
    assert!(file.len() > entries.len() + 50_000 * 30);
    // All of them are read twice, made once and freed.
    loads_with_visits(&clock, "pending entries", &file, &before, 30 + 3 * 48);
}

#[test]
fn others_are_served_while_a_long_string_is_loaded() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let (mut engine, client) = engine(&clock);
    run(&mut engine, client, "SETRANGE v 33554431 x");
    let before = run(&mut engine, client, "DEBUG DIGEST");
    let file = snapshot(&mut engine, Purpose::File, |_| {});
    assert!(file.len() > 32 << 20);
    loads_with_visits(&clock, "a long string", &file, &before, 30);
    // The same as Redis writes it: compressed.
    let mut w = Writer::new(true);
    file::head(&mut w, 11);
    file::select(&mut w, 0, None);
    w.byte(types::STRING);
    w.string(b"v");
    let mut value = vec![0; 32 << 20];
    value[(32 << 20) - 1] = b'x';
    w.string(&value);
    file::end(&mut w);
    w.out.extend_from_slice(&[0; 8]);
    assert!(w.out.len() < 1 << 20);
    loads_with_visits(&clock, "a compressed string", &w.out, &before, 30);
}
