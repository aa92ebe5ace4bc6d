//! What data takes in memory, beside `redis-server` in one run: the growth of the process and of what each server
//! itself accounts for.

use crate::client::{Client, Command};
use crate::server::Server;
use std::io;

/// Commands that are sent at a time.
const BATCH: usize = 500;

/// One kind of data.
struct Kind {
    name: &'static str,
    /// What the bytes are divided by: keys, or elements of the one key.
    units: usize,
    commands: usize,
    command: fn(usize) -> Command,
}

const KINDS: [Kind; 8] = [
    Kind { name: "strings of 16 bytes", units: 1_000_000, commands: 1_000_000, command: string },
    Kind {
        name: "hashes of 10 fields",
        units: 100_000,
        commands: 100_000,
        command: |i| small("HSET", i, true),
    },
    Kind {
        name: "sets of 10 members",
        units: 100_000,
        commands: 100_000,
        command: |i| small("SADD", i, false),
    },
    Kind { name: "sorted sets of 10 members", units: 100_000, commands: 100_000, command: scored },
    Kind {
        name: "lists of 10 elements",
        units: 100_000,
        commands: 100_000,
        command: |i| small("RPUSH", i, false),
    },
    Kind {
        name: "a hash of a million fields",
        units: 1_000_000,
        commands: 50_000,
        command: |i| large("HSET", i),
    },
    Kind {
        name: "a set of a million members",
        units: 1_000_000,
        commands: 50_000,
        command: |i| large("SADD", i),
    },
    Kind {
        name: "a sorted set of a million",
        units: 1_000_000,
        commands: 50_000,
        command: |i| large("ZADD", i),
    },
];

/// A word that is no integer, so that no server has a short form for it.
fn word(i: usize, width: usize) -> Vec<u8> {
    let n = i.wrapping_mul(7919) % 1_000_000_007;
    let width = width - 1;
    format!("x{n:0width$}").into_bytes()
}

fn string(i: usize) -> Command {
    vec![b"SET".to_vec(), format!("key:{i:012}").into_bytes(), word(i, 16)]
}

fn small(name: &str, i: usize, fields: bool) -> Command {
    let mut command = vec![name.as_bytes().to_vec(), format!("k:{i:014}").into_bytes()];
    for f in 0..10 {
        if fields {
            command.push(format!("f{f}").into_bytes());
        }
        command.push(word(i * 10 + f, 8));
    }
    command
}

fn scored(i: usize) -> Command {
    let mut command = vec![b"ZADD".to_vec(), format!("k:{i:014}").into_bytes()];
    for f in 0..10 {
        command.push((i + f).to_string().into_bytes());
        command.push(word(i * 10 + f, 8));
    }
    command
}

/// The next 20 elements of the one key.
fn large(name: &str, i: usize) -> Command {
    let mut command = vec![name.as_bytes().to_vec(), b"large".to_vec()];
    for n in i * 20..i * 20 + 20 {
        if name == "ZADD" {
            command.push((n * 7919 % 1_000_003).to_string().into_bytes());
        }
        command.push(format!("member:{n:09}").into_bytes());
        if name == "HSET" {
            command.push(word(n, 10));
        }
    }
    command
}

/// Bytes per unit: as the server accounts for them, and resident.
fn measure(server: &Server, kind: &Kind) -> io::Result<[f64; 2]> {
    let mut client = server.client();
    let before = [used(&mut client)?, server.resident()?];
    let mut from = 0;
    while from < kind.commands {
        let to = (from + BATCH).min(kind.commands);
        let batch: Vec<Command> = (from..to).map(kind.command).collect();
        if let Some(bad) = client.pipeline(&batch)?.iter().find(|reply| reply.value.is_error()) {
            return Err(io::Error::other(bad.value.text()));
        }
        from = to;
    }
    let after = [used(&mut client)?, server.resident()?];
    Ok([0, 1].map(|k| (after[k] - before[k]) / kind.units as f64))
}

fn used(client: &mut Client) -> io::Result<f64> {
    let text = client.call(&["INFO", "memory"])?.text();
    let field = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
    let bytes = field.and_then(|bytes| bytes.trim().parse().ok());
    bytes.ok_or_else(|| io::Error::other("INFO shows no used_memory"))
}

/// Prints the table. Every measurement has fresh servers.
pub fn table() -> io::Result<()> {
    println!("bytes per key, or per element of the one key; ratio = totality / redis-server\n");
    println!(
        "| data | totality, accounted | redis-server | ratio | totality, resident | redis-server | ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for kind in &KINDS {
        let ours = measure(&Server::totality(&[])?, kind)?;
        let theirs = measure(&Server::redis(&[])?, kind)?;
        let cells: Vec<String> = [0, 1]
            .iter()
            .map(|k| format!("{:.1} | {:.1} | {:.2}", ours[*k], theirs[*k], ours[*k] / theirs[*k].max(1e-9)))
            .collect();
        println!("| {} | {} |", kind.name, cells.join(" | "));
    }
    Ok(())
}
