//! What a debugger may be told while the script stands.

use super::{Debugger, show};
use crate::util::parse_i64;
use totality_lua::instrument::Event;

/// Breakpoints of one session: Redis's bound.
const MAX_BREAKPOINTS: usize = 64;
/// Lines around the current one that `list` shows.
const CONTEXT: i64 = 5;
/// Frames of the stack that `trace` and `print` look at.
const MAX_FRAMES: usize = 200;

/// Interface: clients print it.
const HELP: [&str; 27] = [
    "Redis Lua debugger help:",
    "[h]elp               Show this help.",
    "[s]tep               Run current line and stop again.",
    "[n]ext               Alias for step.",
    "[c]ontinue           Run till next breakpoint.",
    "[l]ist               List source code around current line.",
    "[l]ist [line]        List source code around [line].",
    "                     line = 0 means: current position.",
    "[l]ist [line] [ctx]  In this form [ctx] specifies how many lines",
    "                     to show before/after [line].",
    "[w]hole              List all source code. Alias for 'list 1 1000000'.",
    "[p]rint              Show all the local variables.",
    "[p]rint <var>        Show the value of the specified variable.",
    "                     Can also show global vars KEYS and ARGV.",
    "[b]reak              Show all breakpoints.",
    "[b]reak <line>       Add a breakpoint to the specified line.",
    "[b]reak -<line>      Remove breakpoint from the specified line.",
    "[b]reak 0            Remove all breakpoints.",
    "[t]race              Show a backtrace.",
    "[e]val <code>        Execute some Lua code (in a different callframe).",
    "[r]edis <cmd>        Execute a Redis command.",
    "[m]axlen [len]       Trim logged Redis replies and Lua var dumps to len.",
    "                     Specifying zero as <len> means unlimited.",
    "[a]bort              Stop the execution of the script. In sync",
    "                     mode dataset changes will be retained.",
    "",
    "Debugger functions you can call from Lua scripts:",
];
const MORE_HELP: [&str; 3] = [
    "redis.debug()        Produce logs in the debugger console.",
    "redis.breakpoint()   Stop execution like if there was a breakpoint in the",
    "                     next line of code.",
];

/// What a command of the debugger leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The answer is written; the script stands.
    Stay,
    /// The script goes on.
    Go,
    /// It ends with an error.
    Abort,
    /// A command of the server is to be called.
    Call,
    /// Code is to be run.
    Evaluate(Vec<u8>),
}

/// C's `atoi`, which the arguments of `list` and `maxlen` are read by.
fn atoi(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut n: i64 = 0;
    for digit in digits.iter().take_while(|b| b.is_ascii_digit()) {
        n = n.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    }
    let n = if negative { -n } else { n };
    n.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
}

impl Debugger {
    /// Does what the debugger was told, as far as it needs no more than a look at the script.
    pub(super) fn obey(&mut self, argv: &[Vec<u8>], event: &Event<'_>) -> Next {
        let is = |long: &str| {
            let word = &argv[0];
            word.eq_ignore_ascii_case(long.as_bytes()) || word.eq_ignore_ascii_case(&long.as_bytes()[..1])
        };
        match () {
            () if is("help") => HELP.iter().chain(&MORE_HELP).for_each(|line| self.say(line)),
            () if is("step") || is("next") => {
                self.step = true;
                return Next::Go;
            }
            () if is("continue") => return Next::Go,
            () if is("trace") => self.trace(event),
            () if is("maxlen") => self.set_max_len(argv),
            () if is("break") => self.set_breakpoints(argv),
            () if is("eval") => return Next::Evaluate(argv[1..].join(&b' ')),
            () if is("abort") => return Next::Abort,
            () if is("redis") && argv.len() > 1 => return Next::Call,
            () if is("print") => match argv {
                [_, name] => self.print(name, event),
                _ => self.print_all(event),
            },
            () if is("list") => {
                let around = argv.get(1).map(|arg| atoi(arg)).filter(|line| *line > 0);
                let context = argv.get(2).map_or(CONTEXT, |arg| atoi(arg));
                self.list(around.unwrap_or(i64::from(self.line)), context);
            }
            () if is("whole") => self.list(1, 1_000_000),
            () => self.say("<error> Unknown Redis Lua debugger command or wrong number of arguments."),
        }
        Next::Stay
    }

