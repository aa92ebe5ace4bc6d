//! `totality trace`: a dry run of a script, command by command.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use totality::{Db, Options};
use totality_engine::engine::NoTicker;
use totality_engine::{ConnInfo, Engine, Interrupt};
use totality_resp::{Reply, ReplyParser};

use crate::eval::{read, words};
use crate::print;
use crate::remote::Remote;

/// Try a Lua script: show each command that it calls, what it would return and change, and take everything back.
///
/// With --url it runs on the data of a live Totality, which is left as it was (SCRIPT EXPLAIN). Without, it runs inside of
/// this process: on the data set of the files that --data names, which stay as they are, or on an empty one, and after the
/// commands of --setup. Times are drawn as bars in proportion to the
/// slowest command.
#[derive(Args)]
#[command(
    override_usage = "totality trace [--url URL | --data PATH] [--setup FILE] FILE|- [KEY...] [, ARG...]"
)]
pub struct Arguments {
    /// Run on this server: redis://[[user:]password@]host[:port][/db]
    #[arg(long, visible_alias = "server", value_name = "URL")]
    url: Option<String>,
    /// Run on the data set of these files: a snapshot (.rdb), an append-only file, its manifest or directory, or a data
    /// directory
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    data: Option<PathBuf>,
    /// Select this database first
    #[arg(long, value_name = "NUMBER", default_value_t = 0, conflicts_with = "url")]
    db: u32,
    /// Commands that make the data, one a line as for redis-cli; with --url they are not allowed
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    setup: Option<OsString>,
    /// Print what the server answered as JSON
    #[arg(long)]
    json: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    /// The script's file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: OsString,
    /// Keys; after a lone comma, arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "KEY... , ARG...")]
    words: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// Runs the script and prints its trace.
pub fn run(arguments: &Arguments) -> ExitCode {
    let reply = match explain(arguments) {
        Ok(Reply::Error(text)) => {
            eprintln!("(error) {}", String::from_utf8_lossy(&text));
            return ExitCode::FAILURE;
        }
        Ok(reply) => reply,
        Err(why) => {
            eprintln!("totality trace: {why}");
            return ExitCode::FAILURE;
        }
    };
    let stdout = std::io::stdout();
    let colour = match arguments.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    let text = if arguments.json {
        print::json(&reply) + "\n"
    } else {
        Page { colour, out: String::new() }.show(&reply)
    };
    let _ = stdout.lock().write_all(text.as_bytes());
    match field(&reply, "result") {
        Some(Reply::Error(_)) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

fn explain(arguments: &Arguments) -> Result<Reply, String> {
    let source = read(&arguments.file)?;
    let mut command = vec![b"SCRIPT".to_vec(), b"EXPLAIN".to_vec()];
    command.extend(words(source, &arguments.words));
    match &arguments.url {
        Some(url) => {
            let mut remote = Remote::connect(url)?;
            remote.call(&[b"HELLO".to_vec(), b"3".to_vec()])?;
            remote.call(&command)
        }
        None => {
            let setup = match &arguments.setup {
                Some(file) => read(file)?,
                None => Vec::new(),
            };
            embedded(arguments, &setup, &command)
        }
    }
}

/// Runs the setup and the command on an engine of its own.
fn embedded(arguments: &Arguments, setup: &[u8], command: &[Vec<u8>]) -> Result<Reply, String> {
    let options = Options::default().log(|level, line| eprintln!("[{level:?}] {line}"));
    let db = Db::open(options).map_err(|e| e.to_string())?;
    db.with_engine(|engine| {
        if let Some(path) = &arguments.data {
            totality_persist::load_files(engine, path)?;
        }
        let id = engine.connect(ConnInfo::default());
        let call = |engine: &mut Engine, words: &[Vec<u8>]| -> Result<Reply, String> {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let mut out = Vec::new();
            engine.execute(id, &words, &mut out, &mut NoTicker);
            totality_engine::execute::finish_unit(&mut engine.ks, &mut engine.sv);
            match ReplyParser::new().parse(&out) {
                Ok(Some((reply, _))) => Ok(reply),
                Ok(None) => Err("no reply".to_owned()),
                Err(why) => Err(why.to_string()),
            }
        };
        call(engine, &[b"HELLO".to_vec(), b"3".to_vec()])?;
        if let Reply::Error(text) =
            call(engine, &[b"SELECT".to_vec(), arguments.db.to_string().into_bytes()])?
        {
            return Err(format!("--db {}: {}", arguments.db, String::from_utf8_lossy(&text)));
        }
        for (i, line) in setup.split(|b| *b == b'\n').enumerate() {
            let words = totality_resp::split_args(line)
                .map_err(|_| format!("setup line {}: unbalanced quotes", i + 1))?;
            if words.is_empty() || words[0].starts_with(b"#") {
                continue;
            }
            if let Reply::Error(text) = call(engine, &words)? {
                return Err(format!("setup line {}: {}", i + 1, String::from_utf8_lossy(&text)));
            }
        }
        let _watchdog = Watchdog::new(engine.sv.scripts.interrupt());
        call(engine, command)
    })
    .map_err(|e| e.to_string())?
}

/// Makes the engine look at the deadline every few milliseconds while the script runs.
struct Watchdog {
    /// Its end is the end of the thread.
    _alive: std::sync::mpsc::Sender<()>,
}

impl Watchdog {
    fn new(interrupt: Interrupt) -> Watchdog {
        let (alive, over) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            let pause = std::time::Duration::from_millis(5);
            while over.recv_timeout(pause) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                interrupt.set(Interrupt::TICK);
            }
        });
        Watchdog { _alive: alive }
    }
}

