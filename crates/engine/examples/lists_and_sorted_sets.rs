//! Nanoseconds of commands on lists and sorted sets through the execute gate, without a socket.
//! `cargo run --release -p totality-engine --example lists_and_sorted_sets`

use std::hint::black_box;
use std::time::Instant;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine};

struct Bench {
    engine: Engine,
    client: ClientId,
    out: Vec<u8>,
    began: Instant,
}

impl Bench {
    fn run(&mut self, argv: &[&[u8]]) {
        self.out.clear();
        self.engine.execute(self.client, argv, &mut self.out, &mut NoTicker);
        debug_assert!(self.out.first() != Some(&b'-'), "{}", String::from_utf8_lossy(&self.out));
        black_box(&self.out);
    }

    /// Time on the processor, which other processes disturb less, where the system tells it.
    fn cpu_ns(&self) -> u64 {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let first = told.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
        first.unwrap_or_else(|| self.began.elapsed().as_nanos() as u64)
    }

    fn time(&mut self, name: &str, n: u64, mut f: impl FnMut(&mut Self, u64)) {
        let start = self.cpu_ns();
        (0..n).for_each(|i| f(self, i));
        let ns = (self.cpu_ns() - start) as f64 / n as f64;
        println!("{name:<48}{ns:>10.0} ns");
    }
}

/// Numbers in an order without pattern.
fn mix(i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn main() {
    let start = Instant::now();
    let clock = move || 1_700_000_000_000_000 + start.elapsed().as_micros() as u64;
    let mut engine = Engine::new(Config::default(), Box::new(clock), [7; 16]);
    let client = engine.connect(ConnInfo::default());
    let mut b = Bench { engine, client, out: Vec::new(), began: start };
    let n = 300_000;

    b.time("PING", n, |b, _| b.run(&[b"PING"]));
    b.time("LPUSH + LPOP, list of one", n, |b, _| {
        b.run(&[b"LPUSH", b"l1", b"value:000001"]);
        b.run(&[b"LPOP", b"l1"]);
    });
    b.time("LPUSH, growing to 300,000", n, |b, _| b.run(&[b"LPUSH", b"l", b"value:000001"]));
    b.time("LPUSH + RPOP, list of 300,000", n, |b, _| {
        b.run(&[b"LPUSH", b"l", b"value:000001"]);
        b.run(&[b"RPOP", b"l"]);
    });
    b.time("LRANGE 0 9, list of 300,000", n, |b, _| b.run(&[b"LRANGE", b"l", b"0", b"9"]));
    b.time("LRANGE 0 99, list of 300,000", n / 10, |b, _| b.run(&[b"LRANGE", b"l", b"0", b"99"]));
    b.time("LINDEX middle, list of 300,000", n / 10, |b, _| b.run(&[b"LINDEX", b"l", b"150000"]));
    b.time("RPOP, list of 300,000", n, |b, _| b.run(&[b"RPOP", b"l"]));

    b.time("ZADD, listpack of 100", n, |b, i| {
        let (member, score) = (format!("member:{}", mix(i) % 100), (mix(i * 7) % 1000).to_string());
        b.run(&[b"ZADD", b"small", score.as_bytes(), member.as_bytes()]);
    });
    b.time("ZRANGE 0 9 WITHSCORES, listpack of 100", n, |b, _| {
        b.run(&[b"ZRANGE", b"small", b"0", b"9", b"WITHSCORES"]);
    });
    b.time("ZADD, random, growing to 300,000", n, |b, i| {
        let (member, score) = (format!("member:{}", mix(i)), (mix(i * 7) % 1_000_000).to_string());
        b.run(&[b"ZADD", b"z", score.as_bytes(), member.as_bytes()]);
    });
    b.time("ZADD of a changed score, 300,000", n, |b, i| {
        let (member, score) = (format!("member:{}", mix(i)), (mix(i * 11) % 1_000_000).to_string());
        b.run(&[b"ZADD", b"z", score.as_bytes(), member.as_bytes()]);
    });
    b.time("ZSCORE, 300,000", n, |b, i| {
        let member = format!("member:{}", mix(i));
        b.run(&[b"ZSCORE", b"z", member.as_bytes()]);
    });
    b.time("ZRANK, 300,000", n, |b, i| {
        let member = format!("member:{}", mix(i));
        b.run(&[b"ZRANK", b"z", member.as_bytes()]);
    });
    b.time("ZRANGE 0 9, 300,000", n, |b, _| b.run(&[b"ZRANGE", b"z", b"0", b"9"]));
    b.time("ZRANGEBYSCORE of about 30, 300,000", n / 10, |b, i| {
        let low = mix(i) % 999_000;
        let (low, high) = (low.to_string(), (low + 100).to_string());
        b.run(&[b"ZRANGEBYSCORE", b"z", low.as_bytes(), high.as_bytes()]);
    });
    b.time("ZREMRANGEBYSCORE of about 3, 300,000", n / 10, |b, i| {
        let low = i * 10;
        let (low, high) = (low.to_string(), (low + 9).to_string());
        b.run(&[b"ZREMRANGEBYSCORE", b"z", low.as_bytes(), high.as_bytes()]);
    });
    b.time("window: ZADD now, ZREMRANGEBYSCORE, ZCARD", n, |b, i| {
        let now = 1_700_000_000_000 + i;
        let (member, score, old) = (i.to_string(), now.to_string(), (now - 50).to_string());
        b.run(&[b"ZREMRANGEBYSCORE", b"w", b"-inf", old.as_bytes()]);
        b.run(&[b"ZADD", b"w", score.as_bytes(), member.as_bytes()]);
        b.run(&[b"ZCARD", b"w"]);
    });
    b.time("ZPOPMIN, 200,000", 200_000, |b, _| b.run(&[b"ZPOPMIN", b"z"]));
}
