//! Users with several connections, without a server: whom a change of rights reaches, and where rights are asked for.

use totality_engine::engine::NoTicker;
use totality_engine::{After, ClientId, Config, ConnInfo, Engine, ManualClock, Outgoing};

struct Bench {
    engine: Engine,
    admin: ClientId,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(Config::default(), Box::new(clock), [7; 16]);
        let admin = engine.connect(ConnInfo::default());
        Bench { engine, admin }
    }

    fn give(&mut self, client: ClientId, argv: &[&str]) -> (String, After) {
        let argv: Vec<&[u8]> = argv.iter().map(|arg| arg.as_bytes()).collect();
        let mut out = Vec::new();
        self.engine.wake();
        let after = self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        (String::from_utf8(out).unwrap(), after)
    }

    fn run(&mut self, client: ClientId, line: &str) -> String {
        let argv: Vec<&str> = line.split(' ').collect();
        self.give(client, &argv).0
    }

    fn admin(&mut self, line: &str) {
        assert_eq!(self.run(self.admin, line), "+OK\r\n", "{line}");
    }

    /// A connection of a user who needs no password.
    fn login(&mut self, user: &str) -> ClientId {
        let client = self.engine.connect(ConnInfo::default());
        assert_eq!(self.run(client, &format!("AUTH {user} x")), "+OK\r\n");
        client
    }

    fn killed(&mut self) -> Vec<ClientId> {
        let mut killed = Vec::new();
        while let Some(out) = self.engine.next_outgoing() {
            if let Outgoing::Kill { client, .. } = out {
                killed.push(client);
            }
        }
        killed
    }

    fn info(&mut self, name: &str) -> String {
        let text = self.run(self.admin, "INFO stats");
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len() + 1..].to_owned()
    }
}

#[test]
fn a_change_reaches_those_who_are_connected() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass ~k* +get +set");
    let client = b.login("u");
    assert_eq!(b.run(client, "SET k v"), "+OK\r\n");
    b.admin("ACL SETUSER u -set");
    assert_eq!(b.run(client, "SET k v"), "-NOPERM User u has no permissions to run the 'set' command\r\n");
    assert_eq!(b.run(client, "GET o"), "-NOPERM No permissions to access a key\r\n");
    b.admin("ACL SETUSER u allkeys allchannels +@all");
    assert_eq!(b.run(client, "GET o"), "$-1\r\n");
    assert_eq!(b.info("acl_access_denied_cmd"), "1");
    assert_eq!(b.info("acl_access_denied_key"), "1");
}

#[test]
fn who_is_removed_is_a_stranger_and_goes() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass +@all ~*");
    let (client, own) = (b.login("u"), b.login("u"));
    b.admin("CONFIG SET requirepass secret");
    let (reply, after) = b.give(own, &["ACL", "DELUSER", "u"]);
    assert_eq!((reply.as_str(), after), (":1\r\n", After::Close));
    assert_eq!(b.killed(), [client]);
    assert!(b.run(client, "GET k").starts_with("-NOAUTH"));
    assert!(b.run(client, "AUTH u x").starts_with("-WRONGPASS"));
}

#[test]
fn subscribers_who_lose_a_channel_go() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass +@all &a* &b");
    let (first, second) = (b.login("u"), b.login("u"));
    b.run(first, "SUBSCRIBE a1");
    b.run(second, "PSUBSCRIBE b");
    b.admin("ACL SETUSER u &c");
    assert_eq!(b.killed(), []);
    b.admin("ACL SETUSER u resetchannels &a*");
    assert_eq!(b.killed(), [second]);
}

#[test]
fn exec_asks_again() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass +@all ~*");
    let client = b.login("u");
    for line in ["MULTI", "SET k v", "GET k"] {
        b.run(client, line);
    }
    b.admin("ACL SETUSER u -set");
    let reply = b.run(client, "EXEC");
    assert!(reply.starts_with("*2\r\n-NOPERM ACLs rules changed between"), "{reply}");
    assert!(reply.ends_with("no permission to execute the command or subcommand\r\n$-1\r\n"), "{reply}");
    // What may not be queued spoils the transaction.
    b.run(client, "MULTI");
    assert!(b.run(client, "SET k v").starts_with("-NOPERM"));
    assert!(b.run(client, "EXEC").starts_with("-EXECABORT"));
}

