//! The interface for embedders: hosts, inputs, replies, errors, libraries of functions, the instrumented mode.

use std::sync::atomic::Ordering;

use totality_lua::instrument::{Event, EventKind, Instrument, Then};
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, FuncRef, Host, HostFn, Inputs, Limit, Limits, Reply, RunError,
    RunOptions, SandboxBuilder, Tick, ValueRef, Vm,
};

#[derive(Default)]
struct Test {
    seen: Vec<String>,
    position: Option<(String, u32)>,
    site: Vec<Option<u32>>,
    lines: Vec<u32>,
    locals: Vec<String>,
    ticks: u32,
    functions: Vec<(String, FuncRef)>,
}

fn show(v: Option<ValueRef<'_>>) -> String {
    match v {
        None => "none".into(),
        Some(ValueRef::Nil) => "nil".into(),
        Some(ValueRef::Bool(b)) => b.to_string(),
        Some(ValueRef::Number(n)) => n.to_string(),
        Some(ValueRef::Str(s)) => String::from_utf8_lossy(s).into_owned(),
        Some(ValueRef::Table(t)) => {
            let mut out = String::from("{");
            let mut cursor = 0;
            while let Some((next, k, v)) = t.next(cursor) {
                cursor = next;
                out.push_str(&format!("{}={} ", show(Some(k)), show(Some(v))));
            }
            out + "}"
        }
        Some(other) => other.type_name().into(),
    }
}

impl Host for Test {
    fn call(&mut self, id: HostFn, args: Args<'_>, reply: &mut Reply) -> Flow {
        let texts: Vec<String> = (0..args.len()).map(|i| show(args.get(i))).collect();
        self.seen.push(texts.join(" "));
        self.position = args.position().map(|(c, l)| (c.to_owned(), l));
        self.site.push(args.site_cache().map(|c| c.fetch_add(1, Ordering::Relaxed)));
        match id {
            1 => {
                reply.str(b"OK");
                Flow::Return
            }
            2 => {
                reply.table(3, 0);
                reply.number(1.0);
                reply.str(b"two");
                reply.table(0, 1);
                reply.key(b"ok");
                reply.str(b"three");
                reply.end();
                reply.end();
                Flow::Return
            }
            3 => {
                reply.table(0, 1);
                reply.key(b"err");
                reply.str(b"ERR no");
                reply.end();
                Flow::Raise
            }
            4 => {
                reply.arg(0);
                Flow::Return
            }
            5 => {
                if let (Some(ValueRef::Str(name)), Some(ValueRef::Function(f))) = (args.get(0), args.get(1)) {
                    self.functions.push((String::from_utf8_lossy(name).into_owned(), f));
                }
                Flow::Return
            }
            _ => Flow::Stop,
        }
    }

    fn tick(&mut self) -> Tick {
        self.ticks += 1;
        if self.ticks >= 5 { Tick::Stop } else { Tick::Continue }
    }

    fn event(&mut self, e: Event<'_>) -> Then {
        if e.kind == EventKind::Line {
            self.lines.push(e.line);
            let names: Vec<String> =
                e.locals(0).iter().map(|v| format!("{}={}", v.name, show(Some(v.value)))).collect();
            self.locals.push(names.join(","));
        }
        Then::Continue
    }
}

fn sandbox() -> SandboxBuilder {
    SandboxBuilder::new()
        .function("redis", "call", 1)
        .function("redis", "list", 2)
        .function("redis", "fail", 3)
        .function("redis", "same", 4)
        .function("redis", "register", 5)
        .function("redis", "stop", 6)
        .number("redis", "LOG_DEBUG", 0.0)
        .alias("server", "redis")
}

fn vm() -> Vm {
    Vm::new(&sandbox(), Limits::default())
}

fn compile(s: &str) -> std::sync::Arc<Chunk> {
    Chunk::compile(s.as_bytes(), "@user_script", CompileLimits::default()).unwrap()
}

fn eval_in(vm: &mut Vm, host: &mut Test, s: &str, keys: &[&[u8]], argv: &[&[u8]]) -> String {
    match vm.run(&compile(s), Inputs { keys, argv }, RunOptions::default(), host) {
        Ok(()) => show(Some(vm.result(0))),
        Err(RunError::Raised) => format!("ERR {} @{:?}", show(Some(vm.error())), vm.raised_at()),
        Err(e) => format!("{e:?}"),
    }
}

