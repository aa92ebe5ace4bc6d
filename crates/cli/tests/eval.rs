//! `totality eval` as a user calls it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn eval(args: &[&str], script: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_totality"))
        .arg("eval")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn keys_and_arguments_are_told_apart_by_a_comma() {
    let out =
        eval(&["-", "k1", "k2", ",", "a", "-1"], "return {KEYS[1], KEYS[2], ARGV[1], ARGV[2], #KEYS, #ARGV}");
    let wanted = "1) \"k1\"\n2) \"k2\"\n3) \"a\"\n4) \"-1\"\n5) (integer) 2\n6) (integer) 2\n";
    assert_eq!((stdout(&out).as_str(), out.status.code()), (wanted, Some(0)));
}

#[test]
fn an_error_goes_to_standard_error_with_code_1() {
    let out = eval(&["-"], "return redis.error_reply('STOCK is short')");
    assert_eq!((stdout(&out).as_str(), out.status.code()), ("", Some(1)));
    assert_eq!(String::from_utf8_lossy(&out.stderr), "(error) STOCK is short\n");
    let out = eval(&["-"], "return (");
    assert_eq!(out.status.code(), Some(1));
    let out = eval(&["no-such-file.lua"], "");
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn json_keeps_types() {
    let script = "redis.setresp(3) redis.call('HSET','h','f','v') return {1, 'x\"', false, {ok='fine'}, redis.call('HGETALL','h')}";
    assert_eq!(stdout(&eval(&["--json", "-"], script)), "[1,\"x\\\"\",false,\"fine\",{\"f\":\"v\"}]\n");
}

#[test]
fn lines_of_redis_log_are_shown() {
    let out = eval(&["-"], "redis.log(redis.LOG_WARNING, 'look here') return 1");
    assert_eq!(stdout(&out), "(integer) 1\n");
    assert!(String::from_utf8_lossy(&out.stderr).contains("look here"));
}
