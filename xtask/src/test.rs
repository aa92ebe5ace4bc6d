//! `cargo xtask test`: everything that must hold before a change lands.

use crate::{needs, run};
use std::path::Path;
use std::time::Instant;

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
    why: Vec<String>,
}

/// Runs all steps, goes on after a failed one so that one run shows everything, and fails if any did.
pub fn all() -> Result<(), String> {
    let began = Instant::now();
    needs::debian();
    needs::clients();
    let mut bad = Vec::new();
    let steps = [
        ("format", run::cargo(&["fmt", "--all", "--check"])),
        ("clippy", run::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        // Tests start the server's binary, so it has to be there before the first of them.
        ("build", run::cargo(&["build", "--workspace", "--all-targets"])),
    ];
    for (name, job) in steps {
        if let Err(why) = run::step(name, &job) {
            bad.push(why);
        }
    }
    let log = run::target().join("test-log.tsv");
    // An old log would be counted again; that it is not there is fine.
    let _ = std::fs::remove_file(&log);
    let mut counts = Counts::default();
    println!("== tests");
    // The same cases on every machine: what is new is searched for by those who ask for it, not by who builds.
    let seed = std::env::var("PROPTEST_RNG_SEED").unwrap_or_else(|_| "1".into());
    let job = run::cargo(&["test", "--workspace", "--no-fail-fast"])
        .env("PROPTEST_RNG_SEED", &seed)
        .env("TOTALITY_TEST_LOG", &log.to_string_lossy())
        .env("TOTALITY_CLIENTS", &run::target().join("clients").to_string_lossy());
    if !job.watch(|line| counts.libtest(line))? {
        bad.push("tests failed".into());
        counts.failed = counts.failed.max(1);
    }
    counts.cases(&log);
    println!("== all steps in {:.0} s", began.elapsed().as_secs_f64());
    counts.why.iter().for_each(|w| println!("SKIPPED {w}"));
    bad.iter().for_each(|b| println!("FAILED {b}"));
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if bad.is_empty() { Ok(()) } else { Err(bad.join("; ")) }
}

impl Counts {
    /// Adds what a line like `test result: ok. 5 passed; 0 failed; 1 ignored; …` says.
    fn libtest(&mut self, line: &str) {
        let Some((_, rest)) = line.split_once("test result: ") else { return };
        let number = |name: &str| -> usize {
            let before = rest.split(name).next().unwrap_or_default().trim_end();
            before.rsplit([' ', '.']).next().and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        self.passed += number("passed");
        self.failed += number("failed");
        self.skipped += number("ignored");
    }

    /// Adds what tests wrote about the cases inside them and about what they skipped.
    fn cases(&mut self, log: &Path) {
        for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
            let mut fields = line.splitn(3, '\t');
            let (kind, n, what) = (fields.next(), fields.next(), fields.next().unwrap_or_default());
            let n: usize = n.and_then(|n| n.parse().ok()).unwrap_or(0);
            match kind {
                Some("passed") => self.passed += n,
                Some("skipped") => {
                    self.skipped += n;
                    self.why.push(what.into());
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_what_libtest_prints() {
        let mut counts = Counts::default();
        counts.libtest("test result: FAILED. 12 passed; 3 failed; 4 ignored; 0 measured; 0 filtered out");
        counts.libtest("test x ... ok");
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 3, 4));
    }
}
