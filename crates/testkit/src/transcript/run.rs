//! Running transcripts in every way that a command can be reached.

use super::{Block, Step, Version};
use crate::client::{Client, Command};
use crate::print;
use crate::value::Value;
use regex_lite::Regex;

/// A way to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The engine in this process.
    Embedded,
    /// Over a socket.
    Resp2,
    /// Over a socket after HELLO 3.
    Resp3,
    /// Each command inside MULTI and EXEC.
    Multi,
    /// Each command by `redis.pcall` in EVAL.
    Script,
    /// A real `redis-server`.
    Oracle,
}

impl Way {
    /// All ways.
    pub const ALL: [Way; 6] = [Way::Embedded, Way::Resp2, Way::Resp3, Way::Multi, Way::Script, Way::Oracle];

    /// Its name in `# not` marks and reports.
    pub fn name(self) -> &'static str {
        match self {
            Way::Embedded => "embedded",
            Way::Resp2 => "resp2",
            Way::Resp3 => "resp3",
            Way::Multi => "multi",
            Way::Script => "script",
            Way::Oracle => "oracle",
        }
    }
}

/// Something that executes commands: a connection or an embedded session.
pub trait Target {
    /// Executes one command.
    fn call(&mut self, command: &Command) -> Result<Value, String>;
}

impl Target for Client {
    fn call(&mut self, command: &Command) -> Result<Value, String> {
        Client::call(self, command).map_err(|e| e.to_string())
    }
}

/// The version that the oracle is.
pub const ORACLE: Version = [7, 0, 15];

/// Runs a block; says at which line what differed.
pub fn block(block: &Block, way: Way, target: &mut dyn Target) -> Result<(), String> {
    let words = |line: &str| line.split(' ').map(|w| w.as_bytes().to_vec()).collect::<Command>();
    for line in ["FLUSHALL", "FUNCTION FLUSH"] {
        let flushed = target.call(&words(line))?;
        if flushed.is_error() {
            return Err(format!("{line}: {}", flushed.text()));
        }
    }
    for step in &block.steps {
        if way == Way::Oracle && step.since.is_some_and(|v| v > ORACLE) {
            break;
        }
        let place = || format!("{}:{} ({})", block.file.display(), step.line, way.name());
        let reply = through(way, &step.command, target).map_err(|e| format!("{}: {e}", place()))?;
        if !matches(step, way, reply.clone()) {
            let wanted = step.resp3.as_ref().filter(|_| way == Way::Resp3).unwrap_or(&step.reply).join("\n");
            return Err(format!("{}:\n  wanted {wanted}\n  got    {}", place(), print::reply(&reply)));
        }
    }
    Ok(())
}

fn through(way: Way, command: &Command, target: &mut dyn Target) -> Result<Value, String> {
    let one = |word: &str| vec![word.as_bytes().to_vec()];
    match way {
        Way::Multi => {
            target.call(&one("MULTI"))?;
            let queued = target.call(command)?;
            if queued.text() != "QUEUED" {
                target.call(&one("DISCARD"))?;
                return Ok(queued);
            }
            let replies = target.call(&one("EXEC"))?;
            replies
                .items()
                .into_iter()
                .next()
                .ok_or_else(|| format!("EXEC answered {}", print::reply(&replies)))
        }
        Way::Script => {
            let script = [&b"EVAL"[..], b"return redis.pcall(unpack(ARGV))", b"0"];
            target.call(&script.iter().map(|w| w.to_vec()).chain(command.iter().cloned()).collect())
        }
        _ => target.call(command),
    }
}

fn matches(step: &Step, way: Way, reply: Value) -> bool {
    let arity = "(error) ERR wrong number of arguments for ";
    if way == Way::Script && step.reply.first().is_some_and(|l| l.starts_with(arity)) {
        // The gate's own error has another text in scripts; the one that a handler gives is the same.
        return reply.text() == "ERR Wrong number of args calling command from script"
            || text_matches(&step.reply, &print::reply(&reply));
    }
    if way != Way::Resp3 {
        return text_matches(&step.reply, &print::reply(&reply));
    }
    if let Some(wanted) = &step.resp3 {
        return text_matches(wanted, &print::reply(&reply));
    }
    // Nothing was said of RESP3: the same data, whatever the container.
    let plain = reply.downgrade();
    let flat = Value::Array(
        plain
            .items()
            .into_iter()
            .flat_map(|v| match v {
                Value::Array(inner) => inner,
                other => vec![other],
            })
            .collect(),
    );
    text_matches(&step.reply, &print::reply(&plain)) || text_matches(&step.reply, &print::reply(&flat))
}

fn text_matches(wanted: &[String], got: &str) -> bool {
    let got: Vec<&str> = got.split('\n').collect();
    let end = wanted.iter().rposition(|l| !l.is_empty()).map_or(0, |i| i + 1);
    let wanted = &wanted[..end];
    (wanted.is_empty() && got == [""])
        || wanted.len() == got.len() && wanted.iter().zip(got).all(|(w, g)| line_matches(w, g))
}

fn line_matches(wanted: &str, got: &str) -> bool {
    match wanted.strip_prefix('~') {
        Some(pattern) => Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|r| r.is_match(got)),
        None => wanted == got,
    }
}
