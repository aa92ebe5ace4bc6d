//! The catalogue on a Redis Cluster: cases, invariants, slots that move and a primary that dies while clients call.

mod common;

use common::chaos::{Seen, work};
use common::{catalogue, invariants};
use std::sync::RwLock;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use totality_script::cases::Bench;
use totality_script::catalogue::{get, rl};
use totality_script::{
    AsyncCluster, AsyncRunner, Cluster, Node, Pipeline, PipelineMode, Policy, Runner, Target, Words, slot,
};
use totality_testkit::client::Client;
use totality_testkit::cluster::Six;

fn target(six: &Six) -> Cluster {
    let urls = six.urls();
    Cluster::open(&urls.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
}

fn policy() -> Policy {
    Policy {
        timeout: Duration::from_secs(30),
        attempts: 300,
        backoff: Duration::from_millis(10),
        max_backoff: Duration::from_millis(100),
    }
}

fn have_redis() -> bool {
    totality_testkit::server::oracle_or_skip("the catalogue on a cluster").is_some()
}

#[test]
fn catalogue_on_a_cluster() {
    if !have_redis() {
        return;
    }
    let mut six = Six::start();
    cases(&six);
    let n = invariants::all(&|| Runner::new(target(&six)).with_policy(policy()), "cluster");
    common::count(n, "invariants on a cluster");
    pipelines(&six);
    without_blocking(&six);
    slots_move_and_a_primary_dies(&mut six);
}

fn cases(six: &Six) {
    let mut runner = Runner::new(target(six));
    let mut bench = Bench::new(&mut runner);
    let (mut n, mut failures) = (0, Vec::new());
    for (script, list) in catalogue() {
        for case in &list {
            n += 1;
            if let Err(why) = bench.case(script, case) {
                failures.push(format!("{}: {}: {why}", script.name(), case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    common::count(n, "catalogue cases on a cluster");
}

/// A pipeline over all nodes is cut by node, and its replies come in order.
fn pipelines(six: &Six) {
    let mut r = Runner::new(target(six));
    let subjects: Vec<String> = (0..40).map(|i| format!("p{i}")).collect();
    let mut p = Pipeline::new(PipelineMode::Sha);
    for (i, subject) in subjects.iter().enumerate() {
        let burst = 2 + i as u64;
        p.add(&rl::Gcra { subject, limit: 1, period_ms: 86_400_000, burst, cost: 1 }).unwrap();
    }
    // The first one learns where the slots are.
    r.call(&rl::Reset { subject: "p0", kind: "gcra" }).unwrap();
    let reply = r.pipeline(&p).unwrap();
    for i in 0..subjects.len() {
        let got = reply.get::<rl::Gcra<'_>>(i).unwrap();
        assert!(
            matches!(got, rl::GcraReply::Allowed { remaining, .. } if remaining == 1 + i as i64),
            "{i}: {got:?}"
        );
    }
}

fn without_blocking(six: &Six) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let urls = six.urls();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let r = AsyncRunner::new(AsyncCluster::open(&urls).unwrap());
        let tasks: Vec<_> = (0..60)
            .map(|i| {
                let r = r.clone();
                tokio::spawn(async move {
                    let subject = format!("a{}", i % 6);
                    let call =
                        rl::Gcra { subject: &subject, limit: 1, period_ms: 86_400_000, burst: 5, cost: 1 };
                    matches!(r.call(&call).await.unwrap(), rl::GcraReply::Allowed { .. })
                })
            })
            .collect();
        let mut allowed = 0;
        for task in tasks {
            allowed += usize::from(task.await.unwrap());
        }
        assert_eq!(allowed, 30);
    });
}

fn number(r: &mut Runner<impl Target>, words: &[&str]) -> i64 {
    Bench::new(r).command(words).unwrap().show().trim_matches('"').parse().unwrap()
}

fn slots_move_and_a_primary_dies(six: &mut Six) {
    let hot = slot(b"stock:{hot}");
    let mut r = Runner::new(target(six)).with_policy(policy());
    Bench::new(&mut r).command(&["SET", "stock:{hot}", "200"]).unwrap();
    let seen = Seen::default();
    // Held while a node is killed, after its replica has everything: Redis promises no more (see the guide on clusters).
    let gate = RwLock::new(());
    let targets: Vec<_> = (0..6).map(|_| target(six)).collect();
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for (client, target) in targets.into_iter().enumerate() {
            let (seen, gate) = (&seen, &gate);
            clients.push(scope.spawn(move || {
                let mut r = Runner::new(target).with_policy(policy());
                let mut round = 0;
                while !seen.stop.load(SeqCst) {
                    let _open = gate.read().unwrap();
                    work(&mut r, client, round, seen);
                    round += 1;
                }
            }));
        }
        std::thread::sleep(Duration::from_millis(300));
        // The hot slot goes there and back while it is called.
        for _ in 0..3 {
            let [(_, from), (port, to)] = six.owners(hot);
            move_slot(six, hot, &from, &to);
            assert_eq!(six.owners(hot)[0].0, port, "the slot did not move");
            std::thread::sleep(Duration::from_millis(200));
        }
        // Scripts are gone everywhere.
        for port in six.ports() {
            Client::connect(port).unwrap().call(&["SCRIPT", "FLUSH"]).unwrap();
        }
        let shut = gate.write().unwrap();
        let [(port, _), _] = six.owners(hot);
        let mut primary = Client::connect(port).unwrap();
        // WAIT counts what this connection wrote.
        primary.call(&["SET", "mark:{hot}", "1"]).unwrap();
        assert_eq!(primary.call(&["WAIT", "1", "10000"]).unwrap().int(), Some(1));
        six.kill(port);
        drop(shut);
        let before = seen.calls.load(SeqCst);
        six.wait("calls after the failover", || {
            assert!(clients.iter().all(|c| !c.is_finished()), "a client gave up");
            seen.calls.load(SeqCst) > before + 100
        });
        seen.stop.store(true, SeqCst);
    });
    // A new look at who serves what: plain commands follow no redirection.
    let mut r = Runner::new(target(six));
    let left = number(&mut r, &["GET", "stock:{hot}"]);
    let (taken, doubtful) = (seen.taken.load(SeqCst), seen.doubtful.load(SeqCst));
    assert!(
        taken <= 200 && 200 - left >= taken && 200 - left <= taken + doubtful,
        "{left} left, {taken} taken, {doubtful} doubtful"
    );
    let booked = seen.booked.lock().unwrap().len() as i64;
    assert_eq!(number(&mut r, &["GET", "account:{hot}:balance"]), booked * 3, "booked twice or lost");
    assert!(seen.admitted.load(SeqCst) <= 25, "the limit was passed");
    assert_eq!(number(&mut r, &["ZCARD", "rl:{hot}:sliding_log"]), 25);
    // A dead node fails nothing that others serve, and a script that is nowhere is loaded where it is called.
    let mut other = Runner::new(target(six));
    for i in 0..20 {
        let name = format!("after{i}");
        other.policy().attempts = 50;
        other.call(&rl::Gcra { subject: &name, limit: 1, period_ms: 1000, burst: 1, cost: 1 }).unwrap();
    }
    println!("{} rounds, {taken} taken, {doubtful} doubtful, {booked} booked", seen.calls.load(SeqCst));
}

/// Moves one slot with everything in it, as redis-cli does, in steps that leave time for ASK and TRYAGAIN.
fn move_slot(six: &Six, slot: u16, from: &str, to: &str) {
    let s = slot.to_string();
    let [(from_port, _), _] = six.owners(slot);
    let mut source = Client::connect(from_port).unwrap();
    let nodes = source.call(&["CLUSTER", "NODES"]).unwrap().text();
    let line = nodes.lines().find(|l| l.starts_with(to)).unwrap();
    let address = line.split(' ').nth(1).unwrap().split('@').next().unwrap();
    let to_port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
    let mut target = Client::connect(to_port).unwrap();
    let ok = |got: totality_testkit::value::Value| assert!(!got.is_error(), "{}", got.text());
    ok(target.call(&["CLUSTER", "SETSLOT", &s, "IMPORTING", from]).unwrap());
    ok(source.call(&["CLUSTER", "SETSLOT", &s, "MIGRATING", to]).unwrap());
    loop {
        let keys = source.call(&["CLUSTER", "GETKEYSINSLOT", &s, "1"]).unwrap().items();
        let Some(key) = keys.first() else { break };
        let port = to_port.to_string();
        ok(source.call(&["MIGRATE", "127.0.0.1", &port, &key.text(), "0", "5000"]).unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    ok(target.call(&["CLUSTER", "SETSLOT", &s, "NODE", to]).unwrap());
    ok(source.call(&["CLUSTER", "SETSLOT", &s, "NODE", to]).unwrap());
    six.wait("all nodes know", || six.owners(slot)[0].0 == to_port);
}

/// The target itself: words for a slot reach its node.
#[test]
fn commands_reach_their_slot() {
    if !have_redis() {
        return;
    }
    let six = Six::start();
    let mut target = target(&six);
    for i in 0..50 {
        let key = format!("k{i}");
        let node = Node::Slot(Some(slot(key.as_bytes())));
        let words = [Words::of(&["SET", &key, "v"]), Words::of(&["GET", &key])];
        let got = target.exchange(node, &words, Duration::from_secs(5)).unwrap();
        assert_eq!(got[1].bytes(), Some(&b"v"[..]), "{got:?}");
    }
    // With half of the seeds wrong it still finds its way.
    let urls = six.urls();
    let mut lost = totality_script::Cluster::open(&["redis://127.0.0.1:1/", &urls[4]]).unwrap();
    let script = get("rl.reset").unwrap();
    let words = [Words::of(&["SCRIPT", "LOAD", script.text(totality_script::Rendering::Redis)])];
    assert!(lost.exchange(Node::Slot(Some(1)), &words, Duration::from_secs(5)).unwrap()[0].error().is_none());
}
