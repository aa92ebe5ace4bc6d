//! `totality lua` as a user calls it.

use std::io::Write;
use std::process::{Command, Stdio};

/// Standard output, standard error, exit code.
fn lua(args: &[&str], input: &str) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_totality"))
        .arg("lua")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr), out.status.code())
}

/// What is shown for lines, without the greeting.
fn lines(args: &[&str], input: &str) -> (String, String) {
    let (out, err, code) = lua(&[&["-i"], args].concat(), input);
    assert_eq!(code, Some(0));
    let (greeting, rest) = out.split_once('\n').unwrap();
    assert!(greeting.starts_with("Totality ") && greeting.contains("Lua 5.1"), "{greeting}");
    (rest.to_owned(), err)
}

#[test]
fn a_file_runs_with_its_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.lua");
    std::fs::write(&file, "#!/usr/bin/env lua\nprint('sum', ARGV[1] + ARGV[2])\nio.write(1, 'x\\n')\n")
        .unwrap();
    let (out, err, code) = lua(&[file.to_str().unwrap(), "40", "2"], "");
    assert_eq!((out.as_str(), err.as_str(), code), ("sum\t42\n1x\n", "", Some(0)));
}

#[test]
fn errors_name_the_line_and_show_it() {
    let (out, err, code) = lua(&["-"], "local t = {}\nreturn t.a.b\n");
    assert_eq!((out.as_str(), code), ("", Some(1)));
    let wanted = "totality lua: stdin:2: attempt to index field 'a' (a nil value)\n    2 | return t.a.b\n";
    assert_eq!(err, wanted);
    let (_, err, code) = lua(&["-"], "local a = 1\nlocal b == 2\n");
    let wanted =
        "totality lua: stdin:2: unexpected symbol near '=='\n    2 | local b == 2\n                ^\n";
    assert_eq!((err.as_str(), code), (wanted, Some(1)));
    let (_, err, code) = lua(&["-"], "error({})");
    assert_eq!((err.as_str(), code), ("totality lua: (error object is a table value)\n", Some(1)));
}

#[test]
fn what_cannot_be_read_or_understood_is_code_2() {
    let (_, err, code) = lua(&["no-such-file.lua"], "");
    assert_eq!((err.starts_with("totality lua: no-such-file.lua: "), code), (true, Some(2)));
    assert_eq!(lua(&["--sandbox", "none"], "").2, Some(2));
    assert_eq!(lua(&["--max-memory", "0"], "").2, Some(2));
}

#[test]
fn text_from_the_command_line() {
    let (out, _, code) =
        lua(&["-e", "print(#ARGV, ARGV[2], io.read(), io.read('*n'))", "a", "b"], "line\n7\n");
    assert_eq!((out.as_str(), code), ("2\tb\tline\t7\n", Some(0)));
}

#[test]
fn memory_is_bounded() {
    let (_, err, code) = lua(&["--max-memory", "8", "-e", "local t={} for i=1,1e9 do t[i]={} end"], "");
    assert_eq!((err.as_str(), code), ("totality lua: memory limit exceeded\n", Some(1)));
}

#[test]
fn lines_show_their_values_and_go_on() {
    let input = "1 + 1\n=('x'):rep(3), nil\nx = {\n  1, 2 }\n#x\nfor i = 1, 2 do\nprint(i)\nend\nx..1\n\n\
                 setmetatable({}, {__tostring=function() return 'T!' end})\n(function() end)()\nlocal a 5\n";
    let (out, err) = lines(&[], input);
    assert_eq!(out, "> 2\n> xxx\tnil\n> >> > 2\n> >> >> 1\n2\n> > > T!\n> > > \n");
    assert_eq!(
        err,
        "stdin:1: attempt to concatenate global 'x' (a table value)\n    1 | x..1\n\
         stdin:1: unexpected symbol near '5'\n    1 | local a 5\n                ^\n"
    );
}

#[test]
fn the_last_line_may_be_unfinished() {
    let (out, err) = lines(&[], "print('never'");
    assert_eq!(out, "> >> \n");
    assert_eq!(err, "stdin:1: ')' expected near '<eof>'\n    1 | print('never'\n");
}

#[test]
fn the_redis_sandbox_keeps_its_data_and_refuses_globals() {
    let input = "redis.call('SET', KEYS[1] or 'k', 5)\nredis.call('INCR', 'k')\n={1, 'two', false}\n\
                 local n = redis.call('GET', 'k')\nx = 1\n";
    let (out, err) = lines(&["--sandbox", "redis"], input);
    assert_eq!(out, "> OK\n> (integer) 6\n> 1) (integer) 1\n2) \"two\"\n3) (nil)\n> > > \n");
    assert!(err.starts_with("ERR user_script:1: Attempt to modify a readonly table"), "{err}");
    let (out, _, code) = lua(&["--sandbox", "redis", "-e", "return {#KEYS, ARGV[1]}", "a"], "");
    assert_eq!((out.as_str(), code), ("1) (integer) 0\n2) \"a\"\n", Some(0)));
    let (_, err, code) = lua(&["--sandbox", "redis", "-e", "return nope"], "");
    assert_eq!(code, Some(1));
    assert!(
        err.contains("nonexistent global variable 'nope'") && err.ends_with("    1 | return nope\n"),
        "{err}"
    );
}
