//! What public problem reports and comparisons with other servers found, kind by kind.

use totality_engine::engine::{After, NoTicker, Outgoing};
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

struct Bench {
    engine: Engine,
    client: ClientId,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(Config::default(), Box::new(clock), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client }
    }

    fn after(&mut self, argv: &[&[u8]]) -> (String, After) {
        let mut out = Vec::new();
        self.engine.wake();
        let after = self.engine.execute(self.client, argv, &mut out, &mut NoTicker);
        (String::from_utf8_lossy(&out).into_owned(), after)
    }

    fn run(&mut self, argv: &[&str]) -> String {
        let argv: Vec<&[u8]> = argv.iter().map(|arg| arg.as_bytes()).collect();
        self.after(&argv).0
    }

    fn eval(&mut self, script: &str) -> String {
        let reply = self.run(&["EVAL", script, "0"]);
        match reply.split_once(" script: ") {
            Some((text, _)) => text.to_owned(),
            None => reply,
        }
    }
}

#[test]
fn texts_of_a_script_end_at_a_zero_byte() {
    let mut b = Bench::new();
    assert_eq!(b.eval(r"return {err='a\0b'}"), "-a\r\n");
    assert_eq!(b.eval(r"return {ok='a\0b'}"), "+a\r\n");
    assert_eq!(b.eval(r"return redis.error_reply('MY a\0b')"), "-MY a\r\n");
    assert_eq!(b.eval(r"error('a\0b')"), "-ERR user_script:1: a");
    assert_eq!(b.eval(r"error({err='MY a\0b'})"), "-MY a");
}

#[test]
fn an_error_value_may_be_anything() {
    let mut b = Bench::new();
    assert!(b.eval("error(function() end)").starts_with("-ERR function: 0x"));
    assert!(b.eval("error(coroutine.create(function() end))").starts_with("-ERR thread: 0x"));
    assert_eq!(b.eval("error(setmetatable({},{__index={err='hh jj'}}))"), "-hh jj");
    let twice = "error(setmetatable({},{__index=setmetatable({},{__index={err='hh jj'}})}))";
    assert_eq!(b.eval(twice), "-hh jj");
    let round = "local a={} a.__index=a error(setmetatable(a,a))";
    assert_eq!(b.eval(round), "-ERR unknown error");
}

#[test]
fn numbers_beyond_two_to_the_62nd_are_written_with_the_fewest_digits() {
    let mut b = Bench::new();
    let mut stored = |number: &str| {
        b.eval(&format!("redis.call('set','x',{number}) return redis.call('get','x')"))
            .split("\r\n")
            .nth(1)
            .map(str::to_owned)
    };
    assert_eq!(stored("2^62").as_deref(), Some("4611686018427387904"));
    assert_eq!(stored("-2^62").as_deref(), Some("-4611686018427387904"));
    assert_eq!(stored("-2^63").as_deref(), Some("-9223372036854776000"));
    assert_eq!(stored("0/0").as_deref(), Some("-nan"));
    assert_eq!(stored("-(0/0)").as_deref(), Some("nan"));
}

#[test]
fn a_set_of_statuses_reaches_a_script_whole() {
    let mut b = Bench::new();
    let script = "redis.setresp(3) local flags=redis.call('command','info','get')[1][3] \
                  local out={} for k,v in pairs(flags.set) do out[#out+1]=k.ok..'='..tostring(v) end \
                  table.sort(out) return out";
    assert_eq!(b.eval(script), "*2\r\n$9\r\nfast=true\r\n$13\r\nreadonly=true\r\n");
    let script = "redis.setresp(3) return redis.call('command','info','get')[1][3]";
    let reply = b.eval(script);
    assert!(reply.contains("+readonly\r\n") && reply.contains("+fast\r\n"), "{reply}");
    let keys = "redis.setresp(3) local n,spec=0 for k in pairs(redis.call('command','info','get')[1][9].set) do \
                n=n+1 spec=k end return {n,spec.map.find_keys.map.spec.map.keystep}";
    assert_eq!(b.eval(keys), "*2\r\n:1\r\n:1\r\n");
}

#[test]
fn words_of_a_web_browser_end_the_connection() {
    for first in [&b"POST"[..], b"Host:", b"post", b"HOST:"] {
        let mut b = Bench::new();
        let (reply, after) = b.after(&[first, b"/", b"HTTP/1.1"]);
        assert_eq!((reply.as_str(), after), ("", After::Close));
        let mut killed = false;
        let mut told = 0;
        while let Some(outgoing) = b.engine.next_outgoing() {
            match outgoing {
                Outgoing::Kill { client, after_reply: false } => killed |= client == b.client,
                Outgoing::Log { text, .. } => {
                    told += usize::from(String::from_utf8_lossy(&text).contains("SECURITY ATTACK"));
                }
                _ => {}
            }
        }
        assert!(killed && told == 1, "{killed} {told}");
    }
}

#[test]
fn monitor_wants_a_connection_that_can_wait() {
    let mut b = Bench::new();
    b.run(&["MULTI"]);
    b.run(&["MONITOR"]);
    assert_eq!(b.run(&["EXEC"]), "*1\r\n-ERR MONITOR isn't allowed for DENY BLOCKING client\r\n");
}