fn eval(s: &str) -> String {
    eval_in(&mut vm(), &mut Test::default(), s, &[b"k1", b"k2", b"k3"], &[b"10", b"a1"])
}

#[test]
fn inputs_are_ordinary_tables() {
    assert_eq!(eval("return KEYS[1]"), "k1");
    assert_eq!(eval("return #KEYS"), "3");
    assert_eq!(eval("return ARGV[1] + 1"), "11");
    assert_eq!(eval("local n = 0 for i, k in ipairs(KEYS) do n = n .. k end return n"), "0k1k2k3");
    assert_eq!(eval("local n = '' for i, k in pairs(ARGV) do n = n .. i .. k end return n"), "1102a1");
    assert_eq!(eval("local k, v = next(KEYS) return k .. v"), "1k1");
    assert_eq!(eval("KEYS[1] = 'x' return KEYS[1] .. KEYS[2]"), "xk2");
    assert_eq!(eval("KEYS.x = 1 return #KEYS .. KEYS.x"), "31");
    assert_eq!(eval("table.insert(KEYS, 'k4') return #KEYS .. KEYS[4]"), "4k4");
    assert_eq!(eval("table.remove(KEYS, 1) return table.concat(KEYS, ',')"), "k2,k3");
    assert_eq!(eval("table.sort(KEYS, function(a, b) return a > b end) return table.concat(KEYS)"), "k3k2k1");
    assert_eq!(eval("return table.concat({unpack(KEYS)})"), "k1k2k3");
    assert_eq!(eval("return KEYS"), "{1=k1 2=k2 3=k3 }");
    assert_eq!(eval("return rawget(_G, 'KEYS') == KEYS"), "true");
    assert_eq!(eval("return tostring(rawget(ARGV, 3))"), "nil");
    assert_eq!(eval("return cjson.encode(KEYS)"), "[\"k1\",\"k2\",\"k3\"]");
    assert_eq!(eval("return setmetatable(KEYS, {__index = function() return 'd' end})[9]"), "d");
    assert_eq!(
        eval("KEYS = {} return 1"),
        "ERR user_script:1: Attempt to modify a readonly table @Some((\"@user_script\", 1))"
    );
}

#[test]
fn nothing_survives_a_run() {
    let (mut vm, mut host) = (vm(), Test::default());
    for _ in 0..3 {
        assert_eq!(
            eval_in(&mut vm, &mut host, "KEYS.x = (KEYS.x or 0) + 1 return KEYS.x", &[b"a"], &[]),
            "1"
        );
        assert_eq!(eval_in(&mut vm, &mut host, "return #KEYS", &[b"a", b"b"], &[]), "2");
    }
}

#[test]
fn host_calls() {
    let (mut vm, mut host) = (vm(), Test::default());
    let r =
        eval_in(&mut vm, &mut host, "\n\nreturn redis.call('GET', KEYS[1], 7, nil, true)", &[b"key"], &[]);
    assert_eq!(r, "OK");
    assert_eq!(host.seen, ["GET key 7 nil true"]);
    assert_eq!(host.position, Some(("user_script".into(), 3)));
    assert_eq!(eval("return redis.list()"), "{1=1 2=two 3={ok=three } }");
    assert_eq!(eval("local t = {} return redis.same(t) == t"), "true");
    assert_eq!(eval("return #redis.list() .. redis.list()[3].ok"), "3three");
    assert_eq!(eval("return server.call == redis.call"), "true");
    assert_eq!(eval("return redis.fail()"), "ERR {err=ERR no } @Some((\"@user_script\", 1))");
    assert_eq!(eval("local ok, e = pcall(redis.fail) return tostring(ok) .. e"), "falseERR no");
    assert_eq!(
        eval("local ok, e = xpcall(redis.fail, function(e) return e.err .. '!' end) return e"),
        "ERR no!"
    );
    assert_eq!(eval("pcall(redis.stop) return 1"), "Stopped");
    assert_eq!(
        eval("redis.call = 1"),
        "ERR user_script:1: Attempt to modify a readonly table @Some((\"@user_script\", 1))"
    );
    assert_eq!(
        eval("return nosuch"),
        "ERR user_script:1: Script attempted to access nonexistent global variable 'nosuch' @Some((\"@user_script\", 1))"
    );
}

