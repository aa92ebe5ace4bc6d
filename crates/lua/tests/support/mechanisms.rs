//! Random snippets around one mechanism each: metamethods, coroutines, error values and their levels, scopes and
//! closures, the lexer, the compiler's larger forms, and every library function with values of every type.

use super::generate::FUNCTIONS;
use super::random::{bytes_of, number, pick, quoted, string, value};
use super::rng::Rng;

/// Shared helpers: `put` notes values in `log`, `S` writes one down without its address.
const HELPERS: &str = "local log={} local function S(v) local t=type(v) if t=='number' or t=='string' or t=='nil' or t=='boolean' then return tostring(v) end \
return t end local function put(...) local o={} for i=1,select('#',...) do o[i]=S((select(i,...))) end if #log<150 then log[#log+1]=table.concat(o,',') end return ... end";

/// Statements of a snippet made from a seed; the first and the last belong to every shorter form of it.
pub fn statements(seed: u64, redis: bool) -> Vec<String> {
    let r = &mut Rng::new(seed ^ 0x00c0_ffee);
    match r.below(16) {
        0..=3 => metamethods(r),
        4..=6 => coroutines(r),
        7..=9 => errors(r),
        10 | 11 => scopes(r),
        12 => vec![lexical(r)],
        13 => vec![large(r)],
        14 => loading(r),
        _ => vec![any_function(r, redis)],
    }
}

fn list(n: usize, r: &mut Rng, make: fn(&mut Rng) -> String) -> String {
    (0..n).map(|_| make(r)).collect::<Vec<_>>().join(",")
}

fn small(r: &mut Rng) -> String {
    match r.below(9) {
        0 => "nil".into(),
        1 => pick(r, &["true", "false"]).into(),
        2 | 3 => r.range(-3, 6).to_string(),
        4 => pick(r, &["1.5", "0.25", "2^31", "-0", "1e15", "0/0"]).into(),
        5 | 6 => pick(r, &["'x'", "'y'", "'10'", "'0x1p'", "''", "'a b'"]).into(),
        7 => "{}".into(),
        _ => "function() end".into(),
    }
}

// Metamethods

const BINARY: &[&str] = &["add", "sub", "mul", "div", "mod", "pow", "concat", "eq", "lt", "le"];
const OTHER: &[&str] =
    &["unm", "len", "index", "newindex", "call", "tostring", "metatable", "mode", "gc", "idiv", "band"];

fn handler(r: &mut Rng) -> String {
    match r.below(16) {
        0..=4 => format!("function(x,y,z) put('h',x,y,z) return {} end", small(r)),
        5 => "function(...) put(select('#',...),...) return ... end".into(),
        6 => "function() end".into(),
        7 => format!("function() error({}{}) end", small(r), pick(r, &["", ",0", ",1", ",2", ",3"])),
        8 => "H".into(),
        9 => format!("function(x,y) return {},{} end", small(r), small(r)),
        10 => {
            pick(r, &["rawequal", "select", "tostring", "string.rep", "rawget", "type", "math.max", "next"])
                .into()
        }
        11 => "setmetatable({},{__call=function(...) put('called',select('#',...)) return 7 end})".into(),
        12 => format!("function(x) return coroutine.yield({}) end", small(r)),
        13 => pick(r, &["true", "5", "'str'", "{}", "false"]).into(),
        14 => "function(x,y) local ok,e=pcall(function() return x.deep.er end) put(ok,e) return e end".into(),
        _ => "function(x,y) return y end".into(),
    }
}

fn metatable_of(r: &mut Rng) -> String {
    let mut items = Vec::new();
    for _ in 0..r.below(5) + 1 {
        let event = if r.one_in(2) { r.pick(BINARY) } else { r.pick(OTHER) };
        let h = match event {
            "index" | "newindex" if r.one_in(2) => pick(
                r,
                &[
                    "b",
                    "{x=1,[1]='i'}",
                    "setmetatable({q='Q'},{__index=function(t,k) put('ix',k) return k end})",
                    "setmetatable({},{__newindex=function(t,k,v) put('nx',k,v) rawset(t,k,v) end})",
                    "string",
                    "5",
                    "'s'",
                ],
            )
            .into(),
            "metatable" => pick(r, &["'locked'", "false", "{1}", "nil"]).into(),
            "mode" => pick(r, &["'k'", "'v'", "'kv'", "1"]).into(),
            _ => handler(r),
        };
        items.push(format!("__{event}={h}"));
    }
    format!("{{{}}}", items.join(","))
}

