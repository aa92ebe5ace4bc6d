//! More of what must hold when many clients call at once: renewals, failures, and everything that is given back.

use super::invariants::{CLIENTS, ask, number, set, together};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use totality_script::catalogue::*;
use totality_script::{Job, Reply, Runner, Target, Value};

/// The integers of the reply of a call by keys and arguments: for clocks that the typed calls do not take.
fn raw<T: Target>(r: &mut Runner<T>, script: &str, keys: &[String], args: &[&str]) -> Vec<i64> {
    match r.run(get(script).unwrap(), keys, args).unwrap() {
        Value::Array(items) => {
            items.iter().filter_map(|v| if let Value::Int(n) = v { Some(*n) } else { None }).collect()
        }
        other => panic!("{script}: {other:?}"),
    }
}

/// Who holds something may prolong it, who gave it back may not.
pub fn renewals<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let resource = format!("{tag}-renew");
    let held = together(new, 30, |r, client, round| {
        let (owner, request) = (format!("c{client}"), format!("{client}-{round}"));
        let call = lock::Acquire { resource: &resource, owner: &owner, lease_ms: 60_000, request: &request };
        let lock::AcquireReply::Acquired { token, .. } = ask(r, &call) else { return false };
        let seen = ask(r, &lock::Inspect { resource: &resource });
        let right = matches!(&seen, lock::InspectReply::Held { token: t, owner: o, .. } if *t == token && *o == owner.as_bytes());
        assert!(right, "{seen:?}");
        let token = token as u64;
        let renew = lock::Renew {
            resource: &resource,
            owner: &owner,
            token,
            lease_ms: 90_000,
            mode: lock::RenewMode::Atleast,
        };
        assert!(matches!(ask(r, &renew), lock::RenewReply::Renewed { .. }));
        ask(
            r,
            &lock::Release { resource: &resource, owner: &owner, token, request: &request, keep_ms: 1000 },
        );
        assert!(!matches!(ask(r, &renew), lock::RenewReply::Renewed { .. }), "a lock came back to life");
        true
    });
    assert!(held > 0);
    let inside = AtomicI64::new(0);
    let enter = |cost: i64, work: &mut dyn FnMut()| {
        assert!(inside.fetch_add(cost, SeqCst) + cost <= 4, "more permits are out than there are");
        work();
        inside.fetch_sub(cost, SeqCst);
    };
    together(new, 20, |r, client, round| {
        let (holder, cost) = (format!("{client}-{round}"), 1 + (client % 3) as u64);
        let call = conc::Acquire { subject: &resource, holder: &holder, permits: 4, lease_ms: 60_000, cost };
        let conc::AcquireReply::Acquired { .. } = ask(r, &call) else { return false };
        let renew = conc::Renew { subject: &resource, holder: &holder, lease_ms: 60_000, cost };
        enter(cost as i64, &mut || assert!(matches!(ask(r, &renew), conc::RenewReply::Renewed { .. })));
        ask(r, &conc::Release { subject: &resource, holder: &holder, cost });
        assert!(matches!(ask(r, &renew), conc::RenewReply::Lost { .. }));
        true
    });
    together(new, 20, |r, client, round| {
        let holder = format!("{client}-{round}");
        let call = sem::Acquire { resource: &resource, holder: &holder, permits: 4, lease_ms: 60_000 };
        let sem::AcquireReply::Acquired { .. } = ask(r, &call) else { return false };
        let renew = sem::Renew { resource: &resource, holder: &holder, lease_ms: 60_000 };
        enter(1, &mut || assert!(matches!(ask(r, &renew), sem::RenewReply::Renewed { .. })));
        ask(r, &sem::Release { resource: &resource, holder: &holder });
        assert!(matches!(ask(r, &renew), sem::RenewReply::Lost { .. }));
        true
    });
}

