//! Plain Lua: globals that scripts may change, `print`, `io.write`, `io.read`, a clock.

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Interrupt, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

const WRITE: HostFn = 1;
const READ: HostFn = 2;

/// `print` is written in Lua, so that `__tostring` works as there.
const PRELUDE: &[u8] = b"local write, tostring, select, concat = io.write, tostring, select, table.concat \
function print(...) local out = {} for i = 1, select('#', ...) do out[i] = tostring((select(i, ...))) end \
write(concat(out, '\\t') .. '\\n') end";

/// Longest line that `io.read` gives, bytes.
const MAX_LINE: u64 = 64 << 20;

/// The machine.
pub struct Full {
    vm: Vm,
    console: Console,
    /// A script runs: Ctrl-C stops it
    running: Arc<AtomicBool>,
}

struct Console {
    start: Instant,
}

impl Host for Console {
    fn call(&mut self, id: HostFn, args: Args<'_>, reply: &mut Reply) -> Flow {
        match id {
            WRITE => write(args, reply),
            _ => read(args, reply),
        }
    }

    fn clock(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

fn write(args: Args<'_>, reply: &mut Reply) -> Flow {
    let mut text = Vec::new();
    for i in 0..args.len() {
        match args.get(i) {
            Some(ValueRef::Str(s)) => text.extend_from_slice(s),
            Some(ValueRef::Number(n)) => totality_lua::numfmt::number_to_string(n, &mut text),
            other => {
                let name = other.map_or("no value", |v| v.type_name());
                reply.str(
                    format!("bad argument #{} to 'write' (string expected, got {name})", i + 1).as_bytes(),
                );
                return Flow::Raise;
            }
        }
    }
    let done = std::io::stdout().lock().write_all(&text);
    reply.bool(done.is_ok());
    Flow::Return
}

/// A line, a number, or everything, by the first argument as in Lua.
fn read(args: Args<'_>, reply: &mut Reply) -> Flow {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock();
    let format = match args.get(0) {
        Some(ValueRef::Str(s)) => s,
        _ => b"*l",
    };
    let done = match format {
        b"*a" => input.take(MAX_LINE).read_to_end(&mut bytes).map(|_| true),
        b"*l" | b"*n" => input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes).map(|n| n > 0),
        _ => {
            reply.str(b"bad argument #1 to 'read' (invalid format)");
            return Flow::Raise;
        }
    };
    if !matches!(done, Ok(true)) {
        reply.nil();
        return Flow::Return;
    }
    if format != b"*a" && bytes.ends_with(b"\n") {
        bytes.pop();
    }
    match (format, std::str::from_utf8(&bytes).ok().and_then(|s| s.trim().parse().ok())) {
        (b"*n", Some(n)) => reply.number(n),
        (b"*n", None) => reply.nil(),
        _ => reply.str(&bytes),
    }
    Flow::Return
}

impl Full {
    /// A machine whose scripts may hold so many megabytes.
    ///
    /// # Errors
    /// When the signal handler cannot be set.
    pub fn new(megabytes: u32) -> Result<Full, String> {
        let sandbox = SandboxBuilder::unlocked().function("io", "write", WRITE).function("io", "read", READ);
        let limits = Limits { max_bytes: (megabytes as usize) << 20, ..Limits::default() };
        let mut full = Full {
            vm: Vm::new(&sandbox, limits),
            console: Console { start: Instant::now() },
            running: Arc::default(),
        };
        full.run_chunk(PRELUDE, "=prelude", &[])?;
        stop_on_signal(full.vm.interrupt(), full.running.clone()).map_err(|e| e.to_string())?;
        Ok(full)
    }

    fn run_chunk(&mut self, source: &[u8], name: &str, argv: &[Vec<u8>]) -> Result<(), String> {
        let chunk = Chunk::compile(source, name, CompileLimits::default())
            .map_err(|e| String::from_utf8_lossy(e.message()).into_owned())?;
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let inputs = Inputs { keys: &[], argv: &argv };
        self.running.store(true, Ordering::Relaxed);
        let ended = self.vm.run(&chunk, inputs, RunOptions::default(), &mut self.console);
        self.running.store(false, Ordering::Relaxed);
        self.vm.interrupt().clear(Interrupt::STOP);
        match ended {
            Ok(()) => Ok(()),
            Err(RunError::Raised) => Err(match self.vm.error() {
                ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
                ValueRef::Number(n) => {
                    let mut text = Vec::new();
                    totality_lua::numfmt::number_to_string(n, &mut text);
                    String::from_utf8_lossy(&text).into_owned()
                }
                other => format!("(error object is a {} value)", other.type_name()),
            }),
            Err(other) => Err(other.to_string()),
        }
    }
}

impl super::Machine for Full {
    fn line_name(&self) -> &'static str {
        "=stdin"
    }

    fn run(&mut self, source: &[u8], name: &str, argv: &[Vec<u8>]) -> Result<(), String> {
        self.run_chunk(source, name, argv)
    }

    fn show(&mut self, expressions: &[u8]) -> Result<(), String> {
        let head = b"return (function(...) if select('#', ...) > 0 then print(...) end end)(";
        self.run_chunk(&[head, expressions, b"\n)"].concat(), self.line_name(), &[])
    }
}

/// Ctrl-C stops a script that runs, and ends the process when none does.
fn stop_on_signal(word: Interrupt, running: Arc<AtomicBool>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if running.load(Ordering::Relaxed) {
                word.set(Interrupt::STOP);
            } else {
                std::process::exit(130);
            }
        }
    });
    Ok(())
}
