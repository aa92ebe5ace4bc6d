//! Defects of scripts and clients that are in use: each shown on a naive script, and that the catalogue's has it not.
//! On the embedded engine and on `redis-server`.

mod common;

use common::Place;
use totality::{Db, Options};
use totality_script::cases::Bench;
use totality_script::catalogue::{conc, get, idem, lock, rl, rlock, stats, stock};
use totality_script::{Embedded, Error, Runner, Script, Target, Value};

/// A script as people write it: no header, no first line.
fn naive(body: &str) -> Script {
    Script::verbatim("--- @script naive.script\n--- @version 1\n", body).unwrap()
}

struct Place2<'a, T> {
    r: &'a mut Runner<T>,
}

impl<T: Target> Place2<'_, T> {
    fn cmd(&mut self, words: &[&str]) -> Value {
        Bench::new(self.r).command(words).unwrap()
    }

    fn int(&mut self, words: &[&str]) -> i64 {
        match self.cmd(words) {
            Value::Int(n) => n,
            Value::Bulk(b) => String::from_utf8(b).unwrap().parse().unwrap(),
            other => panic!("{words:?}: {other:?}"),
        }
    }

    fn run(&mut self, script: &Script, keys: &[&str], args: &[&str]) -> Value {
        self.r.run(script, keys, args).unwrap()
    }
}

fn all<T: Target>(mut runner: Runner<T>) {
    let p = &mut Place2 { r: &mut runner };
    token_bucket_with_a_time_to_live_of_zero(p);
    leaking_bucket_that_expires_too_early(p);
    number_compared_with_text(p);
    cost_that_is_not_weighed(p);
    balance_that_is_refused_only_at_zero(p);
    window_that_never_heals(p);
    keys_found_by_pattern(p);
    clients_clock(p);
    members_of_one_millisecond(p);
    negative_quantity(p);
    leading_zero(p);
    write_before_check(p);
    sums_of_fractions(p);
    hold_count_that_grows_by_retries(p);
    lease_that_is_ignored(p);
    script_that_answers_noscript(p);
    values_that_are_changed_on_the_way(p);
    holders_that_die(p);
    lost_update_of_a_result(p);
    expired_permits_one_by_one(p);
    keys_that_are_empty_or_made_up(p);
}

#[test]
fn embedded() {
    let db = Db::open(Options::default()).unwrap();
    all(Runner::new(Embedded::new(db.session().unwrap())));
}

#[test]
fn redis_server() {
    let Some(place) = Place::redis("defects on redis-server", &[]) else { return };
    all(Runner::new(place.single()));
    release_that_ignores_its_error(&place);
}

fn token_bucket_with_a_time_to_live_of_zero<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local tokens = tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
         if tokens < 1 then return 0 end
         redis.call('SET', KEYS[1], tokens - 1)
         redis.call('EXPIRE', KEYS[1], math.floor(2 * ARGV[1] / ARGV[2]))
         return 1",
    );
    let allowed = (0..15).filter(|_| p.run(&script, &["bad:tb"], &["10", "100"]) == Value::Int(1)).count();
    assert_eq!((allowed, p.int(&["EXISTS", "bad:tb"])), (15, 0), "the key is deleted each time");
    let call = rl::TokenBucket { subject: "tb", capacity: 10, refill: 1, per_ms: 1000, cost: 1 };
    let allowed =
        (0..15).filter(|_| matches!(p.r.call(&call).unwrap(), rl::TokenBucketReply::Allowed { .. })).count();
    assert!((10..=11).contains(&allowed), "{allowed}");
    // As fast as theirs: the state is kept a second at least.
    let call = rl::TokenBucket { subject: "tb2", capacity: 10, refill: 100, per_ms: 1000, cost: 10 };
    p.r.call(&call).unwrap();
    assert!(p.int(&["PTTL", "rl:{tb2}:token_bucket"]) >= 1000);
}

fn leaking_bucket_that_expires_too_early<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "redis.call('EXPIRE', KEYS[1], 60)
         redis.call('HINCRBY', KEYS[1], 'level', 1)
         return 1",
    );
    p.run(&script, &["bad:lb"], &[]);
    assert_eq!(p.int(&["TTL", "bad:lb"]), -1, "no time to live after the first call");
    p.r.call(&rl::Gcra { subject: "lb", limit: 1, period_ms: 1000, burst: 5, cost: 1 }).unwrap();
    assert!(p.int(&["PTTL", "rl:{lb}:gcra"]) > 0);
}

