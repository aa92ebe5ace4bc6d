//! Random snippets for the differential tests: library calls with edge values, and small programs. Everything a
//! snippet shows is determined by the snippet: no addresses, no clocks, no tables as keys, no endless loops.

use super::program::Program;
use super::random_data::{cjson_call, cmsgpack_call, struct_call, table};
use super::rng::Rng;

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "10",
    "0.5",
    "-0.5",
    "1.5",
    "2.5",
    "-1.5",
    "0.1",
    "1/3",
    "1e14",
    "1e15",
    "-1e15",
    "123456.789",
    "255",
    "256",
    "127",
    "128",
    "65535",
    "65536",
    "2^31",
    "2^31-1",
    "-2^31",
    "2^32",
    "2^32-1",
    "2^52",
    "2^53",
    "2^53+2",
    "-2^53",
    "2^63",
    "-2^63",
    "2^64",
    "1e100",
    "-1e100",
    "1e300",
    "1e308",
    "5e-324",
    "1e-300",
    "1/0",
    "-1/0",
    "0/0",
    "-(0/0)",
    "99999999999999",
    "123456789012345",
];

const STRINGS: &[&str] = &[
    "''",
    "'a'",
    "'abc'",
    "'hello world'",
    "'a\\0b'",
    "'\\0'",
    "'123'",
    "'0x10'",
    "' 12 '",
    "'1e5'",
    "'inf'",
    "'nan'",
    "'-0'",
    "'x'",
    "'\\255\\254'",
    "'\\n'",
    "'ABC'",
    "'aAbBcC'",
    "'a,b,,c'",
    "'key=val; k2=v2'",
    "'(a(b)c)'",
    "'\"q\\\\'",
    "string.rep('ab',30)",
    "string.rep('x',150)",
    "'10'",
    "'7'",
    "'-3'",
    "'0.5'",
    "'%d'",
    "'1 2'",
    "'\\127\\128'",
];

pub const OTHERS: &[&str] = &[
    "nil",
    "true",
    "false",
    "{}",
    "{1,2,3}",
    "{a=1,b='x'}",
    "{1,nil,3}",
    "function(...) return ... end",
    "function() end",
    "string.len",
    "setmetatable({},{__index=function(t,k) return k end})",
    "setmetatable({},{__tostring=function() return 'T' end})",
    "{[1]='a',[2]='b',[4]='d'}",
    "cjson.null",
];

pub fn pick<'a>(r: &mut Rng, from: &[&'a str]) -> &'a str {
    r.pick(from)
}

/// A number as Lua text.
pub fn number(r: &mut Rng) -> String {
    match r.below(10) {
        0..=3 => pick(r, NUMBERS).into(),
        4..=6 => r.range(-12, 40).to_string(),
        7 => format!("{}", r.range(-1_000_000, 1_000_000) as f64 / 64.0),
        8 => {
            let n = f64::from_bits(r.next_u64());
            if n.is_finite() { format!("{n:e}") } else { "1".into() }
        }
        _ => format!("{}e{}", r.range(-99_999, 99_999), r.range(-30, 30)),
    }
}

/// Bytes as a Lua string.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    for b in bytes {
        match b {
            b'\'' | b'\\' => {
                out.push('\\');
                out.push(char::from(*b));
            }
            0x20..=0x7e => out.push(char::from(*b)),
            _ => out.push_str(&format!("\\{b:03}")),
        }
    }
    out.push('\'');
    out
}

pub fn bytes_of(r: &mut Rng, alphabet: &[u8], most: usize) -> Vec<u8> {
    (0..r.below(most + 1)).map(|_| r.pick(alphabet)).collect()
}

/// A string as Lua text.
pub fn string(r: &mut Rng) -> String {
    match r.below(4) {
        0 | 1 => pick(r, STRINGS).into(),
        2 => quoted(&bytes_of(r, b"ab1 .%(-[]\0\n\xff", 12)),
        _ => quoted(&bytes_of(r, b"0123456789.eExX+-abcdefpinfn \0", 10)),
    }
}

