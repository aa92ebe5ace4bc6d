//! Faults that others of this family had, each tried here: SECURITY.md names these tests.

mod support;

use support::Bench;
use totality_engine::Ticker;
use totality_engine::engine::Heard;

/// What `EVAL script 0 args…` answers.
fn eval(b: &mut Bench, script: &str, args: &[&str]) -> String {
    let argv: Vec<&str> = ["EVAL", script, "0"].iter().chain(args).copied().collect();
    b.run(&argv)
}

/// The script ends with an error of Lua's, and the server goes on.
#[track_caller]
fn fails(b: &mut Bench, script: &str, with: &str) {
    let answer = eval(b, script, &[]);
    assert!(answer.starts_with('-') && answer.contains(with), "{script}: {answer}");
    works(b);
}

/// The script answers this.
#[track_caller]
fn gives(b: &mut Bench, script: &str, answer: &str) {
    assert_eq!(eval(b, script, &[]), answer, "{script}");
    works(b);
}

#[track_caller]
fn works(b: &mut Bench) {
    let script = "local t = {} for i = 1, 10 do t[i] = redis.sha1hex(i) end return #table.concat(t)";
    assert_eq!(eval(b, script, &[]), ":400\r\n");
}

/// Bytecode that a script made or changed could reach outside of the interpreter.
#[test]
fn cve_2015_4335_no_bytecode_is_loaded() {
    let mut b = Bench::new();
    gives(
        &mut b,
        "local f = loadstring(string.dump(function() return 1 end)) return f == nil and 'refused'",
        "$7\r\nrefused\r\n",
    );
    gives(&mut b, "return loadstring('\\27Lua' .. ('x'):rep(100)) == nil and 'refused'", "$7\r\nrefused\r\n");
    gives(
        &mut b,
        "local done = false
         local f = load(function() if not done then done = true return string.dump(function() end) end end)
         return f == nil and 'refused'",
        "$7\r\nrefused\r\n",
    );
    // As the text of a script, too.
    let dumped = "\u{1b}LuaQ\u{0}\u{1}\u{4}\u{8}\u{4}\u{8}\u{0}";
    assert!(b.run(&["EVAL", dumped, "0"]).starts_with("-ERR Error compiling script"));
    assert!(b.run(&["SCRIPT", "LOAD", dumped]).starts_with("-ERR Error compiling script"));
    works(&mut b);
}

/// Sizes of `struct` formats wrapped around.
#[test]
fn cve_2015_8080_and_2020_14147_sizes_of_struct_do_not_overflow() {
    let mut b = Bench::new();
    for size in [
        "2147483648",
        "4294967296",
        "4294967297",
        "9999999999",
        "18446744073709551617",
        "99999999999999999999999",
    ] {
        fails(&mut b, &format!("return struct.pack('>I{size}', 10)"), "integral size overflow");
        fails(&mut b, &format!("return struct.unpack('<i{size}', 'abcdefgh')"), "integral size overflow");
    }
    fails(&mut b, "return struct.pack('>I33', 10)", "integral size 33 is larger than limit of 32");
    fails(&mut b, "return struct.pack('!3i4', 10)", "alignment 3 is not a power of 2");
}

/// Offsets and lengths of `struct.unpack` reached beyond the string.
#[test]
fn cve_2018_11219_struct_stays_within_its_string() {
    let mut b = Bench::new();
    for at in ["2147483647", "4294967296", "9007199254740992", "1e300"] {
        fails(&mut b, &format!("return struct.unpack('i4', 'abcd', {at})"), "data string too short");
    }
    fails(&mut b, "return struct.unpack('c2147483647', 'abcd')", "data string too short");
    fails(&mut b, "return struct.unpack('i4c0', struct.pack('i4', -1) .. 'x')", "");
    fails(&mut b, "return struct.unpack('c0', 'abcd')", "");
    fails(&mut b, "return struct.unpack('i4', 'abcd', 0)", "");
    gives(&mut b, "return {struct.unpack('>I2c0', '\\0\\3abcdef')}", "*2\r\n$3\r\nabc\r\n:6\r\n");
}

