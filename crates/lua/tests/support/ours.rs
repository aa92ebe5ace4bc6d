//! Our runtime, giving replies in the form of the corpus.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Instrument, Interrupt, Limits, Reply, RunError,
    RunOptions, SandboxBuilder, ValueRef, Vm,
};

/// A host without functions, which looks at everything when it is shown events.
struct Looker;

impl Host for Looker {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }

    fn event(&mut self, event: totality_lua::instrument::Event<'_>) -> totality_lua::instrument::Then {
        let mut level = 0;
        while event.frame(level).is_some() && level < 3 {
            let names = event.locals(level).len() + event.upvalues(level).len();
            assert!(names < 1000);
            level += 1;
        }
        totality_lua::instrument::Then::Continue
    }
}

/// How a snippet is run. All modes but the plain one give the same replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Redis's sandbox
    Redis,
    /// Plain Lua's globals, which a run may change: each gets a new VM
    Plain,
    /// As Redis, with a collection wherever one may happen
    Eager,
    /// As Redis, with all events of the instrumented mode
    Instrumented,
}

/// A VM.
pub struct Ours {
    vm: Vm,
    mode: Mode,
    guard: Guard,
}

/// Time that a snippet may take, far above what any needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Stops a snippet that runs too long, so that a fault shows as a difference and not as a hanging test.
struct Guard {
    /// Snippets begun, and whether one is on
    state: Arc<Mutex<(u64, bool)>>,
}

impl Guard {
    fn new(word: Interrupt) -> Guard {
        let state = Arc::new(Mutex::new((0, false)));
        let seen = Arc::downgrade(&state);
        std::thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            // Ends with the machine that it watches.
            while let Some(state) = seen.upgrade() {
                if let Ok(state) = state.lock() {
                    if state.0 != last || !state.1 {
                        (last, since) = (state.0, Instant::now());
                    } else if since.elapsed() > PATIENCE {
                        word.set(Interrupt::STOP);
                    }
                }
                drop(state);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Guard { state }
    }

    fn set(&self, on: bool) {
        if let Ok(mut state) = self.state.lock() {
            *state = (state.0 + u64::from(on), on);
        }
    }
}

impl Ours {
    pub fn new(mode: Mode) -> Ours {
        let sandbox = if mode == Mode::Plain { SandboxBuilder::unlocked() } else { SandboxBuilder::new() };
        let limits = match mode {
            Mode::Eager => Limits { soft_bytes: 0, ..Limits::default() },
            _ => Limits::default(),
        };
        let vm = Vm::new(&sandbox, limits);
        let guard = Guard::new(vm.interrupt());
        Ours { vm, mode, guard }
    }

    /// A fresh machine under the same guard.
    fn renew(&mut self) {
        let word = self.vm.interrupt();
        let sandbox =
            if self.mode == Mode::Plain { SandboxBuilder::unlocked() } else { SandboxBuilder::new() };
        self.vm = Vm::new(&sandbox, Limits::default());
        self.vm.set_interrupt(word);
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Runs a snippet in the wrapper. A panic is a reply too, so that the test tells which snippet it was.
    pub fn run(&mut self, body: &str) -> String {
        let script = super::wrap(body);
        if self.mode == Mode::Plain {
            self.renew();
        }
        self.vm.interrupt().clear(Interrupt::STOP);
        self.guard.set(true);
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(&script)));
        self.guard.set(false);
        reply.unwrap_or_else(|_| {
            *self = Ours::new(self.mode);
            "PANIC".into()
        })
    }

    fn reply(&mut self, script: &str) -> String {
        let chunk = match Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()) {
            Ok(chunk) => chunk,
            Err(e) => return format!("LOADERR:{}", super::escape(&one_line(&super::normalise(e.message())))),
        };
        let on = self.mode == Mode::Instrumented;
        let options = RunOptions { instrument: Instrument { lines: on, calls: on, ..Instrument::default() } };
        match self.vm.run(&chunk, Inputs::default(), options, &mut Looker) {
            Ok(()) => text(self.vm.result(0)),
            Err(RunError::Raised) => format!("-{}", text(self.vm.error())),
            Err(other) => format!("!{other}"),
        }
    }
}

/// Servers replace line ends in error replies by blanks.
fn one_line(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }).collect()
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Nil => "(nil)".into(),
        ValueRef::Bool(b) => b.to_string(),
        ValueRef::Number(n) => n.to_string(),
        ValueRef::Str(s) => super::escape(&super::normalise(s)),
        other => other.type_name().into(),
    }
}
