//! Random library calls and random programs, compared with `redis-server` and with Debian's `lua5.1`.
//!
//! The ordinary test is the same cases on every machine. `TOTALITY_FUZZ_SECONDS` searches on for so long,
//! `TOTALITY_FUZZ_SEED` starts at another seed (each case has a seed of its own, which is printed when it fails),
//! `TOTALITY_ORACLE` names another server.
//!
//! # Differences that are intended
//! They are not counted; each is recognised in [`Plain::run`] or [`support::shows_address`].
//! - Debian's `lua5.1` is built with `LUA_COMPAT_LSTR`, which Redis leaves out: `nesting of [[...]] is deprecated`.
//! - Replies that show an address, or a table whose keys are tables, follow from where the allocator put them.
//! - A snippet that the oracle does not end within [`PATIENCE`], or does not survive, has no reply to compare with.

mod support;

use std::time::{Duration, Instant};
use support::ours::{Mode, Ours};
use support::program::Program;
use support::random;
use support::redis::Redis;
use support::rng::Rng;
use support::{count, skip};
use support::{mechanisms, typed};

/// Cases that are run before the oracle is asked.
const BATCH: u64 = 128;
/// Cases of the ordinary run.
const CASES: u64 = 20 * BATCH;
/// What stands for a reply that did not come in time.
const NO_ANSWER: &str = "(no answer)";
/// Differences after which a run ends.
const ENOUGH: usize = 10;
/// Time that an oracle has for one snippet.
const PATIENCE: Duration = Duration::from_secs(1);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The snippet of a seed, as lines that may be left out when it is shortened.
fn case(seed: u64, redis: bool) -> Vec<String> {
    match seed % 10 {
        0 => Program::statements(seed),
        1 | 2 => typed::statements(seed),
        3..=5 => mechanisms::statements(seed, redis),
        _ => vec![random::call(&mut Rng::new(seed), redis)],
    }
}

/// Something that runs snippets and writes down their results.
trait Oracle {
    fn run(&mut self, bodies: &[String]) -> Vec<String>;
    /// False for snippets on which it is known to differ.
    fn fits(&self, body: &str) -> bool;
}

impl Oracle for Redis {
    fn run(&mut self, bodies: &[String]) -> Vec<String> {
        if let Ok(replies) = support::eval_all(self, bodies) {
            return replies;
        }
        // Some snippet takes minutes or gigabytes there: ask one by one, each time that happens a new server.
        let fresh = || {
            let mut server = Redis::oracle().unwrap_or_else(|e| panic!("{e}"));
            server.set_patience(PATIENCE).unwrap_or_else(|e| panic!("{e}"));
            server
        };
        *self = fresh();
        let one = |body: &String| match support::eval_all(self, std::slice::from_ref(body)) {
            Ok(mut replies) => replies.remove(0),
            Err(e) => {
                eprintln!("left out, {e}: {body}");
                *self = fresh();
                NO_ANSWER.into()
            }
        };
        bodies.iter().map(one).collect()
    }
    fn fits(&self, _: &str) -> bool {
        true
    }
}

struct Plain;

impl Oracle for Plain {
    fn run(&mut self, bodies: &[String]) -> Vec<String> {
        let scripts: Vec<String> = bodies.iter().map(|b| support::wrap(b)).collect();
        let results = support::plain::run_all(&scripts, PATIENCE).unwrap_or_else(|e| panic!("{e}"));
        let text = |r: &Option<Vec<u8>>| {
            let Some(r) = r else { return NO_ANSWER.into() };
            match support::escape(&support::normalise(r)) {
                // Debian builds it with a check that Redis leaves out.
                t if t.contains("nesting of [[...]] is deprecated") => NO_ANSWER.into(),
                t => t,
            }
        };
        results.iter().map(text).collect()
    }
    fn fits(&self, body: &str) -> bool {
        // Redis has libraries and a random generator of its own.
        !["cjson", "cmsgpack", "struct", "bit.", "math.random"].iter().any(|w| body.contains(w))
    }
}

#[derive(Default)]
struct Outcome {
    compared: usize,
    /// Without a reply, or with one that shows addresses
    left_out: usize,
    bad: usize,
}

