//! `load` and `loadstring`: when the pieces are asked for, and what becomes of code that nothing can reach.

use totality_lua::instrument::{Event, EventKind, Instrument, Then};
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, FuncRef, Host, HostFn, Inputs, Limit, Limits, Reply, RunError,
    RunOptions, SandboxBuilder, ValueRef, Vm,
};

/// Keeps the function that a library hands over.
#[derive(Default)]
struct Registry(Option<FuncRef>);

impl Host for Registry {
    fn call(&mut self, _: HostFn, args: Args<'_>, _: &mut Reply) -> Flow {
        if let Some(ValueRef::Function(f)) = args.get(0) {
            self.0 = Some(f);
        }
        Flow::Return
    }
}

fn text(vm: &Vm, ended: Result<(), RunError>) -> String {
    let value = match ended {
        Ok(()) => vm.result(0),
        Err(RunError::Raised) => vm.error(),
        Err(other) => return other.to_string(),
    };
    match value {
        ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
        ValueRef::Number(n) => n.to_string(),
        other => other.type_name().to_owned(),
    }
}

fn run_in(vm: &mut Vm, source: &str) -> String {
    let chunk =
        Chunk::compile(source.as_bytes(), "@user_script", CompileLimits::default()).expect("it compiles");
    let ended = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut Registry::default());
    text(vm, ended)
}

fn run(source: &str) -> String {
    run_in(&mut Vm::new(&SandboxBuilder::new(), Limits::default()), source)
}

#[test]
fn the_reader_is_called_when_lua_calls_it() {
    // How many pieces of one byte are asked for until the function is there, or the error.
    for (source, pieces) in [
        ("return 1", 9),
        ("", 2),
        ("=", 2),
        ("x = = 5", 6),
        ("-- a comment", 13),
        ("x = 'unfinished\n y = 1", 16),
        ("return 1 2 3 4", 11),
    ] {
        let script =
            format!("local s,i={source:?},0 local f,e=load(function() i=i+1 return s:sub(i,i) end) return i");
        assert_eq!(run(&script), pieces.to_string(), "{source:?}");
    }
    assert_eq!(
        run(
            "local n=0 local f=load(function() n=n+1 if n<4 then return 'return '..n..' --\\n' end end) return n"
        ),
        "2",
        "what follows the first return is a syntax error"
    );
    assert_eq!(
        run("return load(function() error('no',0) end) or select(2,load(function() error('no',0) end))"),
        "no"
    );
    assert_eq!(
        run("return select(2,load(function() return {} end))"),
        "user_script:1: reader function must return a string"
    );
}

#[test]
fn readers_may_load_in_their_turn() {
    let deep = "local depth,most=0,0 local function reader() local done return function() if done then return nil end \
                done=true depth=depth+1 if depth>most then most=depth end load(reader()) depth=depth-1 return 'return 1' end end \
                load(reader()) return most";
    // C levels bound it, as everything that nests.
    let most: f64 = run(deep).parse().expect("a number");
    assert!((20.0..=200.0).contains(&most), "{most}");
    let parens = "local function nest(n) local i=0 return load(function() i=i+1 if i<150 then return '(' end if n>0 then nest(n-1) end return nil end) end \
                  nest(50) return 'alive'";
    assert_eq!(run(parens), "alive");
}

#[test]
fn code_that_nothing_reaches_is_dropped() {
    let limits = Limits { max_bytes: 16 << 20, ..Limits::default() };
    let mut vm = Vm::new(&SandboxBuilder::new(), limits);
    let turns = "local keep={} for i=1,100000 do local f=assert(loadstring('local t={} t.field'..i..'=function() return '..i..' end return t.field'..i)) \
                 local g=f() if g()~=i then return 'wrong at '..i end if i%20000==0 then keep[#keep+1]=g end end \
                 local n=0 for _,g in ipairs(keep) do n=n+g() end return n";
    assert_eq!(run_in(&mut vm, turns), "300000");
    assert!(vm.used_bytes() < 8 << 20, "{} bytes", vm.used_bytes());
    let pieces = "for i=1,50000 do local done local f=load(function() if not done then done=true return 'return '..i end end) \
                  if f()~=i then return 'wrong' end end return 'done'";
    assert_eq!(run_in(&mut vm, pieces), "done");
    assert!(vm.used_bytes() < 8 << 20, "{} bytes", vm.used_bytes());
}

