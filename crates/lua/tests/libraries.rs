//! Libraries beyond what servers can be compared on: the opt-in extras of cjson, settings that end with the run, and
//! long work that has to be stoppable and within its limits.

use std::time::{Duration, Instant};
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limit, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, Tick, ValueRef, Vm,
};

/// Stops the run at the `left`-th tick.
struct Ticker {
    left: u32,
}

impl Host for Ticker {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
    fn tick(&mut self) -> Tick {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Tick::Stop } else { Tick::Continue }
    }
}

fn vm(limits: Limits) -> Vm {
    Vm::new(&SandboxBuilder::new(), limits)
}

fn run(vm: &mut Vm, script: &str) -> Result<String, RunError> {
    let chunk =
        Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()).expect("it compiles");
    vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut Ticker { left: u32::MAX })?;
    Ok(match vm.result(0) {
        ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
        ValueRef::Number(n) => n.to_string(),
        ValueRef::Bool(b) => b.to_string(),
        other => other.type_name().to_owned(),
    })
}

#[test]
fn arrays_stay_arrays_when_asked() {
    let mut vm = vm(Limits::default());
    for (script, want) in [
        ("return cjson.encode(setmetatable({},cjson.array_mt))", "[]"),
        ("return cjson.encode(setmetatable({1,2},cjson.array_mt))", "[1,2]"),
        ("return cjson.encode(setmetatable({1,2,x=3},cjson.array_mt))", "[1,2]"),
        ("return cjson.encode(cjson.decode('{\"a\":[],\"b\":{}}'))", "{\"a\":{},\"b\":{}}"),
        (
            "cjson.decode_array_with_array_mt(true) return cjson.encode(cjson.decode('[[],{},[1]]'))",
            "[[],{},[1]]",
        ),
        ("return tostring(cjson.decode_array_with_array_mt(true))", "true"),
        ("return tostring(cjson.decode_array_with_array_mt())", "false"),
        ("return tostring(pcall(rawset,cjson.array_mt,'x',1))", "false"),
        // The form that other servers ignore.
        ("local t=setmetatable({},cjson.array_mt) t[1]=5 return cjson.encode(t)", "[5]"),
        ("return tostring(rawget(cjson,'array_mt'))", "nil"),
    ] {
        assert_eq!(run(&mut vm, script).as_deref(), Ok(want), "{script}");
    }
}

#[test]
fn big_integers_keep_their_digits_when_asked() {
    let mut vm = vm(Limits::default());
    for (script, want) in [
        ("return cjson.encode(cjson.decode('[9007199254740993]'))", "[9.007199254741e+15]"),
        (
            "cjson.decode_big_integers('string') return cjson.decode('[9007199254740993]')[1]",
            "9007199254740993",
        ),
        (
            "cjson.decode_big_integers('string') return cjson.decode('[-9223372036854775808]')[1]",
            "-9223372036854775808",
        ),
        ("cjson.decode_big_integers('string') return type(cjson.decode('[12]')[1])", "number"),
        ("cjson.decode_big_integers('string') return type(cjson.decode('[1e17]')[1])", "number"),
        (
            "cjson.decode_big_integers('string') return type(cjson.decode('[99999999999999999999999]')[1])",
            "number",
        ),
        (
            "cjson.decode_big_integers('string') cjson.encode_big_integers('number') \
             return cjson.encode(cjson.decode('[18446744073709551615,\"x\",5]'))",
            "[18446744073709551615,\"x\",5]",
        ),
        ("return cjson.encode({'9007199254740993'})", "[\"9007199254740993\"]"),
        ("return cjson.decode_big_integers()", "number"),
        (
            "return select(2,pcall(cjson.decode_big_integers,'x'))",
            "bad argument #1 to '?' (invalid option 'x')",
        ),
    ] {
        assert_eq!(run(&mut vm, script).as_deref(), Ok(want), "{script}");
    }
}