pub fn value(r: &mut Rng) -> String {
    match r.below(8) {
        0..=2 => number(r),
        3..=5 => string(r),
        _ => pick(r, OTHERS).into(),
    }
}

/// A pattern, mostly well formed.
fn pattern(r: &mut Rng) -> String {
    let mut out = Vec::new();
    if r.one_in(6) {
        out.push(b'^');
    }
    for _ in 0..r.below(6) + 1 {
        match r.below(14) {
            0..=3 => out.push(r.pick(b"abcAB 1.-")),
            4 => out.push(b'.'),
            5 | 6 => out.extend_from_slice(&[b'%', r.pick(b"acdlpsuwxzADLSUW.%[]()-bf0123")]),
            7 | 8 => {
                out.push(b'[');
                if r.one_in(3) {
                    out.push(b'^');
                }
                for _ in 0..r.below(4) {
                    match r.below(5) {
                        0 => out.extend_from_slice(b"a-c"),
                        1 => out.extend_from_slice(&[b'%', r.pick(b"adsw]%-")]),
                        2 => out.push(r.pick(b"]-^[\0")),
                        _ => out.push(r.pick(b"abcAB1 ")),
                    }
                }
                if !r.one_in(12) {
                    out.push(b']');
                }
            }
            9 => out.push(b'('),
            10 => out.push(b')'),
            11 => {
                out.push(b'(');
                out.push(r.pick(b"abc."));
                if r.one_in(2) {
                    out.push(r.pick(b"*+-?"));
                }
                out.push(b')');
            }
            12 => out.extend_from_slice(match r.below(5) {
                0 => b"()",
                1 => b"%b()",
                2 => b"%bab",
                3 => b"%f[%w]",
                _ => b"%f[^a]",
            }),
            _ => out.push(r.pick(b"$*+?^%\0")),
        }
        if r.one_in(3) {
            out.push(r.pick(b"*+-?"));
        }
    }
    if r.one_in(8) {
        out.push(b'$');
    }
    quoted(&out)
}

fn subject(r: &mut Rng) -> String {
    match r.below(5) {
        0 => string(r),
        1 => quoted(&bytes_of(r, b"(a(b)c)", 14)),
        _ => quoted(&bytes_of(r, b"abcAB1 -.\0", 16)),
    }
}

fn replacement(r: &mut Rng) -> String {
    match r.below(8) {
        0 => "{a='1',b=false,c=3,ab='x'}".into(),
        1 => "function(a,b) return b or a end".into(),
        2 => "function() end".into(),
        3 => "setmetatable({},{__index=function(t,k) return k..'!' end})".into(),
        4 => value(r),
        _ => quoted(&bytes_of(r, b"ab%%%0123x", 6)),
    }
}

fn format_call(r: &mut Rng) -> String {
    let mut f = String::new();
    let mut args = Vec::new();
    for _ in 0..r.below(3) + 1 {
        f.push_str(r.pick(&["", "x", " ", "%%"]));
        f.push('%');
        for _ in 0..if r.one_in(2) { r.below(3) } else { 0 } {
            f.push_str(r.pick(&["-", "+", " ", "#", "0"]));
        }
        if r.one_in(2) {
            f.push_str(&r.below(30).to_string());
        }
        if r.one_in(2) {
            f.push('.');
            if !r.one_in(6) {
                let most = if r.one_in(8) { 120 } else { 25 };
                f.push_str(&r.below(most).to_string());
            }
        }
        let conversion = r.pick(&[
            "d", "i", "u", "x", "X", "o", "c", "e", "E", "f", "g", "G", "g", "f", "e", "s", "s", "q", "a",
            "p", "y", "",
        ]);
        f.push_str(conversion);
        args.push(match conversion {
            "s" | "q" if !r.one_in(6) => string(r),
            _ if r.one_in(12) => value(r),
            _ => number(r),
        });
    }
    if r.one_in(15) {
        args.pop();
    }
    args.insert(0, quoted(f.as_bytes()));
    format!("return string.format({})", args.join(","))
}