/// One leader at a time, in terms that grow; nobody resigns for another.
pub fn resignations<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let group = format!("{tag}-resign");
    let (inside, last) = (AtomicI64::new(0), AtomicI64::new(0));
    let led = together(new, 30, |r, client, _| {
        let node = format!("n{client}");
        match ask(r, &leader::Claim { group: &group, node: &node, lease_ms: 60_000 }) {
            leader::ClaimReply::Elected { term, .. } => {
                assert_eq!(inside.fetch_add(1, SeqCst), 0, "two leaders");
                assert!(last.swap(term, SeqCst) < term, "a term that does not grow");
                inside.fetch_sub(1, SeqCst);
                let resign = leader::Resign { group: &group, node: &node, term: term as u64 };
                assert_eq!(ask(r, &resign), leader::ResignReply::Resigned { term });
                true
            }
            leader::ClaimReply::Following { term, .. } => {
                let resign = leader::Resign { group: &group, node: &node, term: term as u64 };
                assert!(
                    !matches!(ask(r, &resign), leader::ResignReply::Resigned { .. }),
                    "resigned for another"
                );
                false
            }
            other => panic!("{other:?}"),
        }
    });
    assert!(led > 0);
}

/// Between the write hold and the read hold nobody writes.
pub fn downgrades<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let resource = format!("{tag}-down");
    let version = AtomicI64::new(0);
    let got = together(new, 30, |r, client, round| {
        let (holder, request) = (format!("c{client}"), format!("{client}-{round}"));
        let call = rwlock::Write {
            resource: &resource,
            holder: &holder,
            lease_ms: 60_000,
            request: &request,
            want_ms: 0,
        };
        let rwlock::WriteReply::Acquired { token, .. } = ask(r, &call) else { return false };
        let mine = version.fetch_add(1, SeqCst) + 1;
        let call =
            rwlock::Downgrade { resource: &resource, holder: &holder, token: token as u64, lease_ms: 60_000 };
        assert!(matches!(ask(r, &call), rwlock::DowngradeReply::Downgraded { .. }));
        assert_eq!(version.load(SeqCst), mine, "another one wrote in between");
        let bye = rwlock::Release { resource: &resource, holder: &holder, token: 0 };
        assert_eq!(ask(r, &bye), rwlock::ReleaseReply::Released { kind: 2 });
        true
    });
    assert!(got > 0);
}

/// Every attempt is one caller's, and what ended for good stays so.
pub fn attempts<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let scope = format!("{tag}-att");
    let given = Mutex::new(HashSet::new());
    together(new, 20, |r, client, round| {
        let (key, owner) = (format!("k{}", round / 2), format!("{client}-{round}"));
        let (scope, key, fingerprint, owner) = (&*scope, &*key, "f", &*owner);
        let got = ask(r, &idem::Begin { scope, key, fingerprint, owner, lease_ms: 60_000, ttl_ms: 600_000 });
        let attempt = match got {
            idem::BeginReply::Created { attempt, .. } | idem::BeginReply::TakenOver { attempt, .. } => {
                attempt
            }
            idem::BeginReply::InProgress { .. } => return false,
            idem::BeginReply::Failed { attempt, result, .. } => {
                assert_eq!((attempt, &*result), (3, &b"no"[..]));
                return false;
            }
            other => panic!("{other:?}"),
        };
        assert!(
            given.lock().unwrap().insert((key.to_string(), attempt)),
            "attempt {attempt} of {key} was given twice"
        );
        let renew = idem::Renew { scope, key, fingerprint, owner, lease_ms: 60_000 };
        assert_eq!(ask(r, &renew), idem::RenewReply::Renewed { attempt });
        let seen = ask(r, &idem::Get { scope, key, fingerprint });
        assert!(matches!(seen, idem::GetReply::InProgress { .. }), "{seen:?}");
        let code = if attempt < 3 {
            ask(r, &idem::FailRetryable { scope, key, fingerprint, owner, result: b"later", ttl_ms: 600_000 })
                .code()
        } else {
            ask(r, &idem::FailFinal { scope, key, fingerprint, owner, result: b"no", ttl_ms: 600_000 }).code()
        };
        assert_eq!(code, 1);
        assert!(!matches!(ask(r, &renew), idem::RenewReply::Renewed { .. }), "an attempt that ended goes on");
        true
    });
    assert!(given.into_inner().unwrap().iter().all(|(_, attempt)| *attempt <= 3));
}

