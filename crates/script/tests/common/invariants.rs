//! What must hold for each family when many clients call at once.

use super::races;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};
use totality_script::catalogue::*;
use totality_script::{Call, Error, Job, Runner, Target};

/// Clients at once.
pub const CLIENTS: usize = 8;

/// Runs `work` in every client and gives how often it said true.
pub(super) fn together<T: Target>(
    new: &(impl Fn() -> Runner<T> + Sync),
    rounds: usize,
    work: impl Fn(&mut Runner<T>, usize, usize) -> bool + Sync,
) -> usize {
    let yes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (yes, work) = (&yes, &work);
            scope.spawn(move || {
                let mut runner = new();
                for round in 0..rounds {
                    yes.fetch_add(usize::from(work(&mut runner, client, round)), SeqCst);
                }
            });
        }
    });
    yes.into_inner()
}

pub(super) fn ask<T: Target, C: Call>(runner: &mut Runner<T>, call: &C) -> C::Reply {
    runner.call(call).unwrap_or_else(|e| panic!("{}: {e}", call.script().name()))
}

/// Runs all of them. `tag` keeps the keys of several runs apart. Gives their number.
pub fn all<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) -> usize {
    let tests: [(&str, &dyn Fn()); 24] = [
        ("locks", &|| locks(new, tag)),
        ("re-entrant locks", &|| reentrant(new, tag)),
        ("read-write locks", &|| rwlocks(new, tag)),
        ("leaders and fences", &|| leaders(new, tag)),
        ("limiters", &|| limiters(new, tag)),
        ("concurrency", &|| concurrency(new, tag)),
        ("idempotency", &|| idempotency(new, tag)),
        ("stock", &|| stock(new, tag)),
        ("reservations", &|| reservations(new, tag)),
        ("accounts", &|| accounts(new, tag)),
        ("compare and set", &|| compare_and_set(new, tag)),
        ("caches", &|| caches(new, tag)),
        ("counters", &|| counters(new, tag)),
        ("queues", &|| queues(new, tag)),
        ("leaderboards", &|| leaderboards(new, tag)),
        ("holds that are renewed", &|| races::renewals(new, tag)),
        ("leaders that resign", &|| races::resignations(new, tag)),
        ("writers that become readers", &|| races::downgrades(new, tag)),
        ("attempts that fail", &|| races::attempts(new, tag)),
        ("breakers", &|| races::breakers(new, tag)),
        ("refunds and resets", &|| races::refunds(new, tag)),
        ("values that are compared", &|| races::compared(new, tag)),
        ("jobs that fail and workers that die", &|| races::failing_jobs(new, tag)),
        ("boards that are put away", &|| races::boards(new, tag)),
    ];
    for (name, test) in tests {
        let began = std::time::Instant::now();
        test();
        println!("{tag}: {name} hold ({} ms)", began.elapsed().as_millis());
    }
    tests.len()
}

/// One holder at a time, each with a greater token; lock.multi among them.
fn locks<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let (inside, last) = (AtomicI64::new(0), AtomicI64::new(0));
    let enter = |token: i64| {
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two holders at once");
        assert!(last.swap(token, SeqCst) < token, "a token that does not grow");
        inside.fetch_sub(1, SeqCst);
    };
    let held = together(new, 40, |r, client, round| {
        let (owner, request) = (format!("c{client}"), format!("{client}-{round}"));
        if round % 4 == 3 {
            let items = [lock::MultiItem { item: "x" }, lock::MultiItem { item: "y" }];
            let call =
                lock::Multi { group: tag, owner: &owner, lease_ms: 60_000, request: &request, items: &items };
            if let lock::MultiReply::Acquired { token, .. } = ask(r, &call) {
                enter(token);
                let items = [lock::MultiReleaseItem { item: "x" }, lock::MultiReleaseItem { item: "y" }];
                let call =
                    lock::MultiRelease { group: tag, owner: &owner, token: token as u64, items: &items };
                assert_eq!(ask(r, &call), lock::MultiReleaseReply::Released { released: 2 });
                return true;
            }
            return false;
        }
        // The key of the lock `x` of the group, under the same fence.
        let keys = [format!("lock:{{{tag}}}:x"), format!("lock:{{{tag}}}:fence")];
        let args = [owner.as_str(), "60000", request.as_str()];
        let got = r.run(get("lock.acquire").unwrap(), &keys, &args).unwrap();
        let totality_script::Value::Array(v) = got else { panic!("{got:?}") };
        let (totality_script::Value::Int(code), totality_script::Value::Int(token)) = (&v[0], &v[1]) else {
            panic!()
        };
        if *code != 1 {
            return false;
        }
        enter(*token);
        let (token, bye) = (token.to_string(), format!("{request}-bye"));
        let args = [owner.as_str(), token.as_str(), bye.as_str(), "1000"];
        r.run(get("lock.release").unwrap(), &keys[..1], &args).unwrap();
        true
    });
    assert!(held > 0);
}

