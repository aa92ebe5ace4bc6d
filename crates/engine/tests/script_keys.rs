//! `script-undeclared-keys`: what a script may access of keys that its caller did not declare.

mod support;

use support::Bench;
use totality_engine::commands;
use totality_engine::spec::Flags;

fn deny() -> Bench {
    let mut b = Bench::new();
    b.line("CONFIG SET script-undeclared-keys deny");
    b
}

#[test]
fn an_undeclared_key_is_refused_with_its_name_the_command_and_the_line() {
    let mut b = deny();
    let refused = b.run(&["EVAL", "local x = 1\nreturn redis.call('GET', 'other')", "1", "k"]);
    let sha = b
        .run(&["SCRIPT", "LOAD", "local x = 1\nreturn redis.call('GET', 'other')"])
        .split("\r\n")
        .nth(1)
        .unwrap()
        .to_owned();
    assert_eq!(
        refused,
        format!(
            "-ERR Script {sha} accessed undeclared key 'other' by 'get' at user_script:2 script: {sha}, on @user_script:2.\r\n"
        )
    );
    assert_eq!(b.run(&["EVAL", "return redis.call('GET', KEYS[1])", "1", "k"]), "$-1\r\n");
    assert_eq!(b.run(&["EVAL", "return redis.pcall('SET', 'other', 1) and 1", "0"]), ":1\r\n");
    assert_eq!(b.line("EXISTS other"), ":0\r\n");
    assert!(b.line("INFO stats").contains("\r\nundeclared_keys:2\r\n"));
}

#[test]
fn every_kind_of_key_counts() {
    let mut b = deny();
    for call in [
        "'MSET', KEYS[1], 1, 'o', 2",
        "'SUNIONSTORE', 'o', KEYS[1]",
        "'ZUNIONSTORE', KEYS[1], 1, 'o'",
        "'SORT', KEYS[1], 'STORE', 'o'",
        "'SORT', KEYS[1], 'BY', 'w_*'",
        "'SORT_RO', KEYS[1], 'GET', '#', 'GET', 'o_*'",
        "'XREAD', 'STREAMS', KEYS[1], 'o', 0, 0",
        "'LMPOP', 2, KEYS[1], 'o', 'LEFT'",
        "'COPY', KEYS[1], 'o'",
        "'OBJECT', 'ENCODING', 'o'",
        "'MEMORY', 'USAGE', 'o'",
        "'XINFO', 'STREAM', 'o'",
        "'BITOP', 'NOT', 'o', KEYS[1]",
        "'FLUSHALL'",
        "'KEYS', '*'",
        "'SCAN', 0",
        "'RANDOMKEY'",
    ] {
        let text = b.run(&["EVAL", &format!("return redis.pcall({call})"), "1", "k"]);
        assert!(text.starts_with("-ERR Script ") && text.contains("declare"), "{call}: {text}");
    }
    for call in [
        "'SORT', KEYS[1], 'BY', 'nosort', 'GET', '#'",
        "'SPUBLISH', 'o', 'm'",
        "'PUBLISH', 'o', 'm'",
        "'DBSIZE'",
        "'TIME'",
    ] {
        let text = b.run(&["EVAL", &format!("return redis.pcall({call})"), "1", "k"]);
        assert!(!text.contains("declare"), "{call}: {text}");
    }
}

#[test]
fn functions_are_held_to_it_and_many_keys_are_found() {
    let mut b = deny();
    b.run(&["FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function(keys, args) return redis.call('GET', args[1] or keys[#keys]) end)"]);
    assert!(
        b.line("FCALL f 1 k o")
            .starts_with("-ERR Script f accessed undeclared key 'o' by 'get' at user_function:2")
    );
    assert_eq!(b.line("FCALL f 1 k"), "$-1\r\n");
    let mut argv = vec!["FCALL".to_owned(), "f".to_owned(), "100".to_owned()];
    argv.extend((0..100).map(|i| format!("k{i}")));
    assert_eq!(b.run(&argv), "$-1\r\n");
    argv.push("o".to_owned());
    assert!(b.run(&argv).contains("undeclared key 'o'"));
}

#[test]
fn a_warning_is_logged_and_counted() {
    let mut b = Bench::new();
    b.line("CONFIG SET script-undeclared-keys warn");
    for (hide, shown) in [("yes", "*redacted*"), ("no", "o")] {
        b.line(&format!("CONFIG SET hide-user-data-from-log {hide}"));
        assert_eq!(b.run(&["EVAL", "return redis.call('GET', 'o')", "0"]), "$-1\r\n");
        let mut logged = Vec::new();
        while let Some(out) = b.engine.next_outgoing() {
            if let totality_engine::Outgoing::Log { text, .. } = out {
                logged.push(String::from_utf8_lossy(&text).into_owned());
            }
        }
        let want = format!("accessed undeclared key '{shown}' by 'get' at user_script:1");
        assert!(logged.iter().any(|line| line.contains(&want)), "{logged:?}");
    }
    assert!(b.line("INFO stats").contains("\r\nundeclared_keys:2\r\n"));
}

#[test]
fn commands_on_keys_have_key_specs() {
    // These work on no key, or on all.
    const NONE: &[&str] = &[
        "dbsize",
        "lolwut",
        "flushall",
        "flushdb",
        "keys",
        "randomkey",
        "scan",
        "swapdb",
        "function|delete",
        "function|flush",
        "function|load",
        "function|restore",
    ];
    for command in commands::all() {
        let on_keys = command.spec.flags.intersects(Flags::WRITE.union(Flags::READONLY));
        if on_keys && command.spec.keys.is_empty() && command.spec.subs.is_empty() {
            assert!(NONE.contains(&command.full_name.as_str()), "{} has no key specs", command.full_name);
        }
    }
}