    /// Logs a line of the source with its number and marks.
    pub(super) fn say_line(&mut self, line: i64) {
        let mark = match (line == i64::from(self.line), self.is_breakpoint(line)) {
            (true, true) => "->#",
            (true, false) => "-> ",
            (false, true) => "  #",
            (false, false) => "   ",
        };
        let mut text = format!("{mark}{line:<3} ").into_bytes();
        let source = usize::try_from(line - 1).ok().and_then(|i| self.source.get(i));
        text.extend_from_slice(source.map_or(b"<out of range source code line>", Vec::as_slice));
        self.log(text);
    }

    pub(super) fn is_breakpoint(&self, line: i64) -> bool {
        self.breakpoints.contains(&line)
    }

    fn list(&mut self, around: i64, context: i64) {
        for line in 1..=self.source.len() as i64 {
            if (around - line).abs() <= context {
                self.say_line(line);
            }
        }
    }

    fn print(&mut self, name: &[u8], event: &Event<'_>) {
        for level in 0..MAX_FRAMES {
            if event.frame(level).is_none() {
                break;
            }
            if let Some(found) = event.locals(level).iter().find(|local| local.name.as_bytes() == name) {
                return self.say_value(b"<value> ", found.value);
            }
        }
        if name == b"KEYS" || name == b"ARGV" {
            return self.say_value(b"<value> ", event.global(name));
        }
        self.say("No such variable.");
    }

    fn print_all(&mut self, event: &Event<'_>) {
        let locals = event.locals(0);
        for local in &locals {
            self.say_value(format!("<value> {} = ", local.name).as_bytes(), local.value);
        }
        if locals.is_empty() {
            self.say("No local variables in the current context.");
        }
    }

    /// Logs a value behind a prefix, trimmed as the session wants it.
    pub(super) fn say_value(&mut self, prefix: &[u8], value: totality_lua::ValueRef<'_>) {
        let mut text = prefix.to_vec();
        show::value(value, &mut text);
        self.log_trimmed(text);
    }

    fn set_breakpoints(&mut self, argv: &[Vec<u8>]) {
        if argv.len() == 1 {
            if self.breakpoints.is_empty() {
                return self.say("No breakpoints set. Use 'b <line>' to add one.");
            }
            self.say(&format!("{} breakpoints set:", self.breakpoints.len()));
            self.breakpoints.clone().into_iter().for_each(|line| self.say_line(line));
        }
        for arg in &argv[1..] {
            match parse_i64(arg) {
                None => self.log([b"Invalid argument:'", arg.as_slice(), b"'"].concat()),
                Some(0) => {
                    self.breakpoints.clear();
                    self.say("All breakpoints removed.");
                }
                Some(line) if line < 0 => {
                    let at = self.breakpoints.iter().position(|b| line.checked_neg() == Some(*b));
                    match at {
                        Some(at) => {
                            self.breakpoints.remove(at);
                            self.say("Breakpoint removed.");
                        }
                        None => self.say("No breakpoint in the specified line."),
                    }
                }
                Some(_) if self.breakpoints.len() == MAX_BREAKPOINTS => self.say("Too many breakpoints set."),
                Some(line) if line > self.source.len() as i64 || self.is_breakpoint(line) => {
                    self.say("Wrong line number.");
                }
                Some(line) => {
                    self.breakpoints.push(line);
                    self.list(line, 1);
                }
            }
        }
    }

    fn trace(&mut self, event: &Event<'_>) {
        for level in 0..MAX_FRAMES {
            let Some(frame) = event.frame(level) else { break };
            if !frame.chunk.contains("user_script") {
                continue;
            }
            let name = event.function_name(level).unwrap_or_else(|| b"top level".to_vec());
            let how: &[u8] = if level == 0 { b"In " } else { b"From " };
            self.log([how, &name, b":"].concat());
            self.say_line(i64::from(frame.line));
        }
    }

    fn set_max_len(&mut self, argv: &[Vec<u8>]) {
        if let [_, arg] = argv {
            // Who knows the command needs no hint.
            self.hint_given = true;
            self.max_len = match atoi(arg) {
                0 => 0,
                n => n.max(60) as usize,
            };
        }
        match self.max_len {
            0 => self.say("<value> replies are unlimited."),
            n => self.say(&format!("<value> replies are truncated at {n} bytes.")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_c_reads_them() {
        for (text, n) in
            [("12", 12), (" -3x", -3), ("+4", 4), ("x", 0), ("", 0), ("99999999999999999999", 2_147_483_647)]
        {
            assert_eq!(atoi(text.as_bytes()), n, "{text}");
        }
    }
}