#[test]
fn constant_names_have_a_cell() {
    let (mut vm, mut host) = (vm(), Test::default());
    let chunk =
        compile("for i = 1, 3 do redis.call('GET', i) end local n = 'SET' redis.call(n) redis.call('DEL')");
    for _ in 0..2 {
        vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host).unwrap();
    }
    let one_run = [Some(0), Some(1), Some(2), None, Some(0)];
    assert_eq!(host.site[..5], one_run);
    assert_eq!(host.site[5..], [Some(3), Some(4), Some(5), None, Some(1)], "cells stay with the chunk");
}

#[test]
fn where_errors_are_raised() {
    let at = |s: &str| {
        let (mut vm, mut host) = (vm(), Test::default());
        eval_in(&mut vm, &mut host, s, &[], &[]);
        vm.raised_at().map(|(s, l)| (s.to_owned(), l))
    };
    let lua = |l| Some(("@user_script".to_owned(), l));
    assert_eq!(at("\nerror('x')"), lua(2));
    assert_eq!(at("\n\nlocal t t.x = 1"), lua(3));
    assert_eq!(at("local function f()\nerror({})\nend\nf()"), lua(2));
    assert_eq!(at("\nredis.fail()"), lua(2));
    assert_eq!(at("\nlocal x = nosuch"), lua(2));
    assert_eq!(at("pcall(error, 'a')\n\nerror('b', 0)"), lua(3));
    assert_eq!(at("return 1"), None);
}

#[test]
fn libraries_keep_their_state() {
    let (mut vm, mut host) = (vm(), Test::default());
    let lib = compile(
        "local n, log = 0, {} \
         redis.register('count', function(keys, args) n = n + #keys log[#log + 1] = args[1] return n end) \
         redis.register('log', function() return table.concat(log, ',') end) \
         redis.register('garbage', function() for i = 1, 2e4 do local s = {('x'):rep(100) .. i} end return n end)",
    );
    vm.load(&lib, RunOptions::default(), &mut host).unwrap();
    let f = |name: &str, host: &Test| host.functions.iter().find(|(n, _)| n == name).unwrap().1;
    for (_, f) in &host.functions {
        vm.pin(*f);
    }
    for i in 0..50u32 {
        let word = format!("w{i}");
        let keys: [&[u8]; 2] = [b"a", b"b"];
        let inputs = Inputs { keys: &keys, argv: &[word.as_bytes()] };
        vm.call(f("count", &host), inputs, RunOptions::default(), &mut host).unwrap();
        assert_eq!(show(Some(vm.result(0))), (2 * (i + 1)).to_string());
        if i % 10 == 0 {
            vm.call(f("garbage", &host), Inputs::default(), RunOptions::default(), &mut host).unwrap();
        }
    }
    vm.call(f("log", &host), Inputs::default(), RunOptions::default(), &mut host).unwrap();
    let log = show(Some(vm.result(0)));
    assert!(log.starts_with("w0,w1,") && log.ends_with(",w49"), "{log}");
    assert!(vm.used_bytes() < 64 << 20);
}

#[test]
fn the_host_is_asked_when_the_word_is_set() {
    let (mut vm, mut host) = (vm(), Test::default());
    let word = vm.interrupt();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ticker = {
        let stop = stop.clone();
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                word.set(totality_lua::Interrupt::TICK);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        })
    };
    let r = vm.run(&compile("while true do end"), Inputs::default(), RunOptions::default(), &mut host);
    stop.store(true, Ordering::Relaxed);
    ticker.join().unwrap();
    assert_eq!(r, Err(RunError::Stopped));
    assert_eq!(host.ticks, 5);
}

