//! Functions: what a library finds while it loads and later, what it may register, what INFO counts of it.

mod support;

use support::Bench;

fn load(b: &mut Bench, code: &str) -> String {
    b.run(&["FUNCTION", "LOAD", "REPLACE", code])
}

fn registers(name: &str) -> String {
    format!("redis.register_function('{name}', function() return '{name}' end)")
}

#[test]
fn a_library_that_loads_finds_only_what_registers() {
    let mut b = Bench::new();
    for global in ["math", "string", "getmetatable", "_G", "pcall"] {
        let reply = load(&mut b, &format!("#!lua name=t\nlocal x = {global}\n{}", registers("f")));
        assert_eq!(
            reply,
            format!(
                "-ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable '{global}'\r\n"
            )
        );
    }
    for field in ["call", "pcall", "error_reply", "sha1hex", "setresp", "REPL_ALL"] {
        let reply = load(&mut b, &format!("#!lua name=t\nlocal x = redis.{field}\n{}", registers("f")));
        assert!(reply.contains(&format!("nonexistent global variable '{field}'")), "{reply}");
    }
    assert_eq!(
        load(
            &mut b,
            "#!lua name=t\nlocal n = redis.LOG_DEBUG .. redis.REDIS_VERSION\nredis.register_function('f', function() return math.abs(-1) end)"
        ),
        "$1\r\nt\r\n"
    );
    assert_eq!(b.run(&["FCALL", "f", "0"]), ":1\r\n");
    let modify = load(&mut b, "#!lua name=t\nx = 1");
    assert_eq!(
        modify,
        "-ERR Error registering functions: ERR user_function:2: Attempt to modify a readonly table\r\n"
    );
}

#[test]
fn a_function_cannot_register_another() {
    let mut b = Bench::new();
    load(
        &mut b,
        "#!lua name=t\nredis.register_function('f', function() redis.register_function('g', function() end) end)",
    );
    let reply = b.run(&["FCALL", "f", "0"]);
    assert!(reply.contains("attempt to call field 'register_function' (a nil value)"), "{reply}");
    load(
        &mut b,
        "#!lua name=t\nlocal r = redis.register_function\nr('f', function() r('g', function() end) end)",
    );
    let reply = b.run(&["FCALL", "f", "0"]);
    assert!(
        reply.contains("server.register_function can only be called on FUNCTION LOAD command"),
        "{reply}"
    );
}

#[test]
fn names_in_one_library_differ_by_case_and_among_libraries_do_not() {
    let mut b = Bench::new();
    let both = format!("#!lua name=t\n{} {}", registers("f"), registers("F"));
    assert_eq!(load(&mut b, &both), "$1\r\nt\r\n");
    assert_eq!(b.run(&["FCALL", "F", "0"]), "$1\r\nF\r\n");
    assert_eq!(b.run(&["FCALL", "f", "0"]), "$1\r\nf\r\n");
    assert_eq!(
        load(&mut b, &format!("#!lua name=u\n{}", registers("F"))),
        "-ERR Function F already exists\r\n"
    );
}

#[test]
fn memory_of_libraries_is_counted_and_given_back() {
    let mut b = Bench::new();
    b.line("CONFIG SET script-stats-max-entries 0");
    let empty = b.engine.sv.memory();
    let keeps = "#!lua name=t\nlocal kept = {} redis.register_function('f', function(k, a) kept[#kept + 1] = string.rep('x', a[1]) end)";
    load(&mut b, keeps);
    let loaded = b.engine.sv.memory();
    assert!(loaded > empty);
    b.run(&["FCALL", "f", "0", "100000"]);
    assert!(b.engine.sv.memory() >= loaded + 100_000);
    b.run(&["FUNCTION", "FLUSH"]);
    assert_eq!(b.engine.sv.memory(), empty);
}

#[test]
fn an_error_is_counted_under_its_first_word() {
    let mut b = Bench::new();
    b.run(&["EVAL", "error(redis.error_reply('-ERR\\r\\n-ERR FAKE'))", "0"]);
    b.run(&["EVAL", "return {err = 'FOO\\r\\nBAR baz'}", "0"]);
    b.run(&["EVAL", "return {err = 'averyveryverylongwordthatisnotacodeatall baz'}", "0"]);
    assert!(b.line("INFO errorstats").contains("errorstat_FOO:count=1\r\n"));
    let codes: Vec<_> = b.engine.sv.stats.errors.iter().map(|(k, n)| (k.as_slice(), *n)).collect();
    assert_eq!(codes, [(&b"ERR"[..], 2), (b"FOO", 1)]);
}

#[test]
fn an_error_of_a_script_adds_no_lines_to_info() {
    let mut b = Bench::new();
    b.run(&["EVAL", "return {err = '{\"code\":#1 x'}", "0"]);
    assert!(b.line("INFO errorstats").contains("errorstat_{\"code\"__1:count=1\r\n"));
}