#[test]
fn settings_end_with_the_run() {
    let mut vm = vm(Limits::default());
    let change = "cjson.encode_max_depth(1) cjson.encode_number_precision(3) cjson.encode_invalid_numbers('null') \
                  cjson.decode_array_with_array_mt(true) cjson.encode_sparse_array(true) cjson.decode_max_depth(1) return 1";
    assert_eq!(run(&mut vm, change).as_deref(), Ok("1"));
    let show = "return table.concat({cjson.encode_max_depth(),cjson.encode_number_precision(),tostring(cjson.encode_invalid_numbers()),\
                tostring(cjson.decode_array_with_array_mt()),tostring(cjson.encode_sparse_array()),cjson.decode_max_depth()},' ')";
    assert_eq!(run(&mut vm, show).as_deref(), Ok("1000 14 false false false 1000"));
    assert_eq!(
        run(&mut vm, "local c=cjson.new() c.encode_max_depth(5) return c.encode_max_depth()").as_deref(),
        Ok("5")
    );
    assert_eq!(run(&mut vm, show).as_deref(), Ok("1000 14 false false false 1000"));
}

/// Library calls that work for a long time, or would.
const LONG: &[&str] = &[
    "local s=string.rep('a',30) while true do string.find(s,string.rep('a?',30)..string.rep('a',30)..'b') end",
    "return string.find(string.rep('a',40),string.rep('a-',25)..'b')",
    "return string.match(string.rep('a',100000),'.-.-.-.-b')",
    "return string.gsub(string.rep('a',1e5),'.-b','x')",
    "return string.find(string.rep('x',1e5),'(.*)(.*)(.*)%1%2y')",
    "local s=string.rep('(',3e5) return string.gsub(s,'%b()','')",
    "local s=string.rep('a',2^26) while true do string.find(s,'b',1,true) end",
    "local s=string.rep('a',2^26) while true do string.find(s,'ab',1,true) end",
    "local s=string.rep('a',2^24) while true do s:upper() end",
    "local s=string.rep('a',2^24) while true do s:reverse() end",
    "local s=string.rep('\\n',2^24) while true do string.format('%q',s) end",
    "while true do string.rep('ab',2^24) end",
    "while true do string.rep('',2^30) end",
    "local s=string.rep('a',2^20) while true do string.gsub(s,'a','b') end",
    "local s=string.rep('a',2^20) while true do string.gsub(s,'a',{}) end",
    "local s=string.rep('a',2^20) while true do string.gsub(s,'','') end",
    "local s=string.rep('a ',2^20) while true do for w in s:gmatch('%a') do end end",
    "cjson.encode_sparse_array(false,0) return cjson.encode({[2^31-1]=1})",
    "local t={} for i=1,1e5 do t[i]={i} end while true do cjson.encode(t) end",
    "local s='['..string.rep('[],',1e5)..'1]' while true do cjson.decode(s) end",
    "local s=cjson.encode(string.rep('\"',2^20)) while true do cjson.decode(s) end",
    "local s=string.rep('\\1',2^22) while true do cjson.encode(s) end",
    "local t={} for i=1,1e5 do t[i]=i end while true do cmsgpack.pack(t) end",
    "local s='\\221\\0\\1\\0\\0'..string.rep('\\1',65536) while true do cmsgpack.unpack(s) end",
    "local f=string.rep('x',2^20) while true do struct.pack(f) end",
    "local f=string.rep(' ',2^20) while true do struct.size(f) end",
    "local f=string.rep('x',2^20) while true do struct.unpack(f,f) end",
];

#[test]
fn long_work_is_stopped() {
    let mut worst = Duration::ZERO;
    for script in LONG {
        let mut vm = vm(Limits::default());
        let chunk =
            Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default()).expect("it compiles");
        let word = vm.interrupt();
        // A tick every millisecond, as a server gives it; the twentieth stops the run.
        let done = std::sync::atomic::AtomicBool::new(false);
        let (outcome, longest) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                    word.set(totality_lua::Interrupt::TICK);
                }
            });
            let mut host = Pulse { left: 20, last: Instant::now(), longest: Duration::ZERO };
            let outcome = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host);
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            (outcome, host.longest)
        });
        assert_eq!(outcome, Err(RunError::Stopped), "{script}");
        worst = worst.max(longest);
        // Generous, since tests share their processors; a loop without a look at the word takes for ever.
        assert!(longest < Duration::from_millis(1500), "{longest:?} between two ticks: {script}");
    }
    println!("longest time between two ticks: {worst:?}");
}