#[test]
fn a_script_may_do_what_its_caller_may() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass +eval +get ~k*");
    let client = b.login("u");
    let mut eval = |script: &str| b.give(client, &["EVAL", script, "0"]).0;
    assert_eq!(eval("return redis.call('get','k')"), "$-1\r\n");
    let denied = eval("return redis.call('get','o')");
    assert!(denied.starts_with("-ERR ACL failure in script: No permissions to access a key"), "{denied}");
    let denied = eval("return redis.pcall('set','k','v')");
    assert_eq!(denied, "-ERR ACL failure in script: User u has no permissions to run the 'set' command\r\n");
    assert_eq!(eval("return redis.acl_check_cmd('get','k')"), ":1\r\n");
    assert_eq!(eval("return redis.acl_check_cmd('set','k','v')"), "$-1\r\n");
    let log = b.run(b.admin, "ACL LOG 1");
    assert!(log.contains("\r\n$3\r\nlua\r\n$6\r\nobject\r\n$3\r\nset\r\n"), "{log}");
}

#[test]
fn who_waited_is_asked_again() {
    let mut b = Bench::new();
    b.admin("ACL SETUSER u on nopass +@all ~*");
    let client = b.login("u");
    assert_eq!(b.give(client, &["BLPOP", "l", "0"]).1, After::Blocked);
    b.admin("ACL SETUSER u -blpop");
    b.run(b.admin, "RPUSH l x");
    let reply = std::iter::from_fn(|| b.engine.next_outgoing()).find_map(|out| match out {
        Outgoing::Reply { bytes, .. } => Some(String::from_utf8(bytes).unwrap()),
        _ => None,
    });
    assert_eq!(reply.unwrap(), "-NOPERM User u has no permissions to run the 'blpop' command\r\n");
    assert_eq!(b.run(b.admin, "LLEN l"), ":1\r\n");
}

