//! Client-side caching: who hears of which change, and when.

use totality_engine::clock::Clock;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, Outgoing};

struct Still;
impl Clock for Still {
    fn now_us(&self) -> u64 {
        1_700_000_000_000_000
    }
}

struct Bench {
    engine: Engine,
    a: ClientId,
    b: ClientId,
}

impl Bench {
    /// Client `a` speaks RESP3 and tracks with `options`, `b` does not.
    fn new(options: &str) -> Bench {
        let mut engine = Engine::new(Config::default(), Box::new(Still), [7; 16]);
        let (a, b) = (engine.connect(ConnInfo::default()), engine.connect(ConnInfo::default()));
        let mut bench = Bench { engine, a, b };
        bench.run(a, "HELLO 3");
        assert_eq!(bench.run(a, format!("CLIENT TRACKING ON {options}").trim_end()), "+OK");
        bench
    }

    fn run(&mut self, client: ClientId, line: &str) -> String {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        String::from_utf8_lossy(&out).trim_end().to_owned()
    }

    /// What `a` was told meanwhile: the words of all messages.
    fn told(&mut self) -> String {
        let mut words = Vec::new();
        while let Some(outgoing) = self.engine.next_outgoing() {
            if let Outgoing::Reply { client, bytes } = outgoing
                && client == self.a
            {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let lines = text.lines().filter(|line| !line.starts_with(['$', '*', '>']) || *line == "$-1");
                words.extend(lines.map(str::to_owned));
            }
        }
        words.join(" ")
    }
}

#[test]
fn a_key_that_was_read_is_told_once() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(a, "MGET k l");
    t.run(b, "SET k 1");
    t.run(b, "SET k 2");
    t.run(b, "SET other 2");
    assert_eq!(t.told(), "invalidate k");
    t.run(b, "DEL l");
    assert_eq!(t.told(), "", "it was not there");
    t.run(b, "SADD l 1");
    assert_eq!(t.told(), "invalidate l");
}

#[test]
fn own_changes_are_told_unless_noloop() {
    for (options, told) in [("", "invalidate k"), ("NOLOOP", "")] {
        let mut t = Bench::new(options);
        let a = t.a;
        t.run(a, "GET k");
        assert_eq!(t.run(a, "SET k 1"), "+OK", "the reply comes first");
        assert_eq!(t.told(), told);
    }
}

#[test]
fn what_is_read_after_the_change_in_the_same_unit_stays_valid() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    for line in ["MULTI", "SET k 1", "GET k", "EXEC"] {
        t.run(a, line);
    }
    assert_eq!(t.told(), "");
    t.run(b, "SET k 2");
    assert_eq!(t.told(), "invalidate k");
    for line in ["MULTI", "GET k", "SET k 1", "EXEC"] {
        t.run(a, line);
    }
    assert_eq!(t.told(), "invalidate k");
}

#[test]
fn scripts_read_for_their_client() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(a, "EVAL return(redis.call('get','k')==false)and(redis.call('set','w',1)) 2 k w");
    t.run(b, "SET w 1");
    assert_eq!(t.told(), "", "it was written only");
    t.run(b, "EVAL return(redis.call('set','k',1)) 1 k");
    assert_eq!(t.told(), "invalidate k");
}

#[test]
fn a_scope_that_is_taken_back_told_nothing() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(a, "GET k");
    t.engine.ks.open_scope();
    t.engine.sv.depth += 1;
    t.run(b, "SET k 1");
    t.run(a, "GET l");
    t.engine.ks.take_back();
    t.engine.sv.depth -= 1;
    t.run(b, "PING");
    assert_eq!(t.told(), "");
    t.run(b, "MSET k 2 l 2");
    assert_eq!(t.told(), "invalidate k invalidate l", "what was read is remembered");
}

#[test]
fn optin_and_optout() {
    let mut t = Bench::new("OPTIN");
    let (a, b) = (t.a, t.b);
    t.run(a, "GET k");
    t.run(b, "SET k 1");
    assert_eq!(t.told(), "");
    t.run(a, "CLIENT CACHING YES");
    t.run(a, "GET k");
    t.run(a, "GET l");
    t.run(b, "MSET k 1 l 1");
    assert_eq!(t.told(), "invalidate k");
    let mut t = Bench::new("OPTOUT");
    t.run(a, "CLIENT CACHING NO");
    t.run(a, "GET k");
    t.run(a, "GET l");
    t.run(b, "MSET k 1 l 1");
    assert_eq!(t.told(), "invalidate l");
}

