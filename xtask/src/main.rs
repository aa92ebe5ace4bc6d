//! Developer tasks. `cargo xtask test` checks everything, `cargo xtask bench` compares CPU per call with
//! `redis-server`, `cargo xtask gen` rewrites the generated parts of documents.

#![forbid(unsafe_code)]

mod needs;
mod run;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test               format, clippy, all tests, transcripts, client smoke tests; counts on the last line
cargo xtask bench [ROW…]       server CPU per call beside redis-server in one run, as ratios
cargo xtask bench memory       bytes per key and element beside redis-server
cargo xtask bench persist [N]  writes with an append-only file, and loading of N keys, beside redis-server
cargo xtask bench rollback     what all-or-nothing scopes cost the seeds' scripts, as ratios
cargo xtask bench stats        what counting per script costs them
cargo xtask bench catalogue [write]  what each script of the catalogue costs beside redis-server; writes docs/guides/costs.md
cargo xtask bench lua [ROW…]   the Lua runtime beside lua5.1 and redis-server, as ratios
cargo xtask lua-suite DIR      the public Lua 5.1 test suite, whose files are in DIR; writes crates/lua/SUITE.md
cargo xtask oracle [SECONDS]   random commands against redis-server until a difference or the end of time
cargo xtask gen [--check]      rewrite (or check) what is generated: COMPAT.md, docs/commands, docs/scripts, …
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    let done = match args.first().map(String::as_str) {
        Some("test") => test::all(),
        Some("bench") => bench(&rest),
        Some("oracle") => oracle(&rest),
        Some("lua-suite") => lua_suite(&rest),
        Some("gen") => generate(&rest),
        _ => {
            print!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the server as users get it, then measures. The tool itself is built for speed too: it loads the servers.
fn bench(args: &[&str]) -> Result<(), String> {
    needs::debian();
    let bin = run::target().join("release");
    let server = bin.join("totality").to_string_lossy().into_owned();
    let mut build = run::cargo(&["build", "--release", "--bins", "-p", "totality-cli"]);
    let job = if args.first() == Some(&"catalogue") {
        // It needs the typed calls, which the tool does not know. What the client costs is not measured.
        run::cargo(&["run", "-p", "totality-script", "--example", "costs", "--"]).with(&args[1..])
    } else {
        build = build.with(&["-p", "totality-testkit"]);
        run::Job::new(&bin.join("totality-bench").to_string_lossy(), args)
    };
    run::step("build", &build)?;
    run::step("bench", &job.env("TOTALITY_BIN", &server))
}

/// The generated parts of documents, and what the catalogue's headers and cases make.
fn generate(args: &[&str]) -> Result<(), String> {
    run::step(
        "gen",
        &run::cargo(&["run", "-q", "-p", "totality-testkit", "--bin", "totality-gen", "--"]).with(args),
    )?;
    let mut job = run::cargo(&["test", "-q", "-p", "totality-script", "--test", "generated"]);
    if !args.contains(&"--check") {
        job = job.env("TOTALITY_WRITE", "1");
    }
    run::step("catalogue", &job)
}

/// The suite is fetched by whoever runs it: its files are not ours to carry.
fn lua_suite(args: &[&str]) -> Result<(), String> {
    let [dir] = args else { return Err("lua-suite needs the directory that holds the suite's files".into()) };
    let dir = std::path::absolute(dir).map_err(|e| format!("{dir}: {e}"))?;
    let table = std::path::absolute("crates/lua/SUITE.md").map_err(|e| e.to_string())?;
    let job = run::cargo(&["test", "-p", "totality-lua", "--test", "suite", "--", "--nocapture"]);
    let job = job.env("TOTALITY_LUA_SUITE", &dir.to_string_lossy());
    run::step("suite", &job.env("TOTALITY_LUA_SUITE_TABLE", &table.to_string_lossy()))
}

fn oracle(args: &[&str]) -> Result<(), String> {
    needs::debian();
    run::step("build", &run::cargo(&["build", "--workspace", "--bins"]))?;
    let job = run::cargo(&["test", "-p", "totality-testkit", "--test", "oracle", "--", "--nocapture"]);
    run::step("oracle", &job.env("TOTALITY_ORACLE_SECONDS", args.first().unwrap_or(&"300")))
}
