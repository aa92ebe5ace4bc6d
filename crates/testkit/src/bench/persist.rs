//! What durability costs, beside `redis-server` in one run: writes with an append-only file, and how fast files load.

use super::load::Load;
use crate::server::{Server, totality_binary};
use crate::value::Value;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seconds of one measurement of throughput.
const SPAN: f64 = 1.5;
/// Measurements of each server, alternating; the median counts.
const ROUNDS: usize = 5;
/// Keys of the files that are loaded, unless told otherwise.
const KEYS: usize = 5_000_000;
/// Longest time for a file to be loaded.
const LOADING: Duration = Duration::from_secs(600);

const WRITE: [&str; 3] = ["SET", "key:__rand_int__", "xxxxxxxxxxxxxxxx"];

/// Prints both tables. The first argument: keys of the files.
pub fn table(args: &[String]) -> io::Result<()> {
    let keys = args.first().and_then(|n| n.parse().ok()).unwrap_or(KEYS);
    writes()?;
    loads(keys)
}

fn writes() -> io::Result<()> {
    let log = ["--appendonly", "yes", "--appendfsync", "everysec"];
    let servers =
        [Server::totality(&[])?, Server::totality(&log)?, Server::redis(&[])?, Server::redis(&log)?];
    println!(
        "| {} | ours | ours, everysec | share | redis | redis, everysec | share | CPU ours / redis |",
        WRITE[0]
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for pipeline in [1, 16] {
        let command: Vec<Vec<u8>> = WRITE.iter().map(|word| word.as_bytes().to_vec()).collect();
        let mut rates: [Vec<f64>; 4] = Default::default();
        let mut costs: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            for (i, server) in servers.iter().enumerate() {
                let mut load = Load::new(server.port(), &command, pipeline)?;
                load.run_for(SPAN / 5.0)?;
                let before = server.cpu()?;
                let rate = load.run_for(SPAN)?;
                let used = server.cpu()?.total - before.total;
                rates[i].push(rate);
                costs[i].push(used * 1e6 / (rate * SPAN));
            }
        }
        let rate = rates.map(|mut all| median(&mut all));
        let cost = costs.map(|mut all| median(&mut all));
        println!(
            "| pipeline {pipeline} | {:.0}/s, {:.2} µs | {:.0}/s, {:.2} µs | {:.2} | {:.0}/s, {:.2} µs | {:.0}/s, {:.2} µs | {:.2} | {:.2} |",
            rate[0],
            cost[0],
            rate[1],
            cost[1],
            rate[1] / rate[0],
            rate[2],
            cost[2],
            rate[3],
            cost[3],
            rate[3] / rate[2],
            cost[1] / cost[3],
        );
    }
    Ok(())
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// What is loaded: a name, and what the server is told.
const KINDS: [(&str, &[&str]); 2] =
    [("snapshot", &["--appendonly", "no"]), ("commands", &["--appendonly", "yes"])];

fn loads(keys: usize) -> io::Result<()> {
    // They are made by five hundreds, and a tenth as many hashes beside them.
    let keys = keys.next_multiple_of(5000);
    let dir = tempfile::tempdir()?;
    make_files(dir.path(), keys)?;
    println!("\n| {keys} keys | ours | redis | ratio | ours, user CPU | redis, user CPU | ratio |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, options) in KINDS {
        let mut times: [[Vec<f64>; 2]; 2] = Default::default();
        for _ in 0..3 {
            for (i, ours) in [true, false].into_iter().enumerate() {
                let [wall, user] = load(dir.path(), options, ours, keys)?;
                times[i][0].push(wall);
                times[i][1].push(user);
            }
        }
        let [ours, theirs] = times.map(|mut both| [median(&mut both[0]), median(&mut both[1])]);
        println!(
            "| {name} | {:.2} s | {:.2} s | {:.2} | {:.2} s | {:.2} s | {:.2} |",
            ours[0],
            theirs[0],
            ours[0] / theirs[0],
            ours[1],
            theirs[1],
            ours[1] / theirs[1]
        );
    }
    Ok(())
}

/// A snapshot and an append-only file of commands, made by Redis: strings, and a tenth as many small hashes.
fn make_files(dir: &Path, keys: usize) -> io::Result<()> {
    let path = dir.to_string_lossy().into_owned();
    let server = Server::redis(&["--dir", &path, "--appendonly", "yes", "--aof-use-rdb-preamble", "no"])?;
    let mut client = server.client();
    client.set_timeout(Some(LOADING))?;
    client.call(&["DEBUG", "POPULATE", &keys.to_string()])?;
    for from in (0..keys / 10).step_by(500) {
        let hash = |i: usize| -> Vec<Vec<u8>> {
            ["HSET", &format!("hash:{i}"), "name", "value", "count", "17", "city", "somewhere"]
                .map(|word| word.as_bytes().to_vec())
                .to_vec()
        };
        client.pipeline(&(from..from + 500).map(hash).collect::<Vec<_>>())?;
    }
    client.call(&["SAVE"])?;
    client.call(&["BGREWRITEAOF"])?;
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let info = client.call(&["INFO", "persistence"])?.text();
        if info.contains("aof_rewrite_in_progress:0") && info.contains("aof_rewrite_scheduled:0") {
            return Ok(());
        }
    }
}

/// Seconds until the data set is there, and user CPU.
fn load(dir: &Path, options: &[&str], ours: bool, keys: usize) -> io::Result<[f64; 2]> {
    let path = dir.to_string_lossy().into_owned();
    let mut args = vec!["--dir", &path];
    args.extend(options);
    let program = totality_binary()?;
    let program = program.to_string_lossy();
    let began = Instant::now();
    let server = if ours {
        Server::start_loading_of(&[&program, "serve"], &args)?
    } else {
        Server::start_loading_of(&["redis-server"], &args)?
    };
    let mut client = server.client();
    while client.call(&["PING"])?.text() != "PONG" {
        if began.elapsed() > LOADING {
            return Err(io::Error::other("it does not end"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = [began.elapsed().as_secs_f64(), server.cpu()?.user];
    let size = client.call(&["DBSIZE"])?;
    if !matches!(size, Value::Int(size) if size == (keys + keys / 10) as i64) {
        return Err(io::Error::other(format!("{size:?} keys were loaded")));
    }
    Ok(took)
}
