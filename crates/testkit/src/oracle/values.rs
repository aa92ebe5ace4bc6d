//! Random arguments: mostly ordinary ones from small pools, so that commands meet each other's data, and the edges.

use crate::rng::Rng;

const KEYS: [&[u8]; 8] = [b"a", b"b", b"c", b"d", b"e", b"{t}x", b"key:1", b"\xff\0k\r\n"];
const WORDS: [&[u8]; 10] =
    [b"x", b"hello", b"", b"0", b"foo bar", b"\0\xff", b"a\r\nb", b"3.0e3", b" 1", b"ohmytext"];
const INTS: [&str; 22] = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "abc",
    "",
    "1.5",
    " 1",
    "+1",
    "-0",
    "01",
    "1e3",
    "4294967296",
    "2147483648",
    "-2147483649",
    "536870912",
    "18446744073709551616",
    "0x10",
    "1 ",
    "-",
    "65536",
    "100",
];
const FLOATS: [&str; 28] = [
    "0",
    "1",
    "-1",
    "1.5",
    "-2.25",
    "3.0e3",
    "inf",
    "-inf",
    "+inf",
    "nan",
    "1e308",
    "-1e308",
    "0x10",
    "",
    "abc",
    "1e-5",
    "0.1",
    "3.14159265358979",
    "123456789012345678",
    "1e17",
    "-0",
    "1e400",
    " 1",
    "1 ",
    "5e-324",
    "0.30000000000000004",
    "1e21",
    "9007199254740993",
];

fn text(s: &str) -> Vec<u8> {
    s.as_bytes().to_vec()
}

/// Unix time in seconds that all moments of a run are built around. Far ahead, so nothing expires during a run.
const FUTURE: i64 = 4_000_000_000;