/// While it is open nobody goes, and of those who try again so many as asked for.
pub fn breakers<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let keys = [format!("breaker:{{{tag}-b}}")];
    let opened = raw(&mut new(), "breaker.record", &keys, &["0", "1", "60000", "60000", "2", "1000"]);
    assert_eq!(opened, [2, 1, 1]);
    let passed = together(new, 5, |r, _, _| raw(r, "breaker.allow", &keys, &["60000", "3", "60999"])[0] != 0);
    assert_eq!(passed, 0, "a call went out while it was open");
    let passed = together(new, 5, |r, _, _| raw(r, "breaker.allow", &keys, &["60000", "3", "61000"])[0] == 2);
    assert_eq!(passed, 3, "probes");
    let closed = together(new, 1, |r, _, _| {
        raw(r, "breaker.record", &keys, &["1", "1", "60000", "60000", "2", "62000"])[0] == 3
    });
    assert_eq!(closed, 1, "closed {closed} times");
}

/// A look does not count, a refund gives back what was taken, and one of many resets is the one.
pub fn refunds<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    const LIMIT: u64 = 20;
    let subject = format!("{tag}-refund");
    let (subject, day) = (&*subject, 86_400_000);
    let kind = rl::PeekKind::FixedWindow;
    let peek = rl::Peek { subject, kind, limit: LIMIT, period_ms: day, burst: 1 };
    let take = rl::FixedWindow { subject, limit: LIMIT, window_ms: day, cost: 1, count_refused: 0 };
    let kind = rl::RefundKind::FixedWindow;
    let back = rl::Refund { subject, kind, limit: LIMIT, period_ms: day, burst: 1, amount: 1 };
    let used = AtomicI64::new(0);
    together(new, 20, |r, client, round| {
        // Counted before it is given back and after it was taken: never fewer than there are.
        if let rl::PeekReply::Allowed { remaining, .. } = ask(r, &peek) {
            assert!(remaining as u64 <= LIMIT);
        }
        if !matches!(ask(r, &take), rl::FixedWindowReply::Allowed { .. }) {
            return false;
        }
        used.fetch_add(1, SeqCst);
        if (client + round) % 2 == 0 {
            assert_eq!(ask(r, &back), rl::RefundReply::Refunded { refunded: 1 });
            used.fetch_sub(1, SeqCst);
        }
        true
    });
    let mut r = new();
    let left = LIMIT as i64 - used.into_inner();
    let seen = match ask(&mut r, &peek) {
        rl::PeekReply::Allowed { remaining, .. } | rl::PeekReply::Rejected { remaining, .. } => remaining,
        other => panic!("{other:?}"),
    };
    assert_eq!(seen, left, "a look or a refund counted wrong");
    let reset = together(new, 2, |r, _, _| {
        ask(r, &rl::Reset { subject, kind: "fixed_window" }) == rl::ResetReply::Reset
    });
    assert_eq!(reset, 1, "rl.reset");
}

