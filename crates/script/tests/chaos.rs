//! Scripts flushed, connections cut, servers killed, caches of scripts overrun and primaries replaced every 100 ms while clients
//! call: no wrong result, no effect twice. Five seconds of each here; `TOTALITY_CHAOS_SECONDS=60` for longer. What a cluster adds is
//! in `cluster.rs`.

mod common;

use common::chaos::{Seen, work};
use common::recorder::Sum;
use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::RwLock;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use totality_script::cases::Bench;
use totality_script::{LinkError, Node, Policy, Runner, Single, Target, Value, Words};
use totality_testkit::client::Client;
use totality_testkit::server::totality_binary;

/// What there is at first.
const STOCK: i64 = 500;

/// A server that can be killed and comes back at its port with its data.
struct Phoenix {
    command: Vec<String>,
    port: u16,
    dir: tempfile::TempDir,
    child: Option<Child>,
}

impl Phoenix {
    fn new(command: &[&str]) -> Phoenix {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let command = command.iter().map(ToString::to_string).collect();
        let mut out = Phoenix { command, port, dir: tempfile::tempdir().unwrap(), child: None };
        out.start();
        out
    }

    fn start(&mut self) {
        self.start_with(&[]);
    }

    fn start_with(&mut self, more: &[&str]) {
        let log = File::options().create(true).append(true).open(self.dir.path().join("log")).unwrap();
        let child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .args(["--port", &self.port.to_string(), "--save", "", "--dir"])
            .arg(self.dir.path())
            .args(more)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// The reply to a command, if there is one.
    fn ask(&self, words: &[&str]) -> Option<totality_testkit::value::Value> {
        Client::connect(self.port).ok()?.call(words).ok()
    }

    fn is_primary(&self) -> bool {
        self.ask(&["ROLE"])
            .is_some_and(|role| role.items().first().is_some_and(|word| word.text() == "master"))
    }

    fn poke(&self, words: &[&str]) {
        poke(self.port, words);
    }
}

/// Sends a command and takes what comes, if anything.
fn poke(port: u16, words: &[&str]) {
    if let Ok(mut client) = Client::connect(port) {
        drop(client.call(words));
    }
}

/// More scripts than a server keeps of those that came by EVAL.
fn overrun(port: u16, step: u64) {
    if let Ok(mut client) = Client::connect(port) {
        (0..600).for_each(|i| drop(client.call(&["EVAL", &format!("return {step} + {i}"), "0"])));
    }
}

impl Drop for Phoenix {
    fn drop(&mut self) {
        self.kill();
    }
}

fn span() -> Duration {
    let seconds = std::env::var("TOTALITY_CHAOS_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}

fn policy() -> Policy {
    Policy {
        timeout: Duration::from_secs(30),
        attempts: 2000,
        backoff: Duration::from_millis(5),
        max_backoff: Duration::from_millis(50),
    }
}

fn chaos(mut server: Phoenix) -> String {
    let mut r = Runner::new(Single::open(&server.url()).unwrap()).with_policy(policy());
    // Waits until the server is up.
    r.call(&totality_script::catalogue::rl::Reset { subject: "hot", kind: "gcra" }).unwrap();
    Bench::new(&mut r).command(&["SET", "stock:{hot}", &STOCK.to_string()]).unwrap();
    let seen = Seen::default();
    let mut kills = 0;
    std::thread::scope(|scope| {
        for client in 0..4 {
            let (seen, url) = (&seen, server.url());
            scope.spawn(move || {
                let mut r = Runner::new(Single::open(&url).unwrap()).with_policy(policy());
                let mut round = 0;
                while !seen.stop.load(SeqCst) {
                    work(&mut r, client, round, seen);
                    round += 1;
                }
            });
        }
        let began = Instant::now();
        let mut step = 0;
        while began.elapsed() < span() {
            std::thread::sleep(Duration::from_millis(100));
            step += 1;
            match step % 10 {
                0 => {
                    server.kill();
                    server.start();
                    kills += 1;
                }
                3 | 7 => server.poke(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
                5 => overrun(server.port, step),
                _ => server.poke(&["SCRIPT", "FLUSH"]),
            }
        }
        seen.stop.store(true, SeqCst);
    });
    // The first command may meet a connection that is gone.
    std::thread::sleep(Duration::from_millis(300));
    format!("{kills} kills, {}", verify(&server, &seen))
}

/// Holds what is stored against what the clients saw.
fn verify(server: &Phoenix, seen: &Seen) -> String {
    let number = |key: &str| -> i64 { server.ask(&["GET", key]).unwrap().text().parse().unwrap() };
    let left = number("stock:{hot}");
    let (taken, doubtful) = (seen.taken.load(SeqCst), seen.doubtful.load(SeqCst));
    assert!(
        left >= 0 && STOCK - left >= taken && STOCK - left <= taken + doubtful,
        "{left} left, {taken} taken, {doubtful} doubtful"
    );
    let booked = seen.booked.lock().unwrap().len() as i64;
    assert_eq!(number("account:{hot}:balance"), booked * 3, "booked twice or lost");
    assert!(seen.admitted.load(SeqCst) <= 25, "the limit was passed");
    let (calls, late) = (seen.calls.load(SeqCst), seen.late.load(SeqCst));
    assert!(calls > 20, "{calls}");
    format!("{calls} rounds, {taken} taken, {doubtful} doubtful, {booked} booked, {late} late releases")
}

/// Whichever of two servers is the primary.
struct Pair {
    nodes: [Single; 2],
    primary: Option<usize>,
    epoch: u64,
}

impl Pair {
    fn open(urls: &[String; 2]) -> Pair {
        let nodes = urls.each_ref().map(|url| Single::open(url).unwrap());
        Pair { nodes, primary: None, epoch: 0 }
    }

    fn find(&mut self) -> Result<usize, LinkError> {
        let role = [Words::of(&["ROLE"])];
        for (at, node) in self.nodes.iter_mut().enumerate() {
            let got = node.exchange(Node::Slot(None), &role, Duration::from_secs(1));
            if got.is_ok_and(|v| v[0].show().starts_with("\"master\"")) {
                (self.primary, self.epoch) = (Some(at), self.epoch + 1);
                return Ok(at);
            }
        }
        Err(LinkError::Unconnected("there is no primary now".into()))
    }
}

impl Target for Pair {
    fn exchange(
        &mut self,
        node: Node<'_>,
        words: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let at = self.primary.map_or_else(|| self.find(), Ok)?;
        self.nodes[at].exchange(node, words, timeout).inspect_err(|_| self.primary = None)
    }

    fn refresh(&mut self) {
        self.primary = None;
    }

    fn node(&self, slot: Option<u16>) -> String {
        self.primary.map_or_else(|| "nobody".into(), |at| self.nodes[at].node(slot))
    }

    fn epoch(&self) -> u64 {
        self.epoch + self.nodes.iter().map(Target::epoch).sum::<u64>()
    }
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// True when the primary's replica has all that this connection wrote, and so all before it.
fn in_step(primary: &Phoenix) -> bool {
    let Ok(mut client) = Client::connect(primary.port) else { return false };
    let wrote = client.call(&["SET", "mark", "1"]).is_ok_and(|v| !v.is_error());
    wrote && client.call(&["WAIT", "1", "3000"]).is_ok_and(|v| v.int() == Some(1))
}

/// What replaced primaries.
#[derive(Debug, Default)]
struct Replaced {
    /// By FAILOVER, which hands everything over while clients go on.
    handed: u32,
    /// Killed, once the replica had everything: what replication loses beyond that, it says (the guide on clusters).
    killed: u32,
    /// Killed and started again as what they were.
    restarted: u32,
}

/// The primary, once there is one, with a replica that has all that was written before.
fn settled(nodes: &[Phoenix; 2]) -> usize {
    let mut found = 0;
    until("one primary with a replica in step", || {
        let primaries = [nodes[0].is_primary(), nodes[1].is_primary()];
        found = usize::from(primaries[1]);
        let info = nodes[found].ask(&["INFO", "replication"]).map(|v| v.text()).unwrap_or_default();
        primaries[0] != primaries[1]
            && info.contains("master_failover_state:no-failover")
            && in_step(&nodes[found])
    });
    found
}

/// Flushes scripts, overruns their cache and cuts connections every 100 ms, at both servers.
fn disturb(ports: [u16; 2], seen: &Seen) {
    for step in 0u64.. {
        if seen.stop.load(SeqCst) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
        for port in ports {
            match step % 8 {
                3 => poke(port, &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
                6 => overrun(port, step),
                _ => poke(port, &["SCRIPT", "FLUSH"]),
            }
        }
    }
}

/// Two servers, one of which is the primary: `FAILOVER`, primaries that die, replicas that come back, beside all else.
fn failovers(command: &[&str]) -> String {
    // A replica that comes back is not kept waiting for others.
    let command = [command, &["--repl-diskless-sync-delay", "0"]].concat();
    let mut nodes = [Phoenix::new(&command), Phoenix::new(&command)];
    let names = nodes.each_ref().map(|node| node.port.to_string());
    let ports = nodes.each_ref().map(|node| node.port);
    let urls = nodes.each_ref().map(Phoenix::url);
    until("both are up", || nodes.iter().all(Phoenix::is_primary));
    nodes[0].poke(&["SET", "stock:{hot}", &STOCK.to_string()]);
    nodes[1].poke(&["REPLICAOF", "127.0.0.1", &names[0]]);
    let mut at = settled(&nodes);
    let (seen, gate, mut did) = (Seen::default(), RwLock::new(()), Replaced::default());
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for client in 0..4 {
            let (seen, gate, urls) = (&seen, &gate, &urls);
            clients.push(scope.spawn(move || {
                let mut r = Runner::new(Pair::open(urls)).with_policy(policy());
                let mut round = 0;
                while !seen.stop.load(SeqCst) {
                    let _open = gate.read().unwrap();
                    work(&mut r, client, round, seen);
                    round += 1;
                }
            }));
        }
        let flag = &seen;
        scope.spawn(move || disturb(ports, flag));
        let (began, mut step) = (Instant::now(), 0);
        while began.elapsed() < span() {
            assert!(clients.iter().all(|c| !c.is_finished()), "a client gave up");
            std::thread::sleep(Duration::from_millis(100));
            at = settled(&nodes);
            step += 1;
            match step % 4 {
                1 | 3 => {
                    nodes[at].poke(&["FAILOVER", "TO", "127.0.0.1", &names[1 - at], "TIMEOUT", "5000"]);
                    did.handed += u32::from(settled(&nodes) != at);
                }
                2 => {
                    let _shut = gate.write().unwrap();
                    at = settled(&nodes);
                    nodes[at].kill();
                    let promote = ["REPLICAOF", "NO", "ONE"];
                    until("the replica is the primary", || {
                        nodes[1 - at].poke(&promote);
                        nodes[1 - at].is_primary()
                    });
                    nodes[at].start_with(&["--replicaof", "127.0.0.1", &names[1 - at]]);
                    did.killed += 1;
                }
                // In turns the replica, and the primary, which comes back with what it answered.
                _ if step % 8 == 0 => {
                    nodes[1 - at].kill();
                    nodes[1 - at].start_with(&["--replicaof", "127.0.0.1", &names[at]]);
                    did.restarted += 1;
                }
                _ => {
                    nodes[at].kill();
                    nodes[at].start();
                    did.restarted += 1;
                }
            }
        }
        seen.stop.store(true, SeqCst);
    });
    at = settled(&nodes);
    let told = verify(&nodes[at], &seen);
    // And so has the other one.
    assert_eq!(verify(&nodes[1 - at], &seen), told);
    assert!(did.handed > 0 && did.killed > 0, "{did:?}");
    format!("{did:?}, {told}")
}

#[test]
fn everything_breaks_and_nothing_is_wrong() {
    let sum = Sum::default();
    metrics::set_global_recorder(sum.clone()).unwrap_or_else(|e| panic!("{e}"));
    let totality = totality_binary().unwrap();
    // Killed, it must have what it answered.
    let safe = ["--appendonly", "yes", "--appendfsync", "always"];
    let program = totality.to_string_lossy();
    let ours = [&[&*program, "serve"][..], &safe].concat();
    println!("totality: {}", chaos(Phoenix::new(&ours)));
    println!("totality, two of them: {}", failovers(&ours));
    let have = totality_testkit::server::oracle_or_skip("chaos on redis-server").is_some();
    if have {
        let theirs = [&["redis-server"][..], &safe].concat();
        println!("redis-server: {}", chaos(Phoenix::new(&theirs)));
        println!("redis-server, two of them: {}", failovers(&theirs));
    }
    let count = |name: &str| sum.total(name, "script=");
    let (retries, noscript) = (count("redis.script.retry.count"), count("redis.script.noscript.count"));
    println!("{} calls, {retries} sent again, {noscript} NOSCRIPT", count("redis.script.execution.count"));
    assert!(retries > 0 && noscript > 0, "the chaos did not reach the clients: {:#?}", sum.all());
}
