//! What the tests of this workspace share: servers to start, a client that keeps raw bytes, replies printed as
//! `redis-cli` prints them, transcripts in the documentation of commands, and the comparison with a real
//! `redis-server`.

#![forbid(unsafe_code)]

pub mod bench;
pub mod client;
pub mod cluster;
pub mod embedded;
pub mod fuzz;
pub mod generate;
pub mod oracle;
pub mod print;
pub mod replicas;
pub mod rng;
pub mod rollback;
pub mod samples;
pub mod server;
pub mod sources;
pub mod transcript;
pub mod value;
pub mod words;

use std::io::Write;

/// How bad it is that a test cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// With `CI=true` the skip is a failure.
    InCi,
    /// A skip is only told.
    Optional,
}

/// Records loudly that a test was skipped: on standard error and, under `cargo xtask test`, in its summary.
///
/// # Panics
/// With `CI=true` when the need is [`Need::InCi`].
pub fn skip(test: &str, why: &str, need: Need) {
    eprintln!("SKIPPED {test}: {why}");
    record(&format!("skipped\t1\t{test}: {why}"));
    let ci = std::env::var("CI").is_ok_and(|v| v == "true");
    assert!(!(ci && need == Need::InCi), "{test} may not be skipped in CI: {why}");
}

/// Tells `cargo xtask test` how many cases inside one test passed (a test that runs hundreds of transcripts).
pub fn count(test: &str, passed: usize) {
    println!("{test}: {passed} cases");
    record(&format!("passed\t{passed}\t{test}"));
}

fn record(line: &str) {
    let Some(path) = std::env::var_os("TOTALITY_TEST_LOG") else { return };
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
        // One write per line: appends of several processes do not mix.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