#[test]
fn a_monitor_may_not_reach_the_data() {
    let mut b = Bench::new();
    b.run(&["MONITOR"]);
    let refused = "-ERR Replica can't interact with the keyspace\r\n";
    for line in [&["GET", "a"][..], &["SET", "a", "1"], &["EVAL", "return 1", "0"], &["PUBLISH", "a", "b"]] {
        assert_eq!(b.run(line), refused);
    }
    assert_eq!(b.run(&["PING"]), "+PONG\r\n");
}

#[test]
fn shapes_of_command_info_and_list() {
    let mut b = Bench::new();
    assert_eq!(b.run(&["COMMAND", "INFO", "nosuch"]), "*1\r\n$-1\r\n");
    b.run(&["HELLO", "3"]);
    assert_eq!(b.run(&["COMMAND", "LIST", "FILTERBY", "PATTERN", "getd*"]), "*1\r\n$6\r\ngetdel\r\n");
    assert!(b.run(&["COMMAND", "LIST"]).starts_with('~'));
}

#[test]
fn a_timeout_beyond_all_numbers_is_out_of_range() {
    let mut b = Bench::new();
    assert_eq!(b.run(&["BLPOP", "l", "1e400"]), "-ERR timeout is out of range\r\n");
    assert_eq!(b.run(&["BLPOP", "l", "-1e400"]), "-ERR timeout is negative\r\n");
    assert_eq!(b.run(&["BLPOP", "l", "1e"]), "-ERR timeout is not a float or out of range\r\n");
}

#[test]
fn letters_of_events_in_redis_order() {
    let mut b = Bench::new();
    b.run(&["CONFIG", "SET", "notify-keyspace-events", "Kn"]);
    let reply = b.run(&["CONFIG", "GET", "notify-keyspace-events"]);
    assert!(reply.ends_with("$2\r\nnK\r\n"), "{reply}");
}

#[test]
fn a_hyperloglog_with_half_a_run_at_its_end_is_corrupted() {
    let mut b = Bench::new();
    b.run(&["PFADD", "h", "a", "b", "c"]);
    b.run(&["APPEND", "h", "x"]);
    assert_eq!(b.run(&["PFCOUNT", "h"]), "-INVALIDOBJ Corrupted HLL object detected\r\n");
}

#[test]
fn a_parameter_may_be_named_twice_by_its_names() {
    let mut b = Bench::new();
    let names = ["hash-max-listpack-entries", "hash-max-ziplist-entries"];
    assert_eq!(b.run(&["CONFIG", "SET", names[0], "10", names[1], "20"]), "+OK\r\n");
    assert!(b.run(&["CONFIG", "GET", names[0]]).ends_with("$2\r\n20\r\n"));
    let twice = b.run(&["CONFIG", "SET", names[0], "10", "HASH-max-listpack-entries", "20"]);
    assert!(twice.ends_with("duplicate parameter\r\n"), "{twice}");
    let error = b.run(&["CONFIG", "SET", "LUA-time-limit", "-5"]);
    assert!(error.contains("argument 'lua-time-limit'"), "{error}");
}

#[test]
fn errors_of_numbers_in_redis_words() {
    let mut b = Bench::new();
    let count = "-ERR count should be greater than or equal to -1\r\n";
    assert_eq!(b.run(&["SLOWLOG", "GET", "x"]), count);
    let words = "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.\r\n";
    assert_eq!(b.run(&["SLOWLOG", "GET", "1", "2"]), words);
    assert_eq!(b.run(&["REPLICAOF", "127.0.0.1", "x"]), "-ERR Invalid master port\r\n");
}

#[test]
fn a_transaction_that_runs_is_told_as_one() {
    let mut b = Bench::new();
    b.run(&["MULTI"]);
    b.run(&["CLIENT", "INFO"]);
    b.run(&["EVAL", "return redis.call('get','a')", "0"]);
    let reply = b.run(&["EXEC"]);
    assert!(reply.contains(" flags=x ") && reply.contains(" multi=2 "), "{reply}");
    let after = b.run(&["CLIENT", "INFO"]);
    assert!(after.contains(" flags=N ") && after.contains(" multi=-1 "), "{after}");
}

#[test]
fn what_reset_answers_can_be_skipped_and_is_not_monitored() {
    let mut b = Bench::new();
    b.run(&["CLIENT", "REPLY", "SKIP"]);
    assert_eq!(b.run(&["RESET"]), "");
    assert_eq!(b.run(&["PING"]), "+PONG\r\n");
    b.run(&["CLIENT", "REPLY", "OFF"]);
    assert_eq!(b.run(&["RESET"]), "+RESET\r\n");
    b.run(&["MONITOR"]);
    while b.engine.next_outgoing().is_some() {}
    b.run(&["RESET"]);
    while let Some(outgoing) = b.engine.next_outgoing() {
        assert!(!matches!(outgoing, Outgoing::Reply { .. }), "{outgoing:?}");
    }
}
