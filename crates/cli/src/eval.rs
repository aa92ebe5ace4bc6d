//! `totality eval`: runs a script on an embedded engine or on a server.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use clap::Args;
use totality::{Db, Options};
use totality_resp::{Reply, ReplyParser};

use crate::print;
use crate::remote::Remote;

/// Run a Lua script and print its reply as redis-cli does.
///
/// Without --url it runs on an empty data set inside this process; no server is needed. An error reply goes to
/// standard error and the exit code is 1. Lines of redis.log go to standard error.
#[derive(Args)]
#[command(override_usage = "totality eval [--json] [--url URL] FILE|- [KEY...] [, ARG...]")]
pub struct Arguments {
    /// Run on this server: redis://[[user:]password@]host[:port][/db]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Print the reply as JSON
    #[arg(long)]
    json: bool,
    /// The script's file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: OsString,
    /// Keys; after a lone comma, arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "KEY... , ARG...")]
    words: Vec<OsString>,
}

/// Runs the script and prints what it answers.
pub fn run(arguments: &Arguments) -> ExitCode {
    match evaluate(arguments) {
        Ok(Reply::Error(text)) => {
            eprintln!("(error) {}", String::from_utf8_lossy(&text));
            ExitCode::FAILURE
        }
        Ok(reply) => {
            let mut text = if arguments.json { print::json(&reply) } else { print::text(&reply) };
            text.push('\n');
            // A reader that went away (`| head`) is no failure of the script.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("totality eval: {why}");
            ExitCode::FAILURE
        }
    }
}

fn evaluate(arguments: &Arguments) -> Result<Reply, String> {
    let source = read(&arguments.file)?;
    let command = command(source, &arguments.words);
    match &arguments.url {
        Some(url) => {
            let mut remote = Remote::connect(url)?;
            if arguments.json {
                remote.call(&[b"HELLO".to_vec(), b"3".to_vec()])?;
            }
            remote.call(&command)
        }
        None => embedded(&command, arguments.json),
    }
}

/// The content of a file, or of standard input for `-`.
pub fn read(file: &OsString) -> Result<Vec<u8>, String> {
    let mut source = Vec::new();
    let done = match file.to_str() {
        Some("-") => std::io::stdin().lock().read_to_end(&mut source).map(drop),
        _ => std::fs::read(file).map(|bytes| source = bytes),
    };
    done.map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(source)
}

/// EVAL with the keys before a lone comma and the arguments after it.
fn command(source: Vec<u8>, given: &[OsString]) -> Vec<Vec<u8>> {
    let mut command = vec![b"EVAL".to_vec()];
    command.extend(words(source, given));
    command
}

/// The script, the number of keys, the keys before a lone comma and the arguments after it.
pub fn words(source: Vec<u8>, words: &[OsString]) -> Vec<Vec<u8>> {
    let keys = words.iter().position(|w| w == ",").unwrap_or(words.len());
    let mut command = vec![source, keys.to_string().into_bytes()];
    let rest = words[..keys].iter().chain(words.iter().skip(keys + 1));
    command.extend(rest.map(|w| w.clone().into_vec()));
    command
}

fn embedded(command: &[Vec<u8>], resp3: bool) -> Result<Reply, String> {
    let mut engine = Embedded::open()?;
    if resp3 {
        engine.execute(&[b"HELLO".to_vec(), b"3".to_vec()])?;
    }
    engine.execute(command)
}

/// An engine in this process, with an empty data set, and one client of it.
pub struct Embedded {
    db: Db,
    client: totality_engine::ClientId,
}

impl Embedded {
    /// Starts it. Lines of redis.log go to standard error.
    ///
    /// # Errors
    /// When the engine does not start.
    pub fn open() -> Result<Embedded, String> {
        let options = Options::default().log(|level, line| eprintln!("[{level:?}] {line}"));
        let db = Db::open(options).map_err(|e| e.to_string())?;
        let connect =
            |engine: &mut totality_engine::Engine| engine.connect(totality_engine::ConnInfo::default());
        let client = db.with_engine(connect).map_err(|e| e.to_string())?;
        Ok(Embedded { db, client })
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When there is no reply to read; an error reply is none.
    pub fn execute(&mut self, command: &[Vec<u8>]) -> Result<Reply, String> {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        let client = self.client;
        let bytes = self.db.with_engine(|engine| {
            let mut out = Vec::new();
            engine.execute(client, &words, &mut out, &mut totality_engine::engine::NoTicker);
            out
        });
        let bytes = bytes.map_err(|e| e.to_string())?;
        match ReplyParser::new().parse(&bytes) {
            Ok(Some((reply, _))) => Ok(reply),
            Ok(None) => Err("the script gave no reply".into()),
            Err(why) => Err(why.to_string()),
        }
    }
}
