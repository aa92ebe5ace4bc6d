//! Times what a run costs beside the script's own work: an empty script, and a host call with a key.

use std::time::Instant;
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunOptions, SandboxBuilder, Vm,
};

struct Get;

impl Host for Get {
    fn call(&mut self, _id: HostFn, args: Args<'_>, reply: &mut Reply) -> Flow {
        if args.len() == 2 {
            reply.str(b"0123456789abcdef");
        }
        Flow::Return
    }
}

fn time(vm: &mut Vm, name: &str, source: &str, runs: u32, per: u32) {
    time_with(vm, name, source, &[b"some:key"], runs, per);
}

fn time_with(vm: &mut Vm, name: &str, source: &str, argv: &[&[u8]], runs: u32, per: u32) {
    let Ok(chunk) = Chunk::compile(source.as_bytes(), "@user_script", CompileLimits::default()) else {
        eprintln!("{name}: does not compile");
        return;
    };
    let keys: [&[u8]; 1] = [b"some:key"];
    let inputs = Inputs { keys: &keys, argv };
    // Short batches: the best one was not disturbed by other processes.
    let mut best = f64::MAX;
    for _ in 0..300 {
        let start = Instant::now();
        for _ in 0..runs {
            if vm.run(&chunk, inputs, RunOptions::default(), &mut Get).is_err() {
                eprintln!("{name}: failed");
                return;
            }
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(runs) / f64::from(per));
    }
    println!("{name}: {:.1} ns", best * 1e9);
}

fn main() {
    let mut vm = Vm::new(&SandboxBuilder::new().function("redis", "call", 1), Limits::default());
    time(&mut vm, "empty script, whole run", "return 1", 1000, 1);
    time(&mut vm, "script with one call, whole run", "return redis.call('GET', KEYS[1])", 1000, 1);
    let many = "for i = 1, 1000 do redis.call('GET', KEYS[1]) end";
    time(&mut vm, "one call in a loop", many, 1, 1000);
    let texts: Vec<String> = (0..1000).map(|i| format!("argument number {i}")).collect();
    let argv: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    for (name, source) in [
        ("one of 1000 arguments, whole run", "return ARGV[500]"),
        ("one of 1000 arguments and their number in a table, whole run", "return {ARGV[500], #ARGV}"),
        ("each of 1000 arguments, whole run", "for i = 1, #ARGV do local s = ARGV[i] end"),
    ] {
        time_with(&mut vm, name, source, &argv, 20, 1);
    }
}
