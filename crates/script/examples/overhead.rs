//! What a typed call costs over a raw EVALSHA of the `redis` crate.
//!
//! `cargo run --release -p totality-script --example overhead`; a `redis-server` is started on a free port.

use std::time::{Duration, Instant};
use totality_script::catalogue::{get, rl};
use totality_script::{Rendering, Runner, Single};
use totality_testkit::server::Server;

const ROUNDS: usize = 60;
const CALLS: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::redis(&[])?;
    let url = format!("redis://127.0.0.1:{}/", server.port());
    let mut raw = redis::Client::open(url.as_str())?.get_connection()?;
    let mut typed = Runner::new(Single::open(&url)?);
    let call = rl::Gcra { subject: "user:7", limit: 1_000_000, period_ms: 1000, burst: 1_000_000, cost: 1 };
    typed.call(&call)?;
    let sha = get("rl.gcra").ok_or("rl.gcra")?.sha(Rendering::Redis).to_string();
    let (mut raw_times, mut typed_times) = (Vec::new(), Vec::new());
    // In turns, so that what the machine does meanwhile meets both.
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..CALLS {
            let mut cmd = redis::cmd("EVALSHA");
            cmd.arg(&sha)
                .arg(1)
                .arg("rl:{user:7}:gcra")
                .arg(1_000_000)
                .arg(1000)
                .arg(1_000_000)
                .arg(1)
                .arg(0);
            let reply: (i64, i64, i64, i64) = cmd.query(&mut raw)?;
            assert_eq!(reply.0, 1);
        }
        raw_times.push(began.elapsed());
        let began = Instant::now();
        for _ in 0..CALLS {
            assert!(matches!(typed.call(&call)?, rl::GcraReply::Allowed { .. }));
        }
        typed_times.push(began.elapsed());
    }
    let each = |times: &mut Vec<Duration>| {
        times.sort();
        let us = |d: Duration| d.as_secs_f64() * 1e6 / CALLS as f64;
        (us(times[0]), us(times[times.len() / 2]))
    };
    let ((raw_best, raw_mid), (typed_best, typed_mid)) = (each(&mut raw_times), each(&mut typed_times));
    println!("raw EVALSHA: best {raw_best:.2} µs, median {raw_mid:.2} µs a call");
    println!("typed call:  best {typed_best:.2} µs, median {typed_mid:.2} µs a call");
    println!(
        "overhead: best {:.1} %, median {:.1} %",
        (typed_best / raw_best - 1.0) * 100.0,
        (typed_mid / raw_mid - 1.0) * 100.0
    );
    Ok(())
}
