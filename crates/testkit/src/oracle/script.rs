//! Random scripts: sequences of `redis.call` and `redis.pcall` with what scripts do to replies.

use super::groups::FAMILIES;
use super::template;
use crate::rng::Rng;

/// Replies of these have no order or are drawn at random, so a script could not be compared by its reply.
const UNSTABLE: &[&str] = &[
    "HGETALL",
    "HKEYS",
    "HVALS",
    "SMEMBERS",
    "SINTER",
    "SUNION",
    "SDIFF",
    "KEYS",
    "RANDOMKEY",
    "HRANDFIELD",
    "SRANDMEMBER",
    "ZRANDMEMBER",
    "SPOP",
    "OBJECT",
    "WAIT",
    // These are listed differences outside scripts already.
    "BITCOUNT",
    "BITPOS",
    "GETEX",
    "LREM",
    "LPOS",
    "ZRANK",
    "ZREVRANK",
    "SORT",
    // Not allowed in scripts on 7.0.
    "BLPOP",
    "BLMPOP",
    "BRPOPLPUSH",
];

/// The text of a script.
pub fn source(rng: &mut Rng) -> Vec<u8> {
    let mut out = String::from("local r={} ");
    for i in 1..=1 + rng.below(4) {
        match rng.below(9) {
            0..=4 => out.push_str(&format!("r[{i}]=redis.{} ", call(rng))),
            5 => out.push_str(&format!("redis.{} ", call(rng))),
            6 => out.push_str(&format!(
                "local v=redis.{} r[{i}]=type(v)=='table' and (v.err or v.ok or #v) or v ",
                call(rng)
            )),
            7 => out.push_str(&format!("r[{i}]={} ", expression(rng))),
            _ => out.push_str(&format!("for i=1,{} do r[{i}]=redis.{} end ", rng.below(4), call(rng))),
        }
    }
    // Scores are written differently, which is seen as such in a reply and not in a text.
    let scores = out.contains("('Z") || out.contains("('z");
    out.push_str(match rng.below(8) {
        3 if scores => "return r",
        0 => "return r[1]",
        1 => "return #r",
        2 => "return {1,{r[1]},'x'}",
        3 => "return cjson.encode(r[1]==nil and cjson.null or r[1])",
        _ => "return r",
    });
    out.into_bytes()
}

fn call(rng: &mut Rng) -> String {
    let function = if rng.one_in(3) { "pcall" } else { "call" };
    loop {
        // Strings to zsets: the families before "script" itself.
        let family = &FAMILIES[rng.below(7)];
        let picked = rng.pick(family.commands);
        if UNSTABLE.iter().any(|u| picked.starts_with(u))
            || picked.contains("SCAN")
            || picked.contains("TTL")
            || picked.contains("TIME")
            // Scores with a fraction are written differently, and a script can make anything of the text.
            || (picked.starts_with('Z') && ["$f", "$score"].iter().any(|k| picked.contains(k)))
        {
            continue;
        }
        let mut command = template::expand(picked, rng);
        template::spoil(&mut command, rng);
        // What an argument replaces is not known here, so no script compares times to live.
        if super::undefined(&command) || super::compares_times(&command) {
            continue;
        }
        // A time that an argument replaces might run out during the comparison.
        let timed = ["EX", "PX"].iter().any(|k| picked.contains(k));
        // The same holds for a score among those that ranges by member need equal.
        let fixed = timed || picked.starts_with('Z') && command.get(1).is_some_and(|key| key == b"lex");
        let words: Vec<String> =
            command.iter().enumerate().map(|(i, w)| argument(i, w, fixed, rng)).collect();
        return format!("{function}({})", words.join(","));
    }
}

fn argument(at: usize, word: &[u8], fixed: bool, rng: &mut Rng) -> String {
    match rng.below(24) {
        _ if fixed && at > 1 => lua_string(word),
        0 if at > 0 => "KEYS[1]".into(),
        1 if at > 0 => "ARGV[1]".into(),
        2 if at > 0 => "ARGV[2]".into(),
        3 if at > 1 => rng.pick(&["1.5", "3", "2^53", "1e15", "1e100", "10"]).to_string(),
        4 if at > 1 && rng.one_in(8) => rng.pick(&["nil", "{}", "true"]).to_string(),
        _ => lua_string(word),
    }
}

/// A Lua string literal for any bytes.
fn lua_string(word: &[u8]) -> String {
    let mut out = String::from("'");
    for &b in word {
        match b {
            b' '..=b'~' if b != b'\'' && b != b'\\' => out.push(b as char),
            b => out.push_str(&format!("\\{b:03}")),
        }
    }
    out.push('\'');
    out
}

fn expression(rng: &mut Rng) -> String {
    let fixed = [
        "ARGV[1]..KEYS[2]",
        "#KEYS+#ARGV",
        "tonumber(ARGV[2])",
        "3.99",
        "-3.99",
        "true",
        "false",
        "{ok='fine'}",
        "{err='ERR bad'}",
        "{err='bad'}",
        "redis.sha1hex(ARGV[1])",
        "redis.error_reply('MY error')",
        "redis.error_reply('noerr')",
        "redis.status_reply('GO')",
        "tostring(ARGV[2])",
        "{1,nil,3}",
        "{1,2,{3,{4}}}",
        "cjson.encode({1,2,'x',{a=1}})",
        "cjson.decode('[1,2.5,\"x\",null,{\"a\":[]}]')[2]",
        "2^53",
        "1e300",
        "0/0",
        "string.format('%5.2f|%d|%s|%q',1.234,42,'x','y')",
        "string.rep('ab',3,',')",
        "('hello'):upper()",
        "ARGV[1]:len()",
        "select('#',1,nil,nil)",
        "table.concat({1,2,3},'-')",
        "math.floor(-3.5)",
        "tostring(1e15)",
        "tostring(2^63)",
        "tostring(0.1)",
        "10%3.5",
        "-7%3",
        "bit.band(255,ARGV[2] or 1)",
        "('abc'):find('b',1,true)",
        "string.match('key=val','(%w+)=(%w+)')",
        "tostring(nil)",
        "unpack({7,8})",
        "cmsgpack.unpack(cmsgpack.pack({1,2,3}))[3]",
        "struct.pack('>I2',300)",
        "redis.call('PING')",
        "redis.pcall('NOSUCH')",
        "redis.pcall()",
        "nosuchglobal",
        "redis.nosuch",
        "error('boom')",
        "error({err='E x'})",
        "ARGV[9]",
        "ARGV[1]+1",
        "{}..'x'",
        "#ARGV[1]",
        "KEYS[1]<ARGV[1]",
        "math.huge",
        "-math.huge",
        "tonumber('0x1F')",
        "tonumber('z',36)",
        "string.byte('A')",
    ];
    rng.pick(&fixed).to_string()
}
