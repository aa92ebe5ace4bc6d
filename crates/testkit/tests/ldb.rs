//! Debugging sessions of scripts, as `redis-cli --ldb` holds them: the same on Totality and on `redis-server`, byte for
//! byte, and what is Totality's own.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use totality_testkit::client::Client;
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::value::Value;

/// A script with what the debugger is told.
struct Session {
    script: &'static str,
    /// Keys, a lone comma, arguments.
    words: &'static str,
    told: &'static [&'static str],
}

const SIX_LINES: &str = "local x=KEYS[1]\nredis.call('SET',x,'1')\nlocal y={a=1,b={2,3}}\nredis.breakpoint()\nredis.debug('dbg',y.a)\nreturn redis.call('GET',x)\n\n";

const FRAMES: &str = "local function inner(a, b)\n  local sum = a + b\n  return sum\nend\nlocal function outer(n)\n  local r = inner(n, 1)\n  return r\nend\nlocal t = {}\nt.method = outer\nlocal got = t.method(4)\nreturn got\n";

const SESSIONS: &[Session] = &[
    Session {
        script: SIX_LINES,
        words: "k",
        told: &[
            "step",
            "print x",
            "print",
            "redis get k",
            "eval return 1+1",
            "eval 1+1",
            "break 6",
            "continue",
            "trace",
            "nosuchcmd",
            "print y",
            "continue",
            "continue",
        ],
    },
    Session { script: SIX_LINES, words: "k , a b", told: &["n", "s", "s", "s", "s", "s", "s", "s"] },
    Session {
        script: SIX_LINES,
        words: "k , a b",
        told: &[
            "help",
            "h",
            "list",
            "l",
            "list 3",
            "l 3 1",
            "l 0 0",
            "l 2 -1",
            "whole",
            "w",
            "list x",
            "list 99",
            "break",
            "b",
            "b 2 3 2",
            "b",
            "break 0",
            "b 99",
            "b -1",
            "b x",
            "b 4",
            "b -4",
            "b 1",
            "list",
            "print KEYS",
            "print ARGV",
            "print nothing",
            "maxlen",
            "m 10",
            "m 0",
            "m 100",
            "m x",
            "m 1 2",
            "r",
            "redis",
            "print x y",
            "e",
            "eval",
            "c",
            "c",
        ],
    },
    Session { script: "return 1", words: "", told: &["abort"] },
    Session { script: "redis.call('SET',KEYS[1],'kept')\nreturn 1", words: "k", told: &["s", "a"] },
    Session {
        script: "local ok = pcall(function()\nlocal x = 1\nend)\nreturn tostring(ok)",
        words: "",
        told: &["s", "a", "c"],
    },
    Session {
        script: FRAMES,
        words: "",
        told: &[
            "b 3",
            "c",
            "trace",
            "t",
            "print a",
            "print n",
            "print t",
            "print sum",
            "print",
            "s",
            "s",
            "print r",
            "t",
            "c",
        ],
    },
    Session {
        script: "local b = true\nlocal n = nil\nlocal f = 1.5\nlocal big = 2^53\nlocal s = 'a\\n\\0\\255\"'\nlocal list = {1,'two',{3}}\nlocal map = {x=1}\nlocal empty = {}\nlocal mixed = {1,2,nil,4}\nlocal deep = {{{{{{{{{{{{1}}}}}}}}}}}}\nreturn 1",
        words: "",
        told: &[
            "b 11", "c", "p", "p n", "p b", "p f", "p big", "p s", "p list", "p map", "p empty", "p mixed",
            "p deep", "maxlen 0", "p deep", "c",
        ],
    },
    Session {
        script: "for i=1,3 do\n  redis.call('RPUSH',KEYS[1],i)\nend\nreturn redis.call('LRANGE',KEYS[1],0,-1)",
        words: "l",
        told: &["s", "s", "p i", "s", "s", "s", "p", "s", "s", "s", "s"],
    },
    Session {
        script: "local s = string.rep('x', 1000)\nredis.call('SET',KEYS[1],s)\nreturn redis.call('GET',KEYS[1])",
        words: "k",
        told: &["s", "p s", "s", "redis get k", "maxlen 0", "p s", "c"],
    },
    Session {
        script: "redis.pcall('LPOP',KEYS[1])\nredis.call('SET',KEYS[1],1)\nredis.pcall('LPOP',KEYS[1])\nredis.call('LPOP',KEYS[1])\nreturn 1",
        words: "k",
        told: &["s", "s", "s", "redis incr k", "redis mget k k none", "redis set k v nx", "s"],
    },
    Session {
        script: "redis.call('HSET',KEYS[1],'f','v')\nredis.setresp(3)\nredis.call('HGETALL',KEYS[1])\nredis.call('ZADD',KEYS[2],'1.5','m')\nredis.call('ZSCORE',KEYS[2],'m')\nredis.call('SADD',KEYS[3],'m')\nredis.call('SMEMBERS',KEYS[3])\nredis.call('GET',KEYS[4])\nreturn 1",
        words: "h z s none",
        told: &["s", "s", "s", "s", "s", "s", "s", "s", "s"],
    },
    Session {
        script: "redis.call('MSET','a',1,'b',2,'c',3,'d',4,'e',5,'f',6,'g',7)\nredis.call('MGET','a','b','c','d','e','f','g','h','i')\nredis.call('MGET','a','b','c','d','e','f','g','h','i','j')\nreturn 1",
        words: "",
        told: &["s", "s", "s", "s"],
    },
    Session {
        script: "local co = coroutine.wrap(function()\n  local inside = 1\n  coroutine.yield(inside)\n  return 2\nend)\nlocal a = co()\nlocal b = co()\nreturn a + b",
        words: "",
        told: &["s", "s", "p inside", "s", "s", "s", "s", "s"],
    },
    Session { script: "local x = 1\nreturn f(\n  x,\n  2)", words: "", told: &["s", "s", "s", "s"] },
    Session {
        script: "local function add(...)\n  return select('#', ...)\nend\nlocal function three() return 1, 2, 3 end\nreturn add(\n  three(),\n  three())",
        words: "",
        told: &[
            "s",
            "eval local t = {} for i = 1, 100 do t[i] = {} end return #t",
            "s",
            "eval 7",
            "s",
            "eval {1}",
            "s",
            "eval 8",
            "s",
            "s",
            "s",
        ],
    },
    Session {
        script: "redis.breakpoint()\nredis.breakpoint() redis.debug()\nredis.debug(1,'a',nil,{b={}},true,1/3)\nreturn 1",
        words: "",
        told: &["c", "c", "c"],
    },
    Session { script: "local x =\n", words: "", told: &[] },
    Session { script: "return 1\r\n", words: "", told: &["list", "c"] },
    Session { script: "error('x')", words: "", told: &["s"] },
    Session {
        script: "local t = {}\nreturn t.a.b",
        words: "",
        told: &["s", "eval t", "eval if", "eval error('y')", "s"],
    },
];

