//! Random library calls and random programs, compared with `redis-server` and with Debian's `lua5.1`.
//!
//! A short run is an ordinary test. `TOTALITY_FUZZ_SECONDS` makes it longer, `TOTALITY_FUZZ_SEED` starts at another
//! seed (each case has a seed of its own, which is printed when it fails), `TOTALITY_ORACLE` names another server.

mod support;

use std::time::{Duration, Instant};
use support::ours::{Mode, Ours};
use support::program::Program;
use support::random;
use support::redis::Redis;
use support::rng::Rng;
use support::typed;
use support::{count, skip};

/// Cases that are run before the oracle is asked.
const BATCH: u64 = 256;
/// What stands for a reply that did not come in time.
const NO_ANSWER: &str = "(no answer)";
/// Differences after which a run ends.
const ENOUGH: usize = 10;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The snippet of a seed, as lines that may be left out when it is shortened.
fn case(seed: u64, redis: bool) -> Vec<String> {
    match seed % 6 {
        0 => Program::statements(seed),
        1 | 2 => typed::statements(seed),
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
        let fresh = || Redis::oracle().unwrap_or_else(|e| panic!("{e}"));
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
        let results = support::plain::run_all(&scripts).unwrap_or_else(|e| panic!("{e}"));
        let text = |r: &Vec<u8>| match support::escape(&support::normalise(r)) {
            // Debian builds it with a check that Redis leaves out.
            t if t.contains("nesting of [[...]] is deprecated") => NO_ANSWER.into(),
            t => t,
        };
        results.iter().map(text).collect()
    }
    fn fits(&self, body: &str) -> bool {
        // Redis has libraries and a random generator of its own.
        !["cjson", "cmsgpack", "struct", "bit.", "math.random"].iter().any(|w| body.contains(w))
    }
}

fn compare(test: &str, oracle: &mut dyn Oracle, redis: bool) {
    let until = Instant::now() + Duration::from_secs(setting("TOTALITY_FUZZ_SECONDS", 5));
    let mut seed = setting("TOTALITY_FUZZ_SEED", 1);
    let mut vms = if redis {
        vec![Ours::new(Mode::Redis), Ours::new(Mode::Eager), Ours::new(Mode::Instrumented)]
    } else {
        vec![Ours::new(Mode::Plain)]
    };
    let (mut done, mut bad) = (0, 0);
    while Instant::now() < until && bad < ENOUGH {
        let cases: Vec<(u64, Vec<String>)> = (seed..seed + BATCH)
            .map(|s| (s, case(s, redis)))
            .filter(|(_, c)| oracle.fits(&c.join("\n")))
            .collect();
        seed += BATCH;
        let bodies: Vec<String> = cases.iter().map(|(_, c)| c.join("\n")).collect();
        let theirs = oracle.run(&bodies);
        for ((case, body), theirs) in cases.iter().zip(&bodies).zip(&theirs) {
            done += 1;
            if theirs == NO_ANSWER || support::shows_address(theirs) {
                continue;
            }
            // The slower modes see a part of the cases.
            let modes = if case.0.is_multiple_of(4) { vms.len() } else { 1 };
            for vm in &mut vms[..modes] {
                if vm.run(body) != *theirs {
                    bad += 1;
                    let short = shorten(case.1.clone(), oracle, vm).join("\n");
                    let theirs = oracle.run(std::slice::from_ref(&short)).remove(0);
                    let ours = vm.run(&short);
                    eprintln!(
                        "seed {} ({:?}):\n{short}\n  theirs {theirs}\n  ours   {ours}\n",
                        case.0,
                        vm.mode()
                    );
                }
            }
        }
    }
    count(test, done);
    assert_eq!(bad, 0, "{bad} of {done} snippets differ; the last seed was {}", seed - 1);
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
    if let Err(e) = support::plain::run_all(&["return 1".into()]) {
        skip(test, &format!("no lua5.1 to compare with ({e})"));
        return;
    }
    compare(test, &mut Plain, false);
}
