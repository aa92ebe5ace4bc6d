//! `totality lua`: runs a Lua file, or reads lines and answers them.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use totality_lua::{Chunk, CompileLimits};

mod full;
mod place;
mod redis;

/// Run a Lua 5.1 file, or read lines and answer them.
///
/// Without FILE and on a terminal, lines are read: an expression shows its values, `=x` too, and what is not yet whole
/// goes on in the next line. Ctrl-C stops what runs, Ctrl-D ends. The words after FILE are in ARGV.
///
/// Exit codes: 0 when the script ended, 1 when it failed, 2 when the command line is wrong or FILE cannot be read.
#[derive(Args)]
pub struct Arguments {
    /// full: plain Lua with print, io.write and io.read. redis: what EVAL offers, on data kept until the end
    #[arg(long, value_enum, default_value_t = Sandbox::Full)]
    sandbox: Sandbox,
    /// Run this text instead of a file
    #[arg(short = 'e', long = "execute", value_name = "CODE")]
    code: Option<OsString>,
    /// Read lines and answer them after the file or text, or although standard input is no terminal
    #[arg(short, long)]
    interactive: bool,
    /// Most megabytes that scripts may hold
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=3072))]
    max_memory: u32,
    /// The script's file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: Option<OsString>,
    /// Elements of ARGV
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARG")]
    words: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sandbox {
    Full,
    Redis,
}

/// What runs scripts.
trait Machine {
    /// Name of chunks that come from lines, with Lua's leading `=`.
    fn line_name(&self) -> &'static str;

    /// Runs a chunk; the error is the message of the script.
    fn run(&mut self, source: &[u8], name: &str, argv: &[Vec<u8>]) -> Result<(), String>;

    /// Runs an expression list and shows its values.
    fn show(&mut self, expressions: &[u8]) -> Result<(), String>;
}

/// Longest text that is read from lines, bytes.
const MAX_INPUT: u64 = 64 << 20;

/// Runs what the command line asks for.
pub fn run(arguments: &Arguments) -> ExitCode {
    let mut words: Vec<Vec<u8>> = arguments.words.iter().map(|w| w.clone().into_vec()).collect();
    let mut file = arguments.file.clone();
    if arguments.code.is_some()
        && let Some(first) = file.take()
    {
        words.insert(0, first.into_vec());
    }
    let machine: Result<Box<dyn Machine>, String> = match arguments.sandbox {
        Sandbox::Full => full::Full::new(arguments.max_memory).map(|m| Box::new(m) as Box<dyn Machine>),
        Sandbox::Redis => redis::Redis::new(arguments.max_memory).map(|m| Box::new(m) as Box<dyn Machine>),
    };
    let mut machine = match machine {
        Ok(machine) => machine,
        Err(why) => return usage(&why),
    };
    let lines = arguments.interactive || std::io::stdin().is_terminal();
    let source = match (&arguments.code, &file) {
        (Some(code), _) => Some((code.clone().into_vec(), "=(command line)".to_owned())),
        (None, Some(file)) => match read(file) {
            Ok(source) => Some((source, chunk_name(file))),
            Err(why) => return usage(&why),
        },
        (None, None) if lines => None,
        (None, None) => match read(&"-".into()) {
            Ok(source) => Some((source, "=stdin".to_owned())),
            Err(why) => return usage(&why),
        },
    };
    let only_lines = source.is_none();
    if let Some((source, name)) = source {
        let source = without_first_comment(&source);
        if let Err(message) = machine.run(source, &name, &words) {
            // On an engine every chunk has Redis's name.
            let named = if arguments.sandbox == Sandbox::Redis { machine.line_name() } else { &name };
            fail(&message, source, named);
            return ExitCode::FAILURE;
        }
    }
    if arguments.interactive || only_lines {
        answer_lines(machine.as_mut());
    }
    ExitCode::SUCCESS
}

fn usage(why: &str) -> ExitCode {
    eprintln!("totality lua: {why}");
    ExitCode::from(2)
}

fn read(file: &OsString) -> Result<Vec<u8>, String> {
    let mut source = Vec::new();
    let done = match file.to_str() {
        Some("-") => std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut source).map(drop),
        _ => std::fs::read(file).map(|bytes| source = bytes),
    };
    done.map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(source)
}

fn chunk_name(file: &OsString) -> String {
    match file.to_str() {
        Some("-") => "=stdin".to_owned(),
        _ => format!("@{}", file.display()),
    }
}

/// The text without the `#!` of its first line; its line end stays, so that lines keep their numbers. What Redis reads
/// there (`#!lua flags=…`) is left to it.
fn without_first_comment(source: &[u8]) -> &[u8] {
    if source.starts_with(b"#") && !source.starts_with(b"#!lua") {
        let end = source.iter().position(|b| *b == b'\n').unwrap_or(source.len());
        return &source[end..];
    }
    source
}

/// Writes an error with the line of the source where it is.
fn fail(message: &str, source: &[u8], name: &str) {
    eprintln!("totality lua: {message}");
    if let Some(shown) = place::show(message, source, name) {
        eprint!("{shown}");
    }
}

/// What is wrong with a text, if it does not compile.
fn fault(source: &[u8], name: &str) -> Option<String> {
    let limits = CompileLimits { max_source: MAX_INPUT as usize, ..CompileLimits::default() };
    let error = Chunk::compile(source, name, limits).err()?;
    Some(String::from_utf8_lossy(error.message()).into_owned())
}

/// More lines may make it whole.
fn is_incomplete(fault: &str) -> bool {
    fault.ends_with("near '<eof>'")
}

/// Reads lines until they end.
fn answer_lines(machine: &mut dyn Machine) {
    println!("Totality {}, Lua 5.1. Ctrl-D ends.", env!("CARGO_PKG_VERSION"));
    let mut input = std::io::stdin().lock();
    let mut text = Vec::new();
    loop {
        print!("{}", if text.is_empty() { "> " } else { ">> " });
        let _ = std::io::stdout().flush();
        let before = text.len();
        let room = MAX_INPUT.saturating_sub(before as u64);
        let ended = !matches!((&mut input).take(room).read_until(b'\n', &mut text), Ok(n) if n > 0);
        if ended {
            println!();
            if before == 0 {
                return;
            }
        }
        if answer(machine, &text, ended) {
            text.clear();
        }
        if ended {
            return;
        }
    }
}

/// Runs a text when it is whole, or when no more comes; false when it goes on in the next line.
fn answer(machine: &mut dyn Machine, text: &[u8], last: bool) -> bool {
    let name = machine.line_name();
    let (explicit, body) = match text.strip_prefix(b"=") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if body.trim_ascii().is_empty() {
        return true;
    }
    let as_values = fault(&[b"return ", body].concat(), name);
    let done = match (as_values, explicit) {
        (None, _) => machine.show(body),
        (Some(why), true) if is_incomplete(&why) && !last => return false,
        (Some(why), true) => Err(why),
        (Some(_), false) => match fault(body, name) {
            None => machine.run(body, name, &[]),
            Some(why) if is_incomplete(&why) && !last => return false,
            Some(why) => Err(why),
        },
    };
    if let Err(message) = done {
        eprintln!("{message}");
        if let Some(shown) = place::show(&message, body, name) {
            eprint!("{shown}");
        }
    }
    true
}
