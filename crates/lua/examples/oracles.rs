//! Compares the two oracles of the differential tests with each other: what differs between Debian's `lua5.1` and
//! `redis-server` is no fault of ours.
//!
//! ```text
//! cargo run -p totality-lua --example oracles -- 10000
//! ```

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Result;
use std::time::Duration;
use support::random;
use support::redis::Redis;
use support::rng::Rng;

fn main() -> Result<()> {
    let n: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000);
    let first: u64 = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut server = Redis::oracle()?;
    let mut different = 0;
    for batch in 0..n.div_ceil(200) {
        let bodies: Vec<String> = (0..200)
            .map(|i| {
                let seed = first + batch * 200 + i;
                if seed.is_multiple_of(2) {
                    support::program::Program::statements(seed).join("\n")
                } else {
                    random::call(&mut Rng::new(seed), false)
                }
            })
            .collect();
        let scripts: Vec<String> = bodies.iter().map(|b| support::wrap(b)).collect();
        let redis = support::eval_all(&mut server, &bodies)?;
        let plain = support::plain::run_all(&scripts, Duration::from_secs(5))?;
        for ((body, a), b) in bodies.iter().zip(&redis).zip(&plain) {
            let Some(b) = b else { continue };
            let b = support::escape(&support::normalise(b));
            if *a != b {
                different += 1;
                println!("{body}\n  redis {a}\n  plain {b}\n");
            }
        }
    }
    println!("{different} of {n} differ");
    Ok(())
}