fn number_compared_with_text<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local r = redis.call('INCRBY', KEYS[1], ARGV[2])
         if r == ARGV[2] then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
         return r",
    );
    p.run(&script, &["bad:cmp"], &["60000", "1"]);
    assert_eq!(p.int(&["TTL", "bad:cmp"]), -1, "the comparison is never true");
    let call = rl::FixedWindow { subject: "cmp", limit: 5, window_ms: 60_000, cost: 1, count_refused: 0 };
    p.r.call(&call).unwrap();
    assert!(p.int(&["PTTL", "rl:{cmp}:fixed_window"]) > 0);
}

fn cost_that_is_not_weighed<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local used = tonumber(redis.call('GET', KEYS[1]) or '0')
         if used >= tonumber(ARGV[1]) then return 0 end
         redis.call('INCRBY', KEYS[1], ARGV[2])
         return 1",
    );
    p.run(&script, &["bad:cost"], &["10", "9"]);
    p.run(&script, &["bad:cost"], &["10", "5"]);
    assert_eq!(p.int(&["GET", "bad:cost"]), 14, "14 of 10");
    let ours = |cost| rl::SlidingCounter { subject: "cost", limit: 10, window_ms: 2_678_400_000, cost };
    p.r.call(&ours(9)).unwrap();
    assert!(matches!(p.r.call(&ours(5)).unwrap(), rl::SlidingCounterReply::Rejected { remaining: 1, .. }));
}

fn balance_that_is_refused_only_at_zero<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local tokens = tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
         if tokens == 0 then return 0 end
         redis.call('SET', KEYS[1], tokens - ARGV[2])
         return 1",
    );
    (0..5).for_each(|_| drop(p.run(&script, &["bad:zero"], &["5", "2"])));
    assert_eq!(p.int(&["GET", "bad:zero"]), -5, "ever more negative");
    let call = rl::TokenBucket { subject: "zero", capacity: 5, refill: 1, per_ms: 86_400_000, cost: 2 };
    let allowed =
        (0..5).filter(|_| matches!(p.r.call(&call).unwrap(), rl::TokenBucketReply::Allowed { .. })).count();
    assert_eq!((allowed, p.int(&["HGET", "rl:{zero}:token_bucket", "tokens"]) / 1_000_000), (2, 1));
}

fn window_that_never_heals<T: Target>(p: &mut Place2<'_, T>) {
    let seed = get("seed.fixed_window").unwrap();
    p.cmd(&["SET", "rate:{heal}", "9"]);
    for n in 10..13 {
        let got = p.run(seed, &["rate:{heal}"], &["60", "5"]);
        assert_eq!(
            got,
            Value::Array(vec![Value::Int(0), Value::Int(n), Value::Int(-1)]),
            "refused for ever, and counted"
        );
    }
    p.cmd(&["SET", "rl:{heal}:fixed_window", "9"]);
    let call = rl::FixedWindow { subject: "heal", limit: 5, window_ms: 60_000, cost: 1, count_refused: 0 };
    assert!(matches!(p.r.call(&call).unwrap(), rl::FixedWindowReply::Rejected { repaired: 1, .. }));
    assert!(p.int(&["PTTL", "rl:{heal}:fixed_window"]) > 0);
    assert_eq!(p.int(&["GET", "rl:{heal}:fixed_window"]), 9);
}

fn keys_found_by_pattern<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local keys = redis.call('KEYS', ARGV[1])
         for i = 1, #keys do redis.call('DEL', keys[i]) end
         return #keys",
    );
    p.cmd(&["SET", "bad:k:1", "x"]);
    p.cmd(&["SET", "bad:k:other-tenant", "x"]);
    assert_eq!(p.run(&script, &[], &["bad:k:*"]), Value::Int(2), "another's keys too");
    p.cmd(&["SET", "rl:{k}:gcra", "1"]);
    p.cmd(&["SET", "rl:{k2}:gcra", "1"]);
    p.r.call(&rl::Reset { subject: "k", kind: "gcra" }).unwrap();
    assert_eq!((p.int(&["EXISTS", "rl:{k}:gcra"]), p.int(&["EXISTS", "rl:{k2}:gcra"])), (0, 1));
}