/// A field of a map.
fn field<'a>(map: &'a Reply, name: &str) -> Option<&'a Reply> {
    let Reply::Map(pairs) = map else { return None };
    pairs.iter().find(|(key, _)| matches!(key, Reply::Bulk(text) if text == name.as_bytes())).map(|(_, v)| v)
}

fn items(reply: Option<&Reply>) -> &[Reply] {
    match reply {
        Some(Reply::Array(items)) => items,
        _ => &[],
    }
}

fn number(reply: Option<&Reply>) -> i64 {
    match reply {
        Some(Reply::Integer(n)) => *n,
        _ => 0,
    }
}

fn quoted(bytes: &[u8]) -> String {
    let plain =
        !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b'\''));
    if plain {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut out = Vec::new();
    totality_resp::quote(&mut out, bytes);
    String::from_utf8_lossy(&out).into_owned()
}

/// A reply on one line.
fn short(reply: &Reply) -> String {
    let many = |items: &[Reply]| items.iter().map(short).collect::<Vec<_>>().join(", ");
    let text = match reply {
        Reply::Bulk(bytes) => {
            let mut out = Vec::new();
            totality_resp::quote(&mut out, bytes);
            String::from_utf8_lossy(&out).into_owned()
        }
        Reply::Array(all) | Reply::Set(all) | Reply::Push(all) => format!("[{}]", many(all)),
        Reply::Map(pairs) => {
            let all: Vec<String> = pairs.iter().map(|(k, v)| format!("{}: {}", short(k), short(v))).collect();
            format!("{{{}}}", all.join(", "))
        }
        other => print::text(other),
    };
    if text.chars().count() <= 100 { text } else { text.chars().take(99).chain(['…']).collect() }
}