#[test]
fn instrumented_runs() {
    let (mut vm, mut host) = (vm(), Test::default());
    let opts = |i| RunOptions { instrument: i };
    let chunk = compile("local a = 1\nlocal b = a + 1\nif b > 5 then\n  a = 9\nend\nreturn a + b");
    let lines = Instrument { lines: true, ..Instrument::default() };
    vm.run(&chunk, Inputs::default(), opts(lines), &mut host).unwrap();
    assert_eq!(host.lines, [1, 2, 3, 6]);
    assert_eq!(host.locals, ["", "a=1", "a=1,b=2", "a=1,b=2"]);
    assert_eq!(chunk.code_lines(), [1, 2, 3, 4, 6]);
    let steps = Instrument { max_steps: 1000, ..Instrument::default() };
    let r = vm.run(
        &compile("pcall(function() while true do end end)"),
        Inputs::default(),
        opts(steps),
        &mut host,
    );
    assert_eq!(r, Err(RunError::Limit(Limit::Steps)));
    // Off again: nothing is reported.
    host.lines.clear();
    vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host).unwrap();
    assert!(host.lines.is_empty());
}

/// Runs code at a line, then raises an error if it is told to.
#[derive(Default)]
struct Debugger {
    line: u32,
    code: &'static [u8],
    raise: bool,
    outcomes: Vec<String>,
    calls: usize,
}

impl Host for Debugger {
    fn call(&mut self, _: HostFn, _: Args<'_>, reply: &mut Reply) -> Flow {
        self.calls += 1;
        reply.number(self.calls as f64);
        Flow::Return
    }

    fn event(&mut self, event: Event<'_>) -> Then {
        match (event.kind, event.outcome) {
            (EventKind::Line, _) if event.line == self.line => Then::Evaluate(self.code.to_vec()),
            (EventKind::Evaluated, outcome) => {
                self.outcomes.push(match outcome {
                    Some(Ok(value)) => show(Some(value)),
                    Some(Err(text)) => format!("error {}", String::from_utf8_lossy(text)),
                    None => "nothing".to_owned(),
                });
                if !self.raise {
                    return Then::Continue;
                }
                let mut reply = Reply::default();
                reply.str(b"enough");
                Then::Raise(Box::new(reply))
            }
            _ => Then::Continue,
        }
    }
}

#[test]
fn a_host_runs_code_in_the_middle_of_a_run() {
    // Line 3 takes the open results of line 2's call.
    let script = "local function f() return 1, 2, 3 end\nlocal n = select('#',\n  f(),\n  f())\nlocal t = {n,\n  f()}\nreturn #t";
    let run = |debugger: &mut Debugger, script: &str| {
        let mut vm = vm();
        let options = RunOptions { instrument: Instrument { lines: true, ..Instrument::default() } };
        let ended = vm.run(&compile(script), Inputs::default(), options, debugger);
        match ended {
            Ok(()) => show(Some(vm.result(0))),
            Err(_) => format!("error {}", show(Some(vm.error()))),
        }
    };
    for line in 1..=7 {
        for code in
            [&b"1 + 1"[..], b"local t = {} for i = 1, 500 do t[i] = {} end return 2", b"redis.call('x') + 1"]
        {
            let mut debugger = Debugger { line, code, ..Debugger::default() };
            assert_eq!(run(&mut debugger, script), "4", "line {line}");
            assert!(
                debugger.outcomes.iter().all(|outcome| outcome == "2" || debugger.calls > 0),
                "{:?}",
                debugger.outcomes
            );
        }
    }
    for (code, outcome) in [
        (&b"redis.call('x')"[..], "1"),
        (b"n", "error ldb_eval:1: Script attempted to access nonexistent global variable 'n'"),
        (b"if", "error ldb_eval:1: unexpected symbol near '<eof>'"),
        (b"error('x')", "error ldb_eval:1: x"),
        (b"error({err = 'ERR y'})", "error ERR y"),
        (b"local x = 1", "nil"),
        (b"coroutine.yield()", "error attempt to yield across metamethod/C-call boundary"),
    ] {
        let mut debugger = Debugger { line: 1, code, ..Debugger::default() };
        assert_eq!(run(&mut debugger, "return 'end'"), "end");
        assert_eq!(debugger.outcomes, [outcome], "{}", String::from_utf8_lossy(code));
    }
    let mut debugger = Debugger { line: 2, code: b"1", raise: true, ..Debugger::default() };
    let caught = "return select(2, pcall(function()\nlocal x = 1\nend))";
    assert_eq!(run(&mut debugger, caught), "enough");
    let mut debugger = Debugger { line: 2, code: b"1", raise: true, ..Debugger::default() };
    assert_eq!(run(&mut debugger, "local x\nx = 1"), "error enough");
}

