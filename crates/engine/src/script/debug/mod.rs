//! The debugger of scripts: the protocol of `redis-cli --ldb`.
//!
//! A session belongs to one EVAL of a client that chose SCRIPT DEBUG. The runtime reports every line; where the script is
//! to stand, the client is told so and asked, in the middle of the run, through [`crate::Ticker::say`] and
//! [`crate::Ticker::hear`]. A session on a copy of the data set is the same on an engine of its own, which the owner makes.

mod commands;
mod show;

use super::host::{Argv, Refused, Scratch, ScriptHost, arguments, fail};
use super::rollback::Reason;
use crate::client::DebugMode;
use crate::config::Config;
use crate::cx::{Cx, Origin};
use crate::engine::{Heard, Outgoing};
use crate::error::{CmdError, Res};
use crate::execute::{self, Call};
use crate::frame::Frame;
use crate::reply::{Proto, Reply, TreeBuilder};
use crate::state::LogLevel;
use commands::Next;
use totality_lua::host::Reply as LuaReply;
use totality_lua::instrument::{Event, EventKind, Then};
use totality_lua::{Args, Flow, Tick};

/// Bytes of a value or reply that are shown unless `maxlen` says otherwise.
const MAX_LEN: usize = 256;
/// Lines that wait to be sent, and their bytes: a script may call much between two stops.
const MAX_LINES: usize = 10_000;
const MAX_LINE_BYTES: usize = 8 << 20;
/// Bytes of a command that is not complete.
const MAX_INPUT: usize = 1 << 20;
/// Words of a command, and bytes of each.
const MAX_WORDS: i64 = 1024;
const MAX_WORD: i64 = 1024;
/// Words of a command of the script that are shown.
const SHOWN_WORDS: usize = 10;

/// A session.
pub struct Debugger {
    source: Vec<Vec<u8>>,
    breakpoints: Vec<i64>,
    /// Stop at the next line; until then commands and their replies are shown.
    step: bool,
    /// `redis.breakpoint()` was called.
    called: bool,
    /// The script runs past `busy-reply-threshold`: stop at the next line.
    slow: bool,
    /// It stands because of that.
    stands_slow: bool,
    line: u32,
    lines: Vec<Vec<u8>>,
    line_bytes: usize,
    left_out: usize,
    input: Vec<u8>,
    max_len: usize,
    hint_given: bool,
    gone: bool,
}

/// What a command of the client's is, as far as it has arrived.
enum Parsed {
    Command(Vec<Vec<u8>>),
    More,
    Wrong,
}

/// What came of waiting for a command.
enum Told {
    Command(Vec<Vec<u8>>),
    Wrong(&'static str),
    /// Nobody answers.
    Gone,
    /// SCRIPT KILL.
    Killed,
}

/// The error of a client that cannot have a session.
pub fn no_debugging(why: &'static str) -> CmdError {
    // Interface: the beginning is how Redis tells that there will be no session.
    CmdError::owned(format!("ERR Fork() failed: can't run EVAL in debugging mode: {why}"))
}

/// Runs a session: `run` is the EVAL. Afterwards the connection is to end.
pub fn debug(cx: &mut Cx<'_>, mode: DebugMode, run: impl FnOnce(&mut Cx<'_>, &mut Debugger) -> Res) -> Res {
    if let Some(client) = cx.sv.clients.get_mut(cx.client) {
        client.debug = None;
    }
    cx.ticker.may_debug(mode == DebugMode::Copy).map_err(no_debugging)?;
    if mode == DebugMode::Copy {
        let max = cx.sv.config.script_debug_max_bytes;
        if cx.ks.used_memory() as u64 > max {
            return Err(no_debugging("the data set is larger than script-debug-max-bytes"));
        }
        let argv = cx.args.iter().map(|arg| arg.to_vec()).collect();
        cx.sv.outgoing.push_back(Outgoing::Debug { client: cx.client, argv });
        return Ok(());
    }
    cx.sv.log(LogLevel::Notice, "A debugging session of a script started".to_owned());
    let mut debugger = Debugger::new(cx.args[1]);
    let ended = run(cx, &mut debugger);
    debugger.say("<endsession>");
    // Who is gone misses it.
    let _ = cx.ticker.say(&debugger.take_lines());
    if let Some(client) = cx.sv.clients.get_mut(cx.client) {
        client.close = true;
    }
    cx.sv.log(LogLevel::Notice, "A debugging session of a script ended".to_owned());
    ended
}

