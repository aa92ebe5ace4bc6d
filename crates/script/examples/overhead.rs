//! What a typed call costs over a raw EVALSHA of the `redis` crate, and what each script costs on Totality beside
//! `redis-server`.
//!
//! `cargo run --release -p totality-script --example overhead [costs]`; both servers are started on free ports.

use std::time::{Duration, Instant};
use totality_script::cases::{self, Bench, Expect, StepKind};
use totality_script::catalogue::{all, get, rl};
use totality_script::{Pipeline, PipelineMode, Rendering, Runner, Single};
use totality_testkit::server::Server;

const ROUNDS: usize = 60;
const CALLS: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("costs") {
        return costs();
    }
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

/// CPU time of the server for each call, sent in pipelines of a hundred.
fn costs() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = (Server::totality(&[])?, Server::redis(&[])?);
    println!("| script | Totality µs | redis-server µs | ratio |\n|---|---|---|---|");
    let (mut sum, mut n) = (0.0, 0);
    for script in all().filter(|s| !s.name().starts_with("seed.")) {
        let path =
            format!("{}/../../scripts/{}.cases", env!("CARGO_MANIFEST_DIR"), script.name().replace('.', "/"));
        let list = cases::parse(script, &std::fs::read_to_string(path)?)?;
        let (a, b) = (cost(&ours, script, &list[0])?, cost(&theirs, script, &list[0])?);
        println!("| {} | {a:.2} | {b:.2} | {:.2} |", script.name(), a / b);
        sum += (a / b).ln();
        n += 1;
    }
    println!("\ngeometric mean of the ratios: {:.2}", f64::exp(sum / f64::from(n)));
    Ok(())
}

fn cost(
    server: &Server,
    script: &totality_script::Script,
    case: &cases::Case,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut runner = Runner::new(Single::open(&format!("redis://127.0.0.1:{}/", server.port()))?);
    let mut bench = Bench::new(&mut runner);
    bench.command(&["FLUSHALL"])?;
    bench.case(script, case)?;
    let mut pipeline = Pipeline::new(PipelineMode::Sha);
    for step in &case.steps {
        match &step.kind {
            StepKind::Given(words) => drop(bench.command(words)?),
            StepKind::Run(name, call) => {
                let script = name.as_deref().and_then(get).unwrap_or(script);
                Runner::new(Single::open(&format!("redis://127.0.0.1:{}/", server.port()))?)
                    .run(script, &call.keys, &call.args)?;
            }
            StepKind::Call(call, Expect::Reply(_)) => {
                for _ in 0..100 {
                    pipeline.add_script(script, &call.keys, &call.args)?;
                }
                break;
            }
            _ => {}
        }
    }
    runner.pipeline(&pipeline)?;
    runner.pipeline(&pipeline)?;
    // The clock of /proc has steps of 10 ms: enough calls for a hundred of them.
    let (before, began, mut calls) = (server.cpu()?, Instant::now(), 0.0);
    while began.elapsed() < Duration::from_millis(700) {
        runner.pipeline(&pipeline)?;
        calls += 100.0;
    }
    Ok((server.cpu()?.total - before.total) * 1e6 / calls)
}
