//! What fails leaves nothing behind: every write command on every type and encoding, and random programs of them.
//!
//! `TOTALITY_ROLLBACK_RUNS` sets the number of random programs, `TOTALITY_ROLLBACK_SEED` the first seed.

use std::collections::{BTreeMap, BTreeSet};
use totality_engine::commands;
use totality_engine::spec::Flags;
use totality_testkit::rng::Rng;
use totality_testkit::rollback::programs::{TEMPLATES, name, surviving, write_command};
use totality_testkit::rollback::{Bench, Step, expand, program, script_argv};

/// Commands that the data set does not know how to take part in, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("migrate", "refused in a scope: it reaches another server"),
    ("restore", "its payload is no template; it writes by the same guard as SET"),
    ("restore-asking", "as RESTORE"),
    ("function", "libraries are code, not data"),
];

fn show(steps: &[Step]) -> String {
    let line = |step: &Step| match step {
        Step::Call(argv) => {
            let text = totality_testkit::words::join(argv);
            format!("  {}", text.chars().take(200).collect::<String>())
        }
        other => format!("  {other:?}"),
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Every write command of the table, on whatever its template meets: changes are taken back to the last byte.
#[test]
fn every_write_command_takes_part() {
    let mut effective: BTreeMap<String, usize> = BTreeMap::new();
    let mut benches = [Bench::new(true), Bench::new(false)];
    let rounds = setting("TOTALITY_ROLLBACK_ROUNDS", 12);
    for (i, template) in TEMPLATES.iter().enumerate() {
        for round in 0..rounds {
            let mut rng = Rng::new(round * 10_000 + i as u64);
            let bench = &mut benches[round as usize % 2];
            bench.reset(&mut rng, false);
            let before = bench.snapshot();
            for _ in 0..15 {
                // What leaves the unit is held back, as inside of a script.
                bench.engine.sv.depth += 1;
                bench.engine.ks.open_scope();
                let command = expand(template, &mut rng);
                let dirty = bench.engine.ks.dirty;
                bench.run(&command);
                let changed = bench.engine.ks.dirty != dirty;
                bench.engine.ks.take_back();
                bench.engine.sv.depth -= 1;
                bench.run(&["SELECT", "0"]);
                if changed {
                    *effective.entry(name(template)).or_default() += 1;
                }
                let found = before.differences(&bench.snapshot());
                let shown = totality_testkit::words::join(&command);
                assert!(found.is_empty(), "{shown}, round {round}, template {i}:\n{found}");
                assert!(!bench.watch_is_broken(), "{shown}: watched keys");
                let out = bench.outgoing();
                assert!(out.is_empty(), "{shown}: {out:?}");
            }
        }
    }
    let table: BTreeSet<String> = commands::TABLE
        .iter()
        .filter(|spec| {
            spec.flags.contains(Flags::WRITE) || spec.subs.iter().any(|sub| sub.flags.contains(Flags::WRITE))
        })
        .map(|spec| spec.name.to_owned())
        .collect();
    let missing: Vec<&String> = table
        .iter()
        .filter(|name| !effective.contains_key(*name) && !LEFT_OUT.iter().any(|(left, _)| left == *name))
        .collect();
    assert!(missing.is_empty(), "write commands that no template made change anything: {missing:?}");
    totality_testkit::count("every_write_command_takes_part", effective.len());
}

/// A program that fails at its end leaves nothing; savepoints in it may do what they like.
fn fails(bench: &mut Bench, seed: u64) {
    let mut rng = Rng::new(seed);
    bench.reset(&mut rng, false);
    let before = bench.snapshot();
    let mut steps = program(&mut rng, false);
    steps.push(Step::Fail);
    let reply = bench.run(&script_argv(&steps, true));
    let found = before.differences(&bench.snapshot());
    assert!(found.is_empty(), "seed {seed}:\n{}\n{found}", show(&steps));
    assert!(reply.starts_with(b"-ERR user_script:"), "seed {seed}: {}", reply.escape_ascii());
    assert!(!bench.watch_is_broken(), "seed {seed}: watched keys\n{}", show(&steps));
    let out = bench.outgoing();
    assert!(out.is_empty(), "seed {seed}: {out:?}\n{}", show(&steps));
}

/// A program with savepoints does what it does without those that fail, and with a scope what it does without one.
fn agrees(a: &mut Bench, b: &mut Bench, seed: u64) {
    a.reset(&mut Rng::new(seed), true);
    let mut rng = Rng::new(seed);
    b.reset(&mut rng, true);
    let steps = program(&mut rng, true);
    let left = surviving(&steps);
    let (x, y) = (a.run(&script_argv(&steps, seed.is_multiple_of(2))), b.run(&script_argv(&left, false)));
    let found = b.snapshot().differences(&a.snapshot());
    assert!(found.is_empty(), "seed {seed}:\n{}\n{found}", show(&steps));
    assert_eq!(x, y, "seed {seed}");
    assert_eq!(a.watch_is_broken(), b.watch_is_broken(), "seed {seed}: watched keys\n{}", show(&steps));
    let (x, y) = (a.outgoing(), b.outgoing());
    let first = x.iter().zip(&y).position(|(x, y)| x != y).unwrap_or(x.len().min(y.len()));
    assert_eq!(x.get(first), y.get(first), "seed {seed}, what left, {first}:\n{}", show(&steps));
}

#[test]
fn random_programs_are_all_or_nothing() {
    let runs = setting("TOTALITY_ROLLBACK_RUNS", 3000);
    let first = setting("TOTALITY_ROLLBACK_SEED", 1);
    let mut small = [Bench::new(true), Bench::new(true)];
    let mut large = [Bench::new(false), Bench::new(false)];
    for seed in first..first + runs {
        let [a, b] = if seed % 4 < 2 { &mut small } else { &mut large };
        if seed % 3 == 0 { agrees(a, b, seed) } else { fails(a, seed) }
    }
    totality_testkit::count("random_programs_are_all_or_nothing", runs as usize);
}

#[test]
fn programs_reach_most_commands() {
    let mut rng = Rng::new(5);
    let names: BTreeSet<Vec<u8>> =
        (0..20_000).map(|_| write_command(&mut rng, false)[0].to_ascii_lowercase()).collect();
    assert!(names.len() > 90, "{}", names.len());
}

/// The examples of the guide.
#[test]
fn the_guide_tells_the_truth() {
    use totality_testkit::transcript::run::{self, Way};
    let path = totality_testkit::sources::root().join("docs/rollback.md");
    let text = totality_testkit::sources::read(&path);
    let source: String = text.lines().map(|line| format!("//! {line}\n")).collect();
    let blocks = totality_testkit::transcript::blocks("docs/rollback.md".as_ref(), &source).unwrap();
    assert!(blocks.len() >= 5);
    let db = totality::Db::open(totality::Options::default()).unwrap();
    let mut session = db.session().unwrap();
    for block in &blocks {
        run::block(block, Way::Embedded, &mut session).unwrap_or_else(|why| panic!("{why}"));
    }
    totality_testkit::count("the_guide_tells_the_truth", blocks.len());
}

/// While scripts fail and are taken back, and others end well, no other client sees anything but whole states.
#[test]
fn other_clients_never_see_what_was_taken_back() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use totality_testkit::server::Server;
    use totality_testkit::value::Value;
    const SCRIPT: &str = "--- @rollback on
        redis.call('SET', KEYS[1], 'dirty')
        redis.call('HSET', KEYS[2], 'a', 'dirty')
        redis.call('PUBLISH', 'ch', 'dirty')
        if ARGV[1] == 'fail' then redis.call('FLUSHALL') error('no') end
        redis.call('HSET', KEYS[2], 'a', ARGV[2])
        return redis.call('SET', KEYS[1], ARGV[2])";
    let server = Server::totality(&[]).unwrap();
    let over = AtomicBool::new(false);
    let mut listener = server.client();
    listener.call(&["SUBSCRIBE", "ch"]).unwrap();
    server.client().call(&["MSET", "k", "0", "other", "1"]).unwrap();
    server.client().call(&["HSET", "h", "a", "0"]).unwrap();
    let mut seen = 0;
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (over, mut client) = (&over, server.client());
                scope.spawn(move || {
                    let mut reads = 0;
                    while !over.load(Ordering::Relaxed) || reads == 0 {
                        client.call(&["MULTI"]).unwrap();
                        client.call(&["GET", "k"]).unwrap();
                        client.call(&["HGET", "h", "a"]).unwrap();
                        client.call(&["GET", "other"]).unwrap();
                        let reply = client.call(&["EXEC"]).unwrap();
                        let Value::Array(all) = &reply else { panic!("{reply:?}") };
                        assert_eq!(all[0], all[1], "a state that is not whole");
                        assert_eq!(all[2], Value::Bulk(b"1".to_vec()));
                        let lone = client.call(&["GET", "k"]).unwrap();
                        assert_ne!(lone, Value::Bulk(b"dirty".to_vec()));
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let mut client = server.client();
                scope.spawn(move || {
                    for i in 0..400 {
                        let (what, value) =
                            (if i % 4 == 0 { "well" } else { "fail" }, format!("{writer}:{i}"));
                        let reply = client.call(&["EVAL", SCRIPT, "2", "k", "h", what, &value]).unwrap();
                        assert_eq!(reply.is_error(), what == "fail", "{reply:?}");
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        over.store(true, Ordering::Relaxed);
        seen = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    });
    // 200 scripts ended well, and each published once.
    let published = server.client().call(&["PUBLISH", "ch", "end"]).unwrap();
    assert_eq!(published, Value::Int(1));
    let mut messages = 0;
    loop {
        let Value::Array(message) = listener.read().unwrap().value else { continue };
        if message[2] == Value::Bulk(b"end".to_vec()) {
            break;
        }
        messages += 1;
    }
    assert_eq!(messages, 200);
    totality_testkit::count("other_clients_never_see_what_was_taken_back", seen);
}