fn object(r: &mut Rng) -> &'static str {
    r.pick(&["a", "b", "c", "a", "b", "1", "'x'", "'10'", "nil", "true", "H", "({})", "2.5"])
}

fn use_of_object(r: &mut Rng) -> String {
    let (x, y, z) = (object(r), object(r), object(r));
    match r.below(44) {
        0..=9 => format!("return {x} {} {y}", r.pick(&["+", "-", "*", "/", "%", "^"])),
        10..=12 => format!("return {x}..{y}..{z}").replace("1..", "1 .. ").replace("5..", "5 .. "),
        13..=15 => format!("return {x} {} {y}", r.pick(&["==", "~="])),
        16..=19 => format!("return {x} {} {y}", r.pick(&["<", "<=", ">", ">="])),
        20 => format!("return -{x}"),
        21 => format!("return #{x}"),
        22..=24 => format!(
            "return ({x}){}",
            r.pick(&[".x", ".q", "[1]", "[2.5]", "['10']", "[nil]", ".len", ".deep.er"])
        ),
        25 | 26 => format!("return ({x})({})", list(r.below(3), r, small)),
        27 => format!("return ({x}):{}({})", r.pick(&["x", "m", "len", "upper"]), small(r)),
        28..=30 => format!(
            "local o={x} o{}={} return o",
            r.pick(&[".x", "[1]", ".n", "[nil]", "[0/0]", "['z']"]),
            small(r)
        ),
        31 => format!("return tostring({x})"),
        32 => format!("return getmetatable({x})"),
        33 => format!("return setmetatable({x},{})", r.pick(&["nil", "{}", "b", "1", "getmetatable(a)"])),
        34 => format!("return rawget({x},'x'),rawequal({x},{y})"),
        35 => format!("for k,v in pairs({x}) do put(k,v) end"),
        36 => format!("for k,v in {x} do put(k,v) break end"),
        37 => format!("return table.concat({{{x},{y}}},'-')"),
        38 => format!("local t={{{x},{y},{z}}} table.sort(t) return t[1],t[2],t[3]"),
        39 => format!("return string.format('%s|%d|%5.1f',{x},{y},{z})"),
        40 => format!("for i={x},{y},{z} do put(i) if i~=i or i>8 then break end end"),
        41 => format!("return {x} and {y} or not {z}"),
        42 => format!(
            "local t={{}} t[{}]={y} return next(t)",
            r.pick(&["'k'", "1", "2.5", "true", "nil", "0/0"])
        ),
        _ => format!("return math.max({x},{y}),unpack({z})"),
    }
}

fn metamethods(r: &mut Rng) -> Vec<String> {
    let mut out = vec![format!(
        "{HELPERS} local H=function(x,y) put('H',x,y) return {} end local b,c=setmetatable({{10,y=2}},{{__index=function(t,k) put('b.'..tostring(k)) return nil end,__lt=H,__eq=H,__add=H}}),{{1,2,x=3}} local a={{1,2,x=5}}",
        small(r)
    )];
    out.push(format!("setmetatable(a,{})", metatable_of(r)));
    if r.one_in(2) {
        out.push(format!("b=setmetatable({{3}},{})", metatable_of(r)));
    }
    for _ in 0..r.below(5) + 1 {
        let body = use_of_object(r);
        out.push(if r.one_in(6) {
            format!("put(coroutine.resume(coroutine.create(function() {body} end)))")
        } else {
            format!("put(pcall(function() {body} end))")
        });
    }
    out.push("do return log end".into());
    out
}

// Coroutines

