//! `totality serve`: the server.

use std::process::ExitCode;

use clap::Args;
use totality_engine::Config;
use totality_server::Server;
use totality_server::config_file::CommandLine;

/// Run the server.
///
/// Parameters and the file's grammar are those of redis.conf: `totality serve redis.conf --port 7000`. Later values
/// win: the file, then standard input (`-`), then the command line.
#[derive(Args)]
#[command(override_usage = "totality serve [FILE] [-] [--NAME VALUE...]...")]
pub struct Arguments {
    /// Configuration file, `-` for standard input, and any parameter as `--NAME VALUE...`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILE|--NAME VALUE")]
    words: Vec<String>,
}

/// Runs the server until it is told to end.
pub fn run(arguments: &Arguments) -> ExitCode {
    match serve(&arguments.words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// Ways to call redis-server that are none of ours, and what to do instead.
const FOREIGN: [(&str, &str); 3] = [
    (
        "--sentinel",
        "Sentinel is not part of Totality: run redis-sentinel or valkey-sentinel, which watch it as they watch Redis",
    ),
    ("--test-memory", "Memory is not tested here: use a tool like memtester"),
    ("--check-system", "The system is not checked here"),
];

fn serve(words: &[String]) -> Result<(), String> {
    if matches!(words, [only] if only == "--version" || only == "-v") {
        println!("Totality server v={}", env!("CARGO_PKG_VERSION"));
        return Ok(());
    }
    let foreign = |word: &String| FOREIGN.iter().find(|(name, _)| name == word);
    if let Some((name, why)) = words.iter().find_map(foreign) {
        return Err(format!("{name}: {why}."));
    }
    let line = CommandLine::parse(words);
    let mut config = Config::default();
    line.load(&mut config).map_err(|e| e.to_string())?;
    // CONFIG REWRITE must find the file after `dir` changed the working directory.
    let file = match &line.file {
        Some(file) => Some(std::path::absolute(file).map_err(|e| e.to_string())?),
        None => None,
    };
    let mut server = Server::new(config, file).map_err(|e| e.to_string())?;
    server.report_crashes();
    server.catch_signals().map_err(|e| e.to_string())?;
    server.run().map_err(|e| e.to_string())
}
