//! Limits of scripts: each with its parameter, its error and its counter; see docs/limits.md.

mod support;

use support::Bench;

fn counter(b: &mut Bench, name: &str) -> u64 {
    let info = b.line("INFO stats");
    let line = info.split("\r\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{name} in INFO"))
}

fn set(b: &mut Bench, name: &str, value: &str) {
    assert_eq!(b.run(&["CONFIG", "SET", name, value]), "+OK\r\n", "{name}");
}

#[test]
fn the_size_of_a_text() {
    let mut b = Bench::new();
    set(&mut b, "script-max-size", "100");
    let long = format!("return 1 -- {}", "x".repeat(100));
    let library =
        format!("#!lua name=l\n-- {}\nredis.register_function('f', function() end)", "x".repeat(100));
    let error = "-ERR script is larger than script-max-size (100 bytes)\r\n";
    assert_eq!(b.run(&["EVAL", &long, "0"]), error);
    assert_eq!(b.run(&["SCRIPT", "LOAD", &long]), error);
    assert_eq!(b.run(&["FUNCTION", "LOAD", &library]), error);
    assert_eq!(counter(&mut b, "script_limit_size"), 3);
    assert_eq!(b.run(&["EVAL", "return 1", "0"]), ":1\r\n");
}

#[test]
fn the_memory_of_one_run() {
    let mut b = Bench::new();
    set(&mut b, "script-max-memory", "1mb");
    let grow = "local t = {} pcall(function() for i = 1, 1e9 do t[i] = {i} end end) return 'caught'";
    assert!(b.run(&["EVAL", grow, "0"]).starts_with("-ERR memory limit exceeded"));
    assert_eq!(counter(&mut b, "script_limit_memory"), 1);
    assert_eq!(b.run(&["EVAL", "return 1", "0"]), ":1\r\n");
}

#[test]
fn the_memory_of_all_scripts() {
    let mut b = Bench::new();
    b.run(&["EVAL", "return 1", "0"]);
    let used = b.engine.sv.scripts.memory() + 2_000_000;
    set(&mut b, "script-max-total-memory", &used.to_string());
    let body = |i: usize| format!("return {i} -- {}", "x".repeat(500_000));
    for i in 0..20 {
        assert_eq!(
            b.run(&["EVAL", &body(i), "0"]),
            format!(":{i}\r\n"),
            "those that nobody pinned make room"
        );
    }
    let refused =
        (20..40).map(|i| b.run(&["SCRIPT", "LOAD", &body(i)])).find(|r| r.starts_with('-')).unwrap();
    assert_eq!(
        refused,
        format!("-OOM scripts would hold more than script-max-total-memory ({used} bytes)\r\n")
    );
    let grow = "local t = {} for i = 1, 1e9 do t[i] = {i} end";
    assert!(b.run(&["EVAL", grow, "0"]).starts_with('-'));
    assert!(counter(&mut b, "script_limit_total_memory") >= 1);
    b.line("SCRIPT FLUSH");
    assert_eq!(b.run(&["EVAL", "return 1", "0"]), ":1\r\n");
}

#[test]
fn the_size_of_a_reply() {
    let mut b = Bench::new();
    set(&mut b, "script-max-reply-size", "1024");
    let error = "-ERR reply of the script is larger than script-max-reply-size\r\n";
    assert_eq!(b.run(&["EVAL", "return string.rep('x', 2000)", "0"]), error);
    assert_eq!(b.run(&["EVAL", "local t = {} for i = 1, 100 do t[i] = {i} end return t", "0"]), error);
    assert_eq!(b.run(&["EVAL", "return {1, {2}, 'three'}", "0"]), "*3\r\n:1\r\n*1\r\n:2\r\n$5\r\nthree\r\n");
    let own = "local t = {} t[1] = t return t";
    assert_eq!(b.run(&["EVAL", own, "0"]), error);
    assert_eq!(counter(&mut b, "script_limit_reply_size"), 3);
}

#[test]
fn the_depth_of_a_reply() {
    let mut b = Bench::new();
    set(&mut b, "script-max-reply-depth", "3");
    let nested = |n: usize| format!("return {}1{}", "{".repeat(n), "}".repeat(n));
    assert_eq!(b.run(&["EVAL", &nested(3), "0"]), "*1\r\n*1\r\n*1\r\n:1\r\n");
    assert_eq!(b.run(&["EVAL", &nested(4), "0"]), "*1\r\n*1\r\n*1\r\n-ERR reached lua stack limit\r\n");
    assert_eq!(counter(&mut b, "script_limit_reply_depth"), 1);
}

#[test]
fn the_number_of_commands() {
    let mut b = Bench::new();
    set(&mut b, "script-max-commands", "10");
    let calls = |n: u32, name: &str| {
        format!("for i = 1, {n} do pcall(redis.{name}, 'INCR', KEYS[1]) end return 'done'")
    };
    assert_eq!(b.run(&["EVAL", &calls(10, "call"), "1", "k"]), "$4\r\ndone\r\n");
    let error = "-LIMIT script called more than 10 commands\r\n";
    assert_eq!(b.run(&["EVAL", &calls(11, "pcall"), "1", "k"]), error, "nobody catches it");
    assert_eq!(b.line("GET k"), "$2\r\n20\r\n", "what was written stays");
    let rolled = format!("--- @rollback on\n{}", calls(11, "call"));
    assert_eq!(
        b.run(&["EVAL", &rolled, "1", "k"]),
        "-LIMIT script called more than 10 commands, nothing was changed\r\n"
    );
    assert_eq!(b.line("GET k"), "$2\r\n20\r\n");
    assert_eq!(counter(&mut b, "script_limit_commands"), 2);
}

#[test]
fn each_limit_of_the_page_is_there() {
    let page = include_str!("../../../docs/limits.md");
    let mut b = Bench::new();
    let info = b.line("INFO stats");
    let mut rows = 0;
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let (parameter, default, counter) = (cells[1], cells[2], cells[5]);
        assert_eq!(b.engine.sv.config.get(parameter).as_deref(), Some(default), "{parameter}");
        assert!(counter == "none" || info.contains(&format!("\r\n{counter}:")), "{counter} in INFO");
        rows += 1;
    }
    assert!(rows >= 9, "{rows}");
}

#[test]
fn a_script_with_a_first_line_is_judged_before_it_runs() {
    const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    let mut b = Bench::new();
    b.line("SET s v");
    b.run(&["FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"]);
    set(&mut b, "maxmemory", "1");
    assert_eq!(b.run(&["EVAL", "#!lua\nreturn 1", "0"]), OOM);
    assert_eq!(b.line("FCALL f 0"), OOM);
    assert_eq!(b.line("FCALL_RO f 0"), OOM);
    for fine in ["return 1", "#!lua flags=no-writes\nreturn 1", "#!lua flags=allow-oom\nreturn 1"] {
        assert_eq!(b.run(&["EVAL", fine, "0"]), ":1\r\n", "{fine}");
    }
    let frees = "redis.call('DEL', 's') return redis.call('SET', 'n', '1')";
    assert_eq!(b.run(&["EVAL", frees, "0"]), "+OK\r\n", "only the first write is judged");
    assert!(b.run(&["EVAL", "return redis.call('SET', 'n', '2')", "0"]).starts_with("-OOM"));
    b.line("MULTI");
    assert_eq!(b.run(&["EVAL", "#!lua\nreturn 1", "0"]), OOM);
    assert!(b.line("EXEC").starts_with("-EXECABORT"));
}
