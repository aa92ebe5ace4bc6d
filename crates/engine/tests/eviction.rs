//! `maxmemory`: who may write, what goes, what others hear of it.

use totality_engine::clock::Clock;
use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, Outgoing};

/// A clock that stands still.
struct Still;
impl Clock for Still {
    fn now_us(&self) -> u64 {
        1_700_000_000_000_000
    }
}

struct Bench {
    engine: Engine,
    client: ClientId,
}

impl Bench {
    fn new(parameters: &[(&str, &str)]) -> Bench {
        let mut config = Config::default();
        for (name, value) in parameters {
            config.set(name, &[value.as_bytes()]).unwrap();
        }
        let mut engine = Engine::new(config, Box::new(Still), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client }
    }

    fn run(&mut self, line: &str) -> String {
        self.run_as(self.client, line)
    }

    fn run_as(&mut self, client: ClientId, line: &str) -> String {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        String::from_utf8_lossy(&out).trim_end().to_owned()
    }

    fn fill(&mut self, keys: usize, with_deadline: bool) {
        for i in 0..keys {
            let deadline = if with_deadline { " EX 1000" } else { "" };
            self.run(&format!("SET key:{i} {}{deadline}", "v".repeat(200)));
        }
    }

    /// Sets `maxmemory` so many bytes above what is used now.
    fn limit(&mut self, above: i64) {
        let used = (self.engine.ks.used_memory() + self.engine.sv.memory()) as i64;
        self.run(&format!("CONFIG SET maxmemory {}", used + above));
    }

    fn used(&self) -> usize {
        self.engine.ks.used_memory() + self.engine.sv.memory()
    }