impl Debugger {
    fn new(script: &[u8]) -> Self {
        let end = script.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |last| last + 1);
        let lines = if end == 0 { Vec::new() } else { script[..end].split(|b| *b == b'\n').collect() };
        Debugger {
            source: lines.into_iter().map(<[u8]>::to_vec).collect(),
            breakpoints: Vec::new(),
            step: true,
            called: false,
            slow: false,
            stands_slow: false,
            line: 0,
            lines: Vec::new(),
            line_bytes: 0,
            left_out: 0,
            input: Vec::new(),
            max_len: MAX_LEN,
            hint_given: false,
            gone: false,
        }
    }

    /// `redis.breakpoint()`: true, since there is a debugger.
    pub(super) fn breakpoint(&mut self) -> bool {
        self.called = true;
        true
    }

    /// `redis.debug(...)`
    pub(super) fn show_arguments(&mut self, args: Args<'_>) {
        let mut text = format!("<debug> line {}: ", self.line).into_bytes();
        for i in 0..args.len() {
            if i > 0 {
                text.extend_from_slice(b", ");
            }
            if let Some(value) = args.get(i) {
                show::value(value, &mut text);
            }
        }
        self.log(text);
    }

    /// The script has been running for so long since it last stood.
    pub(super) fn note_time(&mut self, us: u64, config: &Config) {
        let threshold = match config.busy_reply_threshold {
            0 => 5000,
            ms => ms.unsigned_abs(),
        };
        self.slow |= us / 1000 >= threshold;
    }

    fn say(&mut self, text: &str) {
        self.log(text.as_bytes().to_vec());
    }

    fn log(&mut self, text: Vec<u8>) {
        if self.lines.len() >= MAX_LINES || self.line_bytes >= MAX_LINE_BYTES {
            self.left_out += 1;
            return;
        }
        self.line_bytes += text.len();
        self.lines.push(text);
    }

    fn log_trimmed(&mut self, mut text: Vec<u8>) {
        let trimmed = self.max_len > 0 && text.len() > self.max_len;
        if trimmed {
            text.truncate(self.max_len);
            text.extend_from_slice(b" ...");
        }
        self.log(text);
        if trimmed && !std::mem::replace(&mut self.hint_given, true) {
            self.say("<hint> The above reply was trimmed. Use 'maxlen 0' to disable trimming.");
        }
    }

    /// The lines that wait, as an array of statuses.
    fn take_lines(&mut self) -> Vec<u8> {
        self.line_bytes = 0;
        match std::mem::take(&mut self.left_out) {
            0 => {}
            n => self.lines.push(format!("<hint> {n} more lines were left out").into_bytes()),
        }
        let mut out = format!("*{}\r\n", self.lines.len()).into_bytes();
        for line in self.lines.drain(..) {
            out.push(b'+');
            out.extend(line.iter().map(|b| if matches!(b, b'\r' | b'\n') { b' ' } else { *b }));
            out.extend_from_slice(b"\r\n");
        }
        out
    }

    /// Takes a command from what has arrived.
    fn parse(&mut self) -> Parsed {
        let Some(start) = self.input.iter().position(|b| *b == b'*') else {
            return if self.input.is_empty() { Parsed::More } else { Parsed::Wrong };
        };
        let (input, mut at) = (&self.input[start..], 0);
        let words = match number(input, &mut at, b'*') {
            None => return Parsed::More,
            Some(Some(n)) if (1..=MAX_WORDS).contains(&n) => n,
            Some(_) => return Parsed::Wrong,
        };
        let mut argv = Vec::new();
        for _ in 0..words {
            let len = match number(input, &mut at, b'$') {
                None => return Parsed::More,
                Some(Some(n)) if (1..=MAX_WORD).contains(&n) => n as usize,
                Some(_) => return Parsed::Wrong,
            };
            let Some(word) = input.get(at..at + len + 2) else { return Parsed::More };
            if !word.ends_with(b"\r\n") {
                return Parsed::Wrong;
            }
            argv.push(word[..len].to_vec());
            at += len + 2;
        }
        self.input.drain(..start + at);
        Parsed::Command(argv)
    }

    /// Logs a command of the script, or of the debugger.
    fn log_command(&mut self, argv: &[&[u8]]) {
        let mut text = b"<redis>".to_vec();
        for word in argv.iter().take(SHOWN_WORDS) {
            text.push(b' ');
            text.extend_from_slice(word);
        }
        if argv.len() > SHOWN_WORDS {
            text.extend_from_slice(format!(" ... ({} more)", argv.len() - SHOWN_WORDS - 1).as_bytes());
        }
        self.log(text);
    }

    fn log_reply(&mut self, frame: &Frame, resp3: bool) {
        if let Frame::Error(text) = frame {
            self.log([b"<error> -", text.as_slice()].concat());
        }
        let mut text = b"<reply> ".to_vec();
        show::reply(frame, resp3, &mut text);
        self.log_trimmed(text);
    }

    /// Logs why a command was not run.
    fn log_refused(&mut self, text: &str) {
        match text.strip_prefix("ERR ") {
            Some(text) => self.say(&format!("<error> {text}")),
            None => self.say(&format!("<error> -{text}")),
        }
    }
}

