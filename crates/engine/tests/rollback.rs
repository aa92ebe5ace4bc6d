//! All-or-nothing scripts and transactions: what is taken back, when, and what clients are told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use totality_engine::busy::Busy;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Clock, Config, ConnInfo, Engine, Interrupt, ManualClock, Outgoing, Ticker};

struct Bench {
    engine: Engine,
    client: ClientId,
    clock: ManualClock,
}

/// A clock that goes on by a millisecond at each look, and interrupts the script then: so it looks again.
#[derive(Clone, Default)]
struct Hasty(Arc<AtomicU64>, Arc<OnceLock<Interrupt>>);

impl Clock for Hasty {
    fn now_us(&self) -> u64 {
        if let Some(interrupt) = self.1.get() {
            interrupt.set(Interrupt::TICK);
        }
        1_700_000_000_000_000 + 1000 * self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Gives a command of another client whenever the script is interrupted.
struct Impatient {
    other: ClientId,
    command: Vec<&'static [u8]>,
    replies: Vec<String>,
}

impl Ticker for Impatient {
    fn tick(&mut self, busy: &mut Busy<'_>) {
        if busy.is_slow() && self.replies.is_empty() {
            let mut out = Vec::new();
            busy.execute(self.other, &self.command, &mut out, &mut NoTicker);
            self.replies.push(String::from_utf8(out).unwrap());
        }
    }
}

/// An engine whose scripts are interrupted all the time, and whose clock runs.
fn hasty() -> (Bench, ClientId) {
    let clock = Hasty::default();
    let mut engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
    let client = engine.connect(ConnInfo::default());
    let other = engine.connect(ConnInfo::default());
    clock.1.set(engine.sv.scripts.interrupt()).ok();
    (Bench { engine, client, clock: ManualClock::new(0) }, other)
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, clock }
    }

    fn call(&mut self, argv: &[&str]) -> String {
        self.call_with(argv, &mut NoTicker)
    }