/// What the two print differently and are meant to: addresses, and the words for a command that does not exist.
fn plain(reply: &[u8]) -> String {
    let text = String::from_utf8_lossy(reply).into_owned();
    let address = regex_lite::Regex::new("@0x[0-9a-f]+").expect("a pattern");
    address.replace_all(&text, "@ADDRESS").into_owned()
}

fn words(session: &Session) -> Vec<String> {
    let (keys, args) = session.words.split_once(',').unwrap_or((session.words, ""));
    let keys: Vec<&str> = keys.split_whitespace().collect();
    let mut all = vec!["EVAL".to_owned(), session.script.to_owned(), keys.len().to_string()];
    all.extend(keys.into_iter().chain(args.split_whitespace()).map(str::to_owned));
    all
}

/// Every reply of a session, the bytes as they came, and at last what came until the connection ended.
fn hold(server: &Server, session: &Session, mode: &str, protocol: u8) -> Vec<String> {
    let mut client = server.client_with(protocol);
    let mut all = vec![plain(&client.call_raw(&["SCRIPT", "DEBUG", mode]).expect("SCRIPT DEBUG").raw)];
    client.send(&words(session)).expect("EVAL");
    let mut told = session.told.iter();
    loop {
        let text = match client.read() {
            Ok(reply) => plain(&reply.raw),
            Err(e) => format!("{e}"),
        };
        if !text.ends_with("\r\n") {
            all.push(text);
            return all;
        }
        let over = text.contains("+<endsession>\r\n");
        all.push(text);
        if over {
            break;
        }
        let Some(line) = told.next() else {
            all.push("the script still stands".to_owned());
            return all;
        };
        let words: Vec<&str> = line.split(' ').collect();
        client.send(&words).expect("a command of the debugger");
    }
    // The script's own reply, and then the end of the connection.
    while let Ok(reply) = client.read() {
        all.push(plain(&reply.raw));
    }
    all
}