/// Holds never outlive their releases, although each acquisition is sent twice.
fn reentrant<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let inside = AtomicI64::new(0);
    let held = together(new, 20, |r, client, round| {
        let owner = format!("c{client}");
        let mut token = 0;
        for depth in 0..2 {
            let request = format!("{client}-{round}-{depth}");
            let call = rlock::Acquire { resource: tag, owner: &owner, lease_ms: 60_000, request: &request };
            let first = ask(r, &call);
            match (first, ask(r, &call)) {
                (rlock::AcquireReply::Held { .. }, rlock::AcquireReply::Held { .. }) if depth == 0 => {
                    return false;
                }
                // Free between the two.
                (rlock::AcquireReply::Held { .. }, rlock::AcquireReply::Acquired { token: t, .. })
                    if depth == 0 =>
                {
                    token = t
                }
                (
                    rlock::AcquireReply::Acquired { token: t, .. }
                    | rlock::AcquireReply::Reentered { token: t, .. },
                    rlock::AcquireReply::Repeated { holds, .. },
                ) => {
                    assert_eq!(holds, depth + 1, "a retry counted as a hold");
                    token = t;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two holders at once");
        inside.fetch_sub(1, SeqCst);
        for depth in [1, 0] {
            let request = format!("{client}-{round}-{depth}");
            let call = rlock::Release {
                resource: tag,
                owner: &owner,
                token: token as u64,
                request: &request,
                keep_ms: 1000,
            };
            assert_eq!(ask(r, &call), rlock::ReleaseReply::Released { token, holds: depth });
        }
        true
    });
    assert!(held > 0);
}

fn rwlocks<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let (readers, writers) = (AtomicI64::new(0), AtomicI64::new(0));
    let got = together(new, 30, |r, client, round| {
        let holder = format!("c{client}");
        let request = format!("{client}-{round}");
        if client % 4 == 0 {
            let call = rwlock::Write {
                resource: tag,
                holder: &holder,
                lease_ms: 60_000,
                request: &request,
                want_ms: 0,
            };
            let rwlock::WriteReply::Acquired { token, .. } = ask(r, &call) else { return false };
            assert_eq!(writers.fetch_add(1, SeqCst), 0, "two writers");
            assert_eq!(readers.load(SeqCst), 0, "a writer among readers");
            writers.fetch_sub(1, SeqCst);
            ask(r, &rwlock::Release { resource: tag, holder: &holder, token: token as u64 });
        } else {
            let call = rwlock::Read { resource: tag, holder: &holder, lease_ms: 60_000 };
            let rwlock::ReadReply::Acquired { .. } = ask(r, &call) else { return false };
            readers.fetch_add(1, SeqCst);
            assert_eq!(writers.load(SeqCst), 0, "a reader beside a writer");
            readers.fetch_sub(1, SeqCst);
            ask(r, &rwlock::Release { resource: tag, holder: &holder, token: 0 });
        }
        true
    });
    assert!(got > 0);
}

fn leaders<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let elected = together(new, 5, |r, client, _| {
        let node = format!("n{client}");
        matches!(
            ask(r, &leader::Claim { group: tag, node: &node, lease_ms: 60_000 }),
            leader::ClaimReply::Elected { .. }
        )
    });
    assert_eq!(elected, 1, "leaders");
    let best = AtomicU64::new(0);
    together(new, 20, |r, client, round| {
        let token = 1 + (round * CLIENTS + (client * 5) % CLIENTS) as u64;
        let value = token.to_string();
        let call =
            fence::Set { resource: tag, token, value: value.as_bytes(), ttl_ms: 60_000, keep_ms: 60_000 };
        if let fence::SetReply::Written { .. } = ask(r, &call) {
            best.fetch_max(token, SeqCst);
        }
        true
    });
    let got = ask(&mut new(), &fence::Check { resource: tag, token: best.into_inner(), keep_ms: 60_000 });
    assert!(matches!(got, fence::CheckReply::Current { .. }), "an older token came after: {got:?}");
}