fn coroutine_body(r: &mut Rng, depth: usize) -> String {
    let mut out = String::new();
    for _ in 0..r.below(4) + 1 {
        let values = list(r.below(3), r, small);
        out.push_str(&match r.below(20) {
            0..=4 => format!("put(coroutine.yield({values})) "),
            5 => format!("local x=coroutine.yield({values}) put('x',x,...) "),
            6 => format!("for i=1,{} do put(i,coroutine.yield(i)) end ", r.below(4)),
            7 => format!("if n>{} then error({}) end n=n+1 ", r.below(4), small(r)),
            8 => "put(pcall(coroutine.yield,1)) ".into(),
            9 => format!("put(pcall(function() coroutine.yield({values}) end)) "),
            10 => format!("put(coroutine.resume(co[{}],{})) ", r.below(3) + 1, small(r)),
            11 => format!("put(coroutine.status(co[{}])) ", r.below(3) + 1),
            12 => "put(type(coroutine.running()),coroutine.running()==co[1]) ".into(),
            13 if depth < 2 => {
                format!("do local w=coroutine.wrap(function(...) {}end) put(pcall(w,1)) put(pcall(w,2)) end ", coroutine_body(r, depth + 1))
            }
            14 => "put(pcall(table.sort,{3,1,2},function(p,q) coroutine.yield(p) return p<q end)) ".into(),
            15 => "put(pcall(string.gsub,'abc','.',function(c) return coroutine.yield(c) end)) ".into(),
            16 => "for v in coroutine.wrap(function() for i=1,3 do coroutine.yield(i) end end) do put('v',v) end ".into(),
            17 => "for v in function() return coroutine.yield('it') end do put(v) end ".into(),
            18 => format!("do local up={} fs[#fs+1]=function() up=S(up)..'!' return up end end ", small(r)),
            _ => format!("do return {} end ", r.pick(&["coroutine.yield(9)", "...", "1,2,3", "f(...)", "(f(1))", "pcall(f,2)"])),
        });
    }
    out
}

fn coroutines(r: &mut Rng) -> Vec<String> {
    let mut out = vec![format!(
        "{HELPERS} local co,n,fs={{}},0,{{}} local function f(...) put('f',...) return coroutine.yield('in f',...) end"
    )];
    for i in 1..=3 {
        out.push(format!("co[{i}]=coroutine.create(function(...) {}end)", coroutine_body(r, 0)));
    }
    for _ in 0..r.below(9) + 2 {
        let i = r.below(3) + 1;
        out.push(match r.below(10) {
            0..=5 => format!(
                "put(coroutine.resume(co[{i}]{}))",
                if r.one_in(2) { String::new() } else { format!(",{}", small(r)) }
            ),
            6 => format!("put(coroutine.status(co[{i}]))"),
            7 => {
                format!("put(pcall(coroutine.wrap(function(...) {}end),{}))", coroutine_body(r, 1), small(r))
            }
            8 => format!(
                "put(pcall({}))",
                r.pick(&[
                    "coroutine.yield,1",
                    "coroutine.resume",
                    "coroutine.resume,1",
                    "coroutine.status,nil",
                    "coroutine.create,1",
                    "coroutine.wrap,string.len",
                    "coroutine.wrap(string.len),'abc'",
                    "coroutine.resume,coroutine.create(string.rep),'x'"
                ])
            ),
            _ => "for i=1,#fs do put(fs[i]()) end".into(),
        });
    }
    out.push("do return log end".into());
    out
}

// Errors

fn error_value(r: &mut Rng) -> String {
    pick(
        r,
        &[
            "nil",
            "true",
            "false",
            "1",
            "2.5",
            "'str'",
            "'two\\nlines'",
            "'a\\0b'",
            "''",
            "{}",
            "{err='E'}",
            "{err=5}",
            "{err={}}",
            "{ok='fine'}",
            "setmetatable({},{__tostring=function() return 'TS' end})",
            "setmetatable({},{__index=function() return 'ix' end})",
            "setmetatable({},{__concat=function() return 'cc' end})",
            "function() end",
            "string.len",
            "coroutine.create(function() end)",
        ],
    )
    .into()
}

fn level(r: &mut Rng) -> &'static str {
    r.pick(&["", "", ",0", ",1", ",2", ",3", ",4", ",-1", ",nil", ",'2'", ",1.9", ",100", ",{}"])
}