/// The run is left for a moment in these calls of `loadstring`, and goes on.
#[test]
fn the_run_goes_on_where_it_was_left() {
    for turn in [
        "local function g(s) return loadstring(s) end if g(text(i))()~=i then return 'tail' end",
        "local t={loadstring(text(i)),loadstring(text(-i))} if t[1]()+t[2]()~=0 then return 'items' end",
        "local t={1,2,loadstring(text(i))} if #t~=3 or t[3]()~=i then return 'open items' end",
        "if select('#',i,loadstring(text(i)))~=2 then return 'open arguments' end",
        "local function v(...) local a,b=... return b,loadstring(a) end local x,f=v(text(i),7) if x~=7 or f()~=i then return 'variable' end",
        "local o={m=function(self,s) return (loadstring(s)) end} if o:m(text(i))()~=i then return 'method' end",
        "local a,f,b=1,loadstring(text(i)),2 if a+b~=3 or f()~=i then return 'locals' end",
        "if not loadstring('return +'..text(i)) then n=n+1 end",
        "for k,v in pairs({a=loadstring(text(i))}) do if k~='a' or v()~=i then return 'loop' end end",
        "local up=i local function h() up=up+1 return loadstring(text(up)) end if h()()~=i+1 then return 'upvalue' end",
        "if (loadstring(text(i)) or 1)()+#tostring(i)~=i+#tostring(i) then return 'operand' end",
        "local done local f=load(function() if not done then done=1 return text(i) end end,'=x') if f()~=i then return 'load' end",
    ] {
        let script = format!(
            "local n=0 local function text(i) return 'return '..i..('  '):rep(20) end for i=1,3000 do {turn} end return 'ok '..n"
        );
        let n = if turn.contains("n=n+1") { 3000 } else { 0 };
        assert_eq!(run(&script), format!("ok {n}"), "{turn}");
    }
}

/// Counts calls and returns.
#[derive(Default)]
struct Counter {
    calls: usize,
    returns: usize,
}

impl Host for Counter {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }

    fn event(&mut self, event: Event<'_>) -> Then {
        match event.kind {
            EventKind::Call => self.calls += 1,
            EventKind::Return => self.returns += 1,
            EventKind::Line | EventKind::Evaluated => {}
        }
        Then::Continue
    }
}

#[test]
fn events_do_not_show_that_the_run_was_left() {
    let source = b"for i=1,3000 do if loadstring('return '..i)()~=i then return 'wrong' end end return 'ok'";
    let chunk = Chunk::compile(source, "@x", CompileLimits::default()).expect("it compiles");
    let mut vm = Vm::new(&SandboxBuilder::new(), Limits::default());
    let mut host = Counter::default();
    let instrument = Instrument { calls: true, lines: true, ..Instrument::default() };
    let ended = vm.run(&chunk, Inputs::default(), RunOptions { instrument }, &mut host);
    assert_eq!(text(&vm, ended), "ok");
    assert_eq!((host.calls, host.returns), (3001, 3001));
}

#[test]
fn code_of_coroutines_stays() {
    let script = "local co={} for i=1,2000 do co[i]=coroutine.wrap(assert(loadstring('local n='..i..' coroutine.yield(n) return n*2'))) \
                  if co[i]()~=i then return 'first '..i end end \
                  for i=1,5000 do loadstring('return '..i..', 5'..(' '):rep(50))() end \
                  for i=1,2000 do if co[i]()~=i*2 then return 'second '..i end end return 'ok'";
    let limits = Limits { max_bytes: 64 << 20, ..Limits::default() };
    assert_eq!(run_in(&mut Vm::new(&SandboxBuilder::new(), limits), script), "ok");
}

#[test]
fn where_code_cannot_be_dropped_the_limit_holds() {
    let limits = Limits { max_bytes: 16 << 20, ..Limits::default() };
    let mut vm = Vm::new(&SandboxBuilder::new(), limits);
    let inside = "return pcall(function() for i=1,1e7 do assert(loadstring('return '..i))() end end)";
    let chunk = Chunk::compile(inside.as_bytes(), "@x", CompileLimits::default()).expect("it compiles");
    let ended = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut Registry::default());
    assert_eq!(ended, Err(RunError::Limit(Limit::Memory)));
    vm.reset();
    assert!(vm.used_bytes() < 1 << 16);
    assert_eq!(run_in(&mut vm, "return 'alive'"), "alive");
}

#[test]
fn a_library_gives_its_code_back_between_calls() {
    let limits = Limits { max_bytes: 16 << 20, ..Limits::default() };
    let mut vm = Vm::new(&SandboxBuilder::new().function("redis", "register", 1).without_inputs(), limits);
    let library = "local n=0 local kept={} redis.register(function() n=n+1 \
                   local ok,f=pcall(function() return assert(loadstring('local a='..n..' return function() return a end'))() end) \
                   if n%5000==0 then kept[#kept+1]=f end local s=0 for _,g in ipairs(kept) do s=s+g() end return f()+s end)";
    let chunk = Chunk::compile(library.as_bytes(), "@lib", CompileLimits::default()).expect("it compiles");
    let mut host = Registry::default();
    vm.load(&chunk, RunOptions::default(), &mut host).expect("it loads");
    let f = host.0.expect("a function");
    vm.pin(f);
    for i in 1..=30_000u32 {
        let ended = vm.call(f, Inputs::default(), RunOptions::default(), &mut host);
        let kept: u32 = (1..=i / 5000).map(|k| k * 5000).sum();
        assert_eq!(text(&vm, ended), (i + kept).to_string(), "call {i}");
    }
    assert!(vm.used_bytes() < 4 << 20, "{} bytes", vm.used_bytes());
}

#[test]
fn too_many_constants_are_told_without_a_place() {
    let source: String = (0..300_000).map(|i| format!("s=s+{i}.5 ")).collect();
    let error = Chunk::compile(source.as_bytes(), "@user_script", CompileLimits::default()).err();
    assert_eq!(error.map(|error| error.message().to_vec()).as_deref(), Some(&b"constant table overflow"[..]));
}