/// Never more than the limit, and with enough calls exactly the limit.
fn limiters<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    const LIMIT: usize = 40;
    let day = 86_400_000;
    let limit = LIMIT as u64;
    let n = together(new, 10, |r, _, _| {
        let call = rl::FixedWindow { subject: tag, limit, window_ms: day, cost: 1, count_refused: 0 };
        matches!(ask(r, &call), rl::FixedWindowReply::Allowed { .. })
    });
    assert_eq!(n, LIMIT, "fixed window");
    let n = together(new, 10, |r, client, round| {
        let request = format!("{client}-{round}");
        let call = rl::SlidingLog { subject: tag, limit, window_ms: day, request: &request, cost: 1 };
        let first = matches!(ask(r, &call), rl::SlidingLogReply::Allowed { .. });
        if first {
            assert!(matches!(ask(r, &call), rl::SlidingLogReply::Repeated { .. }), "a retry counts twice");
        }
        first
    });
    assert_eq!(n, LIMIT, "sliding log");
    let n = together(new, 10, |r, _, _| {
        let call = rl::SlidingCounter { subject: tag, limit, window_ms: day * 20, cost: 1 };
        matches!(ask(r, &call), rl::SlidingCounterReply::Allowed { .. })
    });
    assert_eq!(n, LIMIT, "sliding counter");
    let n = together(new, 10, |r, _, _| {
        let call = rl::TokenBucket { subject: tag, capacity: limit, refill: 1, per_ms: day, cost: 1 };
        matches!(ask(r, &call), rl::TokenBucketReply::Allowed { .. })
    });
    assert_eq!(n, LIMIT, "token bucket");
    let n = together(new, 10, |r, _, _| {
        let call = rl::Gcra { subject: tag, limit: 1, period_ms: day, burst: limit, cost: 1 };
        matches!(ask(r, &call), rl::GcraReply::Allowed { .. })
    });
    assert_eq!(n, LIMIT, "gcra");
    let waits = Mutex::new(Vec::new());
    together(new, 5, |r, _, _| {
        let call = rl::LeakyQueue { subject: tag, rate: 1, per_ms: 60_000, max_wait_ms: 3_600_000 };
        if let rl::LeakyQueueReply::Queued { wait_ms, .. } = ask(r, &call) {
            waits.lock().unwrap().push(wait_ms);
        }
        true
    });
    let mut waits = waits.into_inner().unwrap();
    waits.sort_unstable();
    assert!(waits.windows(2).all(|w| w[1] - w[0] > 50_000), "two callers have one turn: {waits:?}");
    let n = together(new, 10, |r, _, _| {
        let items = [
            rl::MultiItem { window: "d", limit, window_ms: day },
            rl::MultiItem { window: "w", limit: limit * 2, window_ms: day * 7 },
        ];
        matches!(ask(r, &rl::Multi { subject: tag, cost: 1, items: &items }), rl::MultiReply::Allowed { .. })
    });
    assert_eq!(n, LIMIT, "several windows");
}