/// A statement that raises something, or not.
fn raise(r: &mut Rng, depth: usize) -> String {
    let g = if depth == 0 { "error" } else { r.pick(&["g0", "error", "g0"]) };
    match r.below(30) {
        0..=6 => format!("error({}{})", error_value(r), level(r)),
        7 => format!("{g}({})", error_value(r)),
        8 => format!("return {g}({}{})", error_value(r), level(r)),
        9 => format!("assert({},{})", r.pick(&["false", "nil", "1"]), r.pick(&["'msg'", "nil", "5", "{}"])),
        10 => "local u u.x=1".into(),
        11 => format!("local u={} return u.x.y", small(r)),
        12 => format!("local u={} return u+{}", small(r), small(r)),
        13 => format!("local u={} return u..{}", small(r), small(r)),
        14 => format!("local u={} return u<{}", small(r), small(r)),
        15 => format!("local u={} u({})", small(r), small(r)),
        16 => format!("local u={} u:m({})", small(r), small(r)),
        17 => format!("up.f.g={}", small(r)),
        18 => "return up.nofield.x".into(),
        19 => "return up[nil].x, #up.n".into(),
        20 => format!("string.rep({})", small(r)),
        21 => format!("('x'):rep({})", small(r)),
        22 => format!("table.concat({{{},{}}})", small(r), small(r)),
        23 => format!("string.gsub('abc','b',function() {} end)", raise(r, depth))
            .replace("return return", "return"),
        24 => format!("table.sort({{3,2,1}},function(a,b) {} end)", raise(r, depth)),
        25 => format!("table.foreach({{1}},function() {} end)", raise(r, depth)),
        26 => format!("coroutine.wrap(function() {} end)()", raise(r, depth)),
        27 => format!("for i={},{} do end", small(r), small(r)),
        28 => format!("local t={{[{}]={}}}", small(r), small(r)),
        _ => format!("setmetatable({{}},{{__index=function() {} end}}).x()", raise(r, depth)),
    }
}

fn errors(r: &mut Rng) -> Vec<String> {
    let mut out = vec![format!(
        "{HELPERS} local up={{n=1}} local function show(e) if type(e)=='table' then return 'T:'..S(rawget(e,'err'))..S(rawget(e,'source')) end return S(e) end"
    )];
    out.push(format!("local function g0(...)\n {} end", raise(r, 0)));
    out.push(format!("local function g1(...)\n {} end", raise(r, 1)));
    out.push(format!("local o={{m=function(self,...)\n {}\n end}}", raise(r, 1)));
    for _ in 0..r.below(4) + 1 {
        let f = r.pick(&[
            "g0",
            "g1",
            "o.m",
            "function(...) return g1(...) end",
            "function() o:m() end",
            "function() local x=g0() return x end",
        ]);
        let h = match r.below(9) {
            0 => "show".into(),
            1 => "function(e) put('h',show(e)) return e end".into(),
            2 => "function(e) error(e) end".into(),
            3 => "function(e) return up.no.where end".into(),
            4 => pick(r, &["tostring", "type", "error", "nil", "1", "{}", "string.rep", "select"]).into(),
            5 => format!("function(e) {} end", raise(r, 0)),
            6 => "function(e) return e,e end".into(),
            7 => "function(...) return select('#',...) end".into(),
            _ => "function(e) return pcall(error,e) end".into(),
        };
        out.push(match r.below(12) {
            0..=2 => format!("put(pcall({f},{}))", small(r)),
            3..=6 => format!("put(xpcall({f},{h}))"),
            7 => format!("put(coroutine.resume(coroutine.create({f}),{}))", small(r)),
            8 => format!("put(pcall(coroutine.wrap({f}),{}))", small(r)),
            9 => format!("put(pcall(pcall,{f})) put(pcall(xpcall,{f},{h}))"),
            10 => format!("put(pcall(function() local ok,e=pcall({f}) error(e,{}) end))", r.below(4)),
            _ => format!("put(select('#',pcall({f})),(select(2,pcall({f}))))"),
        });
    }
    out.push(if r.one_in(3) { "do return log,g1() end" } else { "do return log end" }.into());
    out
}

// Scopes and closures

