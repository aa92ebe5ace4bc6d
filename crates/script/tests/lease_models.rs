//! Models of what is held for a while: locks, leaders, permits, breakers and idempotent requests. As in `models.rs`,
//! here with every number of the reply.

mod common;

use common::world::{Timed, World, forget, left, name, ops};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A lock: owner, request, token.
type Hold = Timed<(&'static str, u8, i64)>;

#[derive(Debug, Clone, Copy)]
enum Breaker {
    /// Failures counted since a moment.
    Closed { failures: i64, began: u64 },
    /// Refuses until a moment.
    Open { until: u64 },
    /// Lets a few through to try.
    Half { until: u64, probes: i64, good: i64 },
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn breakers(ops in ops(100)) {
        let (threshold, window, open, needed, probes) = (3i64, 2001u64, 1501u64, 2i64, 2i64);
        let (mut w, mut held): (World, Timed<Breaker>) = (World::new(), None);
        let keys = ["breaker:{s}"];
        for (what, a, _, wait) in ops {
            w.wait(u64::from(wait) / 3);
            forget(&mut held, w.now);
            let keep = w.now + window.max(2 * open) + 1000;
            let state = held.map(|(state, _)| state);
            if what % 2 == 0 {
                let anew = Breaker::Half { until: w.now + open, probes: 1, good: 0 };
                let ends = held.map_or(0, |(_, end)| end).max(w.now + 2 * open + 1000);
                let want = match state {
                    None | Some(Breaker::Closed { .. }) => vec![1, 0, 0],
                    Some(Breaker::Open { until }) if w.now < until => vec![0, 1, left(until, w.now)],
                    Some(Breaker::Half { until, probes: out, good }) if w.now < until => {
                        if out < probes {
                            held = held.map(|(_, end)| (Breaker::Half { until, probes: out + 1, good }, end));
                            vec![2, 2, 0]
                        } else {
                            vec![0, 2, left(until, w.now)]
                        }
                    }
                    Some(_) => {
                        held = Some((anew, ends));
                        vec![2, 2, 0]
                    }
                };
                prop_assert_eq!(w.ints("breaker.allow", &keys, &[&open, &probes, &0]), want);
                continue;
            }
            let ok = a % 3 > 0;
            let want = match (state, ok) {
                (Some(Breaker::Half { good, .. }), true) if good + 1 >= needed => {
                    held = None;
                    vec![3, 0, 0]
                }
                (Some(Breaker::Half { until, probes, good }), true) => {
                    held = Some((Breaker::Half { until, probes, good: good + 1 }, keep));
                    vec![1, 2, 0]
                }
                (Some(Breaker::Half { .. }), false) => {
                    held = Some((Breaker::Open { until: w.now + open }, keep));
                    vec![2, 1, 1]
                }
                // Late answers of calls from before it opened.
                (Some(Breaker::Open { .. }), _) => vec![1, 1, 0],
                (None, true) => vec![1, 0, 0],
                (Some(Breaker::Closed { failures, .. }), true) => vec![1, 0, failures],
                (_, false) => {
                    let (failures, began) = match state {
                        Some(Breaker::Closed { failures, began }) if w.now < began + window => (failures + 1, began),
                        _ => (1, w.now),
                    };
                    let opens = failures >= threshold;
                    let next = if opens { Breaker::Open { until: w.now + open } } else { Breaker::Closed { failures, began } };
                    held = Some((next, keep));
                    vec![if opens { 2 } else { 1 }, i64::from(opens), failures]
                }
            };
            let args: [&dyn ToString; 6] = [&u8::from(ok), &threshold, &window, &open, &needed, &0];
            prop_assert_eq!(w.ints("breaker.record", &keys, &args), want);
        }
    }

    #[test]
    fn leaders(ops in ops(100)) {
        let (mut w, mut held): (World, Timed<(&str, i64)>) = (World::new(), None);
        let keys = ["leader:{g}", "leader:{g}:fence"];
        let mut terms = 0;
        for (what, a, b, wait) in ops {
            w.wait(wait.into());
            forget(&mut held, w.now);
            let node = name(a);
            if what % 3 > 0 {
                let lease = 2001 + u64::from(b % 2) * 1000;
                let want = match &mut held {
                    Some(((leader, term), end)) if *leader == node => {
                        *end = w.now + lease;
                        vec![2, *term, lease as i64]
                    }
                    Some(((_, term), end)) => vec![0, *term, left(*end, w.now)],
                    None => {
                        terms += 1;
                        held = Some(((node, terms), w.now + lease));
                        vec![1, terms, lease as i64]
                    }
                };
                prop_assert_eq!(w.ints("leader.claim", &keys, &[&node, &lease]), want);
            } else {
                let term = (terms - i64::from(b % 2)).max(1);
                let want = match held {
                    None => vec![0, 0],
                    Some((mine, _)) if mine == (node, term) => {
                        held = None;
                        vec![1, term]
                    }
                    Some(((_, current), _)) => vec![-6, current],
                };
                prop_assert_eq!(w.ints("leader.resign", &keys[..1], &[&node, &term]), want);
            }
        }
    }

    /// Several locks at once, beside calls for one of them.
    #[test]
    fn locks_of_a_group(ops in ops(120)) {
        let mut w = World::new();
        let names = ["lock:{g}:x", "lock:{g}:y", "lock:{g}:z"];
        let fence = "lock:{g}:fence";
        let mut held: [Hold; 3] = [None; 3];
        let mut tokens = 0;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            held.iter_mut().for_each(|h| forget(h, w.now));
            let (owner, request) = (name(a % 2), a / 2 % 4);
            let set: &[usize] = [&[0usize, 1][..], &[1, 2], &[0, 1, 2], &[2, 0], &[1]][usize::from(b % 5)];
            let keys: Vec<&str> = set.iter().map(|i| names[*i]).collect();
            match what % 4 {
                0 | 1 => {
                    let busy = (1..).zip(set).find_map(|(at, i)| match held[*i] {
                        Some(((o, r, token), end)) if (o, r) != (owner, request) => {
                            Some(vec![0, at, token, left(end, w.now)])
                        }
                        _ => None,
                    });
                    let want = busy.unwrap_or_else(|| {
                        let end = w.now + 3001;
                        let all = set.iter().all(|i| held[*i].is_some());
                        if all {
                            set.iter().for_each(|i| held[*i] = held[*i].map(|(h, _)| (h, end)));
                        } else {
                            tokens += 1;
                            set.iter().for_each(|i| held[*i] = Some(((owner, request, tokens), end)));
                        }
                        let token = held[set[set.len() - 1]].unwrap().0.2;
                        vec![if all { 2 } else { 1 }, set.len() as i64, token, 3001]
                    });
                    let keys = [&[fence][..], &keys].concat();
                    prop_assert_eq!(w.ints("lock.multi", &keys, &[&owner, &3001, &request]), want);
                }
                2 => {
                    let token = (tokens - i64::from(a / 8 % 3)).max(1);
                    let mut released = 0;
                    for i in set {
                        if held[*i].is_some_and(|((o, _, t), _)| (o, t) == (owner, token)) {
                            held[*i] = None;
                            released += 1;
                        }
                    }
                    let code = if released == set.len() { 1 } else if released > 0 { 2 } else { 0 };
                    let got = w.ints("lock.multi_release", &keys, &[&owner, &token]);
                    prop_assert_eq!(got, vec![code, released as i64]);
                }
                _ => {
                    let i = set[0];
                    let want = match held[i] {
                        Some(((o, r, token), _)) if (o, r) == (owner, request) => {
                            held[i] = Some(((o, r, token), w.now + 2001));
                            vec![2, token, 2001, 1]
                        }
                        Some(((_, _, token), end)) => vec![0, token, left(end, w.now), 0],
                        None => {
                            tokens += 1;
                            held[i] = Some(((owner, request, tokens), w.now + 2001));
                            vec![1, tokens, 2001, 1]
                        }
                    };
                    prop_assert_eq!(w.ints("lock.acquire", &[names[i], fence], &[&owner, &2001, &request]), want);
                }
            }
            for i in 0..3 {
                let want = match held[i] {
                    None => (vec![0, 0, 0, 0], Vec::new()),
                    Some(((owner, _, token), end)) => (vec![1, token, left(end, w.now), 1], owner.into()),
                };
                prop_assert_eq!(w.mixed("lock.inspect", &[names[i]], &[]), want);
            }
        }
    }

    #[test]
    fn inspected_holds(ops in ops(60)) {
        let (mut w, mut holds, mut end, mut token) = (World::new(), Vec::<u8>::new(), 0u64, 0);
        for (what, a, _, wait) in ops {
            w.wait(u64::from(wait) / 2);
            if w.now >= end {
                holds.clear();
            }
            let request = a % 6;
            if what % 3 > 0 {
                if holds.is_empty() {
                    token += 1;
                    end = 0;
                }
                w.ints("rlock.acquire", &["lock:{r}", "lock:{r}:fence"], &[&"o", &2001, &request]);
                end = end.max(w.now + 2001);
                if !holds.contains(&request) {
                    holds.push(request);
                }
            } else if token > 0 {
                w.ints("rlock.release", &["lock:{r}"], &[&"o", &token, &request, &1000]);
                holds.retain(|r| *r != request);
            }
            let want = match holds.len() as i64 {
                0 => (vec![0, 0, 0, 0], Vec::new()),
                n => (vec![1, token, left(end, w.now), n], b"o".to_vec()),
            };
            prop_assert_eq!(w.mixed("lock.inspect", &["lock:{r}"], &[]), want);
        }
    }

    /// With writers that wait, and writers that become readers.
    #[test]
    fn read_write_locks(ops in ops(120)) {
        let mut w = World::new();
        let keys = ["rw:{x}:w", "rw:{x}:r", "rw:{x}:fence", "rw:{x}:want"];
        let mut readers: BTreeMap<&str, u64> = BTreeMap::new();
        let (mut writer, mut want): (Hold, Timed<&str>) = (None, None);
        let mut token = 0i64;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            readers.retain(|_, end| *end > w.now);
            forget(&mut writer, w.now);
            forget(&mut want, w.now);
            let holder = name(a);
            let live = readers.len() as i64;
            match what % 5 {
                0 | 1 => {
                    let wanted = match (writer, want, readers.contains_key(holder)) {
                        (Some((_, end)), ..) => vec![0, token, left(end, w.now), live, 1],
                        (None, _, true) => vec![2, token, 2001, live, 2],
                        (None, Some((_, end)), false) => vec![0, token, left(end, w.now), live, 3],
                        (None, None, false) => vec![1, token, 2001, live + 1, 2],
                    };
                    if wanted[0] > 0 {
                        readers.insert(holder, w.now + 2001);
                    }
                    prop_assert_eq!(w.ints("rwlock.read", &keys, &[&holder, &2001, &0]), wanted);
                }
                2 => {
                    let (request, patience) = (b % 3, if b >= 128 { 1001u64 } else { 0 });
                    let other = want.filter(|(who, _)| *who != holder);
                    let held = match writer {
                        Some(((o, r, t), _)) if (o, r) == (holder, request) => {
                            writer = Some(((o, r, t), w.now + 2001));
                            Err(vec![2, token, 2001, live, 1])
                        }
                        Some((_, end)) => Ok((1, left(end, w.now))),
                        None if live > 0 => Ok((2, left(*readers.values().max().unwrap(), w.now))),
                        None if other.is_some() => Ok((3, left(other.unwrap().1, w.now))),
                        None => {
                            token += 1;
                            (writer, want) = (Some(((holder, request, token), w.now + 2001)), None);
                            Err(vec![1, token, 2001, 0, 1])
                        }
                    };
                    let wanted = held.map_or_else(|done| done, |(kind, ms)| {
                        if patience > 0 && want.is_none() {
                            want = Some((holder, w.now + patience));
                        }
                        vec![0, token, ms, live, kind]
                    });
                    let got = w.ints("rwlock.write", &keys, &[&holder, &2001, &request, &patience, &0]);
                    prop_assert_eq!(got, wanted);
                }
                3 => {
                    let given = (token - i64::from(b % 4 == 0)).max(1);
                    let wanted = match writer {
                        Some(((o, _, t), _)) if (o, t) == (holder, given) => {
                            writer = None;
                            readers.insert(holder, w.now + 2501);
                            vec![1, given, 2501]
                        }
                        Some(((_, _, t), end)) => vec![-6, t, left(end, w.now)],
                        None => match readers.get(holder) {
                            Some(end) => vec![2, given, left(*end, w.now)],
                            None => vec![0, 0, 0],
                        },
                    };
                    let got = w.ints("rwlock.downgrade", &keys[..2], &[&holder, &given, &2501, &0]);
                    prop_assert_eq!(got, wanted);
                }
                _ => {
                    let given = (token - i64::from(b % 4 == 0)).max(0);
                    let wanted = match writer {
                        Some(((o, _, t), _)) if o == holder && t != given => vec![-6, 1],
                        Some(((o, ..), _)) if o == holder => {
                            writer = None;
                            vec![1, 1]
                        }
                        _ if readers.remove(holder).is_some() => vec![1, 2],
                        _ => vec![0, 0],
                    };
                    let got = w.ints("rwlock.release", &keys[..2], &[&holder, &given]);
                    prop_assert_eq!(got, wanted);
                }
            }
            // What the contract is for.
            sure!(writer.is_none() || readers.is_empty());
        }
    }

    #[test]
    fn semaphores(ops in ops(120)) {
        let (mut w, keys) = (World::new(), ["sem:{s}"]);
        let mut held: BTreeMap<&str, u64> = BTreeMap::new();
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            held.retain(|_, end| *end > w.now);
            let (holder, permits, lease) = (name(a), 1 + usize::from(b % 3), 1001 + u64::from(b % 2) * 1000);
            match what % 3 {
                0 => {
                    let used = held.len();
                    let want = if held.contains_key(holder) {
                        vec![2, permits.saturating_sub(used) as i64, 0]
                    } else if used < permits {
                        vec![1, (permits - used - 1) as i64, 0]
                    } else {
                        // So many have to end before one fits in, the next ones first.
                        let mut ends: Vec<u64> = held.values().copied().collect();
                        ends.sort_unstable();
                        vec![0, 0, left(ends[used - permits], w.now)]
                    };
                    if want[0] > 0 {
                        held.insert(holder, w.now + lease);
                    }
                    prop_assert_eq!(w.ints("sem.acquire", &keys, &[&holder, &permits, &lease, &0]), want);
                }
                1 => {
                    let want = match held.get_mut(holder) {
                        Some(end) => {
                            *end = w.now + lease;
                            vec![1, lease as i64]
                        }
                        None => vec![-7, 0],
                    };
                    prop_assert_eq!(w.ints("sem.renew", &keys, &[&holder, &lease, &0]), want);
                }
                _ => {
                    let want = i64::from(held.remove(holder).is_some());
                    prop_assert_eq!(w.ints("sem.release", &keys, &[&holder, &0]), vec![want]);
                }
            }
        }
    }

    /// With renewals, looks, and records that end.
    #[test]
    fn idempotent_requests(ops in ops(120)) {
        let (mut w, keys) = (World::new(), ["idem:{s}:k"]);
        // State, fingerprint, owner, end of the lease, attempt, result.
        let mut held: Timed<(char, &str, &str, u64, i64, String)> = None;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            forget(&mut held, w.now);
            let (owner, fp) = (name(a % 3), name(u8::from(b % 8 == 0)));
            let (lease, ttl) = (1001u64, if b % 4 == 1 { 2001u64 } else { 9001 });
            let other = held.as_ref().is_some_and(|(r, _)| r.1 != fp);
            match what % 5 {
                0 | 1 => {
                    let (until, end) = (w.now + lease, w.now + ttl + 1000);
                    let want = match &mut held {
                        None => {
                            held = Some((('P', fp, owner, until, 1, String::new()), end));
                            (vec![1, 1, lease as i64], String::new())
                        }
                        Some((r, _)) if other => (vec![-1, r.4, 0], String::new()),
                        Some((r, e)) if r.0 == 'C' => (vec![2, r.4, left(*e, w.now)], r.5.clone()),
                        Some((r, e)) if r.0 == 'F' => (vec![4, r.4, left(*e, w.now)], r.5.clone()),
                        Some((r, _)) if r.0 == 'P' && r.2 != owner && r.3 > w.now => {
                            (vec![0, r.4, left(r.3, w.now)], String::new())
                        }
                        Some((r, e)) => {
                            let same = r.0 == 'P' && r.2 == owner;
                            r.4 += i64::from(!same);
                            (r.0, r.2, r.3, *e) = ('P', owner, until, (*e).max(end));
                            (vec![if same { 1 } else { 3 }, r.4, lease as i64], String::new())
                        }
                    };
                    let got = w.mixed("idem.begin", &keys, &[&fp, &owner, &lease, &ttl, &0]);
                    prop_assert_eq!(got, (want.0, want.1.into_bytes()));
                }
                2 => {
                    let want = match &mut held {
                        None => vec![-3, 0],
                        Some((r, _)) if other => vec![-1, r.4],
                        Some((r, _)) if r.0 != 'P' => vec![-2, r.4],
                        Some((r, _)) if r.2 != owner => vec![-7, r.4],
                        Some((r, end)) => {
                            (r.3, *end) = (w.now + lease, (*end).max(w.now + lease + 1000));
                            vec![1, r.4]
                        }
                    };
                    prop_assert_eq!(w.ints("idem.renew", &keys, &[&fp, &owner, &lease, &0]), want);
                }
                3 => {
                    let (state, script) =
                        [('C', "idem.complete"), ('F', "idem.fail_final"), ('R', "idem.fail_retryable")][usize::from(b % 3)];
                    let result = a.to_string();
                    let want = match &mut held {
                        None => vec![-3, 0],
                        Some((r, _)) if other => vec![-1, r.4],
                        Some((r, _)) if (r.0, r.2) == (state, owner) => vec![2, r.4],
                        Some((r, _)) if r.0 != 'P' => vec![-2, r.4],
                        Some((r, _)) if r.2 != owner => vec![-7, r.4],
                        Some((r, end)) => {
                            (r.0, r.5, *end) = (state, result.clone(), w.now + ttl);
                            vec![1, r.4]
                        }
                    };
                    prop_assert_eq!(w.ints(script, &keys, &[&fp, &owner, &result, &ttl]), want);
                }
                _ => {
                    let want = match &held {
                        None => (vec![-3, 0, 0], String::new()),
                        Some((r, _)) if other => (vec![-1, r.4, 0], String::new()),
                        Some((r, end)) => {
                            let code = match r.0 { 'P' => 0, 'C' => 2, 'F' => 4, _ => 5 };
                            let result = if code == 0 { String::new() } else { r.5.clone() };
                            (vec![code, r.4, left(*end, w.now)], result)
                        }
                    };
                    let got = w.mixed("idem.get", &keys, &[&fp]);
                    prop_assert_eq!(got, (want.0, want.1.into_bytes()));
                }
            }
        }
    }
}