    fn heard(&mut self) -> String {
        let mut text = String::new();
        while let Some(outgoing) = self.engine.next_outgoing() {
            if let Outgoing::Reply { bytes, .. } = outgoing {
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        text
    }

    fn info(&mut self, name: &str) -> u64 {
        let text = self.run("INFO stats");
        let line = text.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
        line.split(':').nth(1).unwrap().parse().unwrap()
    }
}

const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.";

#[test]
fn without_eviction_what_may_grow_is_refused() {
    let mut b = Bench::new(&[]);
    b.fill(10, false);
    b.limit(-100);
    assert_eq!(b.run("SET a 1"), OOM);
    assert_eq!(b.run("MULTI"), "+OK");
    assert_eq!(b.run("SET a 1"), OOM);
    assert!(b.run("EXEC").starts_with("-EXECABORT"));
    assert_eq!(b.run("EVAL return(redis.call('get','key:1')==false) 0"), "$-1");
    let text = b.run("EVAL return(redis.call('set','a','1')) 0");
    assert!(text.starts_with(OOM), "{text}");
    assert_eq!(b.run("GET a"), "$-1");
    assert_eq!(b.run("DEL key:1"), ":1");
    b.limit(1000);
    assert_eq!(b.run("SET a 1"), "+OK");
    assert_eq!(b.info("evicted_keys"), 0);
}

#[test]
fn a_queued_command_that_may_grow_stops_exec() {
    let mut b = Bench::new(&[]);
    b.fill(10, false);
    b.run("MULTI");
    assert_eq!(b.run("SET a 1"), "+QUEUED");
    let other = b.engine.connect(ConnInfo::default());
    let used = b.used();
    b.run_as(other, &format!("CONFIG SET maxmemory {}", used - 1000));
    assert_eq!(
        b.run("EXEC"),
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'."
    );
    // The transaction is over.
    assert_eq!(b.run("GET a"), "$-1");
}

#[test]
fn every_policy_makes_room_and_writes_go_on() {
    for policy in Config::POLICIES {
        if policy == "noeviction" {
            continue;
        }
        let mut b = Bench::new(&[("maxmemory-policy", policy)]);
        b.fill(300, true);
        b.limit(0);
        for i in 0..300 {
            assert_eq!(b.run(&format!("SET new:{i} {} EX 500", "w".repeat(200))), "+OK", "{policy}");
        }
        assert!(b.info("evicted_keys") > 200, "{policy}");
        b.run("PING");
        assert!(b.used() as u64 <= b.engine.sv.config.maxmemory, "{policy}");
        assert_eq!(b.engine.ks.used_memory(), b.engine.ks.recount_memory(), "{policy}");
    }
}

#[test]
fn volatile_policies_refuse_when_only_lasting_keys_are_left() {
    let mut b = Bench::new(&[("maxmemory-policy", "volatile-lru")]);
    b.fill(50, false);
    b.run("SET mortal 1 EX 100");
    b.limit(-100);
    assert_eq!(b.run("SET a 1"), OOM);
    assert_eq!(b.run("EXISTS mortal"), ":0");
    assert_eq!(b.run("DBSIZE"), ":50");
}

#[test]
fn an_eviction_is_told_to_those_who_listen() {
    let mut b = Bench::new(&[("maxmemory-policy", "allkeys-random"), ("notify-keyspace-events", "Ee")]);
    let listener = b.engine.connect(ConnInfo::default());
    b.run_as(listener, "SUBSCRIBE __keyevent@0__:evicted");
    let replica = b.engine.connect(ConnInfo::default());
    b.run_as(replica, "SYNC");
    b.heard();
    b.run("SET victim 1");
    b.run("WATCH victim");
    b.heard();
    b.limit(-50);
    b.run("PING");
    let heard = b.heard();
    assert!(heard.contains("__keyevent@0__:evicted\r\n$6\r\nvictim"), "{heard}");
    assert!(heard.contains("UNLINK\r\n$6\r\nvictim") && !heard.contains("MULTI"), "{heard}");
    b.run("CONFIG SET maxmemory 0");
    b.run("MULTI");
    assert_eq!(b.run("EXEC"), "*-1");
}

#[test]
fn the_limit_is_lowered_far_and_time_is_bounded() {
    // The clock stands still, so the time is never over: one call evicts everything that it must.
    let mut b = Bench::new(&[("maxmemory-policy", "allkeys-lru")]);
    b.fill(3000, false);
    b.limit(-400_000);
    b.run("PING");
    assert!(b.used() as u64 <= b.engine.sv.config.maxmemory);
    assert!(!b.engine.sv.evicting);
}

/// A clock that goes on by a millisecond whenever it is read.
struct Fast(std::cell::Cell<u64>);
impl Clock for Fast {
    fn now_us(&self) -> u64 {
        self.0.set(self.0.get() + 1000);
        self.0.get()
    }
}

#[test]
fn what_the_time_does_not_suffice_for_follows() {
    let mut b = Bench::new(&[("maxmemory-policy", "allkeys-lru")]);
    b.fill(1000, false);
    b.limit(-100_000);
    b.engine.sv.clock = Box::new(Fast(std::cell::Cell::new(1_700_000_000_000_000)));
    // 16 keys go, then the time is over; the command runs nevertheless.
    assert_eq!(b.run("SET a 1"), "+OK");
    assert!(b.engine.sv.evicting);
    assert_eq!(b.engine.next_deadline(), Some(0));
    let mut turns = 0;
    while b.engine.next_deadline() == Some(0) {
        b.engine.run_due();
        turns += 1;
    }
    assert!((5..200).contains(&turns), "{turns}");
    assert!(b.used() as u64 <= b.engine.sv.config.maxmemory);
    assert!(b.info("total_eviction_exceeded_time") > 0);
    assert_eq!(b.info("current_eviction_exceeded_time"), 0);
}

#[test]
fn nothing_is_evicted_during_a_pause() {
    let mut b = Bench::new(&[("maxmemory-policy", "allkeys-lru")]);
    b.fill(10, false);
    b.run("CLIENT PAUSE 100000 WRITE");
    b.limit(-1000);
    b.run("PING");
    assert_eq!(b.run("DBSIZE"), ":10");
    b.run("CLIENT UNPAUSE");
    b.run("PING");
    assert_ne!(b.run("DBSIZE"), ":10");
}