fn concurrency<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let (inside, most) = (AtomicI64::new(0), AtomicI64::new(0));
    let permits = 3;
    let enter = |cost: i64| {
        let now = inside.fetch_add(cost, SeqCst) + cost;
        most.fetch_max(now, SeqCst);
        assert!(now <= permits, "{now} of {permits} permits are out");
        std::thread::yield_now();
        inside.fetch_sub(cost, SeqCst);
    };
    together(new, 20, |r, client, round| {
        let (holder, cost) = (format!("{client}-{round}"), 1 + (client % 2) as u64);
        let call =
            conc::Acquire { subject: tag, holder: &holder, permits: permits as u64, lease_ms: 60_000, cost };
        let conc::AcquireReply::Acquired { .. } = ask(r, &call) else { return false };
        enter(cost as i64);
        let got = ask(r, &conc::Release { subject: tag, holder: &holder, cost });
        assert_eq!(got, conc::ReleaseReply::Released { released: cost as i64 });
        true
    });
    together(new, 20, |r, client, round| {
        let holder = format!("{client}-{round}");
        let call = sem::Acquire { resource: tag, holder: &holder, permits: permits as u64, lease_ms: 60_000 };
        let sem::AcquireReply::Acquired { .. } = ask(r, &call) else { return false };
        enter(1);
        assert_eq!(ask(r, &sem::Release { resource: tag, holder: &holder }), sem::ReleaseReply::Released);
        true
    });
    assert!(most.into_inner() > 0);
}

/// One attempt per key, one result, the same for all.
fn idempotency<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let ran = Mutex::new(BTreeMap::<usize, usize>::new());
    together(new, 20, |r, client, round| {
        let (key, owner) = (format!("k{round}"), format!("{client}-{round}"));
        let begin = idem::Begin {
            scope: tag,
            key: &key,
            fingerprint: "f",
            owner: &owner,
            lease_ms: 60_000,
            ttl_ms: 600_000,
        };
        match ask(r, &begin) {
            idem::BeginReply::Created { .. } => {
                *ran.lock().unwrap().entry(round).or_default() += 1;
                let result = owner.as_bytes();
                let done = idem::Complete {
                    scope: tag,
                    key: &key,
                    fingerprint: "f",
                    owner: &owner,
                    result,
                    ttl_ms: 600_000,
                };
                assert_eq!(ask(r, &done), idem::CompleteReply::Stored { attempt: 1 });
                true
            }
            idem::BeginReply::Completed { result, .. } => {
                assert!(result.ends_with(format!("-{round}").as_bytes()), "another key's result");
                false
            }
            idem::BeginReply::InProgress { .. } => false,
            other => panic!("{other:?}"),
        }
    });
    let ran = ran.into_inner().unwrap();
    assert!(ran.len() == 20 && ran.values().all(|n| *n == 1), "{ran:?}");
}

pub(super) fn set<T: Target>(r: &mut Runner<T>, key: &str, value: &str) {
    let got = totality_script::cases::Bench::new(r).command(&["SET", key, value]).unwrap();
    assert!(got.error().is_none(), "{got:?}");
}

pub(super) fn number<T: Target>(r: &mut Runner<T>, key: &str) -> i64 {
    let got = totality_script::cases::Bench::new(r).command(&["GET", key]).unwrap();
    String::from_utf8(got.bytes().unwrap_or(b"0").to_vec()).unwrap().parse().unwrap()
}

/// No oversell, nothing left over.
fn stock<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let mut r = new();
    set(&mut r, &format!("stock:{{{tag}}}"), "100");
    let taken = together(new, 30, |r, _, _| {
        matches!(ask(r, &stock::Deduct { item: tag, quantity: 1 }), stock::DeductReply::Taken { .. })
    });
    assert_eq!((taken, number(&mut r, &format!("stock:{{{tag}}}"))), (100, 0), "stock.deduct");
    set(&mut r, &format!("stock:{{{tag}}}:a"), "50");
    set(&mut r, &format!("stock:{{{tag}}}:b"), "70");
    let taken = together(new, 20, |r, _, _| {
        let items = [
            stock::DeductMultiItem { item: "a", quantity: 1 },
            stock::DeductMultiItem { item: "b", quantity: 1 },
        ];
        matches!(
            ask(r, &stock::DeductMulti { group: tag, items: &items }),
            stock::DeductMultiReply::Taken { .. }
        )
    });
    let left = (number(&mut r, &format!("stock:{{{tag}}}:a")), number(&mut r, &format!("stock:{{{tag}}}:b")));
    assert_eq!((taken, left), (50, (0, 20)), "stock.deduct_multi");
}

