//! `cargo xtask gen`: rewrites the generated parts of COMPAT.md and the pages of the commands; with `--check` only says whether they are current.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use totality_testkit::{generate, sources};

fn main() -> ExitCode {
    let path = sources::root().join("COMPAT.md");
    let old = sources::read(&path);
    let new = match generate::renew(&old) {
        Ok(new) => new,
        Err(why) => {
            eprintln!("COMPAT.md: {why}");
            return ExitCode::FAILURE;
        }
    };
    let check = std::env::args().any(|a| a == "--check");
    match generate::pages::renew(check) {
        Ok(stale) if check && !stale.is_empty() => {
            eprintln!("{} is not current ({}): run cargo xtask gen", generate::pages::DIR, stale.join(", "));
            return ExitCode::FAILURE;
        }
        Ok(_) => {}
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    }
    if old == new {
        return ExitCode::SUCCESS;
    }
    if check {
        eprintln!("COMPAT.md is not current: run cargo xtask gen");
        return ExitCode::FAILURE;
    }
    match std::fs::write(&path, new) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("COMPAT.md: {e}");
            ExitCode::FAILURE
        }
    }
}