pub fn string_call(r: &mut Rng) -> String {
    let s = if r.one_in(10) { value(r) } else { subject(r) };
    let p = if r.one_in(20) { value(r) } else { pattern(r) };
    let n = |r: &mut Rng| if r.one_in(12) { value(r) } else { number(r) };
    match r.below(18) {
        0..=2 => format!("return string.find({s},{p})"),
        3 => format!("return string.find({s},{p},{})", n(r)),
        4 => format!(
            "return string.find({s},{},{},{})",
            string(r),
            n(r),
            pick(r, &["true", "false", "nil", "1"])
        ),
        5 | 6 => format!("return string.match({s},{p})"),
        7 => format!("return string.match({s},{p},{})", n(r)),
        8 | 9 => format!("return string.gsub({s},{p},{})", replacement(r)),
        10 => format!("return string.gsub({s},{p},{},{})", replacement(r), n(r)),
        11 => format!(
            "local o={{}} for a,b,c in string.gmatch({s},{p}) do o[#o+1]={{a,b,c}} if #o>40 then break end end return o"
        ),
        12 => format!("return string.sub({s},{},{})", n(r), n(r)),
        13 => format!("return string.byte({s},{},{})", n(r), n(r)),
        14 => {
            // Some numbers wrap to counts that no machine has memory for.
            let n = match r.below(6) {
                0 => {
                    r.pick(&["nil", "'x'", "{}", "'3'", "2.9", "1e15", "2^32", "2^32+2", "0/0", "1/0"]).into()
                }
                _ => r.range(-3, 30).to_string(),
            };
            format!("return string.rep({s},{n})")
        }
        15 => format!("return string.char({},{})", n(r), n(r)),
        16 => format!("return string.{}({s})", pick(r, &["len", "lower", "upper", "reverse"])),
        _ => format!(
            "return ({s}):{}({p},{})",
            pick(r, &["find", "match", "gsub", "sub", "byte", "gmatch"]),
            n(r)
        ),
    }
}

fn bit_call(r: &mut Rng) -> String {
    let f = pick(
        r,
        &[
            "tobit", "bnot", "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "bswap",
            "tohex",
        ],
    );
    let args: Vec<String> =
        (0..r.below(4)).map(|_| if r.one_in(10) { value(r) } else { number(r) }).collect();
    format!("return bit.{f}({})", args.join(","))
}

fn base_call(r: &mut Rng) -> String {
    let v = |r: &mut Rng| value(r);
    match r.below(20) {
        0..=2 => format!("return tonumber({})", quoted(&bytes_of(r, b"0123456789.eExXpP+-abfinn \0\t", 12))),
        3 => format!(
            "return tonumber({},{})",
            quoted(&bytes_of(r, b"0123456789abzZxX- \0", 8)),
            if r.one_in(6) { number(r) } else { r.range(0, 38).to_string() }
        ),
        4 | 5 => format!("return tostring({}),{}..''", number(r), number(r)),
        6 => format!(
            "return select({},{},{})",
            if r.one_in(3) { value(r) } else { r.range(-4, 4).to_string() },
            v(r),
            v(r)
        ),
        7 => format!("return unpack({},{},{})", table(r, 2), r.range(-2, 4), r.range(-2, 9)),
        8 => format!(
            "return math.{}({})",
            pick(
                r,
                &[
                    "floor", "ceil", "abs", "sqrt", "frexp", "modf", "deg", "rad", "exp", "log", "sin",
                    "tan", "atan", "cosh", "log10"
                ]
            ),
            number(r)
        ),
        9 => format!(
            "return math.{}({},{})",
            pick(r, &["fmod", "pow", "ldexp", "max", "min", "atan2"]),
            number(r),
            number(r)
        ),
        10 => format!(
            "math.randomseed({}) return math.random(),math.random({}),math.random({},{})",
            r.range(-100, 100_000),
            r.range(1, 1000),
            r.range(-20, 0),
            r.range(0, 100)
        ),
        11 => format!(
            "return table.concat({},{},{},{})",
            table(r, 2),
            string(r),
            r.range(-1, 4),
            r.range(-1, 7)
        ),
        12 => format!("local t={} table.insert(t,{},{}) return t,#t", table(r, 2), r.range(-2, 9), v(r)),
        13 => format!("local t={} return table.remove(t,{}),t,#t", table(r, 2), r.range(-2, 9)),
        14 => format!(
            "local t={{{}}} table.sort(t) return t",
            (0..r.below(12))
                .map(|_| if r.one_in(30) { string(r) } else { r.range(-50, 50).to_string() })
                .collect::<Vec<_>>()
                .join(",")
        ),
        15 => format!("local t={} return #t,table.maxn(t),next(t),t", table(r, 1)),
        16 => format!(
            "return {}{}{}",
            number(r),
            pick(r, &["+", "-", "*", "/", "%", "^", "<", "<=", "==", "..", "~="]).replace("..", " .. "),
            number(r)
        ),
        17 => format!(
            "return {} {} {}",
            value(r),
            pick(r, &["+", "..", "<", "==", "and", "or", "-", ">="]),
            value(r)
        ),
        18 => format!("local v={} return v.x,v[1],#v", value(r)),
        _ => format!("local v={} return v({})", value(r), value(r)),
    }
}

