//! Rewrites the headers of scripts in the usual form and order, the plain form (`-- name: …`) too; bodies stay as they are.
//!
//! `cargo run -p totality-script --example fmt [-- --check] FILE…`; with `--check` it only says which would change.

use std::process::ExitCode;
use totality_script::format_source;

fn main() -> ExitCode {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let check = flags.iter().any(|f| f == "--check");
    if files.is_empty() || flags.iter().any(|f| f != "--check") {
        eprintln!("usage: fmt [--check] FILE…");
        return ExitCode::from(2);
    }
    let mut bad = false;
    for file in files {
        let done = std::fs::read_to_string(&file).map_err(|e| e.to_string()).and_then(|text| {
            let new = format_source(&text).map_err(|e| e.to_string())?;
            if new == text {
                return Ok(());
            }
            println!("{file}");
            bad |= check;
            if check { Ok(()) } else { std::fs::write(&file, new).map_err(|e| e.to_string()) }
        });
        if let Err(why) = done {
            eprintln!("{file}: {why}");
            bad = true;
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