fn clients_clock<T: Target>(p: &mut Place2<'_, T>) {
    let seed = get("seed.sliding_window").unwrap();
    let mut passed = 0;
    for (i, now) in ["1000000", "1000000", "1070000", "1000001"].into_iter().enumerate() {
        let member = i.to_string();
        let got = p.run(seed, &["rate:{clock}"], &[now, "60000", "2", &member, "600"]);
        passed += usize::from(matches!(got, Value::Array(v) if v[0] == Value::Int(1)));
    }
    assert!(passed > 2, "a client whose clock is ahead empties the window");
    let ours = |request| rl::SlidingLog { subject: "clock", limit: 2, window_ms: 60_000, request, cost: 1 };
    let passed = ["a", "b", "c", "d"]
        .into_iter()
        .filter(|r| matches!(p.r.call(&ours(r)).unwrap(), rl::SlidingLogReply::Allowed { .. }))
        .count();
    assert_eq!(passed, 2);
}

fn members_of_one_millisecond<T: Target>(p: &mut Place2<'_, T>) {
    let seed = get("seed.sliding_window_seconds").unwrap();
    let passed =
        (0..5).filter(|_| p.run(seed, &["rate:{ms}"], &["1000", "60", "2"]) == Value::Int(1)).count();
    assert_eq!(passed, 5, "five of two");
    let log = get("rl.sliding_log").unwrap();
    let passed = (0..5)
        .filter(|i| {
            let got = p.run(log, &["rl:{ms}:sliding_log"], &["2", "60000", &i.to_string(), "1", "1000000"]);
            matches!(got, Value::Array(v) if v[0] == Value::Int(1))
        })
        .count();
    assert_eq!(passed, 2);
}

fn negative_quantity<T: Target>(p: &mut Place2<'_, T>) {
    p.cmd(&["SET", "stock:{neg}", "5"]);
    p.run(get("seed.deduct_stock").unwrap(), &["stock:{neg}"], &["-100"]);
    assert_eq!(p.int(&["GET", "stock:{neg}"]), 105, "a negative quantity adds");
    let got = p.r.run(get("stock.deduct").unwrap(), &["stock:{neg}"], &["-100"]);
    assert!(matches!(got, Err(Error::ScriptArgument(_))), "{got:?}");
    // The typed call cannot even say it; zero is refused before anything is sent.
    assert!(matches!(p.r.call(&stock::Deduct { item: "neg", quantity: 0 }), Err(Error::Argument { .. })));
    assert_eq!(p.int(&["GET", "stock:{neg}"]), 105);
}

fn leading_zero<T: Target>(p: &mut Place2<'_, T>) {
    p.cmd(&["SET", "rate:{007}", "007", "EX", "60"]);
    let got = p.r.run(get("seed.fixed_window_validated").unwrap(), &["rate:{007}"], &["10", "60"]);
    assert!(matches!(&got, Err(Error::Refused(e)) if e.contains("not an integer")), "{got:?}");
    p.cmd(&["SET", "rl:{007}:fixed_window", "007", "EX", "60"]);
    let call = rl::FixedWindow { subject: "007", limit: 10, window_ms: 60_000, cost: 1, count_refused: 0 };
    assert!(matches!(p.r.call(&call).unwrap(), rl::FixedWindowReply::BadState { .. }));
}

fn write_before_check<T: Target>(p: &mut Place2<'_, T>) {
    p.r.run(get("seed.counter_with_ttl").unwrap(), &["rate:{wbc}"], &["soon"]).unwrap_err();
    assert_eq!(p.int(&["TTL", "rate:{wbc}"]), -1, "a counter that never ends");
    let got = p.r.run(get("counter.incr_ttl").unwrap(), &["counter:{wbc}"], &["1", "soon"]);
    assert!(matches!(got, Err(Error::ScriptArgument(_))));
    assert_eq!(p.int(&["EXISTS", "counter:{wbc}"]), 0);
}

fn sums_of_fractions<T: Target>(p: &mut Place2<'_, T>) {
    let seed = get("seed.total_and_journal").unwrap();
    let keys = ["user:{f}:total_spent", "user:{f}:spent_logs"];
    // A name that is no number is a raw error of Lua.
    let got = p.r.run(seed, &keys, &["ten", "1", "o"]);
    assert!(matches!(&got, Err(Error::Refused(e)) if e.contains("nil")), "{got:?}");
    p.run(seed, &keys, &["0.00000000000000000001", "1", "o"]);
    p.run(seed, &keys, &["90071992547409.93", "1", "o"]);
    let total = String::from_utf8(p.cmd(&["GET", keys[0]]).bytes().unwrap().to_vec()).unwrap();
    assert_ne!(total, "90071992547409.93000000000000000001");
    let call = stats::Append { name: "f", amount: 1, at_ms: 1, id: "o", cap: 10, ttl_ms: 60_000 };
    p.cmd(&["SET", "stats:{f}:total", "9007199254740990"]);
    assert!(matches!(
        p.r.call(&call).unwrap(),
        stats::AppendReply::Added { total: 9_007_199_254_740_991, .. }
    ));
    assert!(matches!(p.r.call(&call).unwrap(), stats::AppendReply::Full { .. }));
}