#[test]
fn broadcasts_by_prefix() {
    let mut t = Bench::new("BCAST PREFIX user: PREFIX item: NOLOOP");
    let (a, b) = (t.a, t.b);
    t.run(b, "MSET user:2 1 user:1 1 item:1 1 other 1");
    assert_eq!(t.told(), "invalidate item:1 invalidate user:1 user:2");
    t.run(a, "SET user:3 1");
    assert_eq!(t.told(), "");
    assert_eq!(t.engine.sv.tracking.prefixes(), 2);
    t.run(a, "CLIENT TRACKING OFF");
    t.run(b, "SET user:1 2");
    assert_eq!((t.told(), t.engine.sv.tracking.prefixes()), (String::new(), 0));
}

#[test]
fn expired_and_flushed_keys_are_told() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(b, "SET k 1 PX 100");
    t.run(a, "GET k");
    struct Later;
    impl Clock for Later {
        fn now_us(&self) -> u64 {
            1_700_000_001_000_000
        }
    }
    t.engine.sv.clock = Box::new(Later);
    t.engine.cron();
    assert_eq!(t.told(), "invalidate k");
    t.run(a, "GET l");
    t.run(b, "FLUSHALL");
    assert_eq!(t.told(), "invalidate _");
    assert_eq!((t.engine.sv.tracking.keys(), t.engine.sv.tracking.items()), (0, 0));
}

#[test]
fn the_table_is_bounded() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(b, "CONFIG SET tracking-table-max-keys 10");
    let mut replies = String::new();
    for i in 0..50 {
        replies.push_str(&t.run(a, &format!("GET key:{i}")));
    }
    // It is told of what was forgotten before the reply.
    assert!(t.engine.sv.tracking.keys() <= 11, "{}", t.engine.sv.tracking.keys());
    assert_eq!(replies.matches("invalidate").count(), 50 - t.engine.sv.tracking.keys());
    let memory = t.engine.sv.tracking.memory();
    t.run(a, "CLIENT TRACKING OFF");
    assert!(t.engine.sv.tracking.memory() < memory);
}

#[test]
fn a_client_that_is_gone_is_not_told() {
    let mut t = Bench::new("");
    let (a, b) = (t.a, t.b);
    t.run(a, "GET k");
    t.engine.disconnect(a);
    t.a = t.engine.connect(ConnInfo::default());
    t.run(b, "SET k 1");
    assert_eq!(t.told(), "");
    assert_eq!(t.engine.sv.tracking.clients(), 0);
}

#[test]
fn options_that_contradict() {
    let mut t = Bench::new("BCAST PREFIX ab");
    let a = t.a;
    for (line, text) in [
        ("CLIENT TRACKING ON", "can't switch BCAST"),
        ("CLIENT TRACKING ON BCAST OPTIN", "OPTIN and OPTOUT are not compatible with BCAST"),
        ("CLIENT TRACKING ON BCAST PREFIX abc", "Prefix 'abc' overlaps with an existing prefix 'ab'"),
        ("CLIENT TRACKING ON BCAST PREFIX a", "Prefix 'a' overlaps with an existing prefix 'ab'"),
        (
            "CLIENT TRACKING ON BCAST PREFIX x PREFIX xy",
            "Prefix 'x' overlaps with another provided prefix 'xy'",
        ),
        ("CLIENT TRACKING ON BCAST REDIRECT 999", "The client ID you want redirect to does not exist"),
        ("CLIENT TRACKING MAYBE", "syntax error"),
        ("CLIENT CACHING YES", "CLIENT CACHING YES is only valid"),
    ] {
        let reply = t.run(a, line);
        assert!(reply.starts_with("-ERR") && reply.contains(text), "{line}: {reply}");
    }
    t.run(a, "CLIENT TRACKING OFF");
    assert!(t.run(a, "CLIENT TRACKING ON PREFIX a").contains("PREFIX option requires BCAST"));
    assert!(t.run(a, "CLIENT CACHING YES").contains("can be called only when"));
}
