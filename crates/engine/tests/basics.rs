//! The first commands through the execute gate, without a server.

use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

struct Bench {
    engine: Engine,
    client: ClientId,
    clock: ManualClock,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, clock }
    }

    fn run(&mut self, line: &str) -> String {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(self.client, &argv, &mut out, &mut NoTicker);
        String::from_utf8(out).unwrap()
    }
}

#[test]
fn strings_counters_and_deadlines() {
    let mut b = Bench::new();
    assert_eq!(b.run("SET k v"), "+OK\r\n");
    assert_eq!(b.run("GET k"), "$1\r\nv\r\n");
    assert_eq!(b.run("get nokey"), "$-1\r\n");
    assert_eq!(b.run("INCR n"), ":1\r\n");
    assert_eq!(b.run("INCR k"), "-ERR value is not an integer or out of range\r\n");
    assert_eq!(b.run("EXPIRE k 10"), ":1\r\n");
    assert_eq!(b.run("TTL k"), ":10\r\n");
    b.clock.advance_ms(10_000);
    assert_eq!(b.run("GET k"), "$-1\r\n");
    assert_eq!(b.run("TTL k"), ":-2\r\n");
    assert_eq!(b.engine.ks.stats.expired, 1);
    assert_eq!(b.run("DEL n k"), ":1\r\n");
    assert_eq!(b.run("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
}

#[test]
fn memory_is_accounted_to_the_byte() {
    let mut b = Bench::new();
    let empty = b.engine.ks.used_memory();
    let long = "x".repeat(1000);
    b.run(&format!("SET k {long}"));
    assert!(b.engine.ks.used_memory() >= empty + 1000);
    b.run("DEL k");
    b.run("SET k 1");
    let small = b.engine.ks.used_memory();
    b.run(&format!("SET k {long}"));
    b.run("SET k 1");
    assert_eq!(b.engine.ks.used_memory(), small);
}

#[test]
fn two_engines_are_independent() {
    let (mut a, mut b) = (Bench::new(), Bench::new());
    a.run("SET k 1");
    assert_eq!(b.run("GET k"), "$-1\r\n");
    assert_eq!(a.run("GET k"), "$1\r\n1\r\n");
}

#[test]
fn transactions() {
    let mut b = Bench::new();
    b.run("MULTI");
    assert_eq!(b.run("SET k v"), "+QUEUED\r\n");
    assert_eq!(b.run("INCR k"), "+QUEUED\r\n");
    assert_eq!(b.run("EXEC"), "*2\r\n+OK\r\n-ERR value is not an integer or out of range\r\n");
    b.run("MULTI");
    b.run("NOSUCH");
    assert_eq!(b.run("EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    b.run("WATCH k");
    b.run("SET k w");
    b.run("MULTI");
    b.run("GET k");
    assert_eq!(b.run("EXEC"), "*-1\r\n");
}

#[test]
fn writes_need_the_replicas_that_are_asked_for() {
    let mut b = Bench::new();
    b.run("MULTI");
    b.run("SET k v");
    b.engine.sv.config.min_replicas_to_write = 1;
    assert_eq!(
        b.run("EXEC"),
        "-EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write.\r\n"
    );
    assert_eq!(b.run("SET k v"), "-NOREPLICAS Not enough good replicas to write.\r\n");
    assert_eq!(b.run("GET k"), "$-1\r\n");
    assert_eq!(
        b.run("EVAL return(redis.pcall('SET','k','v').err) 0"),
        "$45\r\nNOREPLICAS Not enough good replicas to write.\r\n"
    );
    b.engine.sv.config.min_replicas_to_write = 0;
    assert_eq!(b.run("SET k v"), "+OK\r\n");
}

#[test]
fn subscribe_in_a_transaction_answers_as_redis_does() {
    let mut b = Bench::new();
    b.run("MULTI");
    b.run("SUBSCRIBE a b");
    b.run("PING");
    assert_eq!(
        b.run("EXEC"),
        "*2\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n"
    );
}

#[test]
fn debug_pause_cron_keeps_dead_keys_until_it_is_lifted() {
    let mut b = Bench::new();
    b.engine.sv.config.enable_debug_command = 1;
    b.run("SET k v PX 10");
    assert_eq!(b.run("DEBUG PAUSE-CRON 1"), "+OK\r\n");
    b.clock.advance_ms(20);
    b.engine.cron();
    assert_eq!(b.engine.ks.stats.expired, 0);
    b.run("DEBUG PAUSE-CRON 0");
    b.engine.cron();
    assert_eq!(b.engine.ks.stats.expired, 1);
    assert!(b.run("DEBUG JMAP").starts_with("-ERR unknown subcommand"));
}

#[test]
fn errors_of_scripts_are_told_apart_up_to_a_bound() {
    let mut b = Bench::new();
    for i in 0..200 {
        let script = format!("return{{err='CODE{i}\\32x'}}");
        assert_eq!(b.run(&format!("EVAL {script} 0")), format!("-CODE{i} x\r\n"));
    }
    let info = b.run("INFO errorstats");
    assert!(info.contains("errorstat_ERRORSTATS_OVERFLOW:count=72\r\n"), "{info}");
    assert!(info.contains("errorstat_CODE0:count=1\r\n") && !info.contains("errorstat_CODE128:"), "{info}");
    b.run("SET a b c d e f g");
    assert!(
        b.run("INFO errorstats").contains("errorstat_ERR:count=1\r\n"),
        "the server's own are always told"
    );
}

#[test]
fn a_restored_idle_time_is_told_whole() {
    let mut b = Bench::new();
    b.run("SET k v");
    let mut out = Vec::new();
    b.engine.execute(b.client, &[b"DUMP", b"k"], &mut out, &mut NoTicker);
    let start = out.iter().position(|c| *c == b'\n').unwrap() + 1;
    let payload = out[start..out.len() - 2].to_vec();
    for idle in ["0", "1", "59", "1000", "86399"] {
        let argv: [&[u8]; 7] = [b"RESTORE", b"r", b"0", &payload, b"REPLACE", b"IDLETIME", idle.as_bytes()];
        let mut out = Vec::new();
        b.engine.execute(b.client, &argv, &mut out, &mut NoTicker);
        assert_eq!(out, b"+OK\r\n");
        assert_eq!(b.run("OBJECT IDLETIME r"), format!(":{idle}\r\n"));
    }
}

#[test]
fn a_wait_that_is_ended_from_outside_counts_as_refused() {
    let mut b = Bench::new();
    let other = b.engine.connect(ConnInfo::default());
    b.engine.execute(other, &[b"BLPOP", b"list", b"0"], &mut Vec::new(), &mut NoTicker);
    let id = b.run("CLIENT LIST").lines().find(|l| l.contains("cmd=blpop")).unwrap()[3..].to_owned();
    let id = id.split(' ').next().unwrap();
    assert_eq!(b.run(&format!("CLIENT UNBLOCK {id} ERROR")), ":1\r\n");
    assert!(
        b.run("INFO commandstats")
            .contains("cmdstat_blpop:calls=1,usec=0,usec_per_call=0.00,rejected_calls=1,failed_calls=0")
    );
}

#[test]
fn servers_that_share_a_hash_seed_show_keys_in_the_same_order() {
    let keys = |hash_seed: &str, seed: u8| {
        let mut config = Config::default();
        config.set("hash-seed", &[hash_seed.as_bytes()]).unwrap();
        let mut engine = Engine::new(config, Box::new(ManualClock::new(1_000)), [seed; 16]);
        let client = engine.connect(ConnInfo::default());
        let mut out = Vec::new();
        for key in 0..3000 {
            engine.execute(client, &[b"SET", format!("k{key}").as_bytes(), b"v"], &mut out, &mut NoTicker);
        }
        out.clear();
        engine.execute(client, &[b"KEYS", b"*"], &mut out, &mut NoTicker);
        out
    };
    assert_eq!(keys("secret", 1), keys("secret", 2));
    assert_ne!(keys("secret", 1), keys("other", 1));
    assert_ne!(keys("", 1), keys("", 2));
}
