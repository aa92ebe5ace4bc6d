//! Our runtime, giving replies in the form of the corpus.

use std::panic::{AssertUnwindSafe, catch_unwind};
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
}

/// A VM with Redis's sandbox, or one with plain Lua's globals.
pub struct Ours {
    vm: Vm,
    plain: bool,
}

impl Ours {
    pub fn new() -> Ours {
        Ours { vm: Vm::new(&SandboxBuilder::new(), Limits::default()), plain: false }
    }

    /// Globals of a run may be changed by it, so each run gets a new VM.
    pub fn plain() -> Ours {
        Ours { vm: Vm::new(&SandboxBuilder::unlocked(), Limits::default()), plain: true }
    }

    /// Runs a snippet in the wrapper. A panic is a reply too, so that the test tells which snippet it was.
    pub fn run(&mut self, body: &str) -> String {
        let script = super::wrap(body);
        if self.plain {
            *self = Ours::plain();
        }
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(&script)));
        reply.unwrap_or_else(|_| {
            *self = if self.plain { Ours::plain() } else { Ours::new() };
            "PANIC".into()
        })
    }

    fn reply(&mut self, script: &str) -> String {
        let chunk = match Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()) {
            Ok(chunk) => chunk,
            Err(e) => return format!("LOADERR:{}", super::escape(&one_line(&super::normalise(e.message())))),
        };
        match self.vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost) {
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