#[test]
fn chunks_are_forgotten_and_loaded_again() {
    let limits = Limits { max_loaded_bytes: 20_000, ..Limits::default() };
    let (mut vm, mut host) = (Vm::new(&sandbox(), limits), Test::default());
    let chunks: Vec<_> =
        (0..100).map(|i| (i, compile(&format!("local s = 'text {i}' return s .. '{i}'")))).collect();
    for _ in 0..3 {
        for (i, c) in &chunks {
            vm.run(c, Inputs::default(), RunOptions::default(), &mut host).unwrap();
            assert_eq!(show(Some(vm.result(0))), format!("text {i}{i}"));
        }
    }
    assert!(vm.base_bytes() < 200_000);
}

#[test]
fn a_chunk_runs_in_many_machines_and_threads() {
    let chunk = compile("local n = 0 for i = 1, 1000 do n = n + i end return n");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let chunk = chunk.clone();
            std::thread::spawn(move || {
                let mut vm = vm();
                vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut Test::default()).unwrap();
                show(Some(vm.result(0)))
            })
        })
        .collect();
    for t in threads {
        assert_eq!(t.join().unwrap(), "500500");
    }
}

#[test]
fn long_inputs_are_read_one_by_one() {
    let texts: Vec<String> = (1..=1000).map(|i| format!("argument {i}")).collect();
    let argv: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let mut vm = Vm::new(&SandboxBuilder::new(), Limits::default());
    let mut run = |source: &str| -> (String, usize) {
        let chunk = Chunk::compile(source.as_bytes(), "@x", CompileLimits::default()).expect("it compiles");
        let inputs = Inputs { keys: &[], argv: &argv };
        vm.run(&chunk, inputs, RunOptions::default(), &mut Test::default()).expect("it runs");
        let text = match vm.result(0) {
            ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
            ValueRef::Number(n) => n.to_string(),
            ValueRef::Table(t) => match t.field(b"x") {
                ValueRef::Table(deep) => show(Some(deep.index(1000))),
                _ => format!("table of {}", t.len()),
            },
            other => other.type_name().to_owned(),
        };
        (text, vm.used_bytes())
    };
    for (source, wanted) in [
        ("return ARGV[500]", "argument 500"),
        ("return #ARGV", "1000"),
        ("return ARGV[1001]", "nil"),
        ("return ARGV[0]", "nil"),
        ("return {ARGV[3], #ARGV}", "table of 2"),
        ("local a,b=ARGV[7],ARGV[7] return a==b and a..#ARGV", "argument 71000"),
    ] {
        let (got, bytes) = run(source);
        assert_eq!(got, wanted, "{source}");
        assert!(bytes < 2000, "{source}: {bytes} bytes for what is not used");
    }
    for (source, wanted) in [
        ("return ARGV", "table of 1000"),
        ("return {{ARGV}}", "table of 1"),
        ("return ARGV[1.5]", "nil"),
        ("return ARGV.x", "nil"),
        ("local s='' for i=1,#ARGV do s=ARGV[i] end return s", "argument 1000"),
        ("ARGV[3]='x' return ARGV[3]..ARGV[4]", "xargument 4"),
        ("local s=ARGV[9] ARGV[9]=nil return tostring(ARGV[9])..s..#ARGV", "nilargument 91000"),
        ("for i=1,6 do local s=ARGV[i] end return table.concat(ARGV,',',999)", "argument 999,argument 1000"),
        (
            "local n=0 for i,v in ipairs(ARGV) do n=n+1 end for k,v in pairs(ARGV) do n=n+1 end return n",
            "2000",
        ),
        (
            "setmetatable(ARGV,{__index=function(t,k) return k end}) return ARGV[2]..ARGV[2000]",
            "argument 22000",
        ),
        ("return select('#',unpack(ARGV))", "1000"),
        ("table.sort(ARGV) return ARGV[1]", "argument 1"),
        ("local t=setmetatable({},{__index=ARGV}) return t[5]..tostring(rawget(t,5))", "argument 5nil"),
        ("for i=1,7 do collectgarbage() local s=ARGV[i] end collectgarbage() return ARGV[8]", "argument 8"),
    ] {
        assert_eq!(run(source).0, wanted, "{source}");
    }
    assert_eq!(run("return {1,2,{},x=ARGV}").0, "argument 1000");
}
