//! Hostile scripts: each is stopped soon after the flag and at its deadline, or ends by itself within its limits, and
//! gives its memory back. `data/hostile.tsv` and `data/hostile_more.tsv` list them.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::hostile::{NoHost, chunk, cpu_of, scripts, this_thread};
use totality_lua::{
    Args, Flow, Host, HostFn, Inputs, Interrupt, Limit, Limits, Reply, RunError, RunOptions, SandboxBuilder,
    Tick, Vm,
};

fn limits() -> Limits {
    Limits { max_bytes: 96 << 20, ..Limits::default() }
}

/// Sets STOP after `delay`, from another thread, and notes the processor time that the caller had used by then.
fn stop_after(i: &Interrupt, delay: Duration, done: &Arc<AtomicBool>) -> Arc<Mutex<Option<Duration>>> {
    let when = Arc::new(Mutex::new(None));
    let (i, done, out, caller) = (i.clone(), done.clone(), when.clone(), this_thread());
    std::thread::spawn(move || {
        std::thread::sleep(delay);
        if !done.load(Ordering::SeqCst) {
            *out.lock().expect("nobody panics with it") = Some(cpu_of(&caller));
            i.set(Interrupt::STOP);
        }
    });
    when
}

/// The machine works on after a stop.
fn works_on(vm: &mut Vm, name: &str) {
    vm.interrupt().clear(Interrupt::STOP);
    let again = chunk("return 1");
    assert_eq!(vm.run(&again, Inputs::default(), RunOptions::default(), &mut NoHost), Ok(()), "{name}");
    vm.reset();
    assert!(vm.used_bytes() < 1 << 16, "{name} left {}", vm.used_bytes());
}

fn report(what: &str, mut latencies: Vec<(Duration, String)>) {
    latencies.sort();
    for (l, name) in latencies.iter().rev().take(12) {
        println!("{what}: {l:?} {name}");
    }
    let median = latencies[latencies.len() / 2].0;
    let worst = latencies.last().expect("some scripts").0;
    println!("{what}: {} scripts, median {median:?}, worst {worst:?}", latencies.len());
    support::count(&format!("hostile scripts ended by {what}"), latencies.len());
    assert!(latencies.len() >= 80);
    // Generous, as this is an unoptimised build; the bench measures the real figure.
    assert!(median < Duration::from_millis(20), "median {median:?}");
    assert!(worst < Duration::from_millis(200), "worst {:?}", latencies.last());
}

#[test]
fn stopped_soon_after_the_flag() {
    let mut latencies = Vec::new();
    for (name, script) in scripts("stop") {
        let mut vm = Vm::new(&SandboxBuilder::new(), Limits { max_bytes: 2 << 30, ..limits() });
        let done = Arc::new(AtomicBool::new(false));
        let when = stop_after(&vm.interrupt(), Duration::from_millis(40), &done);
        let r = vm.run(&chunk(&script), Inputs::default(), RunOptions::default(), &mut NoHost);
        let end = cpu_of(&this_thread());
        done.store(true, Ordering::SeqCst);
        assert_eq!(r, Err(RunError::Stopped), "{name}");
        let flagged = when.lock().expect("nobody panics with it").expect("the flag was set");
        latencies.push((end.saturating_sub(flagged), name.clone()));
        works_on(&mut vm, &name);
    }
    report("the flag", latencies);
}

/// Ends the run at a deadline, as a server does.
struct Deadline {
    at: Instant,
    /// Processor time at the last tick
    last: Duration,
    /// How late it was when the tick came
    late: Option<Duration>,
}

impl Host for Deadline {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }

    fn tick(&mut self) -> Tick {
        let (now, cpu) = (Instant::now(), cpu_of(&this_thread()));
        if now < self.at {
            self.last = cpu;
            return Tick::Continue;
        }
        // Of the time since the deadline what the script itself used.
        self.late = Some((now - self.at).min(cpu - self.last));
        Tick::Stop
    }
}

