//! Random calls of the libraries that Redis adds: struct, cjson, cmsgpack.

use super::random::{OTHERS, bytes_of, number, pick, quoted, string, value};
use super::rng::Rng;

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

pub fn struct_call(r: &mut Rng) -> String {
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
pub fn table(r: &mut Rng, depth: usize) -> String {
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

pub fn cjson_call(r: &mut Rng) -> String {
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

pub fn cmsgpack_call(r: &mut Rng) -> String {
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
