//! `totality trace` as a user calls it.

use std::process::{Command, Output};

fn trace(dir: &std::path::Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_totality")).arg("trace").args(args).current_dir(dir).output().unwrap()
}

#[test]
fn a_script_is_shown_command_by_command() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data.txt"), "# stock\nSET stock:1 5\nSET stock:2 \"2\"\n").unwrap();
    let script = "redis.call('DECRBY', KEYS[1], ARGV[1])\nreturn redis.call('GET', 'stock:2')\n";
    std::fs::write(dir.path().join("take.lua"), script).unwrap();
    let out = trace(dir.path(), &["--setup", "data.txt", "take.lua", "stock:1", ",", "3"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
    for part in [
        "DECRBY stock:1 3  (integer) 2",
        "stock:1  \"5\" -> \"2\"",
        "GET stock:2  \"2\"",
        "stock:2 was not declared in KEYS",
        "result  \"2\"   2 commands",
        "would change, and was taken back:\n  stock:1  \"5\" -> \"2\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains('\x1b'));
    let out =
        trace(dir.path(), &["--color", "always", "--setup", "data.txt", "take.lua", "stock:1", ",", "3"]);
    assert!(String::from_utf8(out.stdout).unwrap().contains("\x1b[36mstock:1\x1b[0m"));
}

#[test]
fn a_failure_is_shown_and_gives_code_1() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.lua"), "redis.call('SET', KEYS[1], 1) redis.call('LPOP', KEYS[1])")
        .unwrap();
    let out = trace(dir.path(), &["bad.lua", "k"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text.contains("LPOP k  (error) WRONGTYPE") && text.contains("result  (error) WRONGTYPE"),
        "{text}"
    );
    assert!(text.contains("k  absent -> \"1\""), "{text}");
    let out = trace(dir.path(), &["no-such.lua"]);
    assert_eq!(out.status.code(), Some(1));
    std::fs::write(dir.path().join("data.txt"), "SET k\n").unwrap();
    let out = trace(dir.path(), &["--setup", "data.txt", "bad.lua", "k"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("setup line 1: ERR wrong number of arguments"));
}