fn scopes(r: &mut Rng) -> Vec<String> {
    let mut out = vec![format!(
        "{HELPERS} local x,y,z,fs=1,2,3,{{}} local function va(...) local a,b=... return select('#',...),b,a,... end"
    )];
    for _ in 0..r.below(8) + 3 {
        let (n, m, v) = (r.range(-2, 5), r.range(-2, 5), r.pick(&["x", "y", "z"]));
        let e = small(r);
        out.push(match r.below(22) {
            0 => format!("for i={n},{m} do local k=i*2 fs[#fs+1]=function(d) i=i+(d or 0) k=k+1 return i,k end end"),
            1 => format!("for i={n},{m},{} do if i>3 then break end fs[#fs+1]=function() return i,{v} end end", r.pick(&["1", "-1", "0.5", "2", "-0.25", "0.1"])),
            2 => format!("do local i=0 repeat local j=i fs[#fs+1]=function() j=j+1 return j end i=i+1 until j>={} end", n.abs()),
            3 => format!("do local i={n} while i<{m} do local w=i i=i+1 if w%2==0 then fs[#fs+1]=function() return w end else break end end end"),
            4 => "for k,v in pairs({5,6}) do fs[#fs+1]=function() k=k+1 return k,v end end".into(),
            5 => "for i=1,#fs do put(pcall(fs[i],1)) end".into(),
            6 => format!("x,y,z=y,{e},x put(x,y,z)"),
            7 => format!("do local t={{}} local i=1 i,t[i],t[i+1]=i+1,{e},20 put(i,t[1],t[2]) end"),
            8 => format!("put(va({e},va({}))) put((va({e})))", list(r.below(3), r, small)),
            9 => format!("put(#{{va({e})}},#{{(va(1))}},#{{va(),va({e})}})"),
            10 => format!("local {v}={e} put({v})"),
            11 => "local function rec(n) if n<=0 then return 'end' end return rec(n-1) end put(rec(3000))".into(),
            12 => format!("local function fib(n) if n<2 then return n end return fib(n-1)+fib(n-2) end put(fib({}))", r.below(12)),
            13 => format!("do local o={{v={n}}} function o:add(d) self.v=self.v+d return self end function o.sub(a,...) return a,... end put(o:add(1):add(2).v,o.sub({e},1)) end"),
            14 => "local function old(...) return arg and arg.n,type(arg) end put(pcall(old,1,2)) local function new(...) local a=... return a,type(arg) end put(pcall(new,1))".into(),
            15 => format!("put({e} and {v} or z, not {e}, {e} == {v} and 'eq' or 'ne', ({v} or {e}) and 1)"),
            16 => format!("do local a<{v} end").replace("local a<", "local a=1<"),
            17 => format!("if {e} then {v}={n} elseif {v}=={m} then {v}={e} else {v}=#fs end put({v})"),
            18 => format!("fs[#fs+1]=(function(a,b) local c={v} return function(d) c,a=a,c b=S(b)..S(d) return a,b,c end end)({e},{n})"),
            19 => "while true do local q=x while true do if q then break end end if y then break end break end".into(),
            20 => format!("put(pcall(function() local {v}={e} local t={{{v},{v}={v},[{n}]={v};{v}}} return t[1],t[2],t.{v},t[{n}] end))"),
            _ => format!("put(pcall(function() return {v}+{n}-{m}*{v}/{n}%{m}^2 end)) put(pcall(function() return -{v}^2,not {v}==nil,2^-{v},{v}..{n} ..'s' end))"),
        });
    }
    out.push("for i=1,#fs do put(pcall(fs[i],2)) end".into());
    out.push("do return log,x,y,z end".into());
    out
}

// The lexer and larger forms