/// Assignments and removals in a table with keys of all kinds, then its order and its length.
fn table_torture(r: &mut Rng) -> String {
    let mut out = format!("local t={}", if r.one_in(2) { "{}".into() } else { table(r, 3) });
    let spread = r.pick(&[4, 12, 40, 200]);
    let named = r.one_in(2);
    let mut i = 0;
    for _ in 0..r.below(40) + 1 {
        let key = match r.below(if named { 10 } else { 7 }) {
            0..=2 => r.range(-2, spread).to_string(),
            3 => {
                i += 1;
                i.to_string()
            }
            4 => format!("{}", r.range(-40, 40) as f64 / 4.0),
            5 => "#t+1".into(),
            6 => "#t".into(),
            _ => {
                format!("'{}{}'", r.pick(&["k", "key", "a", "some_longer_name_of_a_field_", ""]), r.below(20))
            }
        };
        let v = if r.one_in(3) { "nil".into() } else { r.below(100).to_string() };
        out.push_str(&match r.below(12) {
            0 => format!(" table.insert(t,{v})"),
            1 => " table.remove(t)".into(),
            2 => format!(" for i=1,{} do t[i]={v} end", r.below(20)),
            3 => format!(" for i={},1,-1 do t[i]={v} end", r.below(12)),
            _ => format!(" t[{key}]={v}"),
        });
    }
    out.push_str(" local o={} for k,v in pairs(t) do o[#o+1]=tostring(k) end return table.concat(o,' '),#t,table.maxn(t)");
    out
}

/// Sorting with comparisons that are not all consistent.
fn sort_torture(r: &mut Rng) -> String {
    let n = r.below(40);
    let span = r.pick(&[2, 5, 50, 1000]);
    let items: Vec<String> =
        (0..n).map(|_| if r.one_in(60) { value(r) } else { r.range(-span, span).to_string() }).collect();
    let compare = r.pick(&[
        "",
        ",function(a,b) return a<b end",
        ",function(a,b) return a>b end",
        ",function(a,b) return a<=b end",
        ",function(a,b) return a%3<b%3 end",
        ",function(a,b) return true end",
        ",function(a,b) return false end",
        ",function(a,b) n=n+1 return n%3==0 end",
        ",function(a,b) n=n+1 if n>20 then error('enough '..n) end return a<b end",
        ",function(a,b) t[n%10]=n n=n+1 return a<b end",
    ]);
    format!("local n=0 local t={{{}}} local ok,e=pcall(table.sort,t{compare}) return ok,e,t", items.join(","))
}