fn compare(test: &str, oracle: &mut dyn Oracle, redis: bool) {
    let time = Duration::from_secs(setting("TOTALITY_FUZZ_SECONDS", 0));
    let first = setting("TOTALITY_FUZZ_SEED", 1);
    let (began, mut seed) = (Instant::now(), first);
    let more = |seed: u64| if time.is_zero() { seed - first < CASES } else { began.elapsed() < time };
    let mut vms = if redis {
        vec![Ours::new(Mode::Redis), Ours::new(Mode::Eager), Ours::new(Mode::Instrumented)]
    } else {
        vec![Ours::new(Mode::Plain)]
    };
    let mut out = Outcome::default();
    while more(seed) && out.bad < ENOUGH {
        let cases: Vec<(u64, Vec<String>)> = (seed..seed + BATCH)
            .map(|s| (s, case(s, redis)))
            .filter(|(_, c)| oracle.fits(&c.join("\n")))
            .collect();
        seed += BATCH;
        let bodies: Vec<String> = cases.iter().map(|(_, c)| c.join("\n")).collect();
        let theirs = oracle.run(&bodies);
        for ((case, body), theirs) in cases.iter().zip(&bodies).zip(&theirs) {
            if theirs == NO_ANSWER || support::shows_address(theirs) {
                out.left_out += 1;
                continue;
            }
            out.compared += 1;
            // The slower modes see a part of the cases.
            let modes = if case.0.is_multiple_of(4) { vms.len() } else { 1 };
            for vm in &mut vms[..modes] {
                let ours = vm.run(body);
                if ours != *theirs {
                    out.bad += 1;
                    report(case, oracle, vm, [theirs, &ours]);
                }
            }
        }
    }
    println!("{test}: {} left out, the last seed was {}", out.left_out, seed - 1);
    count(test, out.compared - out.bad.min(out.compared));
    assert_eq!(out.bad, 0, "{} of {} snippets differ; the last seed was {}", out.bad, out.compared, seed - 1);
    assert!(
        out.left_out < out.compared,
        "{} snippets left out, only {} compared",
        out.left_out,
        out.compared
    );
}

/// Shows a difference, as short as it can be made. What was seen `first` is shown when it does not come again.
fn report(case: &(u64, Vec<String>), oracle: &mut dyn Oracle, vm: &mut Ours, first: [&String; 2]) {
    let short = shorten(case.1.clone(), oracle, vm).join("\n");
    let theirs = oracle.run(std::slice::from_ref(&short)).remove(0);
    let ours = vm.run(&short);
    if theirs == ours {
        let [theirs, ours] = first;
        eprintln!("seen once:\n{}\n  theirs {theirs}\n  ours   {ours}", case.1.join("\n"));
    }
    eprintln!("seed {} ({:?}):\n{short}\n  theirs {theirs}\n  ours   {ours}\n", case.0, vm.mode());
}

/// Leaves out statements as long as a difference stays.
fn shorten(mut lines: Vec<String>, oracle: &mut dyn Oracle, vm: &mut Ours) -> Vec<String> {
    let mut i = 0;
    while lines.len() > 1 && i < lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(i);
        let body = fewer.join("\n");
        if oracle.run(std::slice::from_ref(&body))[0] == vm.run(&body) {
            i += 1;
        } else {
            lines = fewer;
            i = 0;
        }
    }
    lines
}

#[test]
fn same_as_redis() {
    let test = "random snippets beside redis-server";
    match Redis::oracle() {
        Ok(mut server) => compare(test, &mut server, true),
        Err(e) => skip(test, &format!("no redis-server to compare with ({e})")),
    }
}

#[test]
fn same_as_lua() {
    let test = "random snippets beside lua5.1";
    if let Err(e) = support::plain::run_all(&["return 1".into()], PATIENCE) {
        skip(test, &format!("no lua5.1 to compare with ({e})"));
        return;
    }
    compare(test, &mut Plain, false);
}

#[test]
fn an_endless_snippet_of_the_oracle_is_given_up() {
    let scripts = ["return 1", "while true do end", "return 2"].map(String::from);
    match support::plain::run_all(&scripts, Duration::from_millis(300)) {
        Ok(results) => assert_eq!(results, [Some(b"1".to_vec()), None, Some(b"2".to_vec())]),
        Err(e) => skip("time limit of lua5.1", &e.to_string()),
    }
}