fn lexical(r: &mut Rng) -> String {
    let text = match r.below(9) {
        0..=2 => {
            format!("return {}", String::from_utf8_lossy(&bytes_of(r, b"0123456789.eExXpP+-abcf_\0", 12)))
        }
        3 | 4 => {
            let mut s = String::from("return '");
            for _ in 0..r.below(6) + 1 {
                s.push_str(r.pick(&[
                    "a",
                    "\\n",
                    "\\065",
                    "\\6",
                    "\\0651",
                    "\\255",
                    "\\256",
                    "\\999",
                    "\\\n",
                    "\\\r",
                    "\\x41",
                    "\\'",
                    "\\\"",
                    "\\\\",
                    "\\z",
                    "\"",
                    "\\u{41}",
                    "\\a\\b\\f\\v\\t\\r",
                    "\n",
                    "\\",
                ]));
            }
            s + r.pick(&["'", "'", "'", "", "\"", "' ..'x'"])
        }
        5 => {
            let eq = "=".repeat(r.below(3));
            let inner =
                r.pick(&["a]b", "]]", "\n\nx", "\r\ny", "]=]", "[[", "--", "", "\\n", "]==", "x\r\ry"]);
            format!("return [{eq}[{inner}]{eq}{}", r.pick(&["]", "]", "", "=]", "]]"]))
        }
        6 => format!(
            "--{}\nreturn {}",
            r.pick(&["x", "[[ x ]]", "[==[\n]] ]==]", "[[", "[=", "[", ""]),
            small(r)
        ),
        7 => format!(
            "{}return{} {}{}",
            r.pick(&["", ";", "\t\u{b}\u{c}", "#!x\n", "\u{1}"]),
            r.pick(&["", "(", "\n("]),
            small(r),
            r.pick(&["", ")", ";", ";;", " x", "\0"])
        ),
        _ => {
            let mut s = String::new();
            for _ in 0..r.below(12) + 1 {
                s.push_str(r.pick(&[
                    "x", "=", "1", "(", ")", "{", "}", "[", "]", ",", ";", ":", ".", "..", "...", "+", "-",
                    "~=", "<", ">=", "==", "#", "%", "'s'", "and", "or", "not", "nil", "end", "do", "if",
                    "then", "else", "for", "in", "local", "\0", "function", "return", "while", "repeat",
                    "until", "break", "f(", "t.a", "\n",
                ]));
                s.push_str(r.pick(&[" ", " ", "", "\n"]));
            }
            s
        }
    };
    let name = r.pick(&[
        "",
        ",'=n'",
        ",'@file.lua'",
        ",'=a name that is longer than sixty characters, so that it has to be cut somewhere at its end'",
        ",'@/a/file/name/that/is/longer/than/sixty/characters/so/that/it/has/to/be/cut.lua'",
        ",'text\\nmore'",
        ",''",
        ",'=a\\0b'",
        ",'some source that is rather long and is shown only in part because it is long'",
    ]);
    format!(
        "local f,e=loadstring({}{name}) if not f then return e end return pcall(f)",
        quoted(text.as_bytes())
    )
}

/// Forms that need the compiler's long ways: many constants, locals, items, jumps, nesting.
fn large(r: &mut Rng) -> String {
    let n = r.pick(&[3usize, 30, 49, 50, 51, 100, 101, 199, 200, 201, 255, 256, 257, 300, 600]);
    let items = |f: &dyn Fn(usize) -> String, sep: &str| (1..=n).map(f).collect::<Vec<_>>().join(sep);
    match r.below(14) {
        0 => format!("local t={{{}}} return #t,t[1],t[{n}]", items(&|i| (i * 3).to_string(), ",")),
        1 => format!("local t={{{},unpack({{1,2}})}} return #t", items(&|i| format!("'v{i}'"), ",")),
        2 => format!(
            "local t={{{}}} local n=0 for k,v in pairs(t) do n=n+v end return n,t.k{n}",
            items(&|i| format!("k{i}={i}"), ",")
        ),
        3 => format!("local s=0 {} return s", items(&|i| format!("s=s+{i}.5"), " ")),
        4 => format!("{} return v1,v{n}", items(&|i| format!("local v{i}={i}"), " ")),
        5 => format!(
            "local a=1 local f,e=loadstring([[local a=... {} return a]]) if not f then return e end return pcall(f,1)",
            items(&|i| format!("if a=={} then a=a+1 end", i % 9), " ")
        ),
        6 => format!(
            "local f,e=loadstring([[return {}1{}]]) if not f then return e end return pcall(f)",
            "(".repeat(n),
            ")".repeat(n)
        ),
        7 => format!(
            "local f,e=loadstring([[return {}{}]]) if not f then return e end return type(f())",
            "{".repeat(n),
            "}".repeat(n)
        ),
        8 => format!(
            "local f,e=loadstring([[{} {}]]) if not f then return e end return pcall(f)",
            "do ".repeat(n),
            "end ".repeat(n)
        ),
        9 => format!(
            "local f,e=loadstring([[{}]]) if not f then return e end return pcall(f)",
            items(&|i| format!("local u{i}"), " ")
        ),
        10 => format!(
            "local f,e=loadstring([[{} return function() return {} end]]) if not f then return e end return pcall(f)",
            (1..=n.min(190)).map(|i| format!("local u{i}={i}")).collect::<Vec<_>>().join(" "),
            (1..=n.min(190)).map(|i| format!("u{i}")).collect::<Vec<_>>().join("+")
        ),
        11 => format!(
            "return {}",
            items(&|i| format!("{}", i % 7), r.pick(&["+", "-", "*", " .. ", " and ", " or ", "==", "^"]))
        ),
        12 => format!(
            "local function f(...) return select('#',...) end return f({})",
            items(&|i| i.to_string(), ",")
        ),
        _ => format!(
            "local f,e=loadstring([[{} return x]]) if not f then return e end return pcall(f)",
            items(&|_| r"local function g() ".to_string(), "") + &"end ".repeat(n)
        ),
    }
}