/// Deep and broken MessagePack overflowed the stack.
#[test]
fn cve_2018_11218_cmsgpack_is_bounded() {
    let mut b = Bench::new();
    let answer = eval(
        &mut b,
        "return #cmsgpack.pack((function() local t = {} for i = 1, 100000 do t = {t} end return t end)())",
        &[],
    );
    assert!(answer.starts_with(':') || answer.starts_with('-'), "{answer}");
    // 100,000 arrays in each other, maps of arrays, sizes that nothing follows.
    for bytes in [
        "('\\145'):rep(100000)",
        "('\\129\\1'):rep(100000)",
        "'\\221\\255\\255\\255\\255'",
        "'\\223\\255\\255\\255\\255\\1'",
        "'\\219\\255\\255\\255\\255x'",
        "'\\198\\127\\255\\255\\255'",
    ] {
        fails(&mut b, &format!("return type(cmsgpack.unpack({bytes}))"), "");
    }
    fails(&mut b, "return cmsgpack.unpack_limit('\\1\\2\\3', 2147483648, -1)", "");
    fails(&mut b, "return cmsgpack.unpack_one('\\1\\2', 1e15)", "");
    gives(&mut b, "return {cmsgpack.unpack(cmsgpack.pack(1, 'x'))}", "*2\r\n:1\r\n$1\r\nx\r\n");
}

/// Values that libraries push onto Lua's stack were not counted.
#[test]
fn cve_2021_32626_the_stack_of_a_script_is_bounded() {
    let mut b = Bench::new();
    fails(&mut b, "local function f(...) return (f(1, ...)) end return f()", "");
    fails(&mut b, "return unpack({}, 1, 10000000)", "too many results to unpack");
    fails(&mut b, "return select('#', string.byte(('x'):rep(10000000), 1, -1))", "string slice too long");
    fails(
        &mut b,
        "return cjson.encode((function() local t = {} for i = 1, 2000 do t = {t} end return t end)())",
        "",
    );
    fails(&mut b, "return cjson.decode(('['):rep(2000) .. (']'):rep(2000))", "");
    // A reply as deep as the protocol has them comes back through the bridge in both directions.
    let deep = "local t = {} for i = 1, 100000 do t = {t} end return t";
    let answer = eval(&mut b, deep, &[]);
    assert!(answer.ends_with("*1\r\n-ERR reached lua stack limit\r\n"));
    fails(&mut b, "return redis.call('mset', unpack({}, 1, 100000))", "");
    gives(&mut b, "return select('#', cmsgpack.unpack(('\\1'):rep(5000)))", ":5000\r\n");
}

/// A client of the debugger who sends what it likes.
struct Talker {
    sends: Vec<Vec<u8>>,
    heard: Vec<u8>,
}

impl Ticker for Talker {
    fn may_debug(&mut self, _copy: bool) -> Result<(), &'static str> {
        Ok(())
    }

    fn say(&mut self, bytes: &[u8]) -> bool {
        self.heard.extend_from_slice(bytes);
        true
    }

    fn hear(&mut self, input: &mut Vec<u8>) -> Heard {
        let Some(bytes) = self.sends.pop() else { return Heard::Gone };
        input.extend_from_slice(&bytes);
        Heard::Bytes
    }
}

/// The protocol of the debugger was read beyond its buffer.
#[test]
fn cve_2021_32672_the_debugger_stays_within_what_it_was_sent() {
    let mut b = Bench::new();
    let whole = "*2\r\n$5\r\nprint\r\n$1\r\nx\r\n";
    let mut tries: Vec<String> = (0..=whole.len()).map(|end| whole[..end].to_owned()).collect();
    for number in [
        "",
        "0",
        "-1",
        "1",
        "2147483647",
        "2147483648",
        "4294967295",
        "9223372036854775807",
        "99999999999999999999",
        "x",
    ] {
        tries.push(format!("*{number}\r\n$4\r\nnext\r\n"));
        tries.push(format!("*1\r\n${number}\r\nnext\r\n"));
        tries.push(format!("*2\r\n$5\r\nbreak\r\n${number}\r\n"));
        tries.push(format!("*2\r\n$5\r\nbreak\r\n${}\r\n{number}\r\n", number.len()));
        tries.push(format!("*2\r\n$4\r\nlist\r\n${}\r\n{number}\r\n", number.len()));
        tries.push(format!("*2\r\n$6\r\nmaxlen\r\n${}\r\n{number}\r\n", number.len()));
    }
    tries.extend(["*", "*\r", "*1", "*1\r\n$", "\r\n\r\n", "$4\r\nnext\r\n"].map(str::to_owned));
    tries.push("*1\r\n".repeat(10_000));
    for text in tries {
        // At once, and in two parts.
        for parts in [
            vec![text.as_bytes().to_vec()],
            vec![text.as_bytes()[text.len() / 2..].to_vec(), text.as_bytes()[..text.len() / 2].to_vec()],
        ] {
            let mut talker = Talker { sends: parts, heard: Vec::new() };
            for argv in [&[&b"SCRIPT"[..], b"DEBUG", b"SYNC"][..], &[b"EVAL", b"local x = 1\nreturn x", b"0"]]
            {
                let mut out = Vec::new();
                b.engine.wake();
                b.engine.execute(b.client, argv, &mut out, &mut talker);
            }
            let after = b.engine.connect(Default::default());
            b.client = after;
            works(&mut b);
        }
    }
}

