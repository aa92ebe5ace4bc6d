//! MEMORY: what the data takes.
//!
//! Sizes are the engine's own exact account, so SAMPLES is accepted and changes nothing. PURGE has nothing to do: what
//! is freed goes back to the allocator at once.
//!
//! ```transcript
//! > SET k v
//! OK
//! > MEMORY USAGE k
//! ~\(integer\) \d+
//! > MEMORY USAGE k SAMPLES 0
//! ~\(integer\) \d+
//! > MEMORY USAGE nokey
//! (nil)
//! > MEMORY USAGE k SAMPLES -1
//! (error) ERR syntax error
//! > MEMORY PURGE
//! OK
//! ```

use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::keyspace::{Db, Entry, Keyspace};
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::state::ServerState;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("memory", -2, Group::Server, Flags::empty(), super::super::container).subs(SUBS).doc(
        "4.0.0",
        "Depends on the subcommand",
        "Tells how much memory the data takes.",
    );

const EVERYWHERE: &[&str] =
    &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"];

const SUBS: &[Spec] = &[
    Spec::new("doctor", 2, Group::Server, Flags::empty(), doctor).tips(EVERYWHERE).doc(
        "4.0.0",
        "O(1)",
        "Returns what is remarkable about the use of memory.",
    ),
    crate::commands::help_row(Group::Server, "4.0.0"),
    Spec::new("malloc-stats", 2, Group::Server, Flags::LOADING, malloc_stats).tips(EVERYWHERE).doc(
        "4.0.0",
        "O(1)",
        "Returns the statistics of the allocator, where it has any.",
    ),
    Spec::new("purge", 2, Group::Server, Flags::LOADING, purge)
        .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
        .doc("4.0.0", "O(1)", "Asks the allocator to give memory back."),
    Spec::new("stats", 2, Group::Server, Flags::empty(), stats).tips(EVERYWHERE).doc(
        "4.0.0",
        "O(1)",
        "Returns where memory is used.",
    ),
    Spec::new("usage", -3, Group::Server, Flags::READONLY, usage).args("key:k@0 count:i'SAMPLES'?")
        .keys(&[KeySpec::one(2, KEY_PEEK)])
        .doc("4.0.0", "O(1)", "Returns the bytes that a key and its value take."),
];

fn usage(cx: &mut Cx<'_>) -> Res {
    let mut i = 3;
    while i < cx.argc() {
        if !cx.is(i, "samples") || i + 1 == cx.argc() || cx.int(i + 1)? < 0 {
            return Err(SYNTAX);
        }
        i += 2;
    }
    match cx.ks.peek(cx.args[2]) {
        Some(entry) => cx.reply.len(size_of::<Entry>() + entry.heap()),
        None => cx.reply.null(),
    }
    Ok(())
}

fn purge(cx: &mut Cx<'_>) -> Res {
    cx.reply.ok();
    Ok(())
}

fn malloc_stats(cx: &mut Cx<'_>) -> Res {
    cx.reply.bulk(b"Stats not supported for the current allocator");
    Ok(())
}

fn doctor(cx: &mut Cx<'_>) -> Res {
    let (used, peak) = (cx.ks.used_memory(), cx.sv.stats.peak_memory);
    let rss = cx.sv.process.rss as usize;
    let mut report = String::new();
    if used < 5 << 20 {
        report.push_str("There is too little data to say anything useful.\n");
    } else {
        if peak > used / 2 * 3 {
            report.push_str("Peak memory: there was once more than one and a half times as much data as now.\n");
        }
        if rss > used / 2 * 3 {
            report.push_str("Resident memory: the process holds more than one and a half times what its data takes.\n");
        }
        if report.is_empty() {
            report.push_str("Nothing remarkable.\n");
        }
    }
    cx.reply.verbatim("txt", report.as_bytes());
    Ok(())
}

/// Bytes in use, and how many of them are not keys and values.
pub(super) struct Split {
    pub used: u64,
    pub overhead: u64,
}