/// Of many who delete, expire or replace what they read, one has its way.
pub fn compared<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let mut r = new();
    let key = |name: &str| format!("cas:{{{name}}}");
    let names: Vec<String> = (0..20).map(|round| format!("{tag}-d{round}")).collect();
    names.iter().for_each(|name| set(&mut r, &key(name), "x"));
    let n = together(new, 20, |r, _, round| {
        ask(r, &cas::Delete { name: &names[round], expected: b"x" }) == cas::DeleteReply::Deleted
    });
    assert_eq!(n, 20, "cas.delete");
    let name = format!("{tag}-e");
    set(&mut r, &key(&name), "old");
    together(new, 20, |r, client, round| {
        if client == 0 && round == 10 {
            let missing = cas::SetMissing::Refuse;
            let call = cas::Set { name: &name, expected: b"old", new: b"new", ttl_ms: 60_000, missing };
            assert_eq!(ask(r, &call), cas::SetReply::Written);
        }
        let got = ask(r, &cas::Expire { name: &name, expected: b"old", ttl_ms: 600_000 });
        if client == 0 {
            assert_eq!(got == cas::ExpireReply::Set, round < 10, "{got:?}");
        }
        true
    });
    let pair = format!("{tag}-m");
    let keys = [format!("cas:{{{pair}}}:a"), format!("cas:{{{pair}}}:b")];
    keys.iter().for_each(|key| set(&mut r, key, "100"));
    let moved = together(new, 30, |r, _, _| {
        let (a, b) = (number(r, &keys[0]), number(r, &keys[1]));
        let words = [a, b, a - 1, b + 1].map(|n| n.to_string());
        let [a, b, less, more] = words.each_ref().map(|w| w.as_bytes());
        let items = [
            cas::MultiItem { name: "a", expected: a, new: less },
            cas::MultiItem { name: "b", expected: b, new: more },
        ];
        matches!(
            ask(r, &cas::Multi { group: &pair, ttl_ms: 0, items: &items }),
            cas::MultiReply::Written { .. }
        )
    });
    let moved = moved as i64;
    assert_eq!(keys.each_ref().map(|key| number(&mut r, key)), [100 - moved, 100 + moved], "cas.multi");
    let given = Mutex::new(HashSet::new());
    together(new, 20, |r, client, _| {
        let counter::IncrTtlReply::Counted { value, .. } =
            ask(r, &counter::IncrTtl { name: &pair, by: 1 + client as u64, ttl_ms: 600_000 })
        else {
            panic!("counter.incr_ttl")
        };
        assert!(given.lock().unwrap().insert(value), "a value was given twice");
        true
    });
    let sum = 20 * (1..=CLIENTS as i64).sum::<i64>();
    assert_eq!(given.into_inner().unwrap().into_iter().max(), Some(sum), "an increment was lost");
}