/// What is there, reserved and sold is always what was there; every id ends once, although everything is sent twice.
fn reservations<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let item = format!("{tag}-res");
    let mut r = new();
    set(&mut r, &format!("stock:{{{item}}}"), "60");
    let sold = AtomicI64::new(0);
    together(new, 12, |r, client, round| {
        let id = format!("{client}-{round}");
        let quantity = 1 + (round % 2) as u64;
        let reserve = stock::Reserve { item: &item, id: &id, quantity, lease_ms: 600_000 };
        let stock::ReserveReply::Reserved { .. } = ask(r, &reserve) else { return false };
        assert!(matches!(ask(r, &reserve), stock::ReserveReply::Repeated { .. }));
        if (client + round) % 2 == 0 {
            let confirm = stock::Confirm { item: &item, id: &id, keep_ms: 600_000 };
            assert!(matches!(ask(r, &confirm), stock::ConfirmReply::Confirmed { .. }));
            assert!(matches!(ask(r, &confirm), stock::ConfirmReply::Repeated { .. }));
            sold.fetch_add(quantity as i64, SeqCst);
        } else {
            let cancel = stock::Cancel { item: &item, id: &id, keep_ms: 600_000 };
            assert!(matches!(ask(r, &cancel), stock::CancelReply::Cancelled { .. }));
            assert!(matches!(ask(r, &cancel), stock::CancelReply::Repeated { .. }));
        }
        true
    });
    assert_eq!(number(&mut r, &format!("stock:{{{item}}}")) + sold.into_inner(), 60, "stock.reserve");
}

/// Money is neither made nor lost, and every transaction is booked once although two clients send it.
fn accounts<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let names = ["a", "b", "c"];
    let key = |n: &str| format!("account:{{{tag}}}:{n}:balance");
    let mut r = new();
    names.iter().for_each(|n| set(&mut r, &key(n), "1000"));
    let booked = Mutex::new(HashSet::new());
    together(new, 30, |r, client, round| {
        let txid = format!("{}-{round}", client / 2);
        let pick = client / 2 + round;
        let call = account::Transfer {
            group: tag,
            from: names[pick % 3],
            to: names[(pick + 1) % 3],
            amount: 37 + round as u64,
            txid: &txid,
            keep_ms: 600_000,
            journal_max: 100,
        };
        match ask(r, &call) {
            account::TransferReply::Moved { .. } => {
                assert!(booked.lock().unwrap().insert(txid), "booked twice")
            }
            account::TransferReply::Repeated { .. } | account::TransferReply::Insufficient { .. } => {}
            other => panic!("{other:?}"),
        }
        true
    });
    let balances: Vec<i64> = names.iter().map(|n| number(&mut r, &key(n))).collect();
    assert!(balances.iter().sum::<i64>() == 3000 && balances.iter().all(|b| *b >= 0), "{balances:?}");
    let credited = AtomicI64::new(0);
    together(new, 10, |r, client, round| {
        let txid = format!("{}-{round}", client / 2);
        let call =
            account::Credit { account: tag, amount: 5, txid: &txid, keep_ms: 600_000, journal_max: 10 };
        if let account::CreditReply::Credited { .. } = ask(r, &call) {
            credited.fetch_add(5, SeqCst);
        }
        let call = account::Debit {
            account: tag,
            amount: 7,
            txid: &format!("d{txid}"),
            keep_ms: 600_000,
            journal_max: 10,
        };
        match r.call(&call) {
            Ok(account::DebitReply::Debited { .. }) => {
                credited.fetch_sub(7, SeqCst);
            }
            Ok(_) => {}
            Err(e) => panic!("{e}"),
        }
        true
    });
    assert_eq!(number(&mut r, &format!("account:{{{tag}}}:balance")), credited.into_inner());
}

/// No lost update.
fn compare_and_set<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let key = format!("cas:{{{tag}}}");
    let mut r = new();
    set(&mut r, &key, "0");
    let written = together(new, 40, |r, _, _| {
        let now = number(r, &key);
        let (expected, next) = (now.to_string(), (now + 1).to_string());
        let call = cas::Set {
            name: tag,
            expected: expected.as_bytes(),
            new: next.as_bytes(),
            ttl_ms: 60_000,
            missing: cas::SetMissing::Refuse,
        };
        ask(r, &call) == cas::SetReply::Written
    });
    assert_eq!(number(&mut r, &key), written as i64, "a lost update");
}

