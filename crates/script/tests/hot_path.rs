//! How calls reach a real server: loading, pipelines, transactions, what is retried and what is not.

mod common;

use common::Place;
use std::time::{Duration, Instant};
use totality_script::cases::Bench;
use totality_script::catalogue::{cas, counter, get, idem, lock, rl, stock};
use totality_script::{
    Answer, AsyncCluster, AsyncRunner, AsyncSingle, Cluster, Error, Fallback, LinkError, Pipeline,
    PipelineMode, Policy, Runner, Script, Sentinel, Single, Value, Wrapper,
};

fn places(test: &str) -> Vec<Place> {
    let mut out = vec![Place::totality(&[])];
    out.extend(Place::redis(test, &[]));
    // By hand, one server more: as in `cases.rs`.
    let peer = std::env::var("TOTALITY_PEER").ok();
    out.extend(
        peer.map(|program| Place::of(totality_testkit::server::Server::start(&[&program], &[]).unwrap())),
    );
    out
}

fn cmd(r: &mut Runner<Single>, words: &[&str]) -> Value {
    Bench::new(r).command(words).unwrap()
}

/// How often a command ran, by INFO commandstats.
fn calls(r: &mut Runner<Single>, command: &str) -> u64 {
    let info = cmd(r, &["INFO", "commandstats"]);
    let text = String::from_utf8(info.bytes().unwrap().to_vec()).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix(&format!("cmdstat_{command}:calls="))).unwrap_or("0");
    line.split(',').next().unwrap().parse().unwrap()
}

fn gcra(subject: &str) -> rl::Gcra<'_> {
    rl::Gcra { subject, limit: 1, period_ms: 86_400_000, burst: 100, cost: 1 }
}

#[test]
fn a_script_is_loaded_once_and_never_sent_by_eval() {
    for place in places("hot path: loading") {
        let mut r = Runner::new(place.single());
        (0..5).for_each(|_| assert!(r.call(&gcra("a")).is_ok()));
        assert_eq!(
            (calls(&mut r, "evalsha"), calls(&mut r, "script|load"), calls(&mut r, "eval")),
            (6, 1, 0)
        );
        cmd(&mut r, &["SCRIPT", "FLUSH"]);
        let got = r.call(&gcra("a")).unwrap();
        assert!(matches!(got, rl::GcraReply::Allowed { remaining: 94, .. }), "{got:?}");
        assert_eq!(calls(&mut r, "script|load"), 2);
        // A script that only reads goes by the read-only form.
        r.call(&lock::Inspect { resource: "x" }).unwrap();
        assert_eq!(calls(&mut r, "evalsha_ro"), 2);
        // Loaded ahead, the first call finds it.
        let before = calls(&mut r, "evalsha");
        r.load(get("stock.deduct").unwrap(), None).unwrap();
        r.call(&stock::Deduct { item: "x", quantity: 1 }).unwrap();
        assert_eq!(calls(&mut r, "evalsha"), before + 1);
    }
}

#[test]
fn where_load_is_refused_eval_is_used_and_remembered() {
    let Some(place) = Place::redis("hot path: no LOAD", &[]) else { return };
    let mut admin = Runner::new(place.single());
    cmd(&mut admin, &["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-script"]);
    let url = format!("redis://app:pw@127.0.0.1:{}/", place.server.port());
    let mut r = Runner::new(Single::open(&url).unwrap());
    (0..3).for_each(|_| assert!(r.call(&gcra("a")).is_ok()));
    assert_eq!(calls(&mut admin, "eval"), 3);
    assert_eq!(calls(&mut admin, "evalsha"), 2, "tried once, then once more with the load that was refused");
}