#[test]
fn sessions_are_those_of_redis_byte_for_byte() {
    let Some(theirs) = oracle_or_skip("sessions_are_those_of_redis_byte_for_byte") else { return };
    let ours = Server::totality(&[]).expect("totality");
    let mut wrong = Vec::new();
    for (i, session) in SESSIONS.iter().enumerate() {
        for (mode, protocol) in [("SYNC", 2), ("YES", 2), ("SYNC", 3)] {
            let [mine, wanted] = [&ours, &theirs].map(|server| {
                server.client().line("FLUSHALL").expect("FLUSHALL");
                let mut all = hold(server, session, mode, protocol);
                let keys = server.client().line("KEYS *").expect("KEYS");
                let mut keys: Vec<String> = keys.items().iter().map(Value::text).collect();
                keys.sort();
                all.push(format!("keys {keys:?}"));
                all
            });
            if mine != wanted {
                let at = mine
                    .iter()
                    .zip(&wanted)
                    .position(|(a, b)| a != b)
                    .unwrap_or(mine.len().min(wanted.len()));
                wrong.push(format!(
                    "session {i} {mode} RESP{protocol}, reply {at} (told {:?})\n  ours   {:?}\n  theirs {:?}",
                    at.checked_sub(2).and_then(|i| session.told.get(i)),
                    mine.get(at),
                    wanted.get(at)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Begins a session and waits for its first stop.
fn stand(server: &Server, mode: &str, script: &str) -> Client {
    let mut client = server.client();
    assert_eq!(client.call(&["SCRIPT", "DEBUG", mode]).expect("SCRIPT DEBUG").text(), "OK");
    client.send(&["EVAL", script, "1", "k"]).expect("EVAL");
    let stopped = client.read().expect("a stop");
    assert!(plain(&stopped.raw).contains("* Stopped at 1"), "{:?}", stopped.value);
    client
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_session_on_a_copy_keeps_nobody_waiting_and_changes_nothing() {
    let server = Server::totality(&[]).expect("totality");
    let mut other = server.client();
    for i in 0..2000 {
        other.call(&["RPUSH", &format!("list:{i}"), "a", "b"]).expect("RPUSH");
    }
    other.call(&["SET", "k", "old"]).expect("SET");
    other
        .call(&[
            "FUNCTION",
            "LOAD",
            "#!lua name=l\nredis.register_function('f', function() return 'lib' end)",
        ])
        .expect("FUNCTION LOAD");
    let script = "redis.call('SET',KEYS[1],'new')\nredis.call('FLUSHALL')\nreturn redis.call('DBSIZE')";
    let mut sessions: Vec<Client> = (0..3).map(|_| stand(&server, "YES", script)).collect();
    // Others are served, and what they write the sessions do not see.
    assert_eq!(other.call(&["SET", "k", "newer"]).expect("SET").text(), "OK");
    for client in &mut sessions {
        let reply = client.call_raw(&["redis", "get", "k"]).expect("a reply");
        assert!(plain(&reply.raw).contains("+<reply> \"old\"\r\n"), "{}", plain(&reply.raw));
        let reply = client.call_raw(&["redis", "dbsize"]).expect("a reply");
        assert!(plain(&reply.raw).contains("+<reply> 2001\r\n"), "{}", plain(&reply.raw));
        client.send(&["continue"]).expect("continue");
        assert!(plain(&client.read().expect("the end").raw).contains("<endsession>"));
        assert_eq!(client.read().expect("the result").value, Value::Int(0));
        assert!(client.read_some().is_ok_and(|bytes| bytes.is_empty()));
    }
    assert_eq!(other.call(&["GET", "k"]).expect("GET").text(), "newer");
    assert_eq!(other.call(&["DBSIZE"]).expect("DBSIZE"), Value::Int(2001));
}

#[test]
fn a_session_on_a_copy_has_its_bounds() {
    let server = Server::totality(&["--script-debug-max-bytes", "1mb"]).expect("totality");
    let mut client = server.client();
    let sessions: Vec<Client> = (0..8).map(|_| stand(&server, "YES", "return 1")).collect();
    let refused = "ERR Fork() failed: can't run EVAL in debugging mode: too many debugging sessions";
    assert_eq!(client.call(&["SCRIPT", "DEBUG", "YES"]).expect("a reply").text(), refused);
    drop(sessions);
    until("the sessions end with their connections", || {
        client.call(&["SCRIPT", "DEBUG", "YES"]).expect("a reply").text() == "OK"
    });
    client.call(&["SETRANGE", "k", "2000000", "x"]).expect("SETRANGE");
    let reply = client.call(&["EVAL", "return 1", "0"]).expect("a reply");
    assert_eq!(
        reply.text(),
        "ERR Fork() failed: can't run EVAL in debugging mode: the data set is larger than script-debug-max-bytes"
    );
    // The next EVAL is an ordinary one.
    assert_eq!(client.call(&["EVAL", "return 1", "0"]).expect("a reply"), Value::Int(1));
}

#[test]
fn a_snapshot_and_a_copy_take_turns() {
    let server = Server::totality(&["--rdb-key-save-delay", "1000"]).expect("totality");
    let mut client = server.client();
    for i in 0..300 {
        client.call(&["SET", &format!("k{i}"), "v"]).expect("SET");
    }
    client.call(&["BGSAVE"]).expect("BGSAVE");
    let mut session = stand(&server, "YES", "return redis.call('DBSIZE')");
    until("the snapshot is written", || {
        client.call(&["BGSAVE"]).expect("BGSAVE").text().contains("Background saving started")
    });
    session.send(&["c"]).expect("c");
    assert!(plain(&session.read().expect("the end").raw).contains("<endsession>"));
    assert_eq!(session.read().expect("the result").value, Value::Int(300));
}

#[test]
fn others_are_told_that_the_server_is_busy_and_may_end_a_session() {
    let server = Server::totality(&["--busy-reply-threshold", "100"]).expect("totality");
    let mut session = stand(&server, "SYNC", "redis.call('GET',KEYS[1])\nreturn 1");
    let mut other = server.client();
    let busy = other.call(&["GET", "k"]).expect("a reply").text();
    assert!(busy.starts_with("BUSY Redis is busy running a script"), "{busy}");
    assert_eq!(other.call(&["SCRIPT", "KILL"]).expect("a reply").text(), "OK");
    let end = plain(&session.read().expect("the end").raw);
    assert!(end.contains("<endsession>"), "{end}");
    let result = session.read().expect("the result").value.text();
    assert!(result.starts_with("ERR Script killed by user with SCRIPT KILL"), "{result}");
    assert_eq!(other.call(&["PING"]).expect("a reply").text(), "PONG");
}

#[test]
fn a_session_that_nobody_answers_ends() {
    let server = Server::totality(&["--script-debug-timeout", "1"]).expect("totality");
    let mut other = server.client();
    // The client stays silent: the script goes on.
    let mut silent = stand(&server, "SYNC", "redis.call('SET',KEYS[1],'written')\nreturn 1");
    assert_eq!(other.call(&["GET", "k"]).expect("a reply").text(), "written");
    assert!(plain(&silent.read().expect("the end").raw).contains("<endsession>"));
    // The client leaves.
    drop(stand(&server, "SYNC", "redis.call('SET',KEYS[1],'left')\nredis.breakpoint()\nreturn 1"));
    assert_eq!(other.call(&["GET", "k"]).expect("a reply").text(), "left");
    // A loop that was started by a client that is gone does not go on for ever.
    let server = Server::totality(&["--busy-reply-threshold", "50"]).expect("totality");
    drop(stand(&server, "SYNC", "while true do end"));
    let mut other = server.client();
    until("the loop ends", || other.call(&["PING"]).expect("a reply").text() == "PONG");
}

#[test]
fn a_loop_is_stopped_and_can_be_looked_at() {
    let server = Server::totality(&["--busy-reply-threshold", "50"]).expect("totality");
    for mode in ["SYNC", "YES"] {
        let mut session = stand(&server, mode, "local i = 0\nwhile true do\n  i = i + 1\nend");
        session.send(&["continue"]).expect("continue");
        let stop = plain(&session.read().expect("a stop").raw);
        assert!(stop.contains("stop reason = timeout reached, infinite loop?"), "{stop}");
        let printed = plain(&session.call_raw(&["print", "i"]).expect("a value").raw);
        assert!(printed.starts_with("*1\r\n+<value> "), "{printed}");
        session.send(&["abort"]).expect("abort");
        assert!(plain(&session.read().expect("the end").raw).contains("<endsession>"));
        assert!(
            session
                .read()
                .expect("the result")
                .value
                .text()
                .starts_with("ERR script aborted for user request")
        );
    }
}

#[test]
fn what_is_no_command_of_the_debugger_ends_the_script() {
    let server = Server::totality(&[]).expect("totality");
    for bytes in [
        &b"PING\r\n"[..],
        b"*0\r\n",
        b"*1\r\n$0\r\n\r\n",
        b"*1\r\n+c\r\n",
        b"*2000\r\n",
        b"*1\r\n$5\r\nstepxx\r\n",
    ] {
        let mut session = stand(&server, "SYNC", "return 1");
        session.send_raw(bytes).expect("bytes");
        assert!(plain(&session.read().expect("the end").raw).contains("<endsession>"));
        let result = session.read().expect("the result").value.text();
        assert!(result.starts_with("ERR protocol error script: "), "{result}");
    }
    // Split anywhere, a command is one.
    let mut session = stand(&server, "SYNC", "return 1");
    for byte in b"*2\r\n$5\r\nbreak\r\n$1\r\n1\r\n" {
        session.send_raw(&[*byte]).expect("a byte");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(plain(&session.read().expect("the list").raw).contains("+->#1   return 1\r\n"));
    // Two at once are two.
    session.send_raw(b"*1\r\n$1\r\nb\r\n*1\r\n$1\r\nc\r\n").expect("two commands");
    assert!(plain(&session.read().expect("the breakpoints").raw).contains("1 breakpoints set:"));
    assert!(plain(&session.read().expect("the end").raw).contains("<endsession>"));
}

#[test]
fn what_else_redis_refuses() {
    let Some(theirs) = oracle_or_skip("what_else_redis_refuses") else { return };
    let ours = Server::totality(&[]).expect("totality");
    for server in [&ours, &theirs] {
        let mut client = server.client();
        let mut line = |text: &str| client.line(text).expect("a reply").text();
        assert_eq!(line("SCRIPT DEBUG MAYBE"), "ERR Use SCRIPT DEBUG YES/SYNC/NO");
        assert_eq!(line("SCRIPT DEBUG SYNC"), "OK");
        assert_eq!(line("EVALSHA x 0"), "NOSCRIPT No matching script. Please use EVAL.");
        assert_eq!(
            line("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"),
            "ERR Please use EVAL instead of EVALSHA for debugging"
        );
        assert_eq!(line("SCRIPT DEBUG NO"), "OK");
        assert_eq!(line("EVAL \"return redis.breakpoint()\" 0"), "");
        let mut out = Vec::new();
        totality_testkit::client::encode(&["PING"], &mut out);
        totality_testkit::client::encode(&["SCRIPT", "DEBUG", "YES"], &mut out);
        client.send_raw(&out).expect("a pipeline");
        client.read().expect("PONG");
        assert_eq!(
            client.read().expect("a reply").value.text(),
            "ERR SCRIPT DEBUG must be called outside a pipeline"
        );
    }
}

#[test]
fn the_public_client_holds_a_session() {
    let server = Server::totality(&[]).expect("totality");
    let script = server.dir().join("take.lua");
    std::fs::write(&script, "local n = redis.call('INCR',KEYS[1])\nreturn n + tonumber(ARGV[1])\n")
        .expect("a file");
    for (mode, kept) in [("--ldb", ""), ("--ldb-sync-mode", "1")] {
        let mut child = Command::new("redis-cli")
            .args(["-p", &server.port().to_string(), mode, "--eval"])
            .arg(&script)
            .args(["k", ",", "41"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-cli");
        use std::io::Write;
        child
            .stdin
            .take()
            .expect("its input")
            .write_all(b"next\nprint n\ncontinue\nquit\n")
            .expect("commands");
        let out = child.wait_with_output().expect("its output");
        let text = String::from_utf8_lossy(&out.stdout);
        for part in ["* Stopped at 1", "<redis> INCR k", "<reply> 1", "<value> 1", "(integer) 42"] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert_eq!(server.client().line("GET k").expect("GET").text(), kept);
    }
}

#[test]
fn a_session_on_a_copy_may_write_where_the_server_may() {
    let server = Server::totality(&["--min-replicas-to-write", "1"]).expect("totality");
    let script = "local reply = redis.pcall('SET', KEYS[1], 'v')\nreturn reply.err or reply.ok";
    let end = |replica: bool| {
        if replica {
            let made = server.client().call(&["REPLICAOF", "127.0.0.1", "1"]).expect("REPLICAOF");
            assert_eq!(made.text(), "OK");
        }
        let mut client = stand(&server, "YES", script);
        client.send(&["continue"]).expect("continue");
        assert!(plain(&client.read().expect("the end").raw).contains("<endsession>"));
        client.read().expect("the result").value.text()
    };
    // A copy has no replicas that it could wait for.
    assert_eq!(end(false), "OK");
    assert!(end(true).starts_with("READONLY "));
}