fn caches<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let filled = together(new, 10, |r, client, _| {
        let owner = format!("c{client}");
        match ask(r, &cache::GetOrLease { name: tag, owner: &owner, lease_ms: 60_000 }) {
            cache::GetOrLeaseReply::Fill { .. } => {
                let call = cache::Fill { name: tag, owner: &owner, version: 1, data: b"x", ttl_ms: 600_000 };
                assert_eq!(ask(r, &call), cache::FillReply::Stored { version: 1 });
                true
            }
            cache::GetOrLeaseReply::Hit { data, .. } => {
                assert_eq!(data, b"x");
                false
            }
            _ => false,
        }
    });
    assert_eq!(filled, 1, "a stampede");
    let name = format!("{tag}-v");
    together(new, 20, |r, client, round| {
        let version = 1 + ((client * 7 + round * 3) % 50) as u64;
        let data = version.to_string();
        let call = cache::PutIfNewer {
            name: &name,
            version,
            kind: cache::PutIfNewerKind::Data,
            data: data.as_bytes(),
            ttl_ms: 60_000,
        };
        ask(r, &call);
        true
    });
    let best =
        (0..CLIENTS).flat_map(|c| (0..20).map(move |r| 1 + (c * 7 + r * 3) % 50)).max().unwrap() as i64;
    let got = ask(&mut new(), &cache::Get { name: &name });
    assert_eq!(got, cache::GetReply::Hit { version: best, data: best.to_string().into_bytes() });
}

fn counters<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let n = together(new, 20, |r, _, _| {
        let call = counter::Bounded { name: tag, by: 1, lo: 0, hi: 33, ttl_ms: 60_000 };
        matches!(ask(r, &call), counter::BoundedReply::Counted { .. })
    });
    assert_eq!(n, 33, "counter.bounded");
    let name = format!("{tag}-once");
    let n = together(new, 20, |r, _, round| {
        let id = format!("i{round}");
        let call = counter::Once { name: &name, by: 1, id: &id, ttl_ms: 60_000, max_ids: 1000 };
        matches!(ask(r, &call), counter::OnceReply::Counted { .. })
    });
    assert_eq!(n, 20, "counter.once");
    let n = together(new, 20, |r, _, round| {
        let id = format!("i{round}");
        matches!(
            ask(r, &dedup::Seen { name: tag, id: &id, ttl_ms: 60_000, max_ids: 1000 }),
            dedup::SeenReply::New { .. }
        )
    });
    assert_eq!(n, 20, "dedup.seen");
    ask(&mut new(), &latch::Init { name: tag, count: CLIENTS as u64, ttl_ms: 60_000 });
    let n = together(new, 2, |r, client, _| {
        let id = format!("c{client}");
        matches!(ask(r, &latch::Down { name: tag, id: &id }), latch::DownReply::Opened { .. })
    });
    assert_eq!(n, 1, "latch.down");
    let blocks = Mutex::new(Vec::new());
    together(new, 10, |r, client, _| {
        if let id::BlockReply::Given { first, last } =
            ask(r, &id::Block { name: tag, size: 1 + client as u64 })
        {
            blocks.lock().unwrap().extend(first..=last);
        }
        true
    });
    let blocks = blocks.into_inner().unwrap();
    assert_eq!(blocks.iter().collect::<HashSet<_>>().len(), blocks.len(), "id.block gave a number twice");
    let total = AtomicI64::new(0);
    together(new, 10, |r, client, round| {
        let amount = (client as i64 - 3) * 10 + round as i64;
        total.fetch_add(amount, SeqCst);
        let call = stats::Append { name: tag, amount, at_ms: 1, id: "x", cap: 5, ttl_ms: 60_000 };
        let got = ask(r, &call);
        assert!(matches!(got, stats::AppendReply::Added { length: 1..=5, .. }), "{got:?}");
        true
    });
    assert_eq!(number(&mut new(), &format!("stats:{{{tag}}}:total")), total.into_inner());
    let n = together(new, 10, |r, _, _| {
        let call = breaker::Record {
            service: tag,
            ok: 0,
            threshold: 40,
            window_ms: 3_600_000,
            open_ms: 3_600_000,
            needed: 1,
        };
        matches!(ask(r, &call), breaker::RecordReply::Opened { .. })
    });
    assert_eq!(n, 1, "breaker.record opened {n} times");
}

