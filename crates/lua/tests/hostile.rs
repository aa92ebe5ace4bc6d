//! Hostile scripts: each is stopped soon after the flag, or ends by itself within its limits, and gives its memory back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Interrupt, Limit, Limits, Reply, RunError,
    RunOptions, SandboxBuilder, Vm,
};

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _id: HostFn, _args: Args<'_>, _reply: &mut Reply) -> Flow {
        Flow::Return
    }
}

fn scripts(kind: &str) -> Vec<(String, String)> {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hostile.tsv")).unwrap();
    text.lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| {
            let mut c = l.split('\t');
            let (name, script, what) = (c.next()?, c.next()?, c.next()?);
            (what == kind).then(|| (name.to_owned(), script.to_owned()))
        })
        .collect()
}

fn limits() -> Limits {
    Limits { max_bytes: 256 << 20, ..Limits::default() }
}

/// Sets STOP after `delay`, from another thread, and notes when.
fn stop_after(i: &Interrupt, delay: Duration, done: &Arc<AtomicBool>) -> Arc<Mutex<Option<Instant>>> {
    let when = Arc::new(Mutex::new(None));
    let (i, done, out) = (i.clone(), done.clone(), when.clone());
    std::thread::spawn(move || {
        std::thread::sleep(delay);
        if !done.load(Ordering::SeqCst) {
            *out.lock().unwrap() = Some(Instant::now());
            i.set(Interrupt::STOP);
        }
    });
    when
}

#[test]
fn stopped_soon_after_the_flag() {
    let mut latencies = Vec::new();
    for (name, script) in scripts("stop") {
        let chunk = Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()).unwrap();
        let mut vm = Vm::new(&SandboxBuilder::new(), Limits { max_bytes: 2 << 30, ..limits() });
        let done = Arc::new(AtomicBool::new(false));
        let when = stop_after(&vm.interrupt(), Duration::from_millis(60), &done);
        let r = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost);
        let end = Instant::now();
        done.store(true, Ordering::SeqCst);
        assert_eq!(r, Err(RunError::Stopped), "{name}");
        let flagged = when.lock().unwrap().expect("the flag was set");
        latencies.push((end - flagged, name));
        // The VM works on.
        vm.interrupt().clear(Interrupt::STOP);
        let again = Chunk::compile(b"return 1", "@user_script", CompileLimits::default()).unwrap();
        assert_eq!(vm.run(&again, Inputs::default(), RunOptions::default(), &mut NoHost), Ok(()));
    }
    latencies.sort();
    for (l, name) in &latencies {
        println!("{l:?} {name}");
    }
    assert!(latencies.len() >= 20);
    let median = latencies[latencies.len() / 2].0;
    // Generous here, because tests share their processors; the bench measures the real figure.
    assert!(median < Duration::from_millis(20), "median {median:?}");
    assert!(latencies[latencies.len() - 1].0 < Duration::from_millis(500), "worst {:?}", latencies.last());
}

#[test]
fn ends_within_its_limits() {
    for (name, script) in scripts("limit") {
        let chunk = Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()).unwrap();
        let mut vm = Vm::new(&SandboxBuilder::new(), limits());
        let r = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost);
        let ok = matches!(
            r,
            Ok(())
                | Err(RunError::Raised)
                | Err(RunError::Limit(Limit::Memory))
                | Err(RunError::Limit(Limit::StringLength))
        );
        assert!(ok, "{name}: {r:?}");
        match name.as_str() {
            "garbage-ok" | "unpack-big" | "cjson" | "deep-parse" => assert_eq!(r, Ok(()), "{name}"),
            "table-grow" | "string-double" | "closures" | "co-grow" => {
                assert!(matches!(r, Err(RunError::Limit(_))), "{name}: {r:?}");
            }
            _ => {}
        }
        vm.reset();
        assert!(vm.used_bytes() < 1 << 16, "{name} left {}", vm.used_bytes());
    }
}
