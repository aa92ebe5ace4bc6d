//! What scripts are called, what they ran, and what of their arguments is not shown.

mod support;

use support::Bench;

const ADD: &str = "--- @script demo.add\n--- @version 1.2\n--- @arg n int\n--- @arg mail string pii\n\
                   local n = redis.call('INCRBY', KEYS[1], ARGV[1])\nif n > 100 then return redis.error_reply('FULL no room') end\nreturn {1, n}";

fn add(b: &mut Bench, n: &str) -> String {
    b.run(&["EVAL", ADD, "1", "k", n, "ann@example.com"])
}

/// The value after a field's name in a flat RESP2 reply.
fn after<'a>(reply: &'a str, field: &str) -> &'a str {
    let lines: Vec<&str> = reply.split("\r\n").collect();
    let at = lines.iter().position(|line| *line == field).unwrap_or_else(|| panic!("{field} in {reply}"));
    let value = lines[at + 1];
    if value.starts_with('$') { lines[at + 2] } else { value }
}

#[test]
fn calls_results_and_errors_are_counted_by_script() {
    let mut b = Bench::new();
    add(&mut b, "1");
    add(&mut b, "2");
    assert!(add(&mut b, "200").starts_with("-FULL no room"));
    assert!(add(&mut b, "x").starts_with("-ERR value is not an integer"));
    let reply = b.run(&["SCRIPT", "STATS", "demo.add"]);
    for (field, value) in [
        ("name", "demo.add"),
        ("version", "1.2"),
        ("first_line", "local n = redis.call('INCRBY', KEYS[1], ARGV[1])"),
        ("calls", ":4"),
        ("failed_calls", ":2"),
        ("commands", ":4"),
        ("writes", ":4"),
        ("FULL", ":1"),
        ("ERR", ":1"),
        ("1", ":2"),
        ("kills", ":0"),
        ("last_client_user", "default"),
    ] {
        assert_eq!(after(&reply, field), value, "{field}");
    }
    assert_eq!(b.run(&["SCRIPT", "STATS", "demo.add@1.2"]), reply);
    assert_eq!(b.run(&["SCRIPT", "STATS", "demo.add", "RESET"]), "+OK\r\n");
    assert_eq!(after(&b.run(&["SCRIPT", "STATS", "demo.add"]), "calls"), ":0");
    assert_eq!(b.run(&["SCRIPT", "STATS", "nosuch"]), "-ERR No such script is tracked\r\n");
}

#[test]
fn a_script_that_was_flushed_is_still_known_and_its_noscripts_count() {
    let mut b = Bench::new();
    let sha = b.run(&["SCRIPT", "LOAD", ADD]).split("\r\n").nth(1).unwrap().to_owned();
    b.run(&["EVALSHA", &sha, "1", "k", "1", "x"]);
    b.line("SCRIPT FLUSH");
    assert!(b.run(&["EVALSHA", &sha, "1", "k", "1", "x"]).starts_with("-NOSCRIPT"));
    let reply = b.run(&["SCRIPT", "STATS", &sha]);
    assert_eq!((after(&reply, "calls"), after(&reply, "noscripts")), (":1", ":1"));
    assert!(b.line("INFO stats").contains("script_noscripts:1\r\n"));
}

#[test]
fn functions_are_counted_by_name() {
    let mut b = Bench::new();
    b.run(&["FUNCTION", "LOAD", "#!lua name=l\n--- @version 7\nlocal x\n--- @arg who pii\nredis.register_function('greet', function(k, a) return 5 end)"]);
    b.line("FCALL greet 0 ann");
    b.line("FCALL GREET 0 ann");
    let reply = b.line("SCRIPT STATS greet");
    assert_eq!(
        (after(&reply, "function"), after(&reply, "version"), after(&reply, "calls")),
        ("greet", "7", ":2")
    );
    assert_eq!(after(&reply, "5"), ":2");
}

#[test]
fn scripts_of_the_cache_are_listed() {
    let mut b = Bench::new();
    b.run(&["SCRIPT", "LOAD", ADD]);
    b.run(&["EVAL", "#!lua flags=no-writes\nreturn 7", "0"]);
    let all = b.line("SCRIPT LIST");
    assert!(all.starts_with("*2\r\n"), "{all}");
    let one = b.line("SCRIPT LIST demo.*");
    assert!(one.starts_with("*1\r\n"));
    assert_eq!(
        (after(&one, "name"), after(&one, "loaded_by"), after(&one, "calls")),
        ("demo.add", "load", ":0")
    );
    assert_eq!(b.line("SCRIPT RUNNING"), "$-1\r\n");
}

#[test]
fn personal_arguments_are_shown_nowhere() {
    let mut b = Bench::new();
    b.line("CONFIG SET slowlog-log-slower-than 0");
    let watcher = b.engine.connect(Default::default());
    b.run_as(watcher, &["MONITOR"]);
    let sha = b.run(&["SCRIPT", "LOAD", ADD]).split("\r\n").nth(1).unwrap().to_owned();
    b.run(&["EVALSHA", &sha, "1", "k", "1", "ann@example.com"]);
    let echo = "--- @script e\n--- @arg m pii\nreturn redis.call('ECHO', ARGV[1])";
    b.run(&["EVAL", echo, "0", "ann@example.com"]);
    let slow = b.line("SLOWLOG GET 10");
    assert!(slow.contains(&format!("{sha} demo.add@1.2")), "{slow}");
    assert!(slow.contains("(redacted)") && !slow.contains("ann@example.com"), "{slow}");
    let mut seen = String::new();
    while let Some(out) = b.engine.next_outgoing() {
        if let totality_engine::Outgoing::Reply { bytes, .. } = out {
            seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    assert!(
        seen.contains(&format!("\"{sha} demo.add@1.2\"")) && seen.contains("lua] \"ECHO\" \"(redacted)\""),
        "{seen}"
    );
    assert!(!seen.contains("ann@example.com"), "{seen}");
}

#[test]
fn a_named_script_is_named_in_errors_and_among_clients() {
    let mut b = Bench::new();
    let text = b.run(&["EVAL", "--- @script boom\n--- @version 3\nerror('x')", "0"]);
    assert!(
        text.starts_with("-ERR user_script:3: x script: ")
            && text.ends_with(", on @user_script:3. (boom@3)\r\n"),
        "{text}"
    );
    let list = b.line("CLIENT LIST");
    assert!(!list.contains("script="), "the last command is CLIENT LIST");
    let other = b.engine.connect(Default::default());
    assert!(b.run_as(other, &["CLIENT", "LIST"]).contains("cmd=client|list"));
    b.run(&["EVAL", "--- @script fine\nreturn 1", "0"]);
    assert!(b.run_as(other, &["CLIENT", "LIST"]).contains("cmd=eval "));
    assert!(b.run_as(other, &["CLIENT", "LIST"]).contains(" script=fine\n"));
    let plain = b.run(&["EVAL", "-- name: seed\nerror('x')", "0"]);
    assert!(plain.ends_with(", on @user_script:2.\r\n"), "{plain}");
}

#[test]
fn the_number_of_tracked_scripts_is_bounded() {
    let mut b = Bench::new();
    b.line("CONFIG SET script-stats-max-entries 5");
    for i in 0..50 {
        b.run(&["EVAL", &format!("return {i}"), "0"]);
    }
    assert!(b.line("SCRIPT STATS").starts_with("*5\r\n"));
    b.line("CONFIG SET script-stats-max-entries 0");
    b.run(&["EVAL", "return 'new'", "0"]);
    assert!(b.line("INFO stats").contains("tracked_scripts:0\r\n"));
}
