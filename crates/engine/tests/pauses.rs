//! Nothing but the documented O(N) commands pauses the loop: tables grow in bounded steps, large values and emptied
//! tables are handed out to be freed elsewhere, SCAN misses nothing under change. The longest pause is printed, not
//! judged: with `TOTALITY_SLOW` set for ten million keys.

use std::collections::HashSet;
use std::time::{Duration, Instant};
use totality_engine::clock::Clock;
use totality_engine::dump::load::{Purpose, begin_snapshot};
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine};

struct Still;
impl Clock for Still {
    fn now_us(&self) -> u64 {
        1_700_000_000_000_000
    }
}

struct Bench {
    engine: Engine,
    client: ClientId,
    out: Vec<u8>,
    /// The longest command, and which it was.
    longest: (Duration, String),
}

impl Bench {
    fn new() -> Bench {
        let mut engine = Engine::new(Config::default(), Box::new(Still), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, out: Vec::new(), longest: (Duration::ZERO, String::new()) }
    }

    fn run(&mut self, argv: &[&[u8]]) -> &[u8] {
        self.out.clear();
        let began = Instant::now();
        self.engine.execute(self.client, argv, &mut self.out, &mut NoTicker);
        let took = began.elapsed();
        if took > self.longest.0 {
            let name = String::from_utf8_lossy(argv[0]);
            self.longest = (took, format!("{name} at {} keys", self.engine.ks.db().len()));
        }
        &self.out
    }
}

fn keys() -> usize {
    if std::env::var_os("TOTALITY_SLOW").is_some() { 10_000_000 } else { 200_000 }
}

#[test]
fn many_keys_come_and_go_without_a_long_pause() {
    let (mut b, n) = (Bench::new(), keys());
    for i in 0..n {
        b.run(&[b"SET", format!("key:{i}").as_bytes(), b"value"]);
    }
    for i in 0..n / 4 {
        b.run(&[b"ZADD", b"large", i.to_string().as_bytes(), format!("member:{i}").as_bytes()]);
        b.run(&[b"HSET", b"wide", format!("field:{i}").as_bytes(), b"value"]);
    }
    println!("longest pause of {n} keys and two values of {}: {:?} ({})", n / 4, b.longest.0, b.longest.1);
    b.longest = Default::default();
    assert!(!b.engine.ks.has_garbage());
    b.run(&[b"DEL", b"large"]);
    b.run(&[b"SET", b"wide", b"now a string"]);
    assert_eq!(b.engine.ks.take_garbage().objects(), 2, "both values are freed by the owner");
    b.run(&[b"FLUSHALL"]);
    let garbage = b.engine.ks.take_garbage();
    assert_eq!(garbage.objects(), n as u64 + 1, "all keys are freed by the owner");
    println!("longest pause of their removal: {:?} ({})", b.longest.0, b.longest.1);
    let mut freed = 0;
    garbage.free(&mut |objects| freed += objects);
    assert_eq!((freed, b.engine.ks.used_memory()), (n as u64 + 1, b.engine.ks.recount_memory()));
}

#[test]
fn a_scan_sees_all_that_stays_whatever_else_happens() {
    let mut b = Bench::new();
    let stays: HashSet<String> = (0..5_000).map(|i| format!("stays:{i}")).collect();
    for key in &stays {
        b.run(&[b"SET", key.as_bytes(), b"1"]);
    }
    let (mut cursor, mut seen, mut step) = ("0".to_owned(), HashSet::new(), 0);
    loop {
        let reply =
            String::from_utf8_lossy(b.run(&[b"SCAN", cursor.as_bytes(), b"COUNT", b"20"])).into_owned();
        let mut words = reply.lines().filter(|line| !line.starts_with(['*', '$']));
        cursor = words.next().unwrap_or("0").to_owned();
        seen.extend(words.map(str::to_owned));
        if cursor == "0" {
            break;
        }
        // The table grows by splits, then shrinks by merges.
        for i in 0..100 {
            let name = format!("comes:{}", step * 100 + i);
            b.run(&[b"SET", name.as_bytes(), b"1"]);
            if step > 50 {
                b.run(&[b"DEL", format!("comes:{}", (step - 50) * 100 + i).as_bytes()]);
            }
        }
        step += 1;
    }
    assert!(step > 100);
    let missed = stays.difference(&seen).count();
    assert_eq!(missed, 0, "of {} after {step} steps", stays.len());
}

/// A snapshot while half of the commands write: the longest command, and the longest step of the snapshot.
#[test]
fn a_snapshot_makes_nobody_wait_long() {
    const STEP: Duration = Duration::from_micros(1500);
    let (mut b, n) = (Bench::new(), keys());
    for i in 0..n {
        b.run(&[b"SET", format!("key:{i}").as_bytes(), b"value"]);
    }
    let large = n / 10;
    for i in 0..large {
        let (member, field) = (format!("member:{i}"), format!("field:{i}"));
        b.run(&[b"ZADD", b"zset", i.to_string().as_bytes(), member.as_bytes()]);
        b.run(&[b"HSET", b"hash", field.as_bytes(), b"value"]);
        b.run(&[b"SADD", b"set", member.as_bytes()]);
        b.run(&[b"RPUSH", b"list", member.as_bytes()]);
        b.run(&[b"XADD", b"stream", b"*", b"f", member.as_bytes()]);
    }
    b.run(&[b"SETRANGE", b"string", b"99999999", b"x"]);
    b.longest = Default::default();
    begin_snapshot(&mut b.engine.ks, &b.engine.sv, Purpose::File);
    let (mut longest, mut bytes, mut steps, mut waits, mut i) = (Duration::ZERO, 0, 0, 0, 0u64);
    loop {
        let began = Instant::now();
        let ended = b.engine.ks.snapshot_step(&mut || began.elapsed() >= STEP);
        longest = longest.max(began.elapsed());
        bytes += b.engine.ks.take_snapshot_bytes().len();
        steps += 1;
        if ended {
            break;
        }
        for _ in 0..50 {
            i = i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = format!("key:{}", (i >> 33) as usize % n);
            b.run(&[b"SET", key.as_bytes(), b"other"]);
            b.run(&[b"GET", key.as_bytes()]);
        }
        for words in [
            &[&b"SADD"[..], b"set", b"new"][..],
            &[b"HSET", b"hash", b"new", b"x"],
            &[b"RPUSH", b"list", b"new"],
        ] {
            waits += usize::from(b.run(words).is_empty());
        }
    }
    b.engine.ks.drop_snapshot();
    println!(
        "snapshot of {n} keys and five values of {large} elements, {bytes} bytes in {steps} steps: longest step {longest:?}, longest command {:?} ({}), {waits} times a writer waited",
        b.longest.0, b.longest.1
    );
    assert!(waits > 0, "nobody wanted to change a value that was not yet written");
}
