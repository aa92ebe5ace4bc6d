//! Snapshots without fork: whatever is written meanwhile, the file holds the data set of the moment when it began.

use totality_engine::dump::load::{LoadOptions, begin_snapshot, load};
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};
use totality_rdb::Slice;
use totality_rdb::file::FileReader;

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
    let mut engine = Engine::new(config, Box::new(clock.clone()), [5; 16]);
    let client = engine.connect(ConnInfo::default());
    (engine, client)
}

fn run(engine: &mut Engine, client: ClientId, line: &str) -> String {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let mut out = Vec::new();
    engine.wake();
    engine.execute(client, &words, &mut out, &mut NoTicker);
    while engine.next_outgoing().is_some() {}
    String::from_utf8_lossy(&out).into_owned()
}

fn command(rng: &mut Rng, keys: u64) -> String {
    let (key, other) = (rng.below(keys), rng.below(keys));
    let n = rng.below(1000);
    match rng.below(26) {
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
    load(&mut engine.ks, &mut engine.sv, client, &mut reader, LoadOptions::default(), &mut |_| {}).unwrap();
    run(&mut engine, client, "DEBUG DIGEST")
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let crc = totality_ds::crc::crc64(0, &file);
    file.extend_from_slice(&crc.to_le_bytes());
    file
}

/// The file of a snapshot, with `between` called between its steps.
fn snapshot(engine: &mut Engine, mut between: impl FnMut(&mut Engine)) -> Vec<u8> {
    begin_snapshot(&mut engine.ks, &engine.sv, false);
    engine.ks.slow_snapshot();
    let mut file = Vec::new();
    loop {
        let ended = engine.ks.snapshot_step(&mut || true);
        file.append(&mut engine.ks.take_snapshot_bytes());
        if ended {
            engine.ks.drop_snapshot();
            return sealed(file);
        }
        between(engine);
    }
}

#[test]
fn a_snapshot_is_of_the_moment_when_it_began() {
    for seed in 1..=60 {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let (mut engine, client) = engine(&clock);
        let mut rng = Rng(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let keys = if seed % 3 == 0 { 20 } else { 400 };
        for _ in 0..3000 {
            let line = command(&mut rng, keys);
            if !line.starts_with("FLUSH") {
                run(&mut engine, client, &line);
            }
        }
        let at_once = snapshot(&mut engine, |_| {});
        let mut scopes = 0;
        let meanwhile = snapshot(&mut engine, |engine| {
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
        assert_eq!(digest(&at_once, &clock), digest(&meanwhile, &clock), "seed {seed}");
    }
}

#[test]
fn a_snapshot_that_is_given_up_leaves_nothing() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let (mut engine, client) = engine(&clock);
    (0..100).for_each(|i| drop(run(&mut engine, client, &format!("SET k{i} {i}"))));
    begin_snapshot(&mut engine.ks, &engine.sv, false);
    run(&mut engine, client, "FLUSHALL");
    engine.ks.drop_snapshot();
    run(&mut engine, client, "SET k 1");
    let file = snapshot(&mut engine, |_| {});
    let (mut other, reader) = self::engine(&clock);
    run(&mut other, reader, "SET k 1");
    assert_eq!(digest(&file, &clock), run(&mut other, reader, "DEBUG DIGEST"));
}
