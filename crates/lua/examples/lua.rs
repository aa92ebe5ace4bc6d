//! A small runner: `lua FILE`, with globals that scripts may change and a `print`. `--redis` locks the sandbox.

use std::io::Write;
use std::time::Instant;
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

struct Console {
    start: Instant,
}

impl Host for Console {
    fn call(&mut self, _id: HostFn, args: Args<'_>, _reply: &mut Reply) -> Flow {
        let mut out = std::io::stdout().lock();
        for i in 0..args.len() {
            if i > 0 {
                let _ = out.write_all(b"\t");
            }
            let mut text = Vec::new();
            match args.get(i) {
                Some(ValueRef::Str(s)) => text.extend_from_slice(s),
                Some(ValueRef::Number(n)) => totality_lua::numfmt::number_to_string(n, &mut text),
                Some(ValueRef::Bool(b)) => text.extend_from_slice(if b { b"true" } else { b"false" }),
                Some(v) => text.extend_from_slice(v.type_name().as_bytes()),
                None => {}
            }
            let _ = out.write_all(&text);
        }
        let _ = out.write_all(b"\n");
        Flow::Return
    }

    fn clock(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let redis = args.first().is_some_and(|a| a == "--redis");
    if redis {
        args.remove(0);
    }
    let Some(file) = args.first() else {
        eprintln!("usage: lua [--redis] FILE");
        std::process::exit(2);
    };
    let source = std::fs::read(file).unwrap_or_else(|e| {
        eprintln!("{file}: {e}");
        std::process::exit(2);
    });
    let sandbox = if redis { SandboxBuilder::new() } else { SandboxBuilder::unlocked() };
    let mut vm = Vm::new(&sandbox.global_function("print", 1), Limits::default());
    let chunk = match Chunk::compile(&source, &format!("@{file}"), CompileLimits::default()) {
        Ok(c) => c,
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(1);
        }
    };
    let mut host = Console { start: Instant::now() };
    match vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host) {
        Ok(()) => {}
        Err(RunError::Raised) => {
            match vm.error() {
                ValueRef::Str(s) => eprintln!("{}", String::from_utf8_lossy(s)),
                v => eprintln!("error value of type {}", v.type_name()),
            }
            std::process::exit(1);
        }
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(1);
        }
    }
}
