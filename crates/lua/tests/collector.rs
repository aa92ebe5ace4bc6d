//! The collector at work: programs that keep much alive in many ways, with a collection at every chance.

use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _id: HostFn, _args: Args<'_>, reply: &mut Reply) -> Flow {
        reply.table(2, 0);
        reply.str(b"from the host");
        reply.number(2.0);
        reply.end();
        Flow::Return
    }
}

fn run(source: &str, soft: usize) -> String {
    let sandbox = SandboxBuilder::new().function("redis", "call", 1);
    let mut vm = Vm::new(&sandbox, Limits { soft_bytes: soft, ..Limits::default() });
    let chunk = Chunk::compile(source.as_bytes(), "@t", CompileLimits::default()).unwrap();
    let keys: [&[u8]; 2] = [b"key one", b"key two"];
    match vm.run(&chunk, Inputs { keys: &keys, argv: &keys }, RunOptions::default(), &mut NoHost) {
        Ok(()) => match vm.result(0) {
            ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
            ValueRef::Number(n) => n.to_string(),
            v => v.type_name().to_owned(),
        },
        Err(RunError::Raised) => match vm.error() {
            ValueRef::Str(s) => format!("error: {}", String::from_utf8_lossy(s)),
            v => format!("error: {}", v.type_name()),
        },
        Err(e) => e.to_string(),
    }
}

const PROGRAMS: &[(&str, &str)] = &[
    (
        "local t = {} for i = 1, 200 do t['key' .. i] = {v = 'value ' .. i} end local n = 0 \
      for i = 1, 200 do if t['key' .. i].v == 'value ' .. i then n = n + 1 end end return n",
        "200",
    ),
    (
        "local function counter() local n = 0 return function() n = n + 1 return {n} end end local cs = {} \
      for i = 1, 50 do cs[i] = counter() end local s = 0 \
      for r = 1, 5 do for i = 1, 50 do s = s + cs[i]()[1] end end return s",
        "750",
    ),
    (
        "local co = {} for i = 1, 20 do co[i] = coroutine.wrap(function(a) local x = {a} \
      while true do x = {x[1] + coroutine.yield('y' .. x[1])} end end) end local o = {} \
      for i = 1, 20 do o[#o + 1] = co[i](i) end for i = 1, 20 do o[#o + 1] = co[i](i) end return table.concat(o, ',', 38)",
        "y36,y38,y40",
    ),
    (
        "local s = ('abc '):rep(30) local n = {} local r = s:gsub('%a+', function(w) n[#n + 1] = w .. #n return w:upper() .. #n end) \
      return n[30] .. r:sub(-7)",
        "abc29 ABC30 ",
    ),
    (
        "local t = {} for i = 1, 100 do t[i] = {('x'):rep(i % 7) .. i} end \
      table.sort(t, function(a, b) local c = {a[1] .. '', b[1] .. ''} return c[1] < c[2] end) \
      for i = 2, 100 do if t[i][1] < t[i - 1][1] then return 'wrong' end end return 'sorted'",
        "sorted",
    ),
    (
        "local mt = {__add = function(a, b) return setmetatable({v = a.v .. b.v}, getmetatable(a)) end} \
      local x = setmetatable({v = 'a'}, mt) for i = 1, 6 do x = x + x end return #x.v",
        "64",
    ),
    (
        "local w = setmetatable({}, {__mode = 'v'}) w.a = {} w.b = 'string' local keep = {} w.c = keep collectgarbage() \
      return tostring(w.a) .. w.b .. tostring(w.c == keep)",
        "nilstringtrue",
    ),
    (
        "local w = setmetatable({}, {__mode = 'k'}) local keep = {} w[keep] = 1 w[{}] = 2 w.s = 3 collectgarbage() \
      local n = 0 for k, v in pairs(w) do n = n + v end return n",
        "4",
    ),
    (
        "local ok, e = pcall(function() local t = setmetatable({}, {__index = function(t, k) error({code = k .. '!'}) end}) \
      return t.field end) return e.code",
        "field!",
    ),
    (
        "local t = cjson.decode('{\"a\":[1,2,{\"b\":\"text\"}],\"c\":{\"d\":[true,null]}}') return t.a[3].b .. cjson.encode(t.c)",
        "text{\"d\":[true,null]}",
    ),
    (
        "local o = {} for i = 1, 20 do o[i] = redis.call('x' .. i)[1] .. KEYS[1 + i % 2] end return o[20]",
        "from the hostkey one",
    ),
    (
        "local f = {} for i = 1, 20 do f[i] = loadstring('local x = ... return function() return x .. \"lit' .. i .. '\" end')('a' .. i) end \
      return f[1]() .. f[20]()",
        "a1lit1a20lit20",
    ),
    (
        "local t = {} for i = 1, 300 do t[i] = i .. '' end for i = 1, 300, 2 do t[i] = nil end local n = 0 \
      for k, v in pairs(t) do n = n + #v t[k] = nil end return n .. tostring(next(t))",
        "397nil",
    ),
    (
        "local function f(...) local a = {...} if #a > 40 then return select('#', ...) .. table.concat(a) end \
      return f('x' .. #a, ...) end return #f()",
        "115",
    ),
    (
        "local t = {} local s = '' for i = 1, 60 do s = s .. 'long text that is not interned at all ' t[s] = i end local n = 0 \
      local k = '' for i = 1, 60 do k = k .. 'long text that is not interned at all ' n = n + t[k] end return n",
        "1830",
    ),
    (
        "local a = cmsgpack.pack({x = {1, 2, 'three'}, y = 'z'}) local t = cmsgpack.unpack(a) return t.x[3] .. t.y",
        "threez",
    ),
    (
        "local r = {} for w in ('one two three'):gmatch('%a+') do r[#r + 1] = {w} end return r[3][1] .. #r",
        "three3",
    ),
    (
        "local ok, e = xpcall(function() local t = {} t = t .. 'x' end, function(m) return {m = m .. '?'} end) return e.m",
        "t:1: attempt to concatenate local 't' (a table value)?",
    ),
];

#[test]
fn an_eager_collector_changes_nothing() {
    for (source, want) in PROGRAMS {
        assert_eq!(run(source, 1 << 30), *want, "without a collector: {source}");
        assert_eq!(run(source, 0), *want, "collecting always: {source}");
    }
}

#[test]
fn garbage_is_returned_in_long_runs() {
    let sandbox = SandboxBuilder::new();
    let mut vm = Vm::new(&sandbox, Limits { soft_bytes: 1 << 20, max_bytes: 8 << 20, ..Limits::default() });
    for source in [
        "for i = 1, 2e5 do local t = {i, i .. ''} end return 1",
        "local s = '' for i = 1, 3e3 do s = s .. 'some more text' end return #s",
        "for i = 1, 1e4 do local co = coroutine.wrap(function() coroutine.yield() end) co() end return 1",
        "for i = 1, 1e5 do local f = function() return i end end return 1",
        "local t = {} for i = 1, 1e5 do t[i % 100] = {('x'):rep(100) .. i} end return 1",
    ] {
        let chunk = Chunk::compile(source.as_bytes(), "@t", CompileLimits::default()).unwrap();
        let r = vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost);
        assert_eq!(r, Ok(()), "{source}");
    }
}
