//! Random calls beside small models, one for each family, on the embedded engine with a clock that stands still.

mod common;

use common::world::{START, World, name, ops};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use totality_script::catalogue::*;
use totality_script::{Job, Placed};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fixed_window(ops in ops(60)) {
        let (mut w, mut began, mut used) = (World::new(), None::<u64>, 0);
        for (a, b, _, wait) in ops {
            w.wait(wait.into());
            if began.is_some_and(|t| w.now > t + 5001) {
                (began, used) = (None, 0);
            }
            let (cost, counted) = (u64::from(a % 4), u64::from(b % 2));
            let got = w.ask(&rl::FixedWindow { subject: "s", limit: 5, window_ms: 5001, cost, count_refused: counted });
            let fits = used + cost <= 5;
            prop_assert_eq!(matches!(got, rl::FixedWindowReply::Allowed { .. }), fits);
            if cost > 0 && (fits || counted == 1) {
                used += cost;
                began = began.or(Some(w.now));
            }
        }
    }

    #[test]
    fn sliding_log_is_exact(ops in ops(60)) {
        let (mut w, mut log) = (World::new(), VecDeque::new());
        for (i, (a, _, _, wait)) in ops.into_iter().enumerate() {
            w.wait(wait.into());
            while log.front().is_some_and(|t| *t + 5000 <= w.now) {
                log.pop_front();
            }
            let cost = 1 + u64::from(a % 3);
            let request = i.to_string();
            let call = rl::SlidingLog { subject: "s", limit: 6, window_ms: 5000, request: &request, cost };
            match w.ask(&call) {
                rl::SlidingLogReply::Allowed { remaining, .. } => {
                    (0..cost).for_each(|_| log.push_back(w.now));
                    prop_assert_eq!(remaining, 6 - log.len() as i64);
                    sure!(log.len() <= 6);
                }
                rl::SlidingLogReply::Rejected { retry_ms, .. } => {
                    sure!(log.len() as u64 + cost > 6);
                    // The oldest ones that have to go are gone then, and not before.
                    let gone = log[(log.len() as u64 + cost - 6 - 1) as usize];
                    prop_assert_eq!(retry_ms as u64, gone + 5000 - w.now);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn sliding_counter(ops in ops(60)) {
        let mut w = World::new();
        let (window, limit) = (4000i128, 8i128);
        let mut counts: HashMap<i128, i128> = HashMap::new();
        for (a, _, _, wait) in ops {
            w.wait(wait.into());
            let now = i128::from(START + w.now);
            let (at, cost) = (now / window, i128::from(a % 4));
            let previous = counts.get(&(at - 1)).copied().unwrap_or(0);
            let current = counts.get(&at).copied().unwrap_or(0);
            let left = window - now % window;
            let used = current + (previous * left + window - 1) / window;
            let got = w.ask(&rl::SlidingCounter { subject: "s", limit: 8, window_ms: 4000, cost: cost as u64 });
            match got {
                rl::SlidingCounterReply::Allowed { remaining, .. } => {
                    prop_assert_eq!(i128::from(remaining), limit - used - cost);
                    *counts.entry(at).or_default() += cost;
                }
                rl::SlidingCounterReply::Rejected { retry_ms, .. } => {
                    sure!(used + cost > limit);
                    let mut later = w.ask(&rl::SlidingCounter { subject: "s", limit: 8, window_ms: 4000, cost: 0 });
                    sure!(retry_ms > 0 && retry_ms <= 8000);
                    // After that time it would pass, if nobody else came.
                    w.wait_ms(retry_ms as u64);
                    later = w.ask(&rl::SlidingCounter { subject: "s", limit: 8, window_ms: 4000, cost: 0 }).max_of(later);
                    sure!(matches!(later, rl::SlidingCounterReply::Allowed { remaining, .. } if i128::from(remaining) >= cost));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn token_bucket(ops in ops(80), capacity in 1u64..20, refill in 1u64..50, per_ms in 100u64..3000) {
        let mut w = World::new();
        let rate = refill as f64 / per_ms as f64;
        let (mut level, mut last) = (capacity as f64, 0);
        let mut admitted: Vec<(u64, f64)> = Vec::new();
        for (a, _, _, wait) in ops {
            w.wait(u64::from(wait) / 4);
            level = (level + (w.now - last) as f64 * rate).min(capacity as f64);
            last = w.now;
            let cost = 1 + u64::from(a) % capacity;
            let close = (level - cost as f64).abs() < 0.001;
            match w.ask(&rl::TokenBucket { subject: "s", capacity, refill, per_ms, cost }) {
                rl::TokenBucketReply::Allowed { .. } => {
                    prop_assert!(close || level >= cost as f64, "{} of {}", cost, level);
                    level -= cost as f64;
                    admitted.push((w.now, cost as f64));
                }
                rl::TokenBucketReply::Rejected { retry_ms, .. } => {
                    prop_assert!(close || level < cost as f64, "{} of {}", cost, level);
                    let wait = ((cost as f64 - level) / rate).ceil();
                    prop_assert!((retry_ms as f64 - wait).abs() <= 1.0, "{} instead of {}", retry_ms, wait);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
        // In no interval more than the capacity and what flowed in.
        for i in 0..admitted.len() {
            let mut sum = 0.0;
            for (t, cost) in &admitted[i..] {
                sum += cost;
                let bound = capacity as f64 + (t - admitted[i].0) as f64 * rate;
                prop_assert!(sum <= bound + 0.001, "{} above {}", sum, bound);
            }
        }
    }

    #[test]
    fn gcra(ops in ops(80), burst in 1u64..10) {
        let (mut w, mut tat) = (World::new(), 0u64);
        for (a, _, _, wait) in ops {
            w.wait(u64::from(wait) / 8);
            let cost = 1 + u64::from(a) % burst;
            let start = tat.max(w.now);
            // 20 a second: 50 ms each.
            let fits = start + cost * 50 <= w.now + burst * 50;
            match w.ask(&rl::Gcra { subject: "s", limit: 20, period_ms: 1000, burst, cost }) {
                rl::GcraReply::Allowed { .. } => {
                    sure!(fits);
                    tat = start + cost * 50;
                }
                rl::GcraReply::Rejected { retry_ms, .. } => {
                    sure!(!fits);
                    prop_assert_eq!(retry_ms as u64, start + cost * 50 - burst * 50 - w.now);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn leaky_queue(ops in ops(60)) {
        let (mut w, mut turn) = (World::new(), 0u64);
        for (_, _, _, wait) in ops {
            w.wait(u64::from(wait) / 20);
            let next = turn.max(w.now);
            match w.ask(&rl::LeakyQueue { subject: "s", rate: 10, per_ms: 1000, max_wait_ms: 300 }) {
                rl::LeakyQueueReply::Queued { wait_ms, .. } => {
                    prop_assert_eq!(wait_ms as u64, next - w.now);
                    turn = next + 100;
                }
                rl::LeakyQueueReply::Rejected { .. } => sure!(next - w.now > 300),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn locks(ops in ops(80)) {
        let mut w = World::new();
        let mut held: Option<(&str, String, i64, u64)> = None;
        let mut fence = 0;
        for (i, (what, a, b, wait)) in ops.into_iter().enumerate() {
            w.wait(wait.into());
            if held.as_ref().is_some_and(|h| w.now > h.3) {
                held = None;
            }
            let owner = name(a);
            match what % 3 {
                0 => {
                    let request = format!("r{}", b % 3);
                    let got = w.ask(&lock::Acquire { resource: "x", owner, lease_ms: 5001, request: &request });
                    match &mut held {
                        None => {
                            fence += 1;
                            prop_assert_eq!(got, lock::AcquireReply::Acquired { token: fence, ms: 5001, holds: 1 });
                            held = Some((owner, request, fence, w.now + 5001));
                        }
                        Some(h) if h.0 == owner && h.1 == request => {
                            prop_assert_eq!(got, lock::AcquireReply::Repeated { token: h.2, ms: 5001, holds: 1 });
                            h.3 = w.now + 5001;
                        }
                        Some(h) => {
                            let ms = (h.3 - w.now) as i64;
                            prop_assert_eq!(got, lock::AcquireReply::Held { token: h.2, ms, holds: 0 });
                        }
                    }
                }
                1 => {
                    let token = fence - i64::from(b % 2);
                    if token < 1 { continue }
                    let call = lock::Renew { resource: "x", owner, token: token as u64, lease_ms: 5001, mode: lock::RenewMode::Reset };
                    let got = w.ask(&call);
                    match &mut held {
                        None => prop_assert_eq!(got, lock::RenewReply::Gone { token: 0, ms: 0 }),
                        Some(h) if h.0 == owner && h.2 == token => {
                            prop_assert_eq!(got, lock::RenewReply::Renewed { token, ms: 5001 });
                            h.3 = w.now + 5001;
                        }
                        Some(h) => sure!(matches!(got, lock::RenewReply::Fenced { token, .. } if token == h.2)),
                    }
                }
                _ => {
                    if fence < 1 { continue }
                    let request = format!("bye{i}");
                    let call = lock::Release { resource: "x", owner, token: fence as u64, request: &request, keep_ms: 1000 };
                    let (first, again) = (w.ask(&call), w.ask(&call));
                    match &held {
                        None => prop_assert_eq!(first, lock::ReleaseReply::Gone { token: 0, ms: 0 }),
                        Some(h) if h.0 == owner => {
                            let released = matches!(first, lock::ReleaseReply::Released { token, .. } if token == fence);
                            sure!(released && first == again);
                            held = None;
                        }
                        Some(_) => sure!(matches!(first, lock::ReleaseReply::Fenced { .. })),
                    }
                }
            }
        }
    }

    #[test]
    fn reentrant_locks(ops in ops(80)) {
        let mut w = World::new();
        let mut held: Option<(&str, BTreeSet<u8>, i64, u64)> = None;
        let mut fence = 0;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            if held.as_ref().is_some_and(|h| w.now > h.3) {
                held = None;
            }
            let (owner, request) = (name(a % 2), format!("r{}", b % 5));
            if what % 3 > 0 {
                let got = w.ask(&rlock::Acquire { resource: "x", owner, lease_ms: 3001, request: &request });
                match &mut held {
                    None => {
                        fence += 1;
                        prop_assert_eq!(got.clone(), rlock::AcquireReply::Acquired { token: fence, ms: 3001, holds: 1 });
                        held = Some((owner, BTreeSet::from([b % 5]), fence, w.now + 3001));
                    }
                    Some(h) if h.0 == owner => {
                        let new = h.1.insert(b % 5);
                        h.3 = h.3.max(w.now + 3001);
                        let right = match got {
                            rlock::AcquireReply::Reentered { holds, .. } => new && holds == h.1.len() as i64,
                            rlock::AcquireReply::Repeated { holds, .. } => !new && holds == h.1.len() as i64,
                            _ => false,
                        };
                        sure!(right);
                    }
                    Some(_) => sure!(matches!(got, rlock::AcquireReply::Held { .. })),
                }
            } else if fence > 0 {
                let call = rlock::Release { resource: "x", owner, token: fence as u64, request: &request, keep_ms: 1000 };
                let got = w.ask(&call);
                match &mut held {
                    None => sure!(!matches!(got, rlock::ReleaseReply::Released { .. })),
                    Some(h) if h.0 == owner => {
                        let had = h.1.remove(&(b % 5));
                        let holds = h.1.len() as i64;
                        let right = match got {
                            rlock::ReleaseReply::Released { holds: n, .. } => had && n == holds,
                            rlock::ReleaseReply::Repeated { holds: n, .. } => !had && n == holds,
                            _ => false,
                        };
                        sure!(right);
                        if holds == 0 {
                            held = None;
                        }
                    }
                    Some(_) => sure!(matches!(got, rlock::ReleaseReply::Fenced { .. })),
                }
            }
        }
    }

    #[test]
    fn read_write_locks(ops in ops(80)) {
        let mut w = World::new();
        let mut readers: BTreeMap<&str, u64> = BTreeMap::new();
        let mut writer: Option<(&str, i64, u64)> = None;
        for (what, a, _, wait) in ops {
            w.wait(wait.into());
            readers.retain(|_, end| *end > w.now);
            if writer.is_some_and(|h| w.now > h.2) {
                writer = None;
            }
            let holder = name(a);
            match what % 3 {
                0 => match w.ask(&rwlock::Read { resource: "x", holder, lease_ms: 3001 }) {
                    rwlock::ReadReply::Acquired { readers: n, .. } => {
                        sure!(writer.is_none() && readers.insert(holder, w.now + 3001).is_none());
                        prop_assert_eq!(n as usize, readers.len());
                    }
                    rwlock::ReadReply::Repeated { .. } => {
                        sure!(readers.insert(holder, w.now + 3001).is_some());
                    }
                    rwlock::ReadReply::Held { kind, .. } => sure!(kind == 1 && writer.is_some()),
                    other => prop_assert!(false, "{:?}", other),
                },
                1 => {
                    let request = format!("{}", w.now);
                    let call = rwlock::Write { resource: "x", holder, lease_ms: 3001, request: &request, want_ms: 0 };
                    match w.ask(&call) {
                        rwlock::WriteReply::Acquired { token, .. } => {
                            sure!(writer.is_none() && readers.is_empty());
                            writer = Some((holder, token, w.now + 3001));
                        }
                        rwlock::WriteReply::Held { kind: 1, .. } => sure!(writer.is_some()),
                        rwlock::WriteReply::Held { kind: 2, .. } => sure!(!readers.is_empty()),
                        // Twice within one moment.
                        rwlock::WriteReply::Repeated { token, .. } => {
                            sure!(writer.is_some_and(|h| h.0 == holder && h.1 == token));
                            writer = Some((holder, token, w.now + 3001));
                        }
                        other => prop_assert!(false, "{:?}", other),
                    }
                }
                _ => {
                    let token = writer.map_or(1, |h| h.1);
                    match w.ask(&rwlock::Release { resource: "x", holder, token: token as u64 }) {
                        rwlock::ReleaseReply::Released { kind: 1 } => sure!(writer.take().is_some_and(|h| h.0 == holder)),
                        rwlock::ReleaseReply::Released { .. } => { readers.remove(holder); }
                        rwlock::ReleaseReply::Gone { .. } => {
                            sure!(!readers.contains_key(holder) && writer.is_none_or(|h| h.0 != holder));
                        }
                        other => prop_assert!(false, "{:?}", other),
                    }
                }
            }
        }
    }

    #[test]
    fn permits(ops in ops(80)) {
        let mut w = World::new();
        let mut held: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (what, a, b, wait) in ops {
            w.wait(wait.into());
            held.retain(|_, h| h.0 > w.now);
            let holder = name(a);
            let used: u64 = held.values().map(|h| h.1).sum();
            let cost = held.get(holder).map_or(1 + u64::from(b % 3), |h| h.1);
            match what % 3 {
                0 => match w.ask(&conc::Acquire { subject: "s", holder, permits: 5, lease_ms: 2001, cost }) {
                    conc::AcquireReply::Acquired { remaining, .. } => {
                        sure!(!held.contains_key(holder) && used + cost <= 5);
                        prop_assert_eq!(remaining as u64, 5 - used - cost);
                        held.insert(holder, (w.now + 2001, cost));
                    }
                    conc::AcquireReply::Repeated { .. } => {
                        sure!(held.insert(holder, (w.now + 2001, cost)).is_some());
                    }
                    conc::AcquireReply::Rejected { .. } => sure!(used + cost > 5 && !held.contains_key(holder)),
                },
                1 => match w.ask(&conc::Renew { subject: "s", holder, lease_ms: 2001, cost }) {
                    conc::RenewReply::Renewed { .. } => sure!(held.insert(holder, (w.now + 2001, cost)).is_some()),
                    conc::RenewReply::Lost { .. } => sure!(!held.contains_key(holder)),
                },
                _ => match w.ask(&conc::Release { subject: "s", holder, cost }) {
                    conc::ReleaseReply::Released { released } => {
                        prop_assert_eq!(held.remove(holder).map(|h| h.1), Some(released as u64));
                    }
                    conc::ReleaseReply::Gone { .. } => sure!(!held.contains_key(holder)),
                },
            }
        }
    }

    #[test]
    fn idempotent_requests(ops in ops(80)) {
        // State, owner, end of the lease, attempt.
        let mut r: Option<(char, &str, u64, i64)> = None;
        let mut w = World::new();
        for (what, a, b, wait) in ops {
            w.wait(wait.into());
            let owner = name(a);
            let (scope, key, fingerprint, ttl_ms) = ("s", "k", "f", 2_000_000);
            if b % 8 == 7 {
                let other = idem::Begin { scope, key, fingerprint: "g", owner, lease_ms: 3000, ttl_ms };
                if r.is_some() {
                    sure!(matches!(w.ask(&other), idem::BeginReply::Mismatch { .. }));
                }
                continue;
            }
            match what % 4 {
                0 | 1 => {
                    let got = w.ask(&idem::Begin { scope, key, fingerprint, owner, lease_ms: 3000, ttl_ms });
                    let lease = w.now + 3000;
                    let (code, next) = match r {
                        None => (1, Some(('P', owner, lease, 1))),
                        Some(('C', ..)) => (2, r),
                        Some(('F', ..)) => (4, r),
                        Some(('R', _, _, n)) => (3, Some(('P', owner, lease, n + 1))),
                        Some((_, o, _, n)) if o == owner => (1, Some(('P', owner, lease, n))),
                        Some((_, _, end, _)) if end > w.now => (0, r),
                        Some((_, _, _, n)) => (3, Some(('P', owner, lease, n + 1))),
                    };
                    prop_assert_eq!(totality_script::Reply::code(&got), code);
                    r = next;
                }
                end => {
                    let result = b"x";
                    let (state, code) = if end == 2 && b % 2 == 0 {
                        let call = idem::FailRetryable { scope, key, fingerprint, owner, result, ttl_ms };
                        ('R', totality_script::Reply::code(&w.ask(&call)))
                    } else if end == 2 {
                        let call = idem::FailFinal { scope, key, fingerprint, owner, result, ttl_ms };
                        ('F', totality_script::Reply::code(&w.ask(&call)))
                    } else {
                        let call = idem::Complete { scope, key, fingerprint, owner, result, ttl_ms };
                        ('C', totality_script::Reply::code(&w.ask(&call)))
                    };
                    let wanted = match r {
                        None => -3,
                        Some((s, o, ..)) if s == state && o == owner => 2,
                        Some(('P', o, ..)) if o != owner => -7,
                        Some(('P', ..)) => 1,
                        Some(_) => -2,
                    };
                    prop_assert_eq!(code, wanted);
                    if code == 1 {
                        r = r.map(|(_, o, e, n)| (state, o, e, n));
                    }
                }
            }
        }
    }

    #[test]
    fn reservations(ops in ops(80)) {
        let mut w = World::new();
        w.command(&["SET", "stock:{i}", "20"]);
        let mut ids: BTreeMap<&str, (char, i64, u64)> = BTreeMap::new();
        let mut left = 20;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            let id = name(a);
            let quantity = 1 + i64::from(b % 5);
            let (item, keep_ms) = ("i", 100_000_000);
            match what % 4 {
                0 => {
                    let got = w.ask(&stock::Reserve { item, id, quantity: quantity as u64, lease_ms: 2001 });
                    let code = match ids.get(id) {
                        Some(('r', q, _)) if *q == quantity => 2,
                        Some(_) => -2,
                        None if left < quantity => -4,
                        None => {
                            left -= quantity;
                            ids.insert(id, ('r', quantity, w.now + 2001));
                            1
                        }
                    };
                    prop_assert_eq!(totality_script::Reply::code(&got), code);
                }
                3 => {
                    let late: Vec<&str> = ids.iter().filter(|(_, r)| r.0 == 'r' && r.2 <= w.now).map(|(id, _)| *id).collect();
                    let got = w.ask(&stock::Expire { item, batch: 100, keep_ms });
                    let stock::ExpireReply::Done { expired, forgotten: 0, .. } = got else { return Err(TestCaseError::fail(format!("{got:?}"))) };
                    prop_assert_eq!(expired as usize, late.len());
                    for id in late {
                        let r = ids.get_mut(id).unwrap();
                        r.0 = 'e';
                        left += r.1;
                    }
                }
                end => {
                    let (state, code) = if end == 1 {
                        ('c', totality_script::Reply::code(&w.ask(&stock::Confirm { item, id, keep_ms })))
                    } else {
                        ('x', totality_script::Reply::code(&w.ask(&stock::Cancel { item, id, keep_ms })))
                    };
                    let wanted = match ids.get_mut(id) {
                        None => -3,
                        Some(r) if r.0 == state => 2,
                        Some(r) if r.0 == 'r' => {
                            r.0 = state;
                            left += if state == 'x' { r.1 } else { 0 };
                            1
                        }
                        Some(_) => -2,
                    };
                    prop_assert_eq!(code, wanted);
                }
            }
            prop_assert_eq!(w.number("stock:{i}"), left);
            let out: i64 = ids.values().filter(|r| r.0 == 'r' || r.0 == 'c').map(|r| r.1).sum();
            prop_assert_eq!(left + out, 20);
        }
    }

    #[test]
    fn queues(ops in ops(100)) {
        let mut w = World::new();
        let (queue, max_length, body) = ("q", 1000, &b"x"[..]);
        let mut ready: BTreeSet<(u64, u64, String)> = BTreeSet::new();
        let mut order: HashMap<String, (u64, u64)> = HashMap::new();
        let mut active: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut delayed: BTreeMap<String, u64> = BTreeMap::new();
        let mut attempts: HashMap<String, u64> = HashMap::new();
        let mut dead: BTreeSet<String> = BTreeSet::new();
        for (step, (what, a, b, wait)) in (1u64..).zip(ops) {
            w.wait(u64::from(wait) / 2);
            let priority = u64::from(b % 3);
            let id = format!("{}{}", name(a), b % 4);
            match what % 6 {
                0 => {
                    let new = !order.contains_key(&id);
                    let got = w.ask(&queue::Push { queue, id: &id, body, priority, max_length });
                    prop_assert_eq!(matches!(got, queue::PushReply::Pushed { .. }), new);
                    if new {
                        order.insert(id.clone(), (priority, step));
                        ready.insert((priority, step, id));
                    }
                }
                1 => {
                    let new = !order.contains_key(&id);
                    let got = w.ask(&delayed::Add { queue, id: &id, body, delay_ms: 501, priority, max_length });
                    prop_assert_eq!(matches!(got, delayed::AddReply::Added { .. }), new);
                    if new {
                        order.insert(id.clone(), (priority, step));
                        delayed.insert(id, w.now + 501);
                    }
                }
                2 => {
                    let due: Vec<String> = delayed.iter().filter(|(_, t)| **t <= w.now).map(|(id, _)| id.clone()).collect();
                    let delayed::PromoteReply::Done { moved, .. } = w.ask(&delayed::Promote { queue, batch: 100 });
                    prop_assert_eq!(moved as usize, due.len());
                    for id in due {
                        delayed.remove(&id);
                        let (p, s) = order[&id];
                        ready.insert((p, s, id));
                    }
                }
                3 => {
                    let got = w.ask(&queue::Claim { queue, worker: "w", lease_ms: 1001, count: 2 });
                    let packed = match got {
                        queue::ClaimReply::Claimed { packed, .. } | queue::ClaimReply::Empty { packed, .. } => packed,
                    };
                    for job in Job::unpack(&packed).unwrap() {
                        let (_, _, first) = ready.pop_first().unwrap();
                        prop_assert_eq!(job.id, first.as_bytes());
                        let n = attempts.entry(first.clone()).or_default();
                        *n += 1;
                        prop_assert_eq!(job.attempt, *n);
                        active.insert(first, (w.now + 1001, job.token));
                    }
                    sure!(ready.is_empty() || !packed.is_empty());
                }
                4 => {
                    let Some((id, (_, token))) = active.iter().nth(usize::from(a) % active.len().max(1)).map(|(i, t)| (i.clone(), *t)) else { continue };
                    let wrong = queue::Ack { queue, id: &id, token: token + 1 };
                    prop_assert_eq!(w.ask(&wrong), queue::AckReply::Lost);
                    active.remove(&id);
                    match b % 3 {
                        0 => {
                            prop_assert_eq!(w.ask(&queue::Ack { queue, id: &id, token }), queue::AckReply::Done);
                            order.remove(&id);
                            attempts.remove(&id);
                        }
                        1 => {
                            let got = w.ask(&queue::Retry { queue, id: &id, token, delay_ms: 501, max_attempts: 2 });
                            if attempts[&id] >= 2 {
                                prop_assert_eq!(got, queue::RetryReply::Dead { attempts: 2 });
                                dead.insert(id);
                            } else {
                                prop_assert_eq!(got, queue::RetryReply::Delayed { attempts: 1 });
                                delayed.insert(id, w.now + 501);
                            }
                        }
                        _ => {
                            w.ask(&queue::Dead { queue, id: &id, token });
                            dead.insert(id);
                        }
                    }
                }
                _ => {
                    let late: Vec<String> = active.iter().filter(|(_, t)| t.0 <= w.now).map(|(id, _)| id.clone()).collect();
                    w.ask(&queue::Reap { queue, batch: 100, max_attempts: 2 });
                    for id in late {
                        active.remove(&id);
                        if attempts[&id] >= 2 {
                            dead.insert(id);
                        } else {
                            let (p, s) = order[&id];
                            ready.insert((p, s, id));
                        }
                    }
                    if b % 4 == 0 && !dead.is_empty() {
                        w.ask(&dlq::Requeue { queue, batch: 100 });
                        for id in std::mem::take(&mut dead) {
                            attempts.remove(&id);
                            let (p, s) = order[&id];
                            ready.insert((p, s, id));
                        }
                    }
                }
            }
            let stats = queue::StatsReply::Ok {
                ready: ready.len() as i64,
                active: active.len() as i64,
                delayed: delayed.len() as i64,
                dead: dead.len() as i64,
            };
            prop_assert_eq!(w.ask(&queue::Stats { queue }), stats);
        }
    }

    #[test]
    fn leaderboards(ops in ops(60)) {
        let mut w = World::new();
        let mut best: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (a, b, _, wait) in ops {
            // Whole seconds, which is what ties are broken by.
            w.wait(u64::from(wait) * 100);
            let (member, score) = (name(a), u64::from(b % 6));
            let call = lb::Submit {
                board: "b", period: "p", member, score, mode: lb::SubmitMode::Best,
                epoch_s: START / 1000, ttl_ms: 31_536_000_000, max_members: 100,
            };
            w.ask(&call);
            if best.get(member).is_none_or(|(s, _)| score > *s) {
                best.insert(member, (score, w.now / 1000));
            }
            let mut order: Vec<_> = best.iter().map(|(m, (s, t))| (std::cmp::Reverse(*s), *t, std::cmp::Reverse(*m))).collect();
            order.sort();
            let got = w.ask(&lb::Around { board: "b", period: "p", member, radius: 50 });
            let lb::AroundReply::Found { packed, rank, .. } = got else { return Err(TestCaseError::fail("missing")) };
            let names: Vec<String> = Placed::unpack(&packed).unwrap().into_iter().map(|p| String::from_utf8(p.member).unwrap()).collect();
            let wanted: Vec<String> = order.iter().map(|(_, _, m)| m.0.to_string()).collect();
            prop_assert_eq!(&names, &wanted);
            prop_assert_eq!(&names[rank as usize - 1], member);
        }
    }

    #[test]
    fn small_ones(ops in ops(80)) {
        let mut w = World::new();
        let (mut version, mut value, mut max, mut balance, mut count) = (0u64, 0i64, 0u64, 0i64, 0i64);
        let (mut seen, mut booked) = (BTreeMap::<&str, u64>::new(), BTreeSet::new());
        for (what, a, b, wait) in ops {
            w.wait(wait.into());
            match what % 6 {
                0 => {
                    let v = 1 + u64::from(b % 20);
                    let kind = if a % 2 == 0 { cache::PutIfNewerKind::Data } else { cache::PutIfNewerKind::Tombstone };
                    let got = w.ask(&cache::PutIfNewer { name: "n", version: v, kind, data: b"x", ttl_ms: 2_678_400_000 });
                    let code = if v > version { 1 } else if v == version { 2 } else { 0 };
                    prop_assert_eq!(totality_script::Reply::code(&got), code);
                    version = version.max(v);
                }
                1 => {
                    let by = i64::from(b) - 128;
                    let got = w.ask(&counter::Bounded { name: "n", by, lo: -100, hi: 100, ttl_ms: 0 });
                    let fits = (-100..=100).contains(&(value + by));
                    value += if fits { by } else { 0 };
                    prop_assert_eq!(got, if fits { counter::BoundedReply::Counted { value } } else { counter::BoundedReply::OutOfBounds { value } });
                }
                2 => {
                    let token = 1 + u64::from(b);
                    let got = w.ask(&fence::Check { resource: "n", token, keep_ms: 31_536_000_000 });
                    prop_assert_eq!(matches!(got, fence::CheckReply::Current { .. }), token >= max);
                    max = max.max(token);
                }
                3 => {
                    let id = name(a);
                    let got = w.ask(&dedup::Seen { name: "n", id, ttl_ms: 3001, max_ids: 100 });
                    let new = seen.get(id).is_none_or(|end| *end <= w.now);
                    prop_assert_eq!(matches!(got, dedup::SeenReply::New { .. }), new);
                    if new {
                        seen.insert(id, w.now + 3001);
                    }
                }
                4 => {
                    let txid = format!("{}{}", name(a), b % 8);
                    let new = !booked.contains(&txid);
                    let amount = 1 + i64::from(b);
                    let code = if a % 2 == 0 {
                        let call = account::Credit { account: "n", amount: amount as u64, txid: &txid, keep_ms: 2_678_400_000, journal_max: 5 };
                        totality_script::Reply::code(&w.ask(&call))
                    } else {
                        let call = account::Debit { account: "n", amount: amount as u64, txid: &txid, keep_ms: 2_678_400_000, journal_max: 5 };
                        totality_script::Reply::code(&w.ask(&call))
                    };
                    if code == 1 {
                        sure!(new);
                        booked.insert(txid);
                        balance += if a % 2 == 0 { amount } else { -amount };
                        sure!(balance >= 0);
                        prop_assert_eq!(w.number("account:{n}:balance"), balance);
                    } else {
                        prop_assert!(!new || balance < amount, "{}", code);
                    }
                }
                _ => {
                    let got = w.ask(&stats::Append { name: "n", amount: i64::from(b) - 100, at_ms: 1, id: "x", cap: 3, ttl_ms: 31_536_000_000 });
                    count += i64::from(b) - 100;
                    sure!(matches!(got, stats::AppendReply::Added { total, length: 1..=3 } if total == count));
                }
            }
        }
    }
}

/// The better of two looks at a limiter.
trait MaxOf {
    fn max_of(self, other: Self) -> Self;
}

impl MaxOf for rl::SlidingCounterReply {
    fn max_of(self, other: Self) -> Self {
        let left = |r: &Self| match r {
            rl::SlidingCounterReply::Allowed { remaining, .. } => *remaining,
            _ => -1,
        };
        if left(&self) >= left(&other) { self } else { other }
    }
}