fn hold_count_that_grows_by_retries<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
           redis.call('PEXPIRE', KEYS[1], 30000)
           return redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
         end
         return 0",
    );
    let holds = (0..8).map(|_| p.run(&script, &["bad:hold"], &["ann"])).last();
    assert_eq!(holds, Some(Value::Int(8)), "eight holds of one call");
    let call = rlock::Acquire { resource: "hold", owner: "ann", lease_ms: 30_000, request: "r1" };
    let last = (0..8).map(|_| p.r.call(&call).unwrap()).last();
    assert!(matches!(last, Some(rlock::AcquireReply::Repeated { holds: 1, .. })), "{last:?}");
}

fn lease_that_is_ignored<T: Target>(p: &mut Place2<'_, T>) {
    p.r.call(&lock::Acquire { resource: "lease", owner: "ann", lease_ms: 1234, request: "r1" }).unwrap();
    assert!((1..=1234).contains(&p.int(&["PTTL", "lock:{lease}"])));
}

fn script_that_answers_noscript<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive("redis.call('INCR', KEYS[1]) return {err = 'NOSCRIPT of my own'}");
    // A client that goes by the word alone runs it again.
    for _ in 0..2 {
        let words = ["EVAL", script.text(totality_script::Rendering::Redis), "1", "bad:ns"];
        let got = p.cmd(&words);
        assert!(got.error().is_some_and(|e| e.starts_with("NOSCRIPT")), "{got:?}");
    }
    assert_eq!(p.int(&["GET", "bad:ns"]), 2);
    p.cmd(&["DEL", "bad:ns"]);
    p.r.run(&script, &["bad:ns"], &[""; 0]).unwrap_err();
    assert_eq!(p.int(&["GET", "bad:ns"]), 1, "once");
    // And no script of the catalogue answers with a word that clients act upon.
    for script in totality_script::catalogue::all().filter(|s| !s.name().starts_with("seed.")) {
        let text = script.text(totality_script::Rendering::Redis);
        let errors = text.matches("err = ").count();
        let ours = text.matches("err = 'SCRIPTARG ").count()
            + text.matches("err = string.format('SCRIPTARG ").count();
        assert_eq!(errors, ours, "{}", script.name());
    }
}

fn values_that_are_changed_on_the_way<T: Target>(p: &mut Place2<'_, T>) {
    let result: &[u8] = b"\"quoted\" \x00\xff\r\n";
    let (scope, key, fingerprint, owner) = ("v", "k", "f", "o");
    p.r.call(&idem::Begin { scope, key, fingerprint, owner, lease_ms: 60_000, ttl_ms: 60_000 }).unwrap();
    p.r.call(&idem::Complete { scope, key, fingerprint, owner, result, ttl_ms: 60_000 }).unwrap();
    match p.r.call(&idem::Get { scope, key, fingerprint }).unwrap() {
        idem::GetReply::Completed { result: got, .. } => assert_eq!(got, result),
        other => panic!("{other:?}"),
    }
}

fn holders_that_die<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
         return redis.call('INCR', KEYS[1])",
    );
    p.run(&script, &["bad:dead"], &["1"]);
    assert_eq!(p.run(&script, &["bad:dead"], &["1"]), Value::Int(0), "its permit is lost for ever");
    let acquire = get("conc.acquire").unwrap();
    let mut ask = |holder: &str, now: &str| {
        let got = p.run(acquire, &["conc:{dead}"], &[holder, "1", "1000", "1", now]);
        matches!(got, Value::Array(v) if v[0] == Value::Int(1))
    };
    assert!(ask("a", "1000") && !ask("b", "1999") && ask("b", "2000"));
    let call = conc::Release { subject: "dead", holder: "a", cost: 1 };
    assert_eq!(p.r.call(&call).unwrap(), conc::ReleaseReply::Gone { released: 0 });
}