/// A value of a kind; the kinds are documented by the match below.
pub fn make(kind: &str, rng: &mut Rng) -> Vec<u8> {
    match kind {
        // a key
        "k" if rng.one_in(4) => rng.pick(&KEYS).to_vec(),
        "k" => rng.pick(&KEYS[..5]).to_vec(),
        // a string value
        "v" => value(rng),
        // an integer, small or at an edge
        "i" if rng.one_in(4) => text(rng.pick(&INTS)),
        "i" => text(&rng.range(-5, 20).to_string()),
        // a count: small and not negative, rarely otherwise
        "n" if rng.one_in(12) => make("i", rng),
        "n" => text(&rng.range(0, 6).to_string()),
        // a count of keys: nearly always right for `$k $k`
        "two" if rng.one_in(15) => make("i", rng),
        "two" => text("2"),
        // an index into a list or string
        "idx" if rng.one_in(12) => make("i", rng),
        "idx" => text(&rng.range(-8, 8).to_string()),
        // a floating point number
        "f" if rng.one_in(2) => text(rng.pick(&FLOATS)),
        "f" => text(&rng.range(-4, 9).to_string()),
        // a time to live in seconds and in milliseconds: never short enough to run out during a test
        "sec" if rng.one_in(6) => text(rng.pick(&[
            "0",
            "-1",
            "abc",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775",
            "1.5",
            "",
        ])),
        "sec" => text(&(rng.range(1, 9) * 1000).to_string()),
        "ms" if rng.one_in(6) => text(rng.pick(&[
            "0",
            "-1",
            "abc",
            "9223372036854775807",
            "-9223372036854775808",
            "9223370000000000000",
            "",
        ])),
        "ms" => text(&(rng.range(1, 9) * 1_000_000).to_string()),
        // a moment in seconds and in milliseconds: far ahead or past
        "at" if rng.one_in(6) => text(rng.pick(&["0", "-1", "9223372036854775807", "x"])),
        "at" => text(&(FUTURE + rng.range(0, 3) * 1000).to_string()),
        "atms" if rng.one_in(6) => text(rng.pick(&["0", "-1", "9223372036854775807", "x"])),
        "atms" => text(&((FUTURE + rng.range(0, 3) * 1000) * 1000).to_string()),
        // the same, or past (what SET makes of a past moment differs between servers)
        "past" if rng.one_in(6) => text("1"),
        "past" => make("at", rng),
        "pastms" if rng.one_in(6) => text("1"),
        "pastms" => make("atms", rng),
        // a member or field
        "e" => member(rng),
        // an integer member, for intsets
        "ie" => text(
            &if rng.one_in(10) { rng.range(-100_000_000_000, 100_000_000_000) } else { rng.range(-10, 40) }
                .to_string(),
        ),
        // bounds of scores, of lexicographic ranges
        "score" => bound(
            rng,
            &["-inf", "+inf", "(1", "(3", "1", "2", "5", "(-inf", "nan", "(x", "", "inf", "0", "1.5", "(1.5"],
        ),
        "lex" => bound(rng, &["-", "+", "[a", "(a", "[m3", "(m5", "[", "(", "x", "[zz", "[m1", "(m9"]),
        // a cursor that is none: which element a real one stands for is each server's own affair
        "cur" => bound(rng, &["abc", "18446744073709551616", "1.5", "", "0"]),
        // a glob pattern
        "p" => bound(
            rng,
            &["*", "a*", "?", "[a-c]", "[^a]*", "*e*", "\\*", "m[1-5]", "", "key:*", "[", "h?llo", "*x*y*z*"],
        ),
        // bit offsets, bit values, bitfield types
        "bit" if rng.one_in(10) => text(rng.pick(&["4294967296", "-1", "abc", "8589934592"])),
        "bit" => text(&rng.range(0, 90).to_string()),
        "zo" => text(rng.pick(&["0", "1", "0", "1", "2", "x"])),
        "bft" => bound(rng, &["u8", "i8", "u1", "i5", "u63", "i64", "u64", "i65", "x", "u0", "i16", "u4"]),
        "bfo" => bound(rng, &["0", "#1", "7", "#0", "100", "-1", "#-1", "x", "#x", "13"]),
        // a number of elements, as members of big collections
        "many" => text(&rng.range(0, 1000).to_string()),
        // ids of entries: any, those of new ones (mostly greater than all before), bounds of an interval
        "id" => stream_id(rng, 20),
        "newid" => match rng.below(4) {
            0 => text(&format!("{}-*", rng.range(1, 60))),
            _ => stream_id(rng, 60),
        },
        "bound" => match rng.below(6) {
            0 | 1 => text(rng.pick(&["-", "+"])),
            2 => [b"(", &*stream_id(rng, 20)].concat(),
            _ => stream_id(rng, 30),
        },
        // a group of a stream, a consumer
        "grp" => text(rng.pick(&["g", "g", "g", "h"])),
        "who" => text(rng.pick(&["ann", "ann", "bob", ""])),
        // a script
        "lua" => super::script::source(rng),
        other => panic!("template knows no ${other}"),
    }
}

fn bound(rng: &mut Rng, from: &[&str]) -> Vec<u8> {
    text(rng.pick(from))
}

fn value(rng: &mut Rng) -> Vec<u8> {
    match rng.below(10) {
        0..=2 => rng.pick(&WORDS).to_vec(),
        3..=5 => text(&rng.range(-20, 200).to_string()),
        6 => text(rng.pick(&INTS)),
        7 => text(rng.pick(&FLOATS)),
        // around the limits of embedded strings (44) and of compact entries (64)
        8 => vec![b'y'; rng.pick(&[43, 44, 45, 63, 64, 65, 130])],
        _ => member(rng),
    }
}

fn stream_id(rng: &mut Rng, ms: i64) -> Vec<u8> {
    const ODD: [&str; 14] = [
        "0",
        "0-0",
        "0-1",
        "-",
        "+",
        "x",
        "1-",
        "-1",
        "1-x",
        "007-01",
        "18446744073709551615",
        "18446744073709551615-18446744073709551615",
        "18446744073709551616-1",
        "",
    ];
    match rng.below(14) {
        0 => text(rng.pick(&ODD)),
        1..=5 => text(&rng.range(0, ms).to_string()),
        _ => text(&format!("{}-{}", rng.range(0, ms), rng.range(0, 3))),
    }
}

fn member(rng: &mut Rng) -> Vec<u8> {
    match rng.below(14) {
        0 => rng.pick(&WORDS).to_vec(),
        1 => text(&rng.range(-3, 12).to_string()),
        2 if rng.one_in(6) => vec![b'z'; rng.pick(&[64, 65, 200])],
        _ => text(&format!("m{}", rng.below(10))),
    }
}