/// A program damaged by leaving out, doubling or exchanging some of its words; only compiled.
fn broken_program(r: &mut Rng) -> String {
    let text = Program::statements(r.next_u64()).join(r.pick(&["\n", " "]));
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        let joins = |a: char, b: char| a.is_alphanumeric() && b.is_alphanumeric();
        match words.last_mut() {
            Some(w) if w.chars().last().is_some_and(|l| joins(l, c)) => w.push(c),
            _ => words.push(c.into()),
        }
    }
    for _ in 0..r.below(2) + 1 {
        let at = r.below(words.len());
        let other = words[r.below(words.len())].clone();
        match r.below(5) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, other),
            2 => words[at] = other,
            3 => words.truncate(at + 1),
            _ => {
                words[at] = r
                    .pick(&[
                        "end", "(", ")", "{", "}", "=", "==", "...", "..", ".", ":", ",", "'", "[[", "]]",
                        "--", "--[[", "function", "local", "do", "then", "return", "break", "nil", "0x",
                        "1e", "3..2", "\\", "~", "~=", "<", "#", "until", "@", "\u{1}", "é", "'\\300'", "\"",
                        "[=", "[==[", "for", "in", "and", "not", "-", "%", ";", "goto", "1", "x",
                    ])
                    .into()
            }
        }
    }
    let text = words.concat();
    format!("local f,e=loadstring({},'=m') return f~=nil,e", quoted(text.as_bytes()))
}

/// Coroutines, handlers, levels of errors, tail calls.
fn control(r: &mut Rng) -> String {
    let thrown = |r: &mut Rng| {
        r.pick(&[
            "error('e')",
            "error('e',0)",
            "error('e',2)",
            "error('e',3)",
            "error({1})",
            "error()",
            "error(5)",
            "local x=nil+1",
            "local x={} x.y.z=1",
            "nofunc()",
            "string.rep()",
            "('x'):bad()",
            "return 1",
            "return coroutine.yield(7)",
            "coroutine.yield(8) error('after')",
            "local t=setmetatable({},{__index=function() error('idx') end}) return t.x",
            "return error('tail')",
            "return string.rep('x',{})",
            "return (string.gsub('abc','b',function() error('cb') end))",
            "table.sort({3,2,1},function() error('cmp',2) end)",
            "return f1()",
            "return (f1())",
            "f1() f1()",
            "return pcall(f1)",
            "return select(2,pcall(error))",
            "assert(false,'no')",
            "assert(nil)",
            "for i=1,nil do end",
            "for k in 5 do end",
        ])
    };
    let (a, b) = (thrown(r), thrown(r));
    let a = if a.contains("f1") { "error('deep',2)" } else { a };
    let head = format!("local function f1(...) {a} end\nlocal function f2(...)\n {b} end\n");
    let rest = match r.below(9) {
        0 => "return pcall(f2)",
        1 => "return xpcall(f2,function(e) return e,1 end)",
        2 => "return xpcall(f2,function(e) error('again') end)",
        3 => {
            "local c=coroutine.create(f2) local a={coroutine.resume(c,1)} local b={coroutine.resume(c,2)} return a,b,coroutine.status(c)"
        }
        4 => "local c=coroutine.wrap(f2) return pcall(c),pcall(c)",
        5 => "local c=coroutine.wrap(function() return pcall(f2) end) return pcall(c)",
        6 => "return f2()",
        7 => {
            "local t=setmetatable({},{__add=f2,__call=f2,__tostring=f2}) return pcall(function() return t+1 end),pcall(t),pcall(tostring,t)"
        }
        _ => "return pcall(pcall,f2)",
    };
    format!("{head}{rest}")
}

/// A call of a library function. Those that only Redis has are left out on request.
pub fn call(r: &mut Rng, redis: bool) -> String {
    match r.below(if redis { 21 } else { 14 }) {
        0..=2 => string_call(r),
        3 | 4 => format_call(r),
        5..=8 => base_call(r),
        9 | 10 => table_torture(r),
        11 => sort_torture(r),
        12 => broken_program(r),
        13 => control(r),
        14 => bit_call(r),
        15 | 16 => struct_call(r),
        17 | 18 => cjson_call(r),
        _ => cmsgpack_call(r),
    }
}
