//! Nanoseconds per command of hashes and sets, small and large, through the execute gate.
//!
//! `cargo run --release -p totality-engine --example collections [COMMANDS]`

use std::time::Instant;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

struct Bench {
    engine: Engine,
    client: ClientId,
    out: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let mut engine =
            Engine::new(Config::default(), Box::new(ManualClock::new(1_700_000_000_000_000)), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, out: Vec::with_capacity(1 << 16) }
    }

    fn run(&mut self, argv: &[&[u8]]) {
        self.out.clear();
        self.engine.execute(self.client, argv, &mut self.out, &mut NoTicker);
    }

    /// Gives `n` commands that `make` writes into words, best of three, and prints what one takes.
    fn time(
        &mut self,
        what: &str,
        n: usize,
        words: &[Vec<u8>],
        make: impl Fn(usize, &[Vec<u8>]) -> Vec<&[u8]>,
    ) {
        let mut best = f64::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            for i in 0..n {
                let argv = make(i, words);
                self.run(&argv);
            }
            best = best.min(start.elapsed().as_nanos() as f64 / n as f64);
        }
        let reply = String::from_utf8_lossy(&self.out).lines().next().unwrap_or("").to_owned();
        println!("{what:<34} {best:>8.0} ns   ({reply})");
    }
}

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200_000);
    let mut b = Bench::new();
    let names: Vec<Vec<u8>> = (0..100_000).map(|i| format!("field:{i:06}").into_bytes()).collect();
    let ints: Vec<Vec<u8>> = (0..100_000).map(|i| (i * 7).to_string().into_bytes()).collect();
    b.time("PING", n, &names, |_, _| vec![b"PING"]);
    for (size, key) in [(10, b"h10"), (100, b"h1c"), (100_000, b"h5k")] {
        b.time(&format!("HSET new and old, {size} fields"), n.max(size), &names, |i, w| {
            vec![b"HSET", key, &w[i % size], b"value of the field"]
        });
        b.time(&format!("HGET, {size} fields"), n, &names, |i, w| vec![b"HGET", key, &w[i * 31 % size]]);
        b.time(&format!("HINCRBY, {size} fields"), n, &ints, |i, w| {
            vec![b"HINCRBY", b"n10", &w[i * 31 % size.min(100)], b"3"]
        });
    }
    b.time("HGETALL, 10 fields", n / 10, &names, |_, _| vec![b"HGETALL", b"h10"]);
    b.time("HGETALL, 100 fields", n / 100, &names, |_, _| vec![b"HGETALL", b"h1c"]);
    b.time("HGETALL, 100000 fields", 3, &names, |_, _| vec![b"HGETALL", b"h5k"]);
    for (size, key) in [(10, b"s10"), (100, b"s1c"), (100_000, b"s5k")] {
        b.time(&format!("SADD new and old, {size} strings"), n.max(size), &names, |i, w| {
            vec![b"SADD", key, &w[i % size]]
        });
        b.time(&format!("SISMEMBER, {size} strings"), n, &names, |i, w| {
            vec![b"SISMEMBER", key, &w[i * 31 % size]]
        });
    }
    for (size, key) in [(10, b"i10"), (500, b"i5c"), (100_000, b"i5k")] {
        b.time(&format!("SADD new and old, {size} integers"), n.max(size), &ints, |i, w| {
            vec![b"SADD", key, &w[i % size]]
        });
        b.time(&format!("SISMEMBER, {size} integers"), n, &ints, |i, w| {
            vec![b"SISMEMBER", key, &w[i * 31 % size]]
        });
    }
    b.time("SRANDMEMBER, 100000 strings", n, &names, |_, _| vec![b"SRANDMEMBER", b"s5k"]);
    b.time("SPOP and SADD, 100 strings", n, &names, |i, w| {
        if i % 2 == 0 { vec![b"SPOP", b"s1c"] } else { vec![b"SADD", b"s1c", &w[i % 100]] }
    });
    b.time("SINTER 100 and 100000 strings", n / 100, &names, |_, _| vec![b"SINTER", b"s5k", b"s1c"]);
    b.time("SUNION 100 and 500 integers", n / 1000, &names, |_, _| vec![b"SUNION", b"i5c", b"s1c"]);
    b.time("SSCAN, 100000 strings", n / 10, &names, |_, _| vec![b"SSCAN", b"s5k", b"0"]);
}
