//! Random snippets for the differential tests: library calls with edge values, and small programs. Everything a
//! snippet shows is determined by the snippet: no addresses, no clocks, no tables as keys, no endless loops.

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

const OTHERS: &[&str] = &[
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

fn pick<'a>(r: &mut Rng, from: &[&'a str]) -> &'a str {
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

fn bytes_of(r: &mut Rng, alphabet: &[u8], most: usize) -> Vec<u8> {
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

fn value(r: &mut Rng) -> String {
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

fn string_call(r: &mut Rng) -> String {
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
        14 => format!(
            "return string.rep({s},{})",
            if r.one_in(3) { value(r) } else { r.range(-3, 30).to_string() }
        )
        .replace("1e15", "3")
        .replace("1e14", "3")
        .replace("2^31-1", "3")
        .replace("2^53", "5"),
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

fn struct_format(r: &mut Rng) -> String {
    let mut f = String::new();
    for _ in 0..r.below(6) + 1 {
        match r.below(12) {
            0 => f.push_str(r.pick(&["<", ">", " ", "!", "!1", "!2", "!4", "!8", "!16", "!3"])),
            1 => {
                let most = if r.one_in(10) { 40 } else { 18 };
                f.push_str(&format!("{}{}", r.pick(&["i", "I"]), r.below(most)));
            }
            2 => f.push_str(&format!("c{}", r.below(6))),
            3 => f.push_str(r.pick(&["y", "?", "z", "c", "n"])),
            _ => {
                f.push_str(r.pick(&["b", "B", "h", "H", "l", "L", "T", "i", "I", "f", "d", "s", "x", "bc0"]))
            }
        }
    }
    quoted(f.as_bytes())
}

fn struct_call(r: &mut Rng) -> String {
    let f = struct_format(r);
    match r.below(4) {
        0 => format!("return struct.size({f})"),
        1 | 2 => {
            let args: Vec<String> = (0..r.below(7))
                .map(|_| match r.below(10) {
                    0..=5 => number(r),
                    6..=8 => string(r),
                    _ => value(r),
                })
                .collect();
            let comma = if args.is_empty() { "" } else { "," };
            format!(
                "local f={f} local p=struct.pack(f{comma}{}) return p,#p,pcall(struct.unpack,f,p)",
                args.join(",")
            )
        }
        _ => {
            let data = quoted(&bytes_of(r, b"\0\x01\x02\x03\x7f\x80\xff\xfeabc", 24));
            let at = if r.one_in(3) { format!(",{}", number(r)) } else { String::new() };
            format!("return struct.unpack({f},{data}{at})")
        }
    }
}

/// A table expression whose keys are numbers, strings or booleans.
fn table(r: &mut Rng, depth: usize) -> String {
    let mut items = Vec::new();
    for _ in 0..r.below(7) {
        let v = data(r, depth + 1);
        items.push(match r.below(8) {
            0 => format!("['{}']={v}", r.pick(&["a", "b", "id", "name", "x y", "1", ""])),
            1 => format!("{}={v}", r.pick(&["a", "b", "c", "id", "name", "email", "k1", "k2"])),
            2 => format!("[{}]={v}", r.range(-3, 14)),
            3 => {
                let n = number(r);
                if n.contains("0/0") { v } else { format!("[{n}]={v}") }
            }
            _ => v,
        });
    }
    format!("{{{}}}", items.join(","))
}

/// What JSON and MessagePack carry, and now and then something else.
fn data(r: &mut Rng, depth: usize) -> String {
    match r.below(if depth > 3 { 8 } else { 12 }) {
        0..=2 => number(r),
        3..=5 => string(r),
        6 => pick(r, &["true", "false", "cjson.null"]).into(),
        7 => {
            if r.one_in(8) {
                pick(r, OTHERS).into()
            } else {
                number(r)
            }
        }
        _ => table(r, depth),
    }
}

fn json_text(r: &mut Rng, depth: usize) -> String {
    let space = |r: &mut Rng| if r.one_in(8) { r.pick(&[" ", "\n", "\t", "  "]) } else { "" };
    let inner = match r.below(if depth > 4 { 7 } else { 11 }) {
        0 => r.range(-1000, 1000).to_string(),
        1 => (r.pick(&[
            "0",
            "-0",
            "1.5",
            "1e5",
            "1E-3",
            "-2.25e+10",
            "01",
            "0x1F",
            "+1",
            "nan",
            "inf",
            "-Infinity",
            "1e999",
            ".5",
            "5.",
            "-",
            "1e",
            "9007199254740993",
            "0.1",
            "123456789012345678",
        ]))
        .into(),
        2 => (r.pick(&["true", "false", "null", "nul", "tru", "True", "NaN"])).into(),
        3..=6 => {
            let mut s = String::from("\"");
            for _ in 0..r.below(5) {
                s.push_str(r.pick(&[
                    "a",
                    "b",
                    " ",
                    "\\n",
                    "\\\"",
                    "\\\\",
                    "\\/",
                    "\\u0041",
                    "\\u00e9",
                    "\\ud83d\\ude00",
                    "\\ud83d",
                    "\\u0000",
                    "\\x",
                    "\\u12",
                    "é",
                    "\n",
                    "\\b",
                    "\\f",
                    "z",
                ]));
            }
            if !r.one_in(40) {
                s.push('"');
            }
            s
        }
        7 | 8 => {
            let items: Vec<String> = (0..r.below(4)).map(|_| json_text(r, depth + 1)).collect();
            format!("[{}]", items.join(if r.one_in(30) { " " } else { "," }))
        }
        _ => {
            let items: Vec<String> = (0..r.below(4))
                .map(|_| {
                    let key =
                        r.pick(&["\"a\"", "\"b\"", "\"1\"", "\"\"", "\"id\"", "\"k\\u0041\"", "a", "1"]);
                    let key = if r.one_in(6) { key } else { "\"a\"" };
                    format!("{key}{}:{}", space(r), json_text(r, depth + 1))
                })
                .collect();
            format!("{{{}}}", items.join(","))
        }
    };
    format!("{}{inner}{}", space(r), space(r))
}

/// Damages a text now and then.
fn mutate(r: &mut Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    if r.one_in(3) && !bytes.is_empty() {
        let at = r.below(bytes.len());
        match r.below(4) {
            0 => bytes.truncate(at),
            1 => bytes[at] = r.pick(b"[]{},:\"\\0ntfu1-\0 x\xff"),
            2 => bytes.insert(at, r.pick(b"[]{},:\"\\0ntfu1-\0 x\xff")),
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}

fn cjson_call(r: &mut Rng) -> String {
    let mut settings = String::new();
    if r.one_in(4) {
        settings = match r.below(7) {
            0 => format!(
                "cjson.encode_sparse_array({},{},{}) ",
                pick(r, &["true", "false"]),
                r.below(4),
                r.below(20)
            ),
            1 => format!("cjson.encode_max_depth({}) ", r.below(5) + 1),
            2 => format!("cjson.decode_max_depth({}) ", r.below(5) + 1),
            3 => format!("cjson.encode_number_precision({}) ", r.below(14) + 1),
            4 => format!(
                "cjson.encode_invalid_numbers({}) ",
                pick(r, &["true", "false", "'null'", "'on'", "'off'"])
            ),
            5 => "cjson.decode_invalid_numbers(false) ".into(),
            _ => "cjson.encode_keep_buffer(false) ".into(),
        };
    }
    if r.one_in(2) {
        format!("{settings}return cjson.encode({})", data(r, 0))
    } else {
        let text = json_text(r, 0).into_bytes();
        let text = quoted(&mutate(r, text));
        format!("{settings}local v=cjson.decode({text}) return v,pcall(cjson.encode,v)")
    }
}

fn msgpack_bytes(r: &mut Rng, depth: usize, out: &mut Vec<u8>) {
    match r.below(if depth > 4 { 8 } else { 12 }) {
        0 => out.push(r.below(256) as u8),
        1 => out.push(r.below(128) as u8),
        2 | 3 => {
            let (tag, n) = r.pick(&[
                (0xcc, 1),
                (0xcd, 2),
                (0xce, 4),
                (0xcf, 8),
                (0xd0, 1),
                (0xd1, 2),
                (0xd2, 4),
                (0xd3, 8),
                (0xca, 4),
                (0xcb, 8),
            ]);
            out.push(tag);
            // NaNs are left out: their sign and payload are the processor's affair.
            out.extend((0..n).map(|i| if tag <= 0xcb && i == 0 { 0x3f } else { r.below(256) as u8 }));
        }
        4 | 5 => {
            let n = r.below(6);
            out.push(0xa0 | n as u8);
            out.extend(bytes_of(r, b"abc\0\xff", 0).into_iter().chain((0..n).map(|i| b'a' + i as u8)));
        }
        6 => out.extend_from_slice(&[0xd9, 3, b'x', b'y', b'z']),
        7 => out.push(r.pick(&[0xc0, 0xc2, 0xc3, 0xc1])),
        8 | 9 => {
            let n = r.below(5);
            if r.one_in(4) {
                out.extend_from_slice(&[0xdc, 0, n as u8])
            } else {
                out.push(0x90 | n as u8)
            }
            (0..n).for_each(|_| msgpack_bytes(r, depth + 1, out));
        }
        _ => {
            let n = r.below(4);
            if r.one_in(4) {
                out.extend_from_slice(&[0xde, 0, n as u8])
            } else {
                out.push(0x80 | n as u8)
            }
            for _ in 0..n {
                // Tables as keys would be ordered by address.
                match r.below(3) {
                    0 => out.push(r.below(20) as u8),
                    1 => out.extend_from_slice(&[0xa1, b'a' + r.below(5) as u8]),
                    _ => out.push(r.pick(&[0xc2, 0xc3, 0xff, 0xc0])),
                }
                msgpack_bytes(r, depth + 1, out);
            }
        }
    }
}

fn cmsgpack_call(r: &mut Rng) -> String {
    match r.below(5) {
        0 | 1 => {
            let args: Vec<String> = (0..r.below(4)).map(|_| data(r, 0)).collect();
            let call = format!("cmsgpack.pack({})", args.join(","));
            if r.one_in(2) { format!("return {call}") } else { format!("return cmsgpack.unpack({call})") }
        }
        n => {
            let mut bytes = Vec::new();
            (0..r.below(3) + 1).for_each(|_| msgpack_bytes(r, 0, &mut bytes));
            if r.one_in(4) {
                let at = r.below(bytes.len() + 1);
                bytes.truncate(at);
            }
            let text = quoted(&bytes);
            match n {
                2 => format!("return cmsgpack.unpack({text})"),
                3 => format!(
                    "return cmsgpack.unpack_one({text},{})",
                    if r.one_in(8) { number(r) } else { r.below(8).to_string() }
                ),
                _ => format!("return cmsgpack.unpack_limit({text},{},{})", r.range(-1, 5), r.range(-1, 8)),
            }
        }
    }
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

/// A call of a library function. Those that only Redis has are left out on request.
pub fn call(r: &mut Rng, redis: bool) -> String {
    match r.below(if redis { 16 } else { 9 }) {
        0..=2 => string_call(r),
        3 | 4 => format_call(r),
        5..=8 => base_call(r),
        9 => bit_call(r),
        10 | 11 => struct_call(r),
        12 | 13 => cjson_call(r),
        _ => cmsgpack_call(r),
    }
}

/// A small program: its statements, one by one, so that a failing one can be shortened.
pub struct Program {
    r: Rng,
    functions: usize,
    loops: usize,
}

const VARS: &[&str] = &["a", "b", "c", "d", "t", "u"];
const FIELDS: &[&str] = &["x", "y", "z", "n", "name"];

impl Program {
    /// Statements of a program made from a seed.
    pub fn new(seed: u64) -> Vec<String> {
        let mut p = Program { r: Rng::new(seed), functions: 0, loops: 0 };
        let mut out = vec!["local a,b,c,d,t,u=1,'x',nil,2.5,{},{3,1,2}".to_owned()];
        for _ in 0..p.r.below(9) + 2 {
            out.push(p.statement(0));
        }
        out.push("do return a,b,c,d,t,u end".to_owned());
        out
    }

    fn var(&mut self) -> &'static str {
        self.r.pick(VARS)
    }

    fn place(&mut self, depth: usize) -> String {
        match self.r.below(8) {
            0 | 1 => format!("{}.{}", if self.r.one_in(4) { self.var() } else { "t" }, self.r.pick(FIELDS)),
            2 => format!("{}[{}]", if self.r.one_in(4) { self.var() } else { "t" }, self.key(depth)),
            3 => format!("u[{}]", self.r.range(-1, 8)),
            _ => self.var().into(),
        }
    }

    /// An expression that is never a table, so that it may be a key.
    fn key(&mut self, depth: usize) -> String {
        match self.r.below(6) {
            0 => format!("'{}'", self.r.pick(FIELDS)),
            1 | 2 => self.r.range(-2, 12).to_string(),
            3 => (self.r.pick(&["true", "0.5", "'1'", "2^53", "-0", "1e3"])).into(),
            4 => format!("tostring({})=='1'", self.expr(depth + 1)),
            _ => "#u".into(),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth > 3 {
            return match self.r.below(4) {
                0 => self.r.range(-3, 9).to_string(),
                1 => format!("'{}'", self.r.pick(FIELDS)),
                _ => self.var().into(),
            };
        }
        let d = depth + 1;
        match self.r.below(30) {
            0..=3 => self.r.range(-5, 20).to_string(),
            4 => number(&mut self.r),
            5 => string(&mut self.r),
            6..=9 => self.var().into(),
            10 | 11 => self.place(d),
            12..=15 => {
                let op = self.r.pick(&["+", "-", "*", "/", "%", "^"]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            16 => {
                let op = self.r.pick(&["==", "~=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            17 | 18 => {
                let op = self.r.pick(&["and", "or"]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            19 => format!("(tostring({})..{})", self.var(), self.expr(d)),
            20 => format!("({} .. {})", self.expr(d), self.expr(d)),
            21 => format!("{}{}", self.r.pick(&["not ", "-", "#"]), self.expr(d)),
            22 => {
                let items: Vec<String> = (0..self.r.below(4)).map(|_| self.expr(d)).collect();
                format!("{{{}}}", items.join(","))
            }
            23 => format!("{{{}={},[{}]={}}}", self.r.pick(FIELDS), self.expr(d), self.key(d), self.expr(d)),
            24 => {
                let f = self.r.pick(&[
                    "type",
                    "tostring",
                    "tonumber",
                    "math.floor",
                    "string.len",
                    "string.upper",
                    "unpack",
                    "next",
                    "math.abs",
                ]);
                format!("{f}({})", if f == "tostring" { self.var().into() } else { self.expr(d) })
            }
            25 => format!("string.{}", &call_text(&mut self.r)),
            26 => format!(
                "(function(...) local a,b=... return {} end)({},{})",
                self.expr(d),
                self.expr(d),
                self.expr(d)
            ),
            27 if self.functions > 0 => {
                let n = self.r.below(self.functions);
                format!("f{n}({},{})", self.expr(d), self.expr(d))
            }
            28 => {
                format!("select({},{},{})", self.r.pick(&["'#'", "1", "-1", "2"]), self.expr(d), self.expr(d))
            }
            _ => format!("pcall(function() return {} end)", self.expr(d)),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let n = self.r.below(3) + 1;
        (0..n).map(|_| self.statement(depth)).collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, depth: usize) -> String {
        let d = depth + 1;
        if depth > 3 {
            return format!("{}={}", self.var(), self.expr(2));
        }
        match self.r.below(24) {
            0..=5 => format!("{}={}", self.place(1), self.expr(0)),
            6 => format!("{},{}={},{}", self.place(1), self.place(1), self.expr(1), self.expr(1)),
            7 | 8 => format!("if {} then {} else {} end", self.expr(1), self.block(d), self.block(d)),
            9 => format!("for i={},{} do {} end", self.r.range(-2, 3), self.r.range(-2, 6), self.block(d)),
            10 => {
                let step = self.r.pick(&["1", "-1", "0.5", "2", "-2"]);
                format!(
                    "for i={},{},{step} do a=i {} end",
                    self.r.range(-2, 6),
                    self.r.range(-2, 6),
                    self.block(d)
                )
            }
            11 => format!("for k,v in pairs(t) do b=tostring(k)..'|'..type(v) end"),
            12 => format!("for k,v in ipairs(u) do {} if k>20 then break end end", self.block(d)),
            13 => {
                self.loops += 1;
                let n = self.loops;
                format!("local w{n}=0 while w{n}<{} do w{n}=w{n}+1 {} end", self.r.below(5), self.block(d))
            }
            14 => {
                self.loops += 1;
                let n = self.loops;
                format!("local w{n}=0 repeat w{n}=w{n}+1 {} until w{n}>3 or {}", self.block(d), self.expr(2))
            }
            15 if depth == 0 => {
                let n = self.functions;
                let text = format!(
                    "local function f{n}(a,...) local b=... {} do return {},{} end end",
                    self.block(2),
                    self.expr(1),
                    self.expr(2)
                );
                self.functions += 1;
                text
            }
            16 => format!("table.insert({},{})", self.r.pick(&["u", "t"]), self.expr(1)),
            17 => format!("c=table.remove({})", self.r.pick(&["u", "t"])),
            18 => format!("{}=select('#',pcall(function() {} end))", self.var(), self.block(d)),
            19 => format!("c,d=pcall(function() {} error({}) end)", self.block(d), self.expr(1)),
            20 => {
                let event = self.r.pick(&[
                    "__index",
                    "__newindex",
                    "__add",
                    "__concat",
                    "__call",
                    "__lt",
                    "__le",
                    "__eq",
                    "__unm",
                    "__len",
                    "__tostring",
                    "__mod",
                ]);
                format!("setmetatable(t,{{{event}=function(x,y) return {} end}})", self.expr(2))
            }
            21 => format!(
                "c=coroutine.wrap(function(...) local x=coroutine.yield({}) do return x,{} end end) d=c({}) d=c({})",
                self.expr(2),
                self.expr(2),
                self.expr(2),
                self.expr(2)
            ),
            22 => "pcall(table.sort,u)".into(),
            _ => format!("do local {}={} {} end", self.var(), self.expr(1), self.block(d)),
        }
    }
}

/// A call of a string function without its library's name.
fn call_text(r: &mut Rng) -> String {
    loop {
        let text = string_call(r);
        if let Some(text) = text.strip_prefix("return string.") {
            return text.to_owned();
        }
    }
}