fn loading(r: &mut Rng) -> Vec<String> {
    let source = match r.below(4) {
        0 => "return 1,...".to_string(),
        1 => format!("local a={} return a", small(r)),
        2 => "return function(...) return ...,x end".into(),
        _ => format!("{} +", small(r)),
    };
    let mut out = vec![format!("{HELPERS} local src={} local n=0", quoted(source.as_bytes()))];
    let chunk = |r: &mut Rng| r.pick(&["", ",'=c'", ",'@f'", ",'a b'", ",nil", ",5", ",{}"]);
    for _ in 0..r.below(3) + 1 {
        out.push(match r.below(7) {
            0 => format!("put(loadstring(src{}))", chunk(r)),
            1 => format!("do local i=0 put(load(function() i=i+1 put('piece',i) if i<=#src then return src:sub(i,i) end end{})) end", chunk(r)),
            2 => format!("do local i=0 put(load(function() i=i+1 if i=={} then return {} end return src:sub(i*2-1,i*2) end{})) end", r.below(4) + 1, small(r), chunk(r)),
            3 => format!("put(pcall(load,function() {} end))", raise(r, 0).replace("up.", "src.")),
            4 => format!("put(pcall(load,{}))", small(r)),
            5 => format!("local f=loadstring(src) if f then put(pcall(f,{})) put(pcall(f)) end", small(r)),
            _ => format!("put(pcall(loadstring,{}))", small(r)),
        });
    }
    out.push("do return log end".into());
    out
}

/// One library function with arguments that are good, wrong or edges.
fn any_function(r: &mut Rng, redis: bool) -> String {
    loop {
        let (name, good) = FUNCTIONS[r.below(FUNCTIONS.len())];
        let only_redis = ["cjson", "cmsgpack", "struct", "bit."].iter().any(|l| name.starts_with(l));
        if only_redis && !redis {
            continue;
        }
        let mut args: Vec<String> = good.iter().map(|a| (*a).to_owned()).collect();
        for arg in &mut args {
            if r.one_in(2) {
                *arg = match r.below(4) {
                    0 => number(r),
                    1 => string(r),
                    _ => value(r),
                };
            }
        }
        match r.below(8) {
            0 => drop(args.pop()),
            1 => args.push(value(r)),
            _ => {}
        }
        // Counts and positions that are only large take minutes or gigabytes.
        if matches!(name, "string.rep" | "table.insert" | "table.concat") {
            args.truncate(1);
            if name == "string.rep" {
                args.push(r.range(-3, 9).to_string());
            } else {
                args.extend((0..r.below(4)).map(|_| small(r).replace("2^31", "7")));
            }
        }
        return format!("return {name}({})", args.join(","));
    }
}