fn lost_update_of_a_result<T: Target>(p: &mut Place2<'_, T>) {
    let (scope, key, fingerprint, ttl_ms) = ("lu", "k", "f", 60_000);
    p.r.call(&idem::Begin { scope, key, fingerprint, owner: "a", lease_ms: 60_000, ttl_ms }).unwrap();
    p.r.call(&idem::Complete { scope, key, fingerprint, owner: "a", result: b"1", ttl_ms }).unwrap();
    let late =
        p.r.call(&idem::Complete { scope, key, fingerprint, owner: "b", result: b"2", ttl_ms }).unwrap();
    assert_eq!(late, idem::CompleteReply::Conflict { attempt: 1 });
}

/// A limiter that takes every permit that ended in the call that finds them: the more there are, the longer it blocks everyone.
fn expired_permits_one_by_one<T: Target>(p: &mut Place2<'_, T>) {
    let script = naive(
        "local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
         for i = 1, #old do redis.call('ZREM', KEYS[1], old[i]) end
         return #old",
    );
    let fill = naive("for i = 1, 3000 do redis.call('ZADD', KEYS[1], i, '1:h' .. i) end return 1");
    p.run(&fill, &["bad:permits"], &[]);
    assert_eq!(
        p.run(&script, &["bad:permits"], &["5000"]),
        Value::Int(3000),
        "three thousand commands in one call"
    );
    p.run(&fill, &["conc:{permits}"], &[]);
    let call = conc::Acquire { subject: "permits", holder: "a", permits: 1, lease_ms: 60_000, cost: 1 };
    p.cmd(&["CONFIG", "RESETSTAT"]);
    assert!(matches!(p.r.call(&call).unwrap(), conc::AcquireReply::Acquired { .. }));
    let stats = p.cmd(&["INFO", "commandstats"]);
    let text = String::from_utf8(stats.bytes().unwrap().to_vec()).unwrap();
    let calls = text
        .lines()
        .filter(|l| l.starts_with("cmdstat_z"))
        .filter_map(|l| l.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
    let commands: u64 = calls.sum();
    assert!((1..10).contains(&commands), "{commands} commands: {text}");
    assert_eq!(p.int(&["ZCARD", "conc:{permits}"]), 1);
}

/// Names of keys that are empty where there is nothing to name, and names that a script puts together from its arguments: the one
/// goes to another slot, the other is seen by no router, no right and no lint.
fn keys_that_are_empty_or_made_up<T: Target>(p: &mut Place2<'_, T>) {
    let script =
        naive("redis.call('SET', KEYS[1], '1') redis.call('SET', ARGV[1] .. ':made:up', '1') return 1");
    assert_eq!(p.run(&script, &[""], &["bad"]), Value::Int(1));
    assert_eq!(p.int(&["EXISTS", "", "bad:made:up"]), 2);
    p.cmd(&["DEL", "", "bad:made:up"]);
    for name in ["queue.stats", "rl.multi", "stock.deduct_multi", "lock.multi_release"] {
        let script = get(name).unwrap();
        let keys: Vec<&str> = (0..script.header().keys.len()).map(|_| "").collect();
        let got = p.r.run(script, &keys, &["1", "1", "1000"]);
        assert!(matches!(&got, Err(Error::ScriptArgument(text)) if text.contains("keys")), "{name}: {got:?}");
    }
    assert_eq!(p.int(&["EXISTS", ""]), 0);
}

/// A release whose DEL is refused must not count as released.
fn release_that_ignores_its_error(place: &Place) {
    let mut admin = Runner::new(place.single());
    let mut bench = Bench::new(&mut admin);
    let setup = ["ACL", "SETUSER", "weak", "on", ">pw", "~*", "+@all", "-del", "-hdel", "-hset"];
    bench.command(&setup).unwrap();
    bench.command(&["SET", "bad:rel", "tok"]).unwrap();
    let url = format!("redis://weak:pw@127.0.0.1:{}/", place.server.port());
    let mut weak = Runner::new(totality_script::Single::open(&url).unwrap());
    let script = naive(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.pcall('DEL', KEYS[1]) return 1 end
         return 0",
    );
    assert_eq!(weak.run(&script, &["bad:rel"], &["tok"]).unwrap(), Value::Int(1), "it says released");
    assert_eq!(Bench::new(&mut admin).command(&["EXISTS", "bad:rel"]).unwrap(), Value::Int(1), "it is not");
    admin.call(&lock::Acquire { resource: "rel", owner: "a", lease_ms: 60_000, request: "r" }).unwrap();
    let release = lock::Release { resource: "rel", owner: "a", token: 1, request: "x", keep_ms: 1000 };
    let got = weak.call(&release);
    assert!(matches!(&got, Err(Error::Refused(_))), "{got:?}");
}
