//! Measuring beside the peer in one run. The server's own CPU per call is what counts: with two cores throughput
//! measures the client.

pub mod load;
pub mod lua;
pub mod memory;
pub mod persist;
pub mod rows;

use crate::client::Client;
use crate::server::Server;
use load::Load;
use rows::Row;
use std::io;

/// Seconds that one server is loaded for one measurement.
const SPAN: f64 = 0.5;
/// Commands that fill the key space: of 100,000 random keys nearly all are there then.
const FILL: usize = 400_000;
/// Measurements of each server, alternating; the median counts.
const ROUNDS: usize = 5;

/// What one row cost on each server, user CPU in microseconds per call.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Ours: user, and user and system.
    pub ours: [f64; 2],
    /// Theirs: user, and user and system.
    pub theirs: [f64; 2],
}

impl Cost {
    /// Ours divided by theirs, user CPU.
    pub fn ratio(&self) -> f64 {
        self.ours[0] / self.theirs[0].max(1e-9)
    }
}

/// Measures a row on both servers in turns.
pub fn measure(row: &Row, ours: &Server, theirs: &Server) -> io::Result<Cost> {
    let servers = [ours, theirs];
    let mut loads = Vec::new();
    for server in servers {
        let mut client = server.client();
        client.call(&["FLUSHALL"])?;
        for line in row.setup {
            expect(&mut client, line)?;
        }
        if let Some(fill) = row.fill.and_then(crate::words::split) {
            Load::new(server.port(), &fill, 64)?.run(FILL)?;
        }
        let command = row.command(&mut client)?;
        loads.push(Load::new(server.port(), &command, row.pipeline)?);
    }
    // The first calls warm caches and tell how many calls the span takes.
    let mut calls = [0; 2];
    for (load, calls) in loads.iter_mut().zip(&mut calls) {
        let per_second = load.run_for(SPAN / 2.0)?;
        *calls = ((per_second * SPAN) as usize).max(500);
    }
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (i, server) in servers.iter().enumerate() {
            let before = server.cpu()?;
            let done = loads[i].run(calls[i])? as f64;
            let after = server.cpu()?;
            let micros = |a: f64, b: f64| (b - a) * 1e6 / done;
            samples[i].push([micros(before.user, after.user), micros(before.total, after.total)]);
        }
    }
    Ok(Cost { ours: median(&samples[0]), theirs: median(&samples[1]) })
}

fn expect(client: &mut Client, line: &str) -> io::Result<()> {
    let reply = client.line(line)?;
    if reply.is_error() { Err(io::Error::other(format!("{line}: {}", reply.text()))) } else { Ok(()) }
}

fn median(samples: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|k| {
        let mut column: Vec<f64> = samples.iter().map(|s| s[k]).collect();
        column.sort_by(f64::total_cmp);
        column[column.len() / 2]
    })
}

/// Prints the table of all rows whose name contains one of `wanted` (all, when that is empty).
pub fn table(wanted: &[String]) -> io::Result<()> {
    compare(&Server::totality(&[])?, &Server::redis(&[])?, ["totality", "redis-server"], |row| {
        wanted.is_empty() || wanted.iter().any(|w| row.name.contains(w.as_str()))
    })
}

/// Prints what a switch of ours costs the scripts of the seeds: two of our servers in one run, with it and without.
pub fn cost_of(name: &str, with: &[&str], without: &[&str]) -> io::Result<()> {
    compare(&Server::totality(with)?, &Server::totality(without)?, [name, "without"], |row| {
        row.name.starts_with("seed ") || row.name.starts_with("script ")
    })
}

fn compare(
    ours: &Server,
    theirs: &Server,
    [left, right]: [&str; 2],
    wanted: impl Fn(&Row) -> bool,
) -> io::Result<()> {
    println!(
        "user CPU of the server, us per call, median of {ROUNDS} alternating rounds; ratio = {left} / {right}\n"
    );
    println!("| row | pipeline | {left} | {right} | ratio | ratio with kernel |");
    println!("|---|--:|--:|--:|--:|--:|");
    let mut ratios = Vec::new();
    for row in rows::all() {
        if !wanted(&row) {
            continue;
        }
        match measure(&row, ours, theirs) {
            Ok(cost) => {
                let total = cost.ours[1] / cost.theirs[1].max(1e-9);
                let (a, b, r) = (cost.ours[0], cost.theirs[0], cost.ratio());
                println!("| {} | {} | {a:.2} | {b:.2} | {r:.2} | {total:.2} |", row.name, row.pipeline);
                ratios.push(r);
            }
            Err(why) => println!("| {} | {} | {why} | | | |", row.name, row.pipeline),
        }
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|r| r.max(1e-3).ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("\ngeometric mean {mean:.2}, worst {worst:.2}, rows {}", ratios.len());
    }
    Ok(())
}