/// Every job once, none lost, the order by priority kept for each client.
fn queues<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let pushed = together(new, 20, |r, client, round| {
        let id = format!("{}-{round}", client / 2);
        let call = queue::Push {
            queue: tag,
            id: &id,
            body: id.as_bytes(),
            priority: (round % 3) as u64,
            max_length: 1000,
        };
        matches!(ask(r, &call), queue::PushReply::Pushed { .. })
    });
    assert_eq!(pushed, 20 * CLIENTS / 2, "an id was pushed twice");
    let later = together(new, 2, |r, client, round| {
        let id = format!("later-{client}-{round}");
        let call =
            delayed::Add { queue: tag, id: &id, body: b"x", delay_ms: 0, priority: 1, max_length: 1000 };
        matches!(ask(r, &call), delayed::AddReply::Added { .. })
    });
    let moved = AtomicI64::new(0);
    together(new, 3, |r, _, _| {
        let delayed::PromoteReply::Done { moved: n, .. } = ask(r, &delayed::Promote { queue: tag, batch: 3 });
        moved.fetch_add(n, SeqCst);
        true
    });
    assert_eq!(moved.into_inner(), later as i64);
    let done = Mutex::new(HashSet::new());
    together(new, 40, |r, client, round| {
        let worker = format!("w{client}");
        let call =
            queue::Claim { queue: tag, worker: &worker, lease_ms: 60_000, count: 1 + (round % 3) as u64 };
        let queue::ClaimReply::Claimed { packed, .. } = ask(r, &call) else { return false };
        for job in Job::unpack(&packed).unwrap() {
            let id = String::from_utf8(job.id).unwrap();
            let call = queue::Ack { queue: tag, id: &id, token: job.token };
            assert_eq!(ask(r, &call), queue::AckReply::Done);
            assert!(done.lock().unwrap().insert(id), "a job was done twice");
        }
        true
    });
    assert_eq!(done.into_inner().unwrap().len(), pushed + later, "a job was lost");
    let got = ask(&mut new(), &queue::Stats { queue: tag });
    assert_eq!(got, queue::StatsReply::Ok { ready: 0, active: 0, delayed: 0, dead: 0 });
    let only = together(new, 5, |r, client, round| {
        let id = format!("u{client}-{round}");
        let call = queue::PushUnique {
            queue: tag,
            id: &id,
            body: b"x",
            priority: 1,
            max_length: 1000,
            unique_key: "same",
            ttl_ms: 60_000,
            mode: queue::PushUniqueMode::Keep,
        };
        matches!(ask(r, &call), queue::PushUniqueReply::Pushed { .. })
    });
    assert_eq!(only, 1, "queue.push_unique");
}

fn leaderboards<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let submit = |member, mode, score| lb::Submit {
        board: tag,
        period: "w1",
        member,
        score,
        mode,
        epoch_s: 0,
        ttl_ms: 600_000,
        max_members: 100,
    };
    together(new, 20, |r, client, round| {
        ask(r, &submit("sum", lb::SubmitMode::Sum, 2));
        ask(r, &submit("best", lb::SubmitMode::Best, (client * 20 + round) as u64));
        true
    });
    let mut r = new();
    let score = |got| match got {
        lb::AroundReply::Found { score, .. } => score,
        other => panic!("{other:?}"),
    };
    let around = |member| lb::Around { board: tag, period: "w1", member, radius: 0 };
    assert_eq!(score(ask(&mut r, &around("sum"))), 2 * 20 * CLIENTS as i64);
    assert_eq!(score(ask(&mut r, &around("best"))), (CLIENTS as i64 - 1) * 20 + 19);
}

/// A refusal of an argument, for tests that look at what is not sent.
pub fn refused<T: Target>(r: &mut Runner<T>) -> Error {
    r.call(&stock::Deduct { item: "x", quantity: 0 }).unwrap_err()
}