/// Measures the time between ticks.
struct Pulse {
    left: u32,
    last: Instant,
    longest: Duration,
}

impl Host for Pulse {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
    fn tick(&mut self) -> Tick {
        self.longest = self.longest.max(self.last.elapsed());
        self.last = Instant::now();
        self.left -= 1;
        if self.left == 0 { Tick::Stop } else { Tick::Continue }
    }
}

#[test]
fn results_stay_within_the_limits() {
    let limits = Limits { max_bytes: 32 << 20, max_string: 16 << 20, ..Limits::default() };
    for (script, limit) in [
        ("return string.rep('a',2^30)", Limit::StringLength),
        ("return string.rep('a',2^31-1)", Limit::StringLength),
        ("local s=string.rep('a',2^23) return string.gsub(s,'a','aaaa')", Limit::StringLength),
        (
            "local s=string.rep('a',2^23) return string.gsub(s,'a',function() return 'aaaa' end)",
            Limit::StringLength,
        ),
        ("local s=string.rep('\\1',2^23) return cjson.encode(s)", Limit::StringLength),
        ("local s=string.rep('\\n',2^23) return string.format('%q%q',s,s)", Limit::StringLength),
        ("local s=string.rep('a',2^23) return string.format('%s%s%s',s,s,s)", Limit::StringLength),
        ("local s=string.rep('a',2^22) return cmsgpack.pack({s,s,s,s,s})", Limit::StringLength),
        ("local s=string.rep('a',2^22) return struct.pack('sssss',s,s,s,s,s)", Limit::StringLength),
        ("cjson.encode_sparse_array(false,0) return cjson.encode({[2^31-1]=1})", Limit::StringLength),
        ("local s='['..string.rep('[],',2^20)..'1]' return #cjson.decode(s)", Limit::Memory),
        ("local s='\\221\\0\\16\\0\\0'..string.rep('\\144',2^20) return #cmsgpack.unpack(s)", Limit::Memory),
        (
            "local s=string.rep('a',2^20) local t={} for w in s:gmatch('()') do t[#t+1]={w} end return #t",
            Limit::Memory,
        ),
    ] {
        let mut vm = vm(limits);
        let got = run(&mut vm, &format!("return pcall(function() {script} end)"));
        assert!(
            matches!(got, Err(RunError::Limit(l)) if l == limit || l == Limit::Memory),
            "{script}: {got:?}"
        );
        assert!(vm.used_bytes() < 40 << 20, "{} bytes: {script}", vm.used_bytes());
        assert_eq!(run(&mut vm, "return 'alive'").as_deref(), Ok("alive"));
    }
}

#[test]
fn a_tick_that_goes_on_changes_nothing() {
    let mut vm = vm(Limits::default());
    let script = "local s=string.rep('key=value; ',2000) local n=0 for k,v in s:gmatch('(%w+)=(%w+)') do n=n+#k+#v end \
                  return n..' '..#s:gsub('%w+','<%0>')";
    let chunk = Chunk::compile(script.as_bytes(), "@x", CompileLimits::default()).expect("it compiles");
    let word = vm.interrupt();
    let mut host = Always { word: word.clone() };
    word.set(totality_lua::Interrupt::TICK);
    vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut host).expect("it runs");
    assert!(matches!(vm.result(0), ValueRef::Str(b"16000 30000")));
}

/// Wants to be called again at the next look.
struct Always {
    word: totality_lua::Interrupt,
}

impl Host for Always {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
    fn tick(&mut self) -> Tick {
        self.word.set(totality_lua::Interrupt::TICK);
        Tick::Continue
    }
}

#[test]
fn keys_of_many_megabytes_are_told_apart() {
    let mut vm = vm(Limits::default());
    let script = "local t={} local a,b='x'..('k'):rep(2^21),'y'..('k'):rep(2^21) t[a]=1 t[b]=2 \
                  return t[a]..t[b]..tostring(t['x'..('k'):rep(2^21)])..tostring(t[a..'k'])";
    assert_eq!(run(&mut vm, script).as_deref(), Ok("121nil"));
}