/// A library that a script changed ran with the rights of the next caller.
#[test]
fn cve_2022_24735_and_2025_46818_nothing_is_left_behind_for_the_next_caller() {
    let mut b = Bench::new();
    let tables = "{_G, redis, string, table, math, bit, cjson, cmsgpack, struct, os, getmetatable('')}";
    let tries = format!(
        "local left = {{}}
         for i, t in ipairs({tables}) do
           if pcall(function() t.hidden = 1 end) then left[#left + 1] = 'set ' .. i end
           if pcall(rawset, t, 'hidden', 1) then left[#left + 1] = 'rawset ' .. i end
           if pcall(setmetatable, t, {{}}) then left[#left + 1] = 'setmetatable ' .. i end
           for k, v in pairs(t) do
             if pcall(function() t[k] = print end) then left[#left + 1] = 'change ' .. tostring(k) end
           end
         end
         return left"
    );
    gives(&mut b, &tries, "*0\r\n");
    for changes in [
        "getmetatable('').__index = function() return redis.call('flushall') end",
        "getmetatable('').__add = function() return redis.call('flushall') end",
        "string.rep = nil",
        "table.insert = function() end",
        "redis.call = nil",
        "_G.tostring = nil",
        "setmetatable(_G, nil)",
        "getmetatable(_G).__index = nil",
        "local g = getfenv(tostring) g.tostring = nil",
    ] {
        let answer = eval(&mut b, &format!("{changes} return 'done'"), &[]);
        assert!(answer.starts_with('-'), "{changes}: {answer}");
    }
    // Metatables of the other types have nothing that could be changed.
    gives(
        &mut b,
        "local n = 0 for _, v in ipairs{1, true, tostring} do if getmetatable(v) ~= nil then n = n + 1 end end
         return n + (getmetatable(nil) == nil and 0 or 1)",
        ":0\r\n",
    );
    gives(
        &mut b,
        "return {('x'):rep(3), tostring(1), #redis.sha1hex('')}",
        "*3\r\n$3\r\nxxx\r\n$1\r\n1\r\n:40\r\n",
    );
}

/// A text that closed the function around it crashed the server.
#[test]
fn cve_2022_24736_a_script_cannot_close_what_is_around_it() {
    let mut b = Bench::new();
    for text in
        ["end", "end function f()", "return 1 end function g() return 2", "end do", ")", "\0", "return \0 1"]
    {
        for command in [&["EVAL", text, "0"][..], &["SCRIPT", "LOAD", text]] {
            let answer = b.run(command);
            assert!(answer.starts_with("-ERR Error compiling script (new function)"), "{text:?}: {answer}");
        }
    }
    works(&mut b);
}

/// Debian's package left the way to the system open.
#[test]
fn cve_2022_0543_nothing_leads_out_of_the_sandbox() {
    let mut b = Bench::new();
    gives(
        &mut b,
        "local found = {}
         for _, name in ipairs{'package', 'require', 'module', 'io', 'debug', 'dofile', 'loadfile', 'ffi', 'jit', 'print', 'newproxy'} do
           if rawget(_G, name) ~= nil then found[#found + 1] = name end
         end
         return found",
        "*0\r\n",
    );
    gives(
        &mut b,
        "local n = {} for name in pairs(os) do n[#n + 1] = name end return n",
        "*1\r\n$5\r\nclock\r\n",
    );
}

/// `bit.tohex` with the smallest number as its width wrote beyond its buffer.
#[test]
fn cve_2024_31449_bit_tohex_is_bounded() {
    let mut b = Bench::new();
    gives(&mut b, "return bit.tohex(65535, -2147483648)", "$8\r\n0000FFFF\r\n");
    gives(&mut b, "return bit.tohex(65535, 2147483647)", "$8\r\n0000ffff\r\n");
    gives(&mut b, "return bit.tohex(65535, -4294967296)", "$0\r\n\r\n");
}

/// The collector freed what was still in use: scripts that end in the middle of things, and their successors.
#[test]
fn cve_2024_46981_and_2025_49844_nothing_is_freed_while_it_is_used() {
    let mut b = Bench::new();
    let nest = "
        local kept = {}
        for i = 1, 200 do
          local name = ('n'):rep(i) .. i
          local f = assert(loadstring('local a = \"' .. name .. '\" return function() return a end', name))
          kept[i] = f()
          local co = coroutine.create(function() coroutine.yield(name) error({name}) end)
          coroutine.resume(co)
          if i % 10 == 0 then collectgarbage() collectgarbage('step', 100) pcall(coroutine.resume, co) end
        end
        for i = 1, 200 do assert(kept[i]() == ('n'):rep(i) .. i) end
        return #kept";
    for _ in 0..5 {
        gives(&mut b, nest, ":200\r\n");
        assert_eq!(b.line("SCRIPT FLUSH"), "+OK\r\n");
    }
    // While a text is parsed its own name is all that holds it.
    let parse = "
        local big = {} for i = 1, 2000 do big[i] = 'local v' .. i .. ' = \"s' .. i .. '\" do local x = v' .. i .. ' end' end
        local text = 'do ' .. table.concat(big, ' end do ') .. ' end return 7'
        local sum = 0
        for i = 1, 5 do
          local f = assert(loadstring(text, ('chunk'):rep(1000) .. i))
          collectgarbage()
          sum = sum + f()
        end
        return sum";
    gives(&mut b, parse, ":35\r\n");
    fails(
        &mut b,
        "local m = setmetatable({}, {__mode = 'k', __gc = function() error('x') end}) m = nil collectgarbage() error('done')",
        "done",
    );
}

/// Bounds of `unpack` wrapped around.
#[test]
fn cve_2025_46817_bounds_of_unpack_do_not_overflow() {
    let mut b = Bench::new();
    for bounds in [
        "0, 2147483647",
        "-2147483648, 2147483647",
        "-2147483647, 0",
        "1, 4294967297",
        "1, 1e300",
        "-1e300, 1e300",
        "2147483647, 9007199254740992",
    ] {
        let answer = eval(&mut b, &format!("return {{unpack({{1, 2, 3}}, {bounds})}}"), &[]);
        assert!(
            answer.starts_with("*") || answer.contains("too many results to unpack"),
            "{bounds}: {answer}"
        );
        works(&mut b);
    }
    fails(&mut b, "return table.concat({}, 'x', 1, 2147483647)", "invalid value");
    fails(&mut b, "return table.concat({1}, 'x', -2147483648, 2147483647)", "invalid value");
    fails(&mut b, "return ('x'):rep(1e10)", "");
}

/// Long brackets with many `=` were read beyond the text.
#[test]
fn cve_2025_46819_long_brackets_end_with_the_text() {
    let mut b = Bench::new();
    for open in ["[", "[=", "[==", "--[==[", "[=====[", "--[", "--[=", "[=]", "[==x"] {
        for many in [1, 1000, 100_000] {
            let text = format!("return {open}{}", "=".repeat(many));
            for script in [text.clone(), format!("{text}["), format!("{text}[x")] {
                let answer = b.run(&["EVAL", &script, "0"]);
                let comment = open.starts_with("--");
                assert!(
                    comment || answer.starts_with("-ERR Error compiling script"),
                    "{open} {many}: {answer}"
                );
            }
        }
    }
    let level = "=".repeat(70_000);
    gives(&mut b, &format!("return #[{level}[abc]{level}]"), ":3\r\n");
}

/// An error text of a script became a second reply.
#[test]
fn cve_2025_67733_errors_of_scripts_are_one_line() {
    let mut b = Bench::new();
    for script in [
        "return redis.error_reply('a\\r\\n+INJECTED\\r\\nb')",
        "return {err = 'a\\r\\n+INJECTED'}",
        "error('a\\r\\n+INJECTED')",
        "error({err = 'a\\n+INJECTED'})",
        "return redis.error_reply('a\\0b\\r\\n+INJECTED')",
        "return redis.status_reply('a\\r\\n+INJECTED')",
        "return {ok = 'a\\r\\n:1'}",
        "return redis.call('a\\r\\n+INJECTED')",
    ] {
        let answer = eval(&mut b, script, &[]);
        assert!(answer.ends_with("\r\n"), "{script}: {answer:?}");
        let line = &answer[..answer.len() - 2];
        assert!(!line.contains('\r') && !line.contains('\n'), "{script}: {answer:?}");
    }
}

/// COMMAND GETKEYS, and whoever asks for keys, wrote beyond a buffer; a key was overlooked.
#[test]
fn cve_2023_36824_and_2023_41053_keys_are_found_for_any_arguments() {
    let mut b = Bench::new();
    b.line("ACL SETUSER u on nopass +@all ~k");
    let numbers = [
        "0",
        "1",
        "-1",
        "2147483647",
        "2147483648",
        "4294967295",
        "9223372036854775807",
        "-9223372036854775808",
        "x",
        "",
    ];
    for name in [
        "EVAL",
        "FCALL",
        "ZUNION",
        "ZUNIONSTORE",
        "SINTERCARD",
        "LMPOP",
        "BLMPOP",
        "ZMPOP",
        "XREAD",
        "MIGRATE",
        "SORT",
        "GEORADIUS",
        "MEMORY",
    ] {
        for first in numbers {
            for second in numbers {
                for argv in [
                    vec![name, first, second],
                    vec![name, first, second, "o"],
                    vec![name, "s", first, "o", second],
                ] {
                    let asked: Vec<&str> =
                        ["COMMAND", "GETKEYSANDFLAGS"].iter().chain(&argv).copied().collect();
                    assert!(b.run(&asked).ends_with("\r\n"));
                    let words: Vec<String> = argv.iter().map(|word| format!("'{word}'")).collect();
                    let answer = eval(
                        &mut b,
                        &format!("return redis.acl_check_cmd({}) and 1 or 0", words.join(",")),
                        &[],
                    );
                    assert!(answer.starts_with(':') || answer.starts_with('-'), "{answer}");
                }
            }
        }
    }
    assert_eq!(
        b.line("ACL DRYRUN u SORT_RO o"),
        "$58\r\nUser u has no permissions to access the 'o' key\r\n".replace("58", "47")
    );
    works(&mut b);
}

/// Rules that make no sense crashed the server, at once or when they were shown.
#[test]
fn cve_2024_31227_and_2024_51741_rules_are_taken_or_refused() {
    let mut b = Bench::new();
    let pieces = [
        "",
        "%",
        "%R",
        "%~",
        "%RW~",
        "%W",
        "~",
        "&",
        "+",
        "-",
        "@",
        "+@",
        "-@",
        "|",
        "+|",
        "+config|",
        "+|get",
        "+get|x",
        "+select|",
        "(",
        ")",
        "()",
        "((",
        "(+get",
        "+get)",
        "(~k +get)",
        "#",
        "<",
        "!",
        ">",
        "db=",
        "db=,",
        "db=0,",
        "run:",
        "run:x",
        "resetrun",
        "*",
        "=",
        "\0",
    ];
    for one in pieces {
        for two in pieces {
            for rules in [vec![one], vec![one, two], vec!["on", one, two, "+@all"]] {
                let argv: Vec<&str> = ["ACL", "SETUSER", "u"].iter().chain(&rules).copied().collect();
                let answer = b.run(&argv);
                assert!(answer == "+OK\r\n" || answer.starts_with("-ERR "), "{rules:?}: {answer}");
                assert!(b.line("ACL LIST").starts_with('*'));
                assert!(b.line("ACL GETUSER u").starts_with(['*', '$', '_']));
                b.line("ACL DRYRUN u GET k");
            }
        }
        b.line("ACL DELUSER u");
    }
}

/// Patterns took time beyond any bound.
#[test]
fn cve_2024_31228_patterns_are_bounded() {
    let mut b = Bench::new();
    b.line("ACL SETUSER u on nopass +@all");
    let (pattern, key) = ("*a".repeat(50_000), "a".repeat(100_000));
    assert_eq!(b.run(&["ACL", "SETUSER", "u", &format!("~{pattern}b")]), "+OK\r\n");
    assert!(b.run(&["ACL", "DRYRUN", "u", "GET", &key]).contains("no permissions"));
    b.run(&["SET", &key, "v"]);
    assert_eq!(b.run(&["KEYS", &format!("{pattern}b")]), "*0\r\n");
    // A pattern without a bound of stars is slower than this by far.
    assert_eq!(b.run(&["KEYS", &("*?".repeat(900) + "b")]), "*0\r\n");
}

/// HyperLogLogs whose runs went beyond their registers.
#[test]
fn cve_2025_32023_runs_of_a_hyperloglog_stay_within_it() {
    let mut b = Bench::new();
    let mut sparse = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    sparse.extend_from_slice(&[0x7f, 0xff].repeat(40_000));
    sparse.extend_from_slice(&[0x80, 0xfb]);
    b.run(&[&b"SET"[..], b"h", &sparse]);
    for line in [
        "PFADD h x",
        "PFCOUNT h h",
        "PFMERGE d h",
        "PFDEBUG GETREG h",
        "PFDEBUG TODENSE h",
        "PFDEBUG DECODE h",
    ] {
        let answer = b.line(line);
        // What is wrong with it can be looked at.
        assert!(answer.starts_with('-') || line.contains("DECODE"), "{line}: {answer}");
    }
    works(&mut b);
}

/// XACKDEL with many ids wrote beyond its buffer.
#[test]
fn cve_2025_62507_xackdel_takes_any_number_of_ids() {
    let mut b = Bench::new();
    b.line("XGROUP CREATE s g $ MKSTREAM");
    let ids: Vec<String> = (1..=2000).map(|n| format!("{n}-1")).collect();
    let count = ids.len().to_string();
    let argv: Vec<&str> =
        ["XACKDEL", "s", "g", "IDS", &count].into_iter().chain(ids.iter().map(String::as_str)).collect();
    assert!(b.run(&argv).starts_with("*2000\r\n"));
    works(&mut b);
}

/// A value with a length that wraps around reached beyond its payload.
#[test]
fn cve_2026_25243_restore_refuses_lengths_beyond_the_payload() {
    let mut b = Bench::new();
    b.line("CONFIG SET rdb-version-check relaxed");
    for kind in 0..=30u8 {
        for tail in [
            &b"\x81\xff\xff\xff\xff\xff\xff\xff\xff"[..],
            b"\x80\xff\xff\xff\xff",
            b"\x0c\x01\xfe\xff\xff\xff\xff\x00x\xff",
            b"\x0c\x01\x01k\xfe\xff\xff\xff\xff\x00v\xff",
        ] {
            let mut payload = vec![kind];
            payload.extend_from_slice(tail);
            payload.extend_from_slice(&[11, 0]);
            payload.extend_from_slice(&totality_ds::crc::crc64(0, &payload).to_le_bytes());
            let answer = b.run(&[&b"RESTORE"[..], b"k", b"0", &payload, b"REPLACE"]);
            assert!(answer.starts_with("-ERR"), "{kind} {tail:?}: {answer}");
        }
    }
    works(&mut b);
}

/// The table in SECURITY.md and these tests name each other.
#[test]
fn each_test_is_in_the_security_notes() {
    let notes = include_str!("../../../SECURITY.md");
    let own = include_str!("cves.rs");
    let tests: Vec<&str> =
        own.lines().filter_map(|line| line.strip_prefix("fn cve_")?.split('(').next()).collect();
    assert!(tests.len() >= 20);
    for test in &tests {
        assert!(notes.contains(&format!("`cve_{test}`")), "cve_{test} is not in SECURITY.md");
    }
    for named in notes.split("`cve_").skip(1).filter_map(|rest| rest.split('`').next()) {
        assert!(tests.contains(&named), "SECURITY.md names cve_{named}");
    }
}
