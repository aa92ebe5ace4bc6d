//! `totality check`: are files of a data set sound?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use totality_persist::check::{Repair, check};

/// Check a snapshot, an append-only file, or all files of a manifest.
///
/// Says of each file whether it is sound, and if not, at which byte it ends to be. Files of Redis and Valkey are
/// understood too. Ends with 0 when all is sound.
#[derive(Args)]
pub struct Arguments {
    /// The file: a snapshot (.rdb), commands (.aof) or a manifest (.manifest)
    file: PathBuf,
    /// Remove what was cut off at the end of an append-only file
    #[arg(long)]
    fix: bool,
    /// Remove what was written after this second since the Unix epoch from the last append-only file (needs the
    /// timestamps of `aof-timestamp-enabled`)
    #[arg(long, value_name = "SECOND", conflicts_with = "fix")]
    truncate_to_timestamp: Option<i64>,
}

/// Checks and tells.
pub fn run(arguments: &Arguments) -> ExitCode {
    let repair = match arguments.truncate_to_timestamp {
        Some(second) => Repair::After(second),
        None if arguments.fix => Repair::Tail,
        None => Repair::Nothing,
    };
    match check(&arguments.file, repair) {
        Ok(report) => {
            report.lines.iter().for_each(|line| println!("{line}"));
            if report.sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(e) => {
            eprintln!("{}: {}", arguments.file.display(), totality_persist::reason(&e));
            ExitCode::FAILURE
        }
    }
}