#[test]
fn secrets_stay_out_of_the_slow_log() {
    let mut b = Bench::new();
    b.admin("CONFIG SET slowlog-log-slower-than 0");
    b.admin("ACL SETUSER u on >secret");
    b.admin("CONFIG SET hz 10 requirepass secret");
    b.run(b.admin, "AUTH secret");
    let other = b.engine.connect(ConnInfo::default());
    b.run(other, "HELLO 2 AUTH u secret");
    let log = b.run(b.admin, "SLOWLOG GET 10");
    assert!(log.contains("requirepass") && log.contains("SETUSER") && log.contains("HELLO"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

/// Loads scripts with names, and functions, for the rules `run:`.
fn with_scripts(b: &mut Bench) -> (String, String) {
    let mut load = |text: &str| {
        let reply = b.give(b.admin, &["SCRIPT", "LOAD", text]).0;
        reply.lines().nth(1).unwrap().to_owned()
    };
    let named = load("--- @script stock.take\nreturn 'taken'");
    let other = load("--- @script other\nreturn 'other'");
    let library = "#!lua name=l\nredis.register_function('f_one', function() return 1 end)\nredis.register_function('g', function() return 2 end)";
    assert!(b.give(b.admin, &["FUNCTION", "LOAD", library]).0.starts_with('$'));
    (named, other)
}

const NO_RUN: &str = "-NOPERM User u has no permissions to run this script or function\r\n";

#[test]
fn scripts_may_be_limited_by_their_names() {
    let mut b = Bench::new();
    let (named, other) = with_scripts(&mut b);
    b.admin("ACL SETUSER u on nopass +@all ~* &* run:stock.* run:f_*");
    let u = b.login("u");
    let taken = "$5\r\ntaken\r\n";
    assert_eq!(b.give(u, &["EVALSHA", &named, "0"]).0, taken);
    assert_eq!(b.give(u, &["EVALSHA_RO", &named, "0"]).0, taken);
    assert_eq!(b.give(u, &["EVAL", "--- @script stock.take\nreturn 'taken'", "0"]).0, taken);
    assert_eq!(b.give(u, &["EVALSHA", &other, "0"]).0, NO_RUN);
    assert_eq!(b.give(u, &["FCALL", "f_one", "0"]).0, ":1\r\n");
    assert_eq!(b.give(u, &["FCALL", "g", "0"]).0, NO_RUN);
    // A name that a text gives itself is nothing as long as nobody else loaded it.
    for text in ["--- @script stock.take\nreturn 'mine'", "return 1"] {
        for argv in [
            &["EVAL", text, "0"][..],
            &["EVAL_RO", text, "0"],
            &["SCRIPT", "LOAD", text],
            &["SCRIPT", "EXPLAIN", text, "0"],
        ] {
            assert_eq!(b.give(u, argv).0, NO_RUN, "{argv:?}");
        }
    }
    let library = "#!lua name=m\nredis.register_function('f_two', function() return 1 end)";
    assert_eq!(b.give(u, &["FUNCTION", "LOAD", library]).0, NO_RUN);
    assert_eq!(b.give(u, &["FUNCTION", "RESTORE", "x"]).0, NO_RUN);
    assert!(b.give(u, &["EVALSHA", &"0".repeat(40), "0"]).0.starts_with("-NOSCRIPT"));
    assert!(b.give(u, &["SCRIPT", "EXPLAIN", &named, "0"]).0.starts_with(['*', '%']));
    assert_eq!(b.info("acl_access_denied_script"), "12");
    let log = b.run(b.admin, "ACL LOG 1");
    assert!(log.contains("\r\n$6\r\nscript\r\n") && log.contains("function|restore"), "{log}");
    // In transactions, too, and again when they run.
    b.run(u, "MULTI");
    assert_eq!(b.give(u, &["EVALSHA", &other, "0"]).0, NO_RUN);
    assert!(b.run(u, "EXEC").starts_with("-EXECABORT"));
    b.run(u, "MULTI");
    assert_eq!(b.give(u, &["EVALSHA", &named, "0"]).0, "+QUEUED\r\n");
    b.admin("ACL SETUSER u resetrun");
    assert!(b.run(u, "EXEC").contains("-NOPERM ACLs rules changed"));
}

#[test]
fn rules_for_scripts_are_shown_when_they_are_used() {
    let mut b = Bench::new();
    let (named, other) = with_scripts(&mut b);
    let line = |b: &mut Bench| b.run(b.admin, "ACL LIST").lines().nth(2).unwrap().to_owned();
    b.admin("ACL SETUSER a on nopass +@all ~* &*");
    let plain = "user a on nopass sanitize-payload ~* &* +@all".replace(" sanitize-payload", "");
    assert_eq!(line(&mut b), plain);
    assert!(b.run(b.admin, "ACL GETUSER a").starts_with("*14\r\n"));
    b.admin("ACL SETUSER a run:x run:x run:y*");
    assert_eq!(line(&mut b), "user a on nopass ~* &* run:x run:y* +@all");
    let shown = b.run(b.admin, "ACL GETUSER a");
    assert!(
        shown.starts_with("*16\r\n") && shown.contains("$4\r\nruns\r\n$12\r\nrun:x run:y*\r\n"),
        "{shown}"
    );
    b.admin("ACL SETUSER a resetrun");
    assert_eq!(line(&mut b), "user a on nopass ~* &* resetrun +@all");
    b.admin("ACL SETUSER a allrun");
    assert_eq!(line(&mut b), plain);
    // By its SHA1, which nobody can feign, a script need not be there.
    b.admin(&format!("ACL SETUSER u on nopass +@all ~* &* run:{other}"));
    b.run(b.admin, "SCRIPT FLUSH");
    let u = b.login("u");
    assert_eq!(b.give(u, &["EVAL", "--- @script other\nreturn 'other'", "0"]).0, "$5\r\nother\r\n");
    assert!(b.give(u, &["EVALSHA", &named, "0"]).0.starts_with("-NOSCRIPT"));
    // Another selector may allow what the first one does not.
    b.give(b.admin, &["ACL", "SETUSER", "v", "on", "nopass", "resetrun", "+@all", "(+@all ~* run:g)"]);
    let v = b.login("v");
    assert_eq!(b.give(v, &["FCALL", "g", "0"]).0, ":2\r\n");
    assert_eq!(b.give(v, &["FCALL", "f_one", "0"]).0, NO_RUN.replace(" u ", " v "));
}

/// A client of the debugger who asks for a key.
struct Debugging(Vec<u8>);

impl totality_engine::Ticker for Debugging {
    fn may_debug(&mut self, _copy: bool) -> Result<(), &'static str> {
        Ok(())
    }

    fn say(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }

    fn hear(&mut self, input: &mut Vec<u8>) -> totality_engine::engine::Heard {
        if self.0.windows(6).any(|w| w == b"<redis") {
            return totality_engine::engine::Heard::Gone;
        }
        input.extend_from_slice(b"*3\r\n$5\r\nredis\r\n$3\r\nget\r\n$6\r\nsecret\r\n");
        totality_engine::engine::Heard::Bytes
    }
}

#[test]
fn the_debugger_has_the_rights_of_who_debugs() {
    let mut b = Bench::new();
    b.admin("SET secret hidden");
    b.admin("ACL SETUSER u on nopass +@all ~k*");
    let u = b.login("u");
    let mut talk = Debugging(Vec::new());
    let mut out = Vec::new();
    for argv in [&[&b"SCRIPT"[..], b"DEBUG", b"SYNC"][..], &[b"EVAL", b"local x = 1\nreturn x", b"0"]] {
        b.engine.wake();
        b.engine.execute(u, argv, &mut out, &mut talk);
    }
    let heard = String::from_utf8_lossy(&talk.0).into_owned();
    assert!(heard.contains("No permissions to access a key") && !heard.contains("hidden"), "{heard}");
}
