//! `cargo xtask bench`: our server's CPU per call beside `redis-server` in the same run.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use totality_testkit::bench;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("lua") => bench::lua::table(&args[1..]),
        Some("memory") => bench::memory::table(),
        Some("rollback") => bench::cost_of("all or nothing", &["--script-rollback", "always"], &[]),
        Some("stats") => bench::cost_of("counted", &[], &["--script-stats-max-entries", "0"]),
        Some("persist") => bench::persist::table(&args[1..]),
        _ => bench::table(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("totality-bench: {why}");
            ExitCode::FAILURE
        }
    }
}