    fn call_with(&mut self, argv: &[&str], ticker: &mut dyn Ticker) -> String {
        let argv: Vec<&[u8]> = argv.iter().map(|arg| arg.as_bytes()).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(self.client, &argv, &mut out, ticker);
        totality_engine::execute::finish_unit(&mut self.engine.ks, &mut self.engine.sv);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn run(&mut self, line: &str) -> String {
        self.call(&line.split(' ').collect::<Vec<_>>())
    }

    fn eval(&mut self, script: &str) -> String {
        self.call(&["EVAL", script, "1", "k"])
    }

    fn info(&mut self, field: &str) -> String {
        let text = self.run("INFO stats");
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{field}:")));
        line.unwrap_or("missing").to_owned()
    }

    /// What left the engine, log lines aside.
    fn left(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(out) = self.engine.next_outgoing() {
            match out {
                Outgoing::Reply { bytes, .. } => all.push(String::from_utf8_lossy(&bytes).into_owned()),
                Outgoing::Log { .. } => {}
                other => all.push(format!("{other:?}")),
            }
        }
        all
    }
}

#[test]
fn an_error_takes_back_only_where_the_script_asks() {
    let mut b = Bench::new();
    let body = "redis.call('SET', KEYS[1], 'new') redis.call('LPOP', KEYS[1])";
    b.run("SET k old");
    assert!(b.eval(body).starts_with("-WRONGTYPE"));
    assert_eq!(b.run("GET k"), "$3\r\nnew\r\n");
    b.run("SET k old");
    let reply = b.eval(&format!("--- @rollback on\n{body}"));
    assert!(
        reply.starts_with("-WRONGTYPE Operation against a key holding the wrong kind of value script: "),
        "{reply}"
    );
    assert!(reply.ends_with("on @user_script:2.\r\n"), "{reply}");
    assert_eq!(b.run("GET k"), "$3\r\nold\r\n");
    assert_eq!((b.info("script_rollbacks"), b.info("script_rollbacks_error")), ("1".into(), "1".into()));
    assert_eq!(b.engine.ks.undo.depth(), 0);
    assert_eq!(b.engine.ks.undo.bytes(), 0);
}

#[test]
fn a_returned_error_is_a_failure_unless_the_header_says_raised() {
    let mut b = Bench::new();
    let body = "redis.call('SET', KEYS[1], 'x') return redis.error_reply('NO thanks')";
    assert_eq!(b.eval(&format!("--- @rollback on\n{body}")), "-NO thanks\r\n");
    assert_eq!(b.run("EXISTS k"), ":0\r\n");
    assert_eq!(b.eval(&format!("--- @rollback raised\n{body}")), "-NO thanks\r\n");
    assert_eq!(b.run("EXISTS k"), ":1\r\n");
    let reply = b.eval(&format!("--- @rollback raised\n{body} error('x')").replace("return", "local _ ="));
    assert!(reply.starts_with("-ERR user_script:2: x script"), "{reply}");
    assert_eq!(b.info("script_rollbacks_error_reply"), "1");
}

#[test]
fn the_header_is_read_when_the_script_is_compiled() {
    let mut b = Bench::new();
    assert_eq!(
        b.eval("--- @rollback perhaps\nreturn 1"),
        "-ERR Error compiling script (new function): user_script:1: @rollback must be on, off or raised, not 'perhaps'\r\n"
    );
    assert_eq!(b.eval("#!lua\n-- a script\n--- @rollback on\nreturn 1"), ":1\r\n");
    b.run("CONFIG SET script-rollback never");
    assert!(b.eval("--- @rollback on\nreturn 1").starts_with("-ERR the script asks for a rollback"));
    assert_eq!(b.eval("return 1"), ":1\r\n");
    assert!(b.eval("return redis.savepoint(function() end)").contains("savepoints are switched off"));
    b.run("CONFIG SET script-rollback always");
    b.eval("redis.call('SET', KEYS[1], 'x') error('no')");
    assert_eq!(b.run("EXISTS k"), ":0\r\n");
    b.eval("--- @rollback off\nredis.call('SET', KEYS[1], 'x') error('no')");
    assert_eq!(b.run("EXISTS k"), ":1\r\n");
}

#[test]
fn savepoints_nest() {
    let mut b = Bench::new();
    let script = "
        redis.call('RPUSH', KEYS[1], 'a')
        local fine, err = redis.savepoint(function(x)
            redis.call('RPUSH', KEYS[1], x)
            local inner, value = redis.savepoint(function() redis.call('RPUSH', KEYS[1], 'c') return 7 end)
            redis.call('RPUSH', KEYS[1], tostring(inner) .. value)
            error({err = 'STOP here'})
        end, 'b')
        local ok, one, two = redis.savepoint(function(...) redis.call('RPUSH', KEYS[1], 'd') return ... end, 1, 2)
        local list = redis.call('LRANGE', KEYS[1], 0, -1)
        return {tostring(fine), err, tostring(ok), one, two, table.concat(list, ',')}";
    assert_eq!(
        b.eval(script),
        "*6\r\n$5\r\nfalse\r\n$9\r\nSTOP here\r\n$4\r\ntrue\r\n:1\r\n:2\r\n$3\r\na,d\r\n"
    );
    assert_eq!(b.info("savepoint_rollbacks"), "1");
    assert_eq!(b.eval("return server.savepoint == redis.savepoint and 1 or 0"), ":1\r\n");
    assert!(b.eval("redis.savepoint()").starts_with("-ERR user_script:1: bad argument #1 to 'savepoint'"));
    assert!(b.eval("return {redis.savepoint(1)}").contains("attempt to call a number value"));
    // What a caught error leaves is not taken back by itself.
    b.run("DEL k");
    b.eval("--- @rollback on\nredis.call('SET', KEYS[1], 1) pcall(error, 'x') redis.pcall('LPOP', KEYS[1]) return 1");
    assert_eq!(b.run("GET k"), "$1\r\n1\r\n");
}

#[test]
fn what_is_known_of_a_key_does_not_depend_on_the_number_of_keys() {
    // Each key is changed twice in the outer scope and twice in the inner one, which is taken back.
    let body = "--- @rollback on
        local n = tonumber(ARGV[1])
        local function change(word)
            for i = 1, n do
                if i % 2 == 0 then redis.call('SET', 'k' .. i, word) else redis.call('RPUSH', 'k' .. i, word) end
                redis.call('PEXPIRE', 'k' .. i, 100000)
            end
        end
        local function all()
            local out = {}
            for i = 1, n do
                out[i] = i % 2 == 0 and redis.call('GET', 'k' .. i)
                    or table.concat(redis.call('LRANGE', 'k' .. i, -2, -1)) .. redis.call('LLEN', 'k' .. i)
            end
            return table.concat(out, ' ')
        end
        change('a') change('b')
        local before = all()
        redis.savepoint(function() change('c') change('d') redis.call('DEL', 'k1') error('no') end)
        if all() ~= before then return redis.error_reply('DIFFERENT ' .. all()) end
        if ARGV[2] == 'fail' then error('out') end
        return before";
    for n in [1, 7, 8, 9, 10, 17, 40] {
        let mut b = Bench::new();
        let text = "x".repeat(100);
        for i in (1..=n).step_by(2) {
            // Some of the lists are too large to be kept whole.
            for _ in 0..i * 20 {
                b.run(&format!("RPUSH k{i} {text}"));
            }
        }
        let state = |b: &mut Bench| -> Vec<String> {
            (1..=n).flat_map(|i| [b.run(&format!("DUMP k{i}")), b.run(&format!("PTTL k{i}"))]).collect()
        };
        let before = state(&mut b);
        let number = n.to_string();
        let failed = b.call(&["EVAL", body, "0", &number, "fail"]);
        assert!(failed.contains("out"), "{n}: {failed}");
        assert!(state(&mut b) == before, "{n}: not as before");
        let reply = b.call(&["EVAL", body, "0", &number, "go"]);
        assert!(reply.contains("ab22"), "{n}: {reply}");
        assert!(b.run("LLEN k1").starts_with(":22"), "{n}");
    }
}

#[test]
fn nothing_leaves_a_scope_that_was_taken_back() {
    let mut b = Bench::new();
    let [subscriber, replica, waiter, watcher] = [0; 4].map(|_| b.engine.connect(ConnInfo::default()));
    let me = b.client;
    b.run("CONFIG SET notify-keyspace-events KEA");
    b.client = subscriber;
    b.run("SUBSCRIBE ch");
    b.run("PSUBSCRIBE __key*");
    b.client = waiter;
    b.run("BLPOP k 0");
    b.client = watcher;
    b.run("WATCH k");
    b.client = me;
    totality_engine::replication::follow(&mut b.engine.ks, &mut b.engine.sv, replica);
    b.left();
    let dirty = b.engine.ks.dirty;
    let body = "redis.call('PUBLISH', 'ch', 'x') redis.call('RPUSH', KEYS[1], 'x') redis.call('FLUSHALL')";
    b.eval(&format!("--- @rollback on\n{body} error('no')"));
    assert_eq!((b.left(), b.engine.ks.dirty), (vec![], dirty));
    assert!(!b.engine.ks.is_watch_broken(watcher));
    b.eval(&format!("--- @rollback on\n{}", body.replace(" redis.call('FLUSHALL')", "")));
    let left = b.left().concat();
    for word in ["message", "RPUSH", "LPOP", "Unblocked"] {
        assert!(left.contains(word), "{word}: {left}");
    }
    assert!(b.engine.ks.is_watch_broken(watcher));
}

#[test]
fn what_expired_untouched_stays_deleted() {
    let mut b = Bench::new();
    let replica = b.engine.connect(ConnInfo::default());
    totality_engine::replication::follow(&mut b.engine.ks, &mut b.engine.sv, replica);
    b.run("SET gone 1 PX 5");
    b.run("SET k 1");
    b.clock.advance_ms(10);
    b.left();
    b.eval("--- @rollback on\nredis.call('INCR', KEYS[1]) redis.call('GET', 'gone') redis.call('INCR', KEYS[1]) error('x')");
    assert_eq!(b.left().concat().replace("\r\n", " "), "*2 $6 UNLINK $4 gone ");
    assert_eq!(b.run("GET k"), "$1\r\n1\r\n");
    assert_eq!(b.run("DBSIZE"), ":1\r\n");
    // A key that the scope gave a past deadline comes back as it was.
    b.eval(
        "--- @rollback on\nredis.call('SET', KEYS[1], 2, 'PXAT', 1) redis.call('GET', KEYS[1]) error('x')",
    );
    assert_eq!(b.run("GET k"), "$1\r\n1\r\n");
    assert_eq!(b.run("TTL k"), ":-1\r\n");
    assert_eq!(b.left(), Vec::<String>::new());
}

/// Ends by itself some day, so that a test that fails does not hang.
const LOOP: &str = "redis.call('SET', KEYS[1], 'x') local i = 0 while i < 1000000 do i = i + 1 end return i";

#[test]
fn a_kill_takes_back_what_was_written() {
    let (mut b, other) = hasty();
    b.run("CONFIG SET busy-reply-threshold 100");
    let kill = || Impatient { other, command: vec![b"SCRIPT", b"KILL"], replies: Vec::new() };
    let mut ticker = kill();
    let script = format!("--- @rollback on\n{LOOP}");
    let reply = b.call_with(&["EVAL", &script, "1", "k"], &mut ticker);
    assert_eq!(ticker.replies, ["+OK\r\n"]);
    assert!(reply.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{reply}");
    assert_eq!(b.run("EXISTS k"), ":0\r\n");
    assert_eq!(b.info("script_rollbacks_kill"), "1");
    // Nothing in the script can catch it, and savepoints are taken back with it.
    let script = format!(
        "--- @rollback on\nwhile true do pcall(redis.savepoint, function() {} end) end",
        LOOP.replace("return i", "")
    );
    let reply = b.call_with(&["EVAL", &script, "1", "k"], &mut kill());
    assert!(reply.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{reply}");
    assert_eq!((b.run("EXISTS k"), b.engine.ks.undo.depth()), (":0\r\n".to_owned(), 0));
    // An ordinary script that wrote goes on.
    let mut ticker = kill();
    let reply = b.call_with(&["EVAL", &LOOP.replace("1000000", "1000"), "1", "k"], &mut ticker);
    assert!(ticker.replies[0].starts_with("-UNKILLABLE"), "{:?}", ticker.replies);
    assert_eq!(reply, ":1000\r\n");
}

#[test]
fn a_deadline_stops_what_can_be_taken_back() {
    let (mut b, _) = hasty();
    let script = format!("--- @rollback on\n--- @deadline 50\n{LOOP}");
    let text = "-DEADLINE script exceeded 50 ms, nothing was changed\r\n";
    assert_eq!(b.eval(&script), text);
    assert_eq!(
        (b.run("EXISTS k"), b.info("script_rollbacks_deadline")),
        (":0\r\n".to_owned(), "1".to_owned())
    );
    // The shorter one counts; what wrote nothing can be stopped, too.
    b.run("CONFIG SET script-deadline-ms 20");
    assert_eq!(b.eval(&script), text.replace("50", "20"));
    assert_eq!(b.eval("while true do end"), text.replace("50", "20"));
    // What wrote and cannot be taken back goes on, and the log says so once.
    let reply = b.eval(&LOOP.replace("1000000", "1000"));
    assert_eq!(reply, ":1000\r\n");
    let mut lines = 0;
    while let Some(out) = b.engine.next_outgoing() {
        lines += usize::from(
            matches!(out, Outgoing::Log { text, .. } if String::from_utf8_lossy(&text).contains("past its deadline")),
        );
    }
    assert_eq!(lines, 1);
}

#[test]
fn a_transaction_is_all_or_nothing_on_request() {
    let mut b = Bench::new();
    b.run("SET k 1");
    let go = |b: &mut Bench, lines: &[&str]| {
        b.run("MULTI");
        lines.iter().for_each(|line| drop(b.run(line)));
        b.run("EXEC")
    };
    let lines = ["SELECT 1", "SET x 1", "SELECT 0", "INCR k", "LPOP k", "INCR k"];
    assert!(go(&mut b, &lines).contains(":3\r\n"));
    b.run("FLUSHALL");
    b.run("SET k 1");
    b.run("CONFIG SET transaction-rollback yes");
    assert_eq!(
        go(&mut b, &lines),
        "-EXECABORT Transaction discarded because of: WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
    );
    assert_eq!(b.run("GET k"), "$1\r\n1\r\n");
    assert_eq!(b.info("transaction_rollbacks"), "1");
    assert_eq!(
        go(&mut b, &["SELECT 1", "LPOP k", "SET k 1", "LPOP k"]).split(':').next(),
        Some("-EXECABORT Transaction discarded because of")
    );
    assert_eq!(b.run("DBSIZE"), ":1\r\n");
    assert_eq!(go(&mut b, &["INCR k", "EVAL return(1) 0"]), "*2\r\n:2\r\n:1\r\n");
    assert_eq!(
        go(&mut b, &["INCR k", "CONFIG SET hz 11"]),
        "-EXECABORT Transaction discarded because of: ERR CONFIG SET is not allowed in a rollback scope\r\n"
    );
    assert_eq!(b.run("GET k"), "$1\r\n2\r\n");
    // A script in it is a scope of its own.
    let script = "return(redis.savepoint(function()redis.call('SET','k',9)error('x')end)==false)";
    assert_eq!(go(&mut b, &[&format!("EVAL {script} 0"), "GET k"]), "*2\r\n:1\r\n$1\r\n2\r\n");
}

#[test]
fn the_undo_log_is_bounded() {
    let mut b = Bench::new();
    b.run("CONFIG SET script-rollback-max-bytes 100000");
    b.call(&["SET", "k", &"x".repeat(200_000)]);
    let before = b.engine.ks.used_memory();
    let reply =
        b.eval("--- @rollback on\nredis.call('SET', KEYS[1], 1) return pcall(redis.call, 'GET', KEYS[1])");
    assert_eq!(reply, "-UNDO script needs more than 100000 bytes to be taken back, nothing was changed\r\n");
    assert_eq!(b.run("STRLEN k"), ":200000\r\n");
    assert_eq!(b.engine.ks.used_memory(), before);
    assert_eq!(b.info("script_rollbacks_undo"), "1");
    // A large value costs what changes of it, not all of it.
    assert_eq!(b.eval("--- @rollback on\nredis.call('APPEND', KEYS[1], 'x') return redis.call('SETRANGE', KEYS[1], 5, 'abc')"), ":200001\r\n");
    b.run("CONFIG SET script-rollback-max-bytes 0");
    assert_eq!(b.eval("--- @rollback on\nreturn redis.call('DEL', KEYS[1])"), ":1\r\n");
}

#[test]
fn one_command_that_is_more_than_the_undo_log_may_hold_is_taken_back() {
    let mut b = Bench::new();
    b.run("CONFIG SET script-rollback-max-bytes 100000");
    let element = |i: usize| format!("{i:05}{}", "x".repeat(100));
    for i in 0..3000 {
        let (name, i) = (element(i), i.to_string());
        b.call(&["RPUSH", "list", &name]);
        b.call(&["SADD", "set", &name]);
        b.call(&["ZADD", "zset", &i, &name]);
        b.call(&["HSET", "hash", &name, &i]);
    }
    b.call(&["SET", "string", &"x".repeat(300_000)]);
    let state = |b: &mut Bench| {
        [
            "LLEN list",
            "SCARD set",
            "ZCARD zset",
            "HLEN hash",
            "STRLEN string",
            "DBSIZE",
            "LINDEX list 17",
            "ZRANK zset nobody",
        ]
        .map(|line| b.run(line))
    };
    let before = state(&mut b);
    let used = b.engine.ks.used_memory();
    let commands = [
        "'DEL','list'",
        "'LTRIM','list',0,10",
        "'SPOP','set',2500",
        "'ZREMRANGEBYRANK','zset',0,-2",
        "'ZRANGESTORE','list','zset',0,5",
        "'SUNIONSTORE','hash','set'",
        "'RENAME','zset','list'",
        "'COPY','set','list','REPLACE'",
        "'SET','string','short'",
        "'GETDEL','string'",
        "'FLUSHALL'",
        "'FLUSHDB'",
    ];
    b.run("CONFIG SET transaction-rollback yes");
    for (i, command) in commands.iter().enumerate() {
        // Caught or not, the script is over: the log had to hold too much.
        let reply = b.eval(&format!("--- @rollback on\nredis.pcall({command}) return 1"));
        let error = "-UNDO script needs more than 100000 bytes to be taken back, nothing was changed\r\n";
        assert_eq!(reply, error, "{command}");
        assert_eq!(state(&mut b), before, "{command}");
        assert_eq!(b.info("script_rollbacks_undo"), (i + 1).to_string(), "{command}");
        let words: Vec<&str> = command.split(',').map(|word| word.trim_matches('\'')).collect();
        b.run("MULTI");
        b.call(&words);
        let reply = b.run("EXEC");
        assert!(reply.starts_with("-EXECABORT "), "{command}: {reply}");
        assert_eq!(state(&mut b), before, "{command} in a transaction");
    }
    let now = b.engine.ks.used_memory();
    assert!(now.abs_diff(used) * 20 < used, "{used} bytes before, {now} after");
}

#[test]
fn memory_is_judged_before_every_command_of_a_rollback_script() {
    let mut b = Bench::new();
    let used = b.engine.ks.used_memory() + b.engine.sv.memory();
    b.run(&format!("CONFIG SET maxmemory {}", used + 1_000_000));
    b.run("CONFIG SET maxmemory-policy noeviction");
    let body = "for i = 1, 100 do redis.call('SET', KEYS[1] .. i, string.rep('x', 100000)) end return 1";
    let reply = b.eval(&format!("--- @rollback on\n{body}"));
    assert!(reply.starts_with("-OOM command not allowed when used memory > 'maxmemory'. script"), "{reply}");
    assert_eq!(b.run("DBSIZE"), ":0\r\n");
    assert_eq!(b.eval(body), ":1\r\n");
    // It may be caught, and what frees memory may run.
    let reply = b.eval(
        "--- @rollback on\nlocal r = redis.pcall('SET', 'new', 1) return {r.err, redis.call('DEL', 'k1')}",
    );
    assert_eq!(reply, "*2\r\n$55\r\nOOM command not allowed when used memory > 'maxmemory'.\r\n:1\r\n");
}

#[test]
fn functions_ask_by_flag_or_by_comment() {
    let mut b = Bench::new();
    let library = "#!lua name=lib
local function fail(keys) redis.call('SET', keys[1], 'x') error('no') end
redis.register_function{function_name='flagged', callback=fail, flags={'rollback'}}
--- @rollback on
redis.register_function('commented', fail)
redis.register_function('plain', fail)
";
    assert_eq!(b.call(&["FUNCTION", "LOAD", library]), "$3\r\nlib\r\n");
    for name in ["flagged", "commented"] {
        assert!(b.call(&["FCALL", name, "1", "k"]).starts_with("-ERR user_function:2: no"));
        assert_eq!(b.run("EXISTS k"), ":0\r\n", "{name}");
    }
    b.call(&["FCALL", "plain", "1", "k"]);
    assert_eq!(b.run("EXISTS k"), ":1\r\n");
    assert!(b.run("FUNCTION LIST").contains("rollback"));
    let bad = library.replace("@rollback on", "@rollback soon");
    let reply = b.call(&["FUNCTION", "LOAD", "REPLACE", &bad]);
    assert!(reply.contains("user_function:4: @rollback must be on, off or raised, not 'soon'"), "{reply}");
}

#[test]
fn explain_tells_everything_and_changes_nothing() {
    let mut b = Bench::new();
    b.run("RPUSH other a");
    b.run("SET k 5 PX 60000");
    let dirty = b.engine.ks.dirty;
    let script = "redis.call('PUBLISH', 'ch', 'x')
redis.call('DECRBY', KEYS[1], ARGV[1])
redis.pcall('INCR', 'other')
redis.call('DEL', 'other')
return {redis.call('GET', KEYS[1]), 'fine'}";
    let reply = b.call(&["SCRIPT", "EXPLAIN", script, "1", "k", "2"]);
    let wanted = [
        "$6\r\nresult\r\n*2\r\n$1\r\n3\r\n$4\r\nfine\r\n",
        "$4\r\nline\r\n:2\r\n$7\r\ncommand\r\n*3\r\n$6\r\nDECRBY\r\n$1\r\nk\r\n$1\r\n2\r\n$5\r\nreply\r\n:3\r\n",
        "$3\r\nkey\r\n$1\r\nk\r\n$8\r\ndeclared\r\n:1\r\n",
        "$3\r\nkey\r\n$5\r\nother\r\n$8\r\ndeclared\r\n:0\r\n",
        "$5\r\nreply\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        "$6\r\nbefore\r\n*10\r\n$4\r\ntype\r\n$4\r\nlist\r\n",
        "$5\r\nafter\r\n$-1\r\n",
    ];
    for part in wanted {
        assert!(reply.contains(part), "{part:?} is not in {reply:?}");
    }
    assert_eq!((b.run("GET k"), b.run("LLEN other")), ("$1\r\n5\r\n".into(), ":1\r\n".into()));
    assert_eq!((b.run("PTTL k"), b.engine.ks.dirty), (":60000\r\n".into(), dirty));
    assert_eq!(b.left(), Vec::<String>::new());
    // Errors of the script are its result; those of the call are the call's.
    assert!(
        b.call(&["SCRIPT", "EXPLAIN", "error('x')", "0"])
            .starts_with("*10\r\n$6\r\nresult\r\n-ERR user_script:1: x")
    );
    assert_eq!(
        b.call(&["SCRIPT", "EXPLAIN", "return 1", "2", "k"]),
        "-ERR Number of keys can't be greater than number of args\r\n"
    );
    let sha = b
        .call(&["SCRIPT", "LOAD", "return redis.call('SET', KEYS[1], 1)"])
        .split("\r\n")
        .nth(1)
        .unwrap()
        .to_owned();
    b.run("HELLO 3");
    let reply = b.call(&["SCRIPT", "EXPLAIN", &sha, "1", "new"]);
    assert!(reply.starts_with("%5\r\n$6\r\nresult\r\n+OK\r\n"), "{reply}");
    assert!(reply.contains("$8\r\ndeclared\r\n#t\r\n") && reply.contains("$6\r\nbefore\r\n_\r\n"), "{reply}");
}

#[test]
fn explain_is_bounded_in_time_and_size() {
    let (mut b, _) = hasty();
    let reply = b.call(&["SCRIPT", "EXPLAIN", "redis.call('SET', 'k', 1) while true do end", "0"]);
    assert!(reply.contains("-DEADLINE script exceeded 5000 ms, nothing was changed\r\n"), "{reply}");
    assert_eq!(b.run("EXISTS k"), ":0\r\n");
    let mut b = Bench::new();
    let script = "for i = 1, 1200 do redis.call('RPUSH', KEYS[1], string.rep('x', 1000)) end return redis.call('LRANGE', KEYS[1], 0, -1)";
    let reply = b.call(&["SCRIPT", "EXPLAIN", script, "1", "k"]);
    assert!(reply.contains("$8\r\nleft_out\r\n:201\r\n"));
    assert!(reply.contains("... (744 more bytes)"));
}

#[test]
fn explain_needs_the_rights_of_the_call() {
    let mut b = Bench::new();
    b.run("ACL SETUSER ann on nopass ~a* +@all -eval");
    b.run("ACL SETUSER bob on nopass ~a* +@all");
    b.run("AUTH ann x");
    assert!(b.call(&["SCRIPT", "EXPLAIN", "return 1", "1", "a"]).starts_with("-NOPERM"));
    b.run("AUTH bob x");
    assert!(b.call(&["SCRIPT", "EXPLAIN", "return 1", "1", "k"]).starts_with("-NOPERM"));
    assert!(
        b.call(&["SCRIPT", "EXPLAIN", "return redis.call('GET', 'k')", "1", "a"])
            .contains("ACL failure in script")
    );
    assert!(b.call(&["SCRIPT", "EXPLAIN", "return 1", "1", "a"]).starts_with("*10\r\n"));
}

#[test]
fn a_consumer_comes_back_to_the_place_that_another_had_meanwhile() {
    let mut b = Bench::new();
    b.run("XADD k 1-1 f v");
    b.run("XGROUP CREATE k g 0");
    b.run("XREADGROUP GROUP g ann COUNT 1 STREAMS k >");
    let before = (b.run("XINFO CONSUMERS k g"), b.run("XPENDING k g - + 10"));
    assert!(before.0.contains("ann") && before.1.contains("ann"));
    let script = "--- @rollback on
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], 'g', 'ann')
redis.savepoint(function()
    redis.call('XREADGROUP', 'GROUP', 'g', 'bob', 'STREAMS', KEYS[1], '>')
    error('inner')
end)
error('outer')";
    b.eval(script);
    assert_eq!((b.run("XINFO CONSUMERS k g"), b.run("XPENDING k g - + 10")), before);
}