pub(super) fn split(ks: &Keyspace, sv: &ServerState) -> Split {
    let (data, rest) = (ks.used_memory() as u64, sv.memory() as u64);
    let tables: usize = ks.dbs().iter().map(Db::table_bytes).sum();
    Split { used: data + rest, overhead: rest + tables as u64 }
}

fn stats(cx: &mut Cx<'_>) -> Res {
    let Split { used, overhead } = split(cx.ks, cx.sv);
    let peak = used.max(cx.sv.stats.peak_memory as u64);
    let rss = cx.sv.process.rss;
    let dbs = cx.ks.dbs();
    let keys: usize = dbs.iter().map(Db::len).sum();
    let dataset = used - overhead;
    let scripts = &cx.sv.scripts;
    let lookup: usize = dbs.iter().map(Db::table_bytes).sum();
    let numbers: [(&str, u64); 16] = [
        ("peak.allocated", peak),
        ("total.allocated", used),
        ("startup.allocated", 0),
        ("replication.backlog", cx.sv.repl.backlog.as_ref().map_or(0, |b| b.memory()) as u64),
        ("replicas.repl.buffer", cx.sv.repl.kept.0),
        ("clients.slaves", cx.sv.replica_bytes()),
        ("clients.normal", cx.sv.client_memory as u64),
        ("cluster.links", 0),
        ("aof.buffer", cx.sv.persist.log.buffer.len() as u64),
        ("lua.caches", scripts.cache.memory() as u64),
        ("functions.caches", scripts.libraries.text_bytes() as u64),
        ("script.VMs", (scripts.eval_vm_bytes() + scripts.libraries.vm_bytes()) as u64),
        ("overhead.db.hashtable.lut", lookup as u64),
        // Tables grow by segments, at once: none is ever copied bit by bit.
        ("overhead.db.hashtable.rehashing", 0),
        ("db.dict.rehashing.count", 0),
        ("tracking.table", cx.sv.tracking.memory() as u64),
    ];
    let resident = |part: u64| if part == 0 { 0.0 } else { rss as f64 / part as f64 };
    let totals: [(&str, u64); 10] = [
        ("overhead.total", overhead),
        ("keys.count", keys as u64),
        ("keys.bytes-per-key", if keys == 0 { 0 } else { used / keys as u64 }),
        ("dataset.bytes", dataset),
        // The allocator is asked nothing: what it holds is what the process holds.
        ("allocator.allocated", used),
        ("allocator.active", rss),
        ("allocator.resident", rss),
        ("allocator.muzzy", 0),
        ("allocator-rss.bytes", 0),
        ("rss-overhead.bytes", 0),
    ];
    let ratios: [(&str, f64); 6] = [
        ("allocator-fragmentation.ratio", resident(used)),
        ("allocator-rss.ratio", 1.0),
        ("rss-overhead.ratio", 1.0),
        ("dataset.percentage", percent(dataset, used)),
        ("peak.percentage", percent(used, peak)),
        ("fragmentation", resident(used)),
    ];
    let in_use: Vec<(usize, &Db)> = dbs.iter().enumerate().filter(|(_, db)| !db.is_empty()).collect();
    cx.reply.map(numbers.len() + in_use.len() + totals.len() + ratios.len() + 2);
    for (name, n) in numbers {
        cx.reply.bulk(name.as_bytes());
        cx.reply.int(n as i64);
    }
    for (number, db) in in_use {
        cx.reply.bulk(format!("db.{number}").as_bytes());
        cx.reply.map(2);
        cx.reply.bulk(b"overhead.hashtable.main");
        cx.reply.len(db.dict().mem_bytes());
        cx.reply.bulk(b"overhead.hashtable.expires");
        cx.reply.len(db.table_bytes() - db.dict().mem_bytes());
    }
    for (name, n) in totals {
        cx.reply.bulk(name.as_bytes());
        cx.reply.int(n as i64);
    }
    for (name, ratio) in ratios {
        cx.reply.bulk(name.as_bytes());
        cx.reply.double(ratio);
    }
    for name in ["allocator-fragmentation.bytes", "fragmentation.bytes"] {
        cx.reply.bulk(name.as_bytes());
        cx.reply.int(rss as i64 - used as i64);
    }
    Ok(())
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
