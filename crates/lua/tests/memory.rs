//! A process of its own: it counts the process's memory, which other tests' threads would move.

use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunOptions, SandboxBuilder, Vm,
};

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _id: HostFn, _args: Args<'_>, _reply: &mut Reply) -> Flow {
        Flow::Return
    }
}

fn limits() -> Limits {
    Limits { max_bytes: 256 << 20, ..Limits::default() }
}

/// Resident memory of this process in bytes.
fn resident() -> Option<usize> {
    let s = std::fs::read_to_string("/proc/self/statm").ok()?;
    s.split_whitespace().nth(1)?.parse::<usize>().ok().map(|p| p * 4096)
}

#[test]
fn memory_comes_back() {
    let Some(_) = resident() else { return };
    let source = b"local t={} for i=1,2e5 do t[i]='some string of the table number '..i end return #t";
    let chunk = Chunk::compile(source, "@user_script", CompileLimits::default()).unwrap();
    let mut vm = Vm::new(&SandboxBuilder::new(), limits());
    let mut first = 0;
    for i in 0..60 {
        assert_eq!(vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost), Ok(()));
        vm.reset();
        if i == 10 {
            first = resident().unwrap();
        }
    }
    let last = resident().unwrap();
    assert!(last < first + (64 << 20), "{first} -> {last}");
}
