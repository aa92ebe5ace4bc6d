//! A process of its own: it counts the process's memory, which other tests' threads would move.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::hostile::{NoHost, chunk, scripts};
use totality_lua::{
    Args, Flow, Host, HostFn, Inputs, Interrupt, Limits, Reply, RunOptions, SandboxBuilder, Tick, Vm,
};

const LIMIT: usize = 64 << 20;

fn limits() -> Limits {
    Limits { max_bytes: LIMIT, ..Limits::default() }
}

/// Resident memory of this process in bytes.
fn resident() -> Option<usize> {
    let s = std::fs::read_to_string("/proc/self/statm").ok()?;
    s.split_whitespace().nth(1)?.parse::<usize>().ok().map(|p| p * 4096)
}

/// Ends a run after a time.
struct Until(Instant);

impl Host for Until {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
    fn tick(&mut self) -> Tick {
        if Instant::now() < self.0 { Tick::Continue } else { Tick::Stop }
    }
}

/// One test, so that nothing runs beside it.
#[test]
fn memory_comes_back() {
    let Some(start) = resident() else {
        support::note_skip("memory of the process", "no /proc/self/statm");
        return;
    };
    ordinary_runs();
    hostile_runs(start);
}

fn ordinary_runs() {
    let chunk = chunk("local t={} for i=1,2e5 do t[i]='some string of the table number '..i end return #t");
    let mut vm = Vm::new(&SandboxBuilder::new(), limits());
    let mut first = 0;
    for i in 0..60 {
        assert_eq!(vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost), Ok(()));
        vm.reset();
        if i == 10 {
            first = resident().expect("it was there");
        }
    }
    let last = resident().expect("it was there");
    assert!(last < first + LIMIT, "{first} -> {last}");
}

/// Every hostile script on one machine: what the process holds after each is counted.
fn hostile_runs(start: usize) {
    let word = Interrupt::new();
    let over = AtomicBool::new(false);
    let all: Vec<_> = ["stop", "limit"].into_iter().flat_map(scripts).collect();
    let (mut most, mut name_of_most) = (0, "");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                word.set(Interrupt::TICK);
            }
        });
        let mut vm = Vm::new(&SandboxBuilder::new(), limits());
        vm.set_interrupt(word.clone());
        for (name, script) in &all {
            let chunk = chunk(script);
            let mut host = Until(Instant::now() + Duration::from_millis(25));
            // How it ends is another test's affair.
            let _ = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host);
            vm.reset();
            vm.forget_chunks();
            assert!(vm.used_bytes() < 1 << 16, "{name} left {}", vm.used_bytes());
            let now = resident().expect("it was there").saturating_sub(start);
            if now > most {
                (most, name_of_most) = (now, name);
            }
            // The allocator keeps some; a script that leaks shows in the sum.
            assert!(now < LIMIT * 2, "{} MB more than before, after {name}", now >> 20);
        }
        over.store(true, Ordering::Relaxed);
    });
    println!("{} scripts; most {} MB above the start, after {name_of_most}", all.len(), most >> 20);
    support::count("hostile scripts after which memory was counted", all.len());
}