/// A job ends once and none is lost, although workers die, jobs fail, and the dead ones are tried again or dropped. A
/// reservation that ends while it is confirmed ends in one way.
pub fn failing_jobs<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let queue = format!("{tag}-fail");
    let queue = &*queue;
    let jobs = 40;
    let mut r = new();
    for i in 0..jobs {
        let id = format!("j{i}");
        ask(&mut r, &queue::Push { queue, id: &id, body: b"x", priority: 1, max_length: 1000 });
    }
    let ended = Mutex::new(HashSet::new());
    let dropped = AtomicUsize::new(0);
    let key = |name: &str| format!("queue:{{{queue}}}:{name}");
    let round = |r: &mut Runner<T>, client: usize, round: usize| {
        if client == 0 {
            ask(r, &queue::Reap { queue, batch: 10, max_attempts: 3 });
            ask(r, &delayed::Promote { queue, batch: 10 });
            if round % 4 == 3 {
                ask(r, &dlq::Requeue { queue, batch: 2 });
            } else if round % 4 == 1 {
                let dlq::DropReply::Done { dropped: n, .. } =
                    ask(r, &dlq::Drop { queue, batch: 1, older_than_ms: 0 });
                dropped.fetch_add(n as usize, SeqCst);
            }
            return true;
        }
        if client == 1 {
            // A worker that dies: its lease ended long ago.
            raw(r, "queue.claim", &["ready", "active", "jobs", "meta"].map(key), &["w", "1000", "1", "1000"]);
            return true;
        }
        let call = queue::Claim { queue, worker: "w", lease_ms: 60_000, count: 2 };
        let queue::ClaimReply::Claimed { packed, .. } = ask(r, &call) else { return false };
        for job in Job::unpack(&packed).unwrap() {
            let id = String::from_utf8(job.id).unwrap();
            let (id, token) = (&*id, job.token);
            let extend = queue::Extend { queue, id, token, lease_ms: 60_000 };
            assert!(matches!(ask(r, &extend), queue::ExtendReply::Extended { .. }));
            match (client + round + job.attempt as usize) % 4 {
                0 => assert_ne!(ask(r, &queue::Dead { queue, id, token }).code(), -7),
                1 => assert_ne!(
                    ask(r, &queue::Retry { queue, id, token, delay_ms: 0, max_attempts: 3 }).code(),
                    -7
                ),
                _ => {
                    assert_eq!(ask(r, &queue::Ack { queue, id, token }), queue::AckReply::Done);
                    assert!(ended.lock().unwrap().insert(id.to_string()), "a job ended twice");
                }
            }
            assert!(matches!(ask(r, &extend), queue::ExtendReply::Lost { .. }), "a job that was given away");
        }
        true
    };
    together(new, 30, round);
    let ended = ended.into_inner().unwrap().len();
    let queue::StatsReply::Ok { ready, active, delayed, dead } = ask(&mut r, &queue::Stats { queue });
    let there = (ready + active + delayed + dead) as usize;
    assert_eq!(ended + there + dropped.into_inner(), jobs, "a job was lost or doubled");
    assert!(ended > 0);

    let item = format!("{tag}-expire");
    let key = format!("stock:{{{item}}}");
    set(&mut r, &key, "100");
    let keys = [key.clone(), format!("{key}:reservations"), format!("{key}:amounts")];
    let declared = &get("stock.reserve").unwrap().header().keys;
    assert_eq!(declared.len(), keys.len());
    for i in 0..40 {
        let call = raw(&mut r, "stock.reserve", &keys, &[&i.to_string(), "2", "1000", "1000"]);
        assert_eq!(call[0], 1);
    }
    let sold = together(new, 10, |r, client, round| {
        if client % 2 == 0 {
            ask(r, &stock::Expire { item: &item, batch: 3, keep_ms: 600_000 });
            return false;
        }
        let id = (client / 2 * 10 + round).to_string();
        matches!(
            ask(r, &stock::Confirm { item: &item, id: &id, keep_ms: 600_000 }),
            stock::ConfirmReply::Confirmed { .. }
        )
    });
    while let stock::ExpireReply::Done { more: 1, .. } =
        ask(&mut r, &stock::Expire { item: &item, batch: 10, keep_ms: 600_000 })
    {}
    assert_eq!(number(&mut r, &key) + 2 * sold as i64, 100, "a reservation ended twice or never");
}

/// A board is put away once, and no more are trimmed than are too many.
pub fn boards<T: Target>(new: &(impl Fn() -> Runner<T> + Sync), tag: &str) {
    let board = format!("{tag}-t");
    let mut r = new();
    for i in 0..30 {
        let member = format!("m{i}");
        let mode = lb::SubmitMode::Best;
        let call = lb::Submit {
            board: &board,
            period: "w1",
            member: &member,
            score: i,
            mode,
            epoch_s: 0,
            ttl_ms: 600_000,
            max_members: 100,
        };
        ask(&mut r, &call);
    }
    let removed = AtomicI64::new(0);
    together(new, 5, |r, _, _| {
        let lb::TrimReply::Done { removed: n, left } =
            ask(r, &lb::Trim { board: &board, period: "w1", keep: 7, batch: 2 });
        assert!(left >= 7);
        removed.fetch_add(n, SeqCst);
        true
    });
    assert_eq!(removed.into_inner(), 23, "lb.trim");
    let rotated = together(new, 3, |r, _, _| {
        match ask(r, &lb::Rotate { board: &board, period: "w1", ttl_ms: 600_000 }) {
            lb::RotateReply::Rotated { members } => members == 7,
            lb::RotateReply::Repeated { members: 7 } => false,
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(rotated, 1, "lb.rotate");
}