#[test]
fn what_is_wrong_is_found_before_anything_is_sent() {
    let mut r = Runner::new(Single::open("redis://127.0.0.1:1/").unwrap());
    assert!(matches!(r.call(&stock::Deduct { item: "x", quantity: 0 }), Err(Error::Argument { .. })));
    assert!(matches!(r.call(&stock::Deduct { item: "x}y", quantity: 1 }), Err(Error::Key { .. })));
    assert!(matches!(r.call(&stock::Deduct { item: "", quantity: 1 }), Err(Error::Key { .. })));
    let script = get("lock.acquire").unwrap();
    match r.run(script, &["lock:a", "lock:b"], &["o", "1000", "r"]) {
        Err(Error::CrossSlot { first, second }) => {
            assert_eq!((&first[..], &second[..]), (&b"lock:a"[..], &b"lock:b"[..]))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pipeline_loads_in_front_and_reports_what_was_evicted() {
    for place in places("hot path: pipelines") {
        let mut r = Runner::new(place.single());
        let mut p = Pipeline::new(PipelineMode::Sha);
        for subject in ["a", "b", "a"] {
            p.add(&gcra(subject)).unwrap();
        }
        let read = p.add(&lock::Inspect { resource: "x" }).unwrap();
        let reply = r.pipeline(&p).unwrap();
        let left = |i| match reply.get::<rl::Gcra<'_>>(i).unwrap() {
            rl::GcraReply::Allowed { remaining, .. } => remaining,
            other => panic!("{other:?}"),
        };
        assert_eq!((left(0), left(1), left(2)), (99, 99, 98), "in order");
        assert!(matches!(reply.get::<lock::Inspect<'_>>(read).unwrap(), lock::InspectReply::Free { .. }));
        assert_eq!(calls(&mut r, "script|load"), 2);
        r.pipeline(&p).unwrap();
        assert_eq!(calls(&mut r, "script|load"), 2, "loaded again");
        cmd(&mut r, &["SCRIPT", "FLUSH"]);
        let reply = r.pipeline(&p).unwrap();
        assert_eq!(reply.get::<rl::Gcra<'_>>(1), Err(Error::ScriptEvicted { index: 1 }));
        let reply = r.pipeline(&p).unwrap();
        assert!(matches!(
            reply.get::<rl::Gcra<'_>>(2).unwrap(),
            rl::GcraReply::Allowed { remaining: 94, .. }
        ));
        let mut eval = Pipeline::new(PipelineMode::Eval);
        eval.add(&gcra("a")).unwrap();
        cmd(&mut r, &["SCRIPT", "FLUSH"]);
        assert!(r.pipeline(&eval).unwrap().get::<rl::Gcra<'_>>(0).is_ok());
    }
}

#[test]
fn a_transaction_is_whole_or_says_which_part_failed() {
    for place in places("hot path: transactions") {
        let mut r = Runner::new(place.single());
        cmd(&mut r, &["MSET", "stock:{t}:a", "5", "stock:{t}:b", "5"]);
        let take = |item| [stock::DeductMultiItem { item, quantity: 1 }];
        let mut p = Pipeline::new(PipelineMode::Transaction);
        p.add(&stock::DeductMulti { group: "t", items: &take("a") }).unwrap();
        p.add(&stock::DeductMulti { group: "t", items: &take("b") }).unwrap();
        for _ in 0..2 {
            cmd(&mut r, &["SCRIPT", "FLUSH"]);
            assert!(r.pipeline(&p).unwrap().get::<stock::DeductMulti<'_>>(1).is_ok());
        }
        assert_eq!(cmd(&mut r, &["MGET", "stock:{t}:a", "stock:{t}:b"]).show(), "\"3\" \"3\"");
        cmd(&mut r, &["DEL", "stock:{t}:b"]);
        cmd(&mut r, &["RPUSH", "stock:{t}:b", "x"]);
        match r.pipeline(&p) {
            Err(Error::PartialTransaction { failed }) => {
                assert_eq!(failed.len(), 1);
                assert!(failed[0].0 == 1 && failed[0].1.starts_with("WRONGTYPE"), "{failed:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(cmd(&mut r, &["GET", "stock:{t}:a"]).show(), "\"2\"", "there is no rollback");
        let mut two = Pipeline::new(PipelineMode::Transaction);
        two.add(&gcra("a")).unwrap();
        two.add(&gcra("b")).unwrap();
        assert!(matches!(r.pipeline(&two), Err(Error::CrossSlot { .. })));
    }
}

fn short(ms: u64) -> Policy {
    Policy { timeout: Duration::from_millis(ms), ..Policy::default() }
}

/// Keeps the server from answering for a while.
fn freeze(place: &Place, seconds: &str) -> std::thread::JoinHandle<()> {
    let mut client = place.server.client();
    client.send(&["DEBUG", "SLEEP", seconds]).unwrap();
    // The command has to be there before the caller's.
    std::thread::sleep(Duration::from_millis(50));
    std::thread::spawn(move || drop(client.read()))
}

#[test]
fn without_an_answer_only_what_may_be_repeated_is_repeated() {
    let Some(place) = Place::redis("hot path: timeouts", &[]) else { return };
    let mut r = Runner::new(place.single()).with_policy(short(150));
    r.call(&gcra("a")).unwrap();
    let frozen = freeze(&place, "0.6");
    let got = r.call(&gcra("a"));
    assert!(
        matches!(got, Err(Error::NoAnswer { why: LinkError::Timeout, executed: None, .. })),
        "nobody knows whether it ran: {got:?}"
    );
    let open = rl::GcraReply::Allowed { remaining: 0, retry_ms: 0, reset_ms: 0 };
    match r.call_or(&gcra("a"), Fallback::Open(open.clone())).unwrap() {
        Answer::Fallback(reply, Error::NoAnswer { .. }) => assert_eq!(reply, open),
        other => panic!("{other:?}"),
    }
    frozen.join().unwrap();
    // The lost calls may have run, but none ran twice: both were sent once.
    let got = r.call(&rl::Gcra { cost: 0, ..gcra("a") }).unwrap();
    assert!(matches!(got, rl::GcraReply::Allowed { remaining: 97..=99, .. }), "{got:?}");
    // With a request id it is sent again until the answer comes, and has one effect.
    let mut r = Runner::new(place.single()).with_policy(Policy { attempts: 50, ..short(5000) });
    let acquire = lock::Acquire { resource: "x", owner: "o", lease_ms: 60_000, request: "r" };
    r.load(get("lock.acquire").unwrap(), None).unwrap();
    let frozen = freeze(&place, "0.4");
    let killer = place.server.port();
    let kill = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        let mut c = totality_testkit::client::Client::connect(killer).unwrap();
        c.call(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).unwrap();
    });
    let got = r.call(&acquire).unwrap();
    assert!(matches!(
        got,
        lock::AcquireReply::Acquired { token: 1, .. } | lock::AcquireReply::Repeated { token: 1, .. }
    ));
    kill.join().unwrap();
    frozen.join().unwrap();
    let got = r.call(&acquire).unwrap();
    assert!(matches!(got, lock::AcquireReply::Repeated { token: 1, holds: 1, .. }), "{got:?}");
}

#[test]
fn without_a_server_nothing_was_run() {
    let policy = Policy { attempts: 2, backoff: Duration::from_millis(1), ..short(500) };
    let mut r = Runner::new(Single::open("redis://127.0.0.1:1/").unwrap()).with_policy(policy);
    let got = r.call(&gcra("a"));
    assert!(matches!(got, Err(Error::NoAnswer { executed: Some(false), .. })), "{got:?}");
    let closed = rl::GcraReply::Rejected { remaining: 0, retry_ms: 1000, reset_ms: 0 };
    let got = r.call_or(&gcra("a"), Fallback::Closed(closed.clone())).unwrap();
    assert!(got.is_fallback() && got.reply() == closed);
    // A wrong argument is a fault, not a failure of the server: no fallback hides it.
    let wrong = rl::Gcra { limit: 0, ..gcra("a") };
    assert!(matches!(r.call_or(&wrong, Fallback::Closed(closed)), Err(Error::Argument { .. })));
}

#[test]
fn a_busy_server_is_waited_for() {
    let Some(place) = Place::redis("hot path: BUSY", &["--busy-reply-threshold", "50"]) else { return };
    let mut r = Runner::new(place.single());
    r.call(&gcra("a")).unwrap();
    let mut busy = place.server.client();
    busy.send(&["EVAL", "while true do end", "0"]).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let port = place.server.port();
    let kill = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        totality_testkit::client::Client::connect(port).unwrap().call(&["SCRIPT", "KILL"]).unwrap();
    });
    r.policy().attempts = 50;
    let got = r.call(&gcra("a")).unwrap();
    assert!(matches!(got, rl::GcraReply::Allowed { remaining: 98, .. }), "{got:?}");
    kill.join().unwrap();
}

#[test]
fn a_reply_of_another_shape_is_not_guessed() {
    let db = totality::Db::open(totality::Options::default()).unwrap();
    let mut r = Runner::new(totality_script::Embedded::new(db.session().unwrap()));
    let head = "--- @script my.limit\n--- @version 2026-07-11.1\n--- @key k string rw keep template=\"k:{x}\"\n\
        --- @reply code:int retry_ms:int\n--- @code 1 ALLOWED\n--- @code 0 REJECTED http=429 retry_after=retry_ms\n";
    let mut parse = |body: &str| {
        let script = Script::from_text(&format!("{head}{body}\n")).unwrap();
        let mut wrapper = Wrapper::new(&mut r, script);
        assert_eq!(wrapper.script_name(), "my.limit");
        assert_eq!(wrapper.script_sha().len(), 40);
        wrapper.load_script(None).unwrap();
        let raw = wrapper.execute(&["k:{x}"], &["1"]).unwrap();
        let (ints, _) = wrapper.parse_result(raw)?;
        wrapper.map_to_domain_decision(&ints)
    };
    let decision = parse("return {0, 1500}").unwrap();
    assert_eq!((decision.name.as_str(), decision.refused), ("REJECTED", true));
    let http = decision.http.unwrap();
    assert_eq!((http.status, http.retry_after_secs()), (429, Some(2)));
    assert!(parse("return {1, 0}").unwrap().done);
    assert_eq!(parse("return {7, 0}"), Err(Error::UnknownCode { script: "my.limit".into(), code: 7 }));
    for body in [
        "return {1}",
        "return {1, 2, 3}",
        "return {1, 'x'}",
        "return 1",
        "return {1, false}",
        "return {1, nil, 3}",
    ] {
        assert!(matches!(parse(body), Err(Error::Contract { .. })), "{body}");
    }
}

#[test]
fn asynchronous_calls_share_a_connection() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for place in places("hot path: async") {
        runtime.block_on(async {
            let r = AsyncRunner::new(AsyncSingle::open(&place.url()).unwrap());
            let tasks: Vec<_> = (0..150)
                .map(|_| {
                    let r = r.clone();
                    tokio::spawn(async move { r.call(&gcra("a")).await.unwrap() })
                })
                .collect();
            let mut allowed = 0;
            for task in tasks {
                allowed += usize::from(matches!(task.await.unwrap(), rl::GcraReply::Allowed { .. }));
            }
            assert_eq!(allowed, 100);
            let mut p = Pipeline::new(PipelineMode::Transaction);
            p.add(&gcra("b")).unwrap();
            p.add(&gcra("b")).unwrap();
            let reply = r.pipeline(&p).await.unwrap();
            assert!(matches!(
                reply.get::<rl::Gcra<'_>>(1).unwrap(),
                rl::GcraReply::Allowed { remaining: 98, .. }
            ));
            let script = get("lock.acquire").unwrap();
            let got = r.run(script, &["lock:{x}", "lock:{x}:fence"], &["o", "bad", "r"]).await;
            assert!(matches!(got, Err(Error::ScriptArgument(_))), "{got:?}");
            r.target().exchange_all(&["SCRIPT", "FLUSH"]).await;
            assert!(r.call(&gcra("c")).await.is_ok());
            let late = AsyncRunner::new(AsyncSingle::open("redis://127.0.0.1:1/").unwrap())
                .with_policy(Policy { attempts: 2, ..short(300) });
            let began = Instant::now();
            assert!(matches!(
                late.call(&gcra("a")).await,
                Err(Error::NoAnswer { executed: Some(false), .. })
            ));
            assert!(began.elapsed() < Duration::from_secs(2));
        });
    }
}

/// One command without a key.
trait All {
    async fn exchange_all(&self, words: &[&str]) -> Value;
}

impl All for AsyncSingle {
    async fn exchange_all(&self, words: &[&str]) -> Value {
        use totality_script::{AsyncTarget, Node, Words};
        let got = self.exchange(Node::Slot(None), &[Words::of(words)], Duration::from_secs(2)).await;
        got.unwrap().pop().unwrap()
    }
}

#[test]
fn two_versions_are_called_side_by_side() {
    let Some(place) = Place::redis("hot path: versions", &[]) else { return };
    let text = |version: &str, more: &str| {
        format!(
            "--- @script my.count\n--- @version {version}\n--- @key c string rw keep template=\"c:{{x}}\"\n\
             --- @reply code:int n:int{more}\n--- @code 1 OK\nlocal n = redis.call('INCR', KEYS[1])\n"
        )
    };
    let old = Script::from_text(&format!("{}return {{1, n}}", text("1.0.0", ""))).unwrap();
    let new = Script::from_text(&format!("{}return {{1, n, n}}", text("2.0.0", " twice:int"))).unwrap();
    let mut r = Runner::new(place.single());
    for (script, len) in [(&old, 2), (&new, 3), (&old, 2), (&new, 3)] {
        let mut w = Wrapper::new(&mut r, script.clone());
        let raw = w.execute(&["c:{x}"], &[""; 0]).unwrap();
        assert_eq!(w.parse_result(raw).unwrap().0.len(), len);
    }
}

#[test]
fn sentinel_is_followed_through_a_failover() {
    // Sentinel itself is Debian's, whatever it watches.
    let Some(redis) = Place::redis("hot path: Sentinel", &[]) else { return };
    follow_sentinel(redis, |extra| Place::redis("hot path: Sentinel", extra).unwrap());
    follow_sentinel(Place::totality(&[]), Place::totality);
}

fn follow_sentinel(primary: Place, start: impl Fn(&[&str]) -> Place) {
    let port = primary.server.port().to_string();
    let replica = start(&["--replicaof", "127.0.0.1", &port]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sentinel.conf");
    let text = format!(
        "sentinel monitor main 127.0.0.1 {port} 1\nsentinel down-after-milliseconds main 1500\n\
         sentinel failover-timeout main 3000\n"
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_string_lossy().into_owned();
    let sentinel =
        totality_testkit::server::Server::start(&["redis-server", &file, "--sentinel"], &[]).unwrap();
    let wait = |what: &str, mut done: Box<dyn FnMut() -> bool + '_>| {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut side = primary.server.client();
    wait("the replica is in step", Box::new(|| side.call(&["WAIT", "1", "100"]).unwrap().int() == Some(1)));
    let mut look = sentinel.client();
    wait(
        "the sentinel knows the replica",
        Box::new(|| !look.call(&["SENTINEL", "REPLICAS", "main"]).unwrap().items().is_empty()),
    );
    let url = format!("redis://127.0.0.1:{}/", sentinel.port());
    let target = Sentinel::open(&[&url], "main", "redis://127.0.0.1/").unwrap();
    let policy = Policy { attempts: 200, max_backoff: Duration::from_millis(100), ..short(30_000) };
    let mut r = Runner::new(target).with_policy(policy).with_natives();
    let count = counter::Bounded { name: "x", by: 1, lo: 0, hi: 9, ttl_ms: 0 };
    assert_eq!(r.call(&count).unwrap(), counter::BoundedReply::Counted { value: 1 });
    let acquire = lock::Acquire { resource: "x", owner: "o", lease_ms: 600_000, request: "r" };
    assert!(matches!(r.call(&acquire).unwrap(), lock::AcquireReply::Acquired { token: 1, .. }));
    // WAIT is for what its own client wrote, and with it for all that was written before.
    side.call(&["SET", "written", "last"]).unwrap();
    wait("the write is there", Box::new(|| side.call(&["WAIT", "1", "1000"]).unwrap().int() == Some(1)));
    drop(primary);
    // The same call, at the new primary, which has never seen the script.
    assert!(matches!(r.call(&acquire).unwrap(), lock::AcquireReply::Repeated { token: 1, .. }));
    let begin =
        idem::Begin { scope: "s", key: "k", fingerprint: "f", owner: "o", lease_ms: 1000, ttl_ms: 1000 };
    assert!(matches!(r.call(&begin).unwrap(), idem::BeginReply::Created { .. }));
    assert_eq!(r.call(&count).unwrap(), counter::BoundedReply::Counted { value: 2 });
    // Without blocking, the same way to the new primary.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let target = AsyncSingle::sentinel(&[&url], "main", "redis://127.0.0.1/").unwrap();
        let r = AsyncRunner::new(target).with_policy(policy).with_natives();
        assert_eq!(r.call(&count).await.unwrap(), counter::BoundedReply::Counted { value: 3 });
        assert!(matches!(r.call(&acquire).await.unwrap(), lock::AcquireReply::Repeated { token: 1, .. }));
    });
    drop(replica);
}

#[test]
fn natives_answer_as_the_scripts_do() {
    for place in places("hot path: natives") {
        let mut plain = Runner::new(place.single());
        let mut native = Runner::new(place.single()).with_natives();
        let mut rng = 0x9E37_79B9u64;
        let mut below = |n: u64| {
            rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (rng >> 33) % n
        };
        let texts: [&[u8]; 4] = [b"", b"a", b"b", b"\xff\0 x"];
        for step in 0..600 {
            // What the scripts do not write themselves.
            if below(20) == 0 {
                let odd = ["007", "x", "9007199254740993", "-9007199254740993", "1.5"][below(5) as usize];
                let lines = [["RPUSH", "x"], ["SET", odd]];
                let [command, value] = lines[below(2) as usize];
                for (r, names) in
                    [(&mut plain, ["cas:{p}", "counter:{p}"]), (&mut native, ["cas:{n}", "counter:{n}"])]
                {
                    for name in names {
                        cmd(r, &["DEL", name]);
                        cmd(r, &[command, name, value]);
                    }
                }
            }
            let ttl_ms = [0, 0, 5, 500_000][below(4) as usize];
            let pick = |n: u64| texts[n as usize];
            let [old, new] = [pick(below(4)), pick(below(4))];
            let missing = [cas::SetMissing::Refuse, cas::SetMissing::Create][below(2) as usize];
            let by = below(7) as i64 - 3;
            let (lo, hi) =
                [(0, 3), (-2, 2), (-9_007_199_254_740_991, 9_007_199_254_740_991), (3, 0)][below(4) as usize];
            let which = below(3);
            let run = |r: &mut Runner<Single>, name: &'static str| match which {
                0 => format!("{:?}", r.call(&cas::Delete { name, expected: old })),
                1 => format!("{:?}", r.call(&cas::Set { name, expected: old, new, ttl_ms, missing })),
                _ => format!("{:?}", r.call(&counter::Bounded { name, by, lo, hi, ttl_ms })),
            };
            let [one, other] = [run(&mut plain, "p"), run(&mut native, "n")];
            assert_eq!(one, other.replace("{n}", "{p}"), "step {step}");
            for key in ["cas:{p}", "counter:{p}"] {
                let twin = key.replace("{p}", "{n}");
                for read in ["GET", "TYPE"] {
                    assert_eq!(
                        cmd(&mut plain, &[read, key]),
                        cmd(&mut plain, &[read, &twin]),
                        "step {step}: {read} {key}"
                    );
                }
                let left = |r: &mut Runner<Single>, key: &str| match cmd(r, &["PTTL", key]) {
                    Value::Int(ms) => (ms + 99_999) / 100_000,
                    other => panic!("{other:?}"),
                };
                assert_eq!(left(&mut plain, key), left(&mut plain, &twin), "step {step}: PTTL {key}");
            }
        }
        let used: u64 = ["delex", "delifeq", "increx"].into_iter().map(|name| calls(&mut plain, name)).sum();
        let ours = String::from_utf8(cmd(&mut plain, &["INFO", "server"]).bytes().unwrap().to_vec()).unwrap();
        println!("{used} native commands beside SET");
        if ours.contains("totality_version") {
            assert!(used > 100, "native commands were used: {used}");
        }
    }
}

/// On every target: here a cluster of one node, Sentinel's kind of connection being that of a single one.
#[test]
fn natives_without_blocking_and_on_a_cluster() {
    let place = Place::totality(&["--cluster-enabled", "yes"]);
    let mut side = Runner::new(place.single());
    let urls = [place.url()];
    let seeds: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut count = || ["delex", "increx"].into_iter().map(|name| calls(&mut side, name)).sum::<u64>();
    let set = cas::Set { name: "c", expected: b"1", new: b"1", ttl_ms: 0, missing: cas::SetMissing::Refuse };
    let create = cas::Set { missing: cas::SetMissing::Create, ..set };
    let bounded = |by| counter::Bounded { name: "c", by, lo: 0, hi: 5, ttl_ms: 0 };
    let delete = |expected| cas::Delete { name: "c", expected };
    let mut r = Runner::new(Cluster::open(&seeds).unwrap()).with_natives();
    assert_eq!(r.call(&set).unwrap(), cas::SetReply::Missing);
    assert_eq!(r.call(&create).unwrap(), cas::SetReply::Written);
    assert_eq!(r.call(&bounded(3)).unwrap(), counter::BoundedReply::Counted { value: 3 });
    assert_eq!(r.call(&bounded(3)).unwrap(), counter::BoundedReply::OutOfBounds { value: 3 });
    assert_eq!(r.call(&delete(b"2")).unwrap(), cas::DeleteReply::Different);
    assert_eq!(r.call(&delete(b"1")).unwrap(), cas::DeleteReply::Deleted);
    let blocking = count();
    assert!(blocking >= 4, "{blocking}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let cluster = AsyncRunner::new(AsyncCluster::open(&seeds).unwrap()).with_natives();
        let single = AsyncRunner::new(AsyncSingle::open(&urls[0]).unwrap()).with_natives();
        assert_eq!(cluster.call(&create).await.unwrap(), cas::SetReply::Written);
        assert_eq!(cluster.call(&bounded(1)).await.unwrap(), counter::BoundedReply::Counted { value: 4 });
        assert_eq!(cluster.call(&bounded(2)).await.unwrap(), counter::BoundedReply::OutOfBounds { value: 4 });
        assert_eq!(single.call(&bounded(1)).await.unwrap(), counter::BoundedReply::Counted { value: 5 });
        assert_eq!(single.call(&delete(b"2")).await.unwrap(), cas::DeleteReply::Different);
        assert_eq!(single.call(&delete(b"1")).await.unwrap(), cas::DeleteReply::Deleted);
        assert_eq!(single.call(&delete(b"1")).await.unwrap(), cas::DeleteReply::Missing);
    });
    let both = count();
    assert!(both >= blocking + 6, "{both}");
    // Without being asked to, nobody uses them.
    assert_eq!(Runner::new(Cluster::open(&seeds).unwrap()).call(&create).unwrap(), cas::SetReply::Written);
    assert_eq!(Runner::new(place.single()).call(&delete(b"1")).unwrap(), cas::DeleteReply::Deleted);
    assert_eq!(count(), both);
}

#[test]
fn any_server_shows_names_when_it_is_asked_to() {
    for place in places("hot path: names") {
        let mut r = Runner::new(place.single()).with_names();
        cmd(&mut r, &["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
        r.call(&gcra("a")).unwrap();
        r.call(&lock::Inspect { resource: "x" }).unwrap();
        // The number of its arguments says how many there are.
        let pair = [
            stock::DeductMultiItem { item: "a", quantity: 1 },
            stock::DeductMultiItem { item: "b", quantity: 1 },
        ];
        drop(r.call(&stock::DeductMulti { group: "g", items: &pair }));
        let log = cmd(&mut r, &["SLOWLOG", "GET", "20"]).show();
        for script in ["rl.gcra", "lock.inspect"] {
            let id = get(script).unwrap().header().id();
            assert!(log.contains(&format!("\"{id}\"")), "{id} is not in {log}");
        }
        assert!(!log.contains("\"stock.deduct_multi@"), "{log}");
    }
}