#[test]
fn stopped_at_the_deadline() {
    let word = Interrupt::new();
    let over = AtomicBool::new(false);
    let mut latencies = Vec::new();
    std::thread::scope(|scope| {
        // The watchdog of a server: a tick every millisecond.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                word.set(Interrupt::TICK);
            }
        });
        for (name, script) in scripts("stop") {
            let mut vm = Vm::new(&SandboxBuilder::new(), Limits { max_bytes: 2 << 30, ..limits() });
            vm.set_interrupt(word.clone());
            let chunk = chunk(&script);
            let at = Instant::now() + Duration::from_millis(25);
            let mut host = Deadline { at, last: cpu_of(&this_thread()), late: None };
            let r = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host);
            assert_eq!(r, Err(RunError::Stopped), "{name}");
            latencies.push((host.late.expect("the tick ended it"), name.clone()));
            works_on(&mut vm, &name);
        }
        over.store(true, Ordering::Relaxed);
    });
    report("the deadline", latencies);
}

#[test]
fn ends_within_its_limits() {
    let all = scripts("limit");
    for (name, script) in &all {
        let chunk = chunk(script);
        let mut vm = Vm::new(&SandboxBuilder::new(), limits());
        let done = Arc::new(AtomicBool::new(false));
        let late = stop_after(&vm.interrupt(), Duration::from_secs(30), &done);
        let began = Instant::now();
        let r = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost);
        done.store(true, Ordering::SeqCst);
        println!("{:?} {name}: {r:?}", began.elapsed());
        assert!(late.lock().expect("nobody panics with it").is_none(), "{name} does not end");
        let ok = matches!(
            r,
            Ok(())
                | Err(RunError::Raised)
                | Err(RunError::Limit(Limit::Memory))
                | Err(RunError::Limit(Limit::StringLength))
        );
        assert!(ok, "{name}: {r:?}");
        match name.as_str() {
            "garbage-ok" | "unpack-big" | "cjson" | "deep-parse" => {
                assert_eq!(r, Ok(()), "{name}");
            }
            "table-grow" | "string-double" | "closures" | "co-grow" | "insert-grow" | "hash-grow"
            | "closure-chain" | "key-bomb" | "coroutine-stacks" => {
                assert!(matches!(r, Err(RunError::Limit(_))), "{name}: {r:?}");
            }
            _ if name.ends_with("-recursion") || name.ends_with("-loop") => {
                assert!(matches!(r, Ok(()) | Err(RunError::Raised)), "{name}: {r:?}");
            }
            _ => {}
        }
        works_on(&mut vm, name);
    }
    support::count("hostile scripts that end by themselves", all.len());
    assert!(all.len() >= 60);
}

/// Asks for the next tick in each, and counts.
struct Ticks {
    interrupt: Interrupt,
    count: usize,
}

impl Host for Ticks {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }

    fn tick(&mut self) -> Tick {
        self.count += 1;
        self.interrupt.set(Interrupt::TICK);
        Tick::Continue
    }
}

/// How often the interrupt word was looked at in a run.
fn looks(script: &str) -> usize {
    let mut vm = Vm::new(&SandboxBuilder::new(), Limits { max_bytes: 1 << 30, ..limits() });
    let mut host = Ticks { interrupt: vm.interrupt(), count: 0 };
    host.interrupt.set(Interrupt::TICK);
    assert_eq!(
        vm.run(&chunk(script), Inputs::default(), RunOptions::default(), &mut host),
        Ok(()),
        "{script}"
    );
    host.count
}

#[test]
fn copies_of_large_strings_look_at_the_word_meanwhile() {
    const SETUP: &str = "local s = string.rep('x', 16 * 1024 * 1024) ";
    let before = looks(SETUP);
    for copy in [
        "local t = s .. 'y'",
        "local t = s .. 1 .. s",
        "local t = table.concat({s, 'y'})",
        "local t = s:sub(2)",
        "local t = s:rep(2)",
        "local t = s:match('.(.*)')",
        "local t = s:gsub('y', 'z')",
        "local t = s:upper()",
        "local t = s:reverse()",
        "local t = string.format('%s,', s)",
        "local t = string.format('%q', s)",
        "local t = cjson.encode(s)",
        "local t = cjson.decode('\"' .. s .. '\"')",
        "local t = cmsgpack.pack(s)",
        "local t = cmsgpack.unpack(cmsgpack.pack(s))",
        "local t = struct.pack('s', s)",
        "local t = struct.unpack('s', s .. '\\0')",
        "local t = s:find('y', 1, true)",
    ] {
        let more = looks(&format!("{SETUP}{copy}")) - before;
        // Pieces of 256 KiB or less.
        assert!(more >= 64, "{copy}: {more} looks");
    }
}