/// What a key is, on one line.
fn value(preview: &Reply) -> String {
    if !matches!(preview, Reply::Map(_)) {
        return "absent".to_owned();
    }
    let text = |name: &str| match field(preview, name) {
        Some(Reply::Bulk(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    let kind = text("type");
    let shown = field(preview, "value").map(short).unwrap_or_default();
    let mut out = if kind == "string" {
        shown
    } else {
        format!("{kind} of {}: {shown}", number(field(preview, "length")))
    };
    let ttl = number(field(preview, "pttl"));
    if ttl >= 0 {
        out.push_str(&format!(" (expires in {:.3} s)", ttl as f64 / 1000.0));
    }
    out
}

/// The text of a trace.
struct Page {
    colour: bool,
    out: String,
}

const DIM: &str = "2";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// Characters of the longest time bar.
const BAR: usize = 20;

impl Page {
    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn show(mut self, reply: &Reply) -> String {
        let commands = items(field(reply, "commands"));
        let slowest = commands.iter().map(|c| number(field(c, "usec"))).max().unwrap_or(0).max(1);
        for command in commands {
            self.command(command, slowest);
        }
        let left_out = number(field(reply, "left_out"));
        if left_out > 0 {
            self.line(&format!("... {left_out} more commands"));
        }
        let result = field(reply, "result").unwrap_or(&Reply::Null);
        let shown = match result {
            Reply::Error(text) => self.paint(RED, &format!("(error) {}", String::from_utf8_lossy(text))),
            other => self.paint(BOLD, &short(other)),
        };
        self.line("");
        let all =
            format!("{} commands, {} µs", commands.len() as i64 + left_out, number(field(reply, "usec")));
        self.line(&format!("result  {shown}   {}", self.paint(DIM, &all)));
        let changes = items(field(reply, "changes"));
        self.line(if changes.is_empty() {
            "nothing would change"
        } else {
            "would change, and was taken back:"
        });
        for change in changes {
            self.change(change, "  ");
        }
        self.out
    }

    fn command(&mut self, command: &Reply, slowest: i64) {
        let argv = items(field(command, "command"));
        let words: Vec<String> = argv
            .iter()
            .map(|arg| match arg {
                Reply::Bulk(bytes) => quoted(bytes),
                other => short(other),
            })
            .collect();
        let usec = number(field(command, "usec"));
        let length = ((usec * BAR as i64 + slowest - 1) / slowest).clamp(0, BAR as i64) as usize;
        let bar = format!("{}{}", "█".repeat(length), " ".repeat(BAR - length));
        let answer = field(command, "reply").unwrap_or(&Reply::Null);
        let answer = match answer {
            Reply::Error(text) => self.paint(RED, &format!("(error) {}", String::from_utf8_lossy(text))),
            other => self.paint(GREEN, &short(other)),
        };
        let line = self.paint(DIM, &format!("{:>4}", number(field(command, "line"))));
        let bar = self.paint(YELLOW, &bar);
        let time = self.paint(DIM, &format!("{usec:>6} µs"));
        self.line(&format!("{line} {bar} {time}  {}  {answer}", words.join(" ")));
        let margin = " ".repeat(BAR + 17);
        for key in items(field(command, "keys")) {
            if matches!(field(key, "declared"), Some(Reply::Bool(false))) {
                let name = match field(key, "key") {
                    Some(Reply::Bulk(bytes)) => quoted(bytes),
                    _ => String::new(),
                };
                let text = self.paint(RED, &format!("{name} was not declared in KEYS"));
                self.line(&format!("{margin}{text}"));
            }
        }
        for change in items(field(command, "written")) {
            self.change(change, &margin);
        }
    }

    fn change(&mut self, change: &Reply, margin: &str) {
        let name = match field(change, "key") {
            Some(Reply::Bulk(bytes)) => quoted(bytes),
            _ => String::new(),
        };
        let db = number(field(change, "db"));
        let name = if db == 0 { name } else { format!("{name} (database {db})") };
        let (before, after) = (field(change, "before"), field(change, "after"));
        let (before, after) = (value(before.unwrap_or(&Reply::Null)), value(after.unwrap_or(&Reply::Null)));
        self.line(&format!("{margin}{}  {before} -> {after}", self.paint(CYAN, &name)));
    }
}