/// The number behind a mark, up to the end of the line, where `at` is moved; `None` when the line is not complete.
fn number(input: &[u8], at: &mut usize, mark: u8) -> Option<Option<i64>> {
    let rest = &input[*at..];
    if *rest.first()? != mark {
        return Some(None);
    }
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    *at += end + 2;
    Some(crate::util::parse_i64(&rest[1..end]))
}

fn raise(text: &str) -> Then {
    let mut reply = LuaReply::default();
    fail(&mut reply, &format!("ERR {text}"), true);
    Then::Raise(Box::new(reply))
}

impl ScriptHost<'_> {
    /// The runtime tells of a line, or of what the debugger's code gave.
    pub(super) fn debug_event(&mut self, event: &Event<'_>) -> Then {
        let Some(debugger) = self.run.debugger.take() else { return Then::Continue };
        let then = match event.kind {
            EventKind::Line => self.at_line(debugger, event),
            EventKind::Evaluated => {
                match event.outcome {
                    Some(Ok(value)) => debugger.say_value(b"<retval> ", value),
                    Some(Err(text)) => debugger.log([b"<error> ", text].concat()),
                    None => {}
                }
                self.stand(debugger, event)
            }
            _ => Then::Continue,
        };
        self.run.debugger = Some(debugger);
        then
    }

    fn at_line(&mut self, debugger: &mut Debugger, event: &Event<'_>) -> Then {
        debugger.line = event.line;
        if !event.chunk.contains("user_script") {
            return Then::Continue;
        }
        let at = debugger.is_breakpoint(i64::from(event.line));
        let reason = match () {
            () if debugger.called => "redis.breakpoint() called",
            () if at => "break point",
            () if debugger.step => "step over",
            () if debugger.slow => "timeout reached, infinite loop?",
            () => return Then::Continue,
        };
        debugger.stands_slow = debugger.slow && !debugger.called && !at && !debugger.step;
        (debugger.step, debugger.called, debugger.slow) = (false, false, false);
        debugger.say(&format!("* Stopped at {}, stop reason = {reason}", event.line));
        debugger.say_line(i64::from(event.line));
        self.stand(debugger, event)
    }

    /// The script stands: tells what waits to be told, and does as it is told, until it is to go on.
    fn stand(&mut self, debugger: &mut Debugger, event: &Event<'_>) -> Then {
        let began = self.sv.clock.now_us();
        let then = loop {
            debugger.gone |= !debugger.gone && !self.ticker.say(&debugger.take_lines());
            let argv = match self.told(debugger) {
                Told::Command(argv) => argv,
                Told::Wrong(text) => break raise(text),
                Told::Killed => {
                    self.run.stopped = Some(Reason::Kill);
                    break Then::Stop;
                }
                Told::Gone => {
                    // The script goes on as if nobody had ever asked for a stop.
                    debugger.gone = true;
                    debugger.step = false;
                    debugger.breakpoints.clear();
                    if debugger.stands_slow {
                        break raise("timeout during Lua debugging with client closing connection");
                    }
                    break Then::Continue;
                }
            };
            match debugger.obey(&argv, event) {
                Next::Stay => {}
                Next::Go => break Then::Continue,
                Next::Abort => break raise("script aborted for user request"),
                Next::Evaluate(code) => break Then::Evaluate(code),
                Next::Call => {
                    let argv: Vec<&[u8]> = argv[1..].iter().map(Vec::as_slice).collect();
                    if self.logged(debugger, &argv, None).is_err() {
                        break Then::Stop;
                    }
                }
            }
        };
        // Time that the script stood does not count.
        let now = self.sv.clock.now_us();
        self.run.deadline.at_us = self.run.deadline.at_us.saturating_add(now.saturating_sub(began));
        if let Some(run) = &mut self.sv.running {
            (run.since_us, run.slow) = (now, false);
        }
        then
    }

    /// Waits for a command of the client's. Others are served meanwhile as during any long script.
    fn told(&mut self, debugger: &mut Debugger) -> Told {
        let seconds = self.sv.config.script_debug_timeout;
        let began = self.sv.clock.now_us();
        loop {
            match debugger.parse() {
                Parsed::Command(argv) => return Told::Command(argv),
                Parsed::Wrong => {
                    debugger.input.clear();
                    return Told::Wrong("protocol error");
                }
                Parsed::More if debugger.input.len() > MAX_INPUT => {
                    debugger.input.clear();
                    return Told::Wrong("max client buffer reached");
                }
                Parsed::More if debugger.gone => return Told::Gone,
                Parsed::More => {}
            }
            match self.ticker.hear(&mut debugger.input) {
                Heard::Bytes => continue,
                Heard::Gone => return Told::Gone,
                Heard::Nothing => {}
            }
            self.look_around();
            if self.sv.running.as_ref().is_some_and(|run| run.kill) {
                return Told::Killed;
            }
            let waited = self.sv.clock.now_us().saturating_sub(began);
            if seconds > 0 && waited / 1_000_000 >= seconds {
                let text = format!("Nobody answered a debugging session for {seconds} seconds: it ends");
                self.sv.log(LogLevel::Warning, text);
                return Told::Gone;
            }
        }
    }

    /// `redis.call` and `redis.pcall` while a debugger is there: shown when it steps.
    #[cold]
    pub(super) fn debugged_command(&mut self, args: Args<'_>, reply: &mut LuaReply, raise: bool) -> Flow {
        let Some(debugger) = self.run.debugger.take() else { return Flow::Stop };
        let flow = if debugger.step {
            self.shown_command(debugger, args, reply, raise)
        } else {
            self.command(args, reply, raise)
        };
        self.run.debugger = Some(debugger);
        flow
    }

    fn shown_command(
        &mut self,
        debugger: &mut Debugger,
        args: Args<'_>,
        reply: &mut LuaReply,
        raise: bool,
    ) -> Flow {
        let mut scratch = Scratch::new();
        let mut argv = Argv::new();
        if let Err(text) = arguments(args, &mut scratch, &mut argv) {
            debugger.log_refused(text);
            return fail(reply, text, raise);
        }
        let Ok((answer, fine)) = self.logged(debugger, &argv, Some(args)) else { return Flow::Stop };
        Reply::lua(reply, self.run.proto).frame(&answer);
        if !fine && raise { Flow::Raise } else { Flow::Return }
    }

    /// Runs a command and shows it with its reply. Gives the reply, and whether it is none of an error.
    ///
    /// # Errors
    /// The run is to stop.
    fn logged(
        &mut self,
        debugger: &mut Debugger,
        argv: &[&[u8]],
        args: Option<Args<'_>>,
    ) -> Result<(Frame, bool), Tick> {
        self.run.counts.commands += 1;
        if self.run.counts.commands > self.run.max_commands {
            return Err(self.stop(Reason::Commands));
        }
        debugger.log_command(argv);
        let command = match self.admit(argv, args) {
            Ok(command) => command,
            Err(Refused { command, text }) => {
                debugger.log_refused(&text);
                self.refuse(command, &text, &mut LuaReply::default());
                return Ok((Frame::Error(text.into_bytes()), false));
            }
        };
        let mut tree = TreeBuilder::default();
        let call = Call { id: self.client, argv, command, origin: Origin::Script };
        let fine = execute::call(self.ks, self.sv, call, Reply::tree(&mut tree, self.run.proto), self.ticker);
        let answer = tree.finish().unwrap_or(Frame::Null);
        debugger.log_reply(&answer, self.run.proto == Proto::Resp3);
        if self.ks.undo.is_over() && !self.run.unlimited {
            return Err(self.stop(Reason::Undo));
        }
        Ok((answer, fine))
    }
}
