//! Scripts flushed, connections cut, servers killed and caches overrun every 100 ms while clients call: no wrong result, no effect
//! twice. Five seconds here; `TOTALITY_CHAOS_SECONDS=60` for longer. What a cluster adds is in `cluster.rs`.

mod common;

use common::chaos::{Seen, work};
use common::recorder::Sum;
use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use totality_script::cases::Bench;
use totality_script::{Policy, Runner, Single};
use totality_testkit::client::Client;
use totality_testkit::server::totality_binary;

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
        let log = File::options().create(true).append(true).open(self.dir.path().join("log")).unwrap();
        let child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .args(["--port", &self.port.to_string(), "--save", "", "--dir"])
            .arg(self.dir.path())
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

    /// Sends a command and takes what comes, if anything.
    fn poke(&self, words: &[&str]) {
        if let Ok(mut client) = Client::connect(self.port) {
            drop(client.call(words));
        }
    }
}

impl Drop for Phoenix {
    fn drop(&mut self) {
        self.kill();
    }
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
    let seconds = std::env::var("TOTALITY_CHAOS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let mut r = Runner::new(Single::open(&server.url()).unwrap()).with_policy(policy());
    // Waits until the server is up.
    r.call(&totality_script::catalogue::rl::Reset { subject: "hot", kind: "gcra" }).unwrap();
    Bench::new(&mut r).command(&["SET", "stock:{hot}", "500"]).unwrap();
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
        while began.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(100));
            step += 1;
            match step % 10 {
                0 => {
                    server.kill();
                    server.start();
                    kills += 1;
                }
                3 | 7 => server.poke(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
                5 => {
                    // More scripts than a server keeps of those that came by EVAL.
                    if let Ok(mut client) = Client::connect(server.port) {
                        (0..600)
                            .for_each(|i| drop(client.call(&["EVAL", &format!("return {step} + {i}"), "0"])));
                    }
                }
                _ => server.poke(&["SCRIPT", "FLUSH"]),
            }
        }
        seen.stop.store(true, SeqCst);
    });
    let mut number = |words: &[&str]| -> i64 {
        Bench::new(&mut r).command(words).unwrap().show().trim_matches('"').parse().unwrap()
    };
    // The first command may meet a connection that is gone.
    std::thread::sleep(Duration::from_millis(300));
    let mut fresh = || number(&["GET", "stock:{hot}"]);
    let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut fresh)).unwrap_or_else(|_| fresh());
    let (taken, doubtful) = (seen.taken.load(SeqCst), seen.doubtful.load(SeqCst));
    assert!(
        left >= 0 && 500 - left >= taken && 500 - left <= taken + doubtful,
        "{left} left, {taken} taken, {doubtful} doubtful"
    );
    let booked = seen.booked.lock().unwrap().len() as i64;
    assert_eq!(number(&["GET", "account:{hot}:balance"]), booked * 3, "booked twice or lost");
    assert!(seen.admitted.load(SeqCst) <= 25, "the limit was passed");
    let (calls, late) = (seen.calls.load(SeqCst), seen.late.load(SeqCst));
    assert!(calls > 20, "{calls}");
    format!(
        "{calls} rounds, {kills} kills, {taken} taken, {doubtful} doubtful, {booked} booked, {late} late releases"
    )
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
    let have = totality_testkit::server::oracle_or_skip("chaos on redis-server").is_some();
    if have {
        let theirs = [&["redis-server"][..], &safe].concat();
        println!("redis-server: {}", chaos(Phoenix::new(&theirs)));
    }
    let count = |name: &str| sum.total(name, "script=");
    let (retries, noscript) = (count("redis.script.retry.count"), count("redis.script.noscript.count"));
    println!("{} calls, {retries} sent again, {noscript} NOSCRIPT", count("redis.script.execution.count"));
    assert!(retries > 0 && noscript > 0, "the chaos did not reach the clients: {:#?}", sum.all());
}
