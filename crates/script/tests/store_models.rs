//! Models of what is stored: caches, compared values, leaderboards and queues. As in `models.rs`, here with every number of
//! the reply.

mod common;

use common::world::{START, Timed, World, forget, left, name, ops};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use totality_script::Job;

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Ready,
    Active { token: i64 },
    Delayed { due: u64 },
    Dead { since: u64 },
}

#[derive(Debug, Clone)]
struct Work {
    at: At,
    body: String,
    order: (u8, u64),
    attempts: i64,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn caches(ops in ops(120)) {
        let mut w = World::new();
        let keys = ["cache:{n}", "cache:{n}:lease"];
        let mut data: Timed<(i64, Option<String>)> = None;
        let mut lease: Timed<&str> = None;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 3);
            forget(&mut data, w.now);
            forget(&mut lease, w.now);
            let (owner, version, text) = (name(a % 3), 1 + i64::from(b % 8), a.to_string());
            let current = data.as_ref().map_or(0, |((v, _), _)| *v);
            match what % 5 {
                0 => {
                    let want = match &data {
                        None => (vec![-3, 0], String::new()),
                        Some(((v, None), _)) => (vec![0, *v], String::new()),
                        Some(((v, Some(text)), _)) => (vec![1, *v], text.clone()),
                    };
                    prop_assert_eq!(w.mixed("cache.get", &keys[..1], &[]), (want.0, want.1.into_bytes()));
                }
                1 | 2 => {
                    let want = match (&data, lease) {
                        (Some(((v, Some(text)), _)), _) => (vec![1, *v, 0], text.clone()),
                        (_, Some((other, end))) if other != owner => (vec![0, current, left(end, w.now)], String::new()),
                        _ => {
                            lease = Some((owner, w.now + 1001));
                            (vec![2, current, 1001], String::new())
                        }
                    };
                    let got = w.mixed("cache.get_or_lease", &keys, &[&owner, &1001]);
                    prop_assert_eq!(got, (want.0, want.1.into_bytes()));
                }
                3 => {
                    let want = if lease.is_none_or(|(who, _)| who != owner) {
                        vec![-7, current]
                    } else {
                        lease = None;
                        if version < current {
                            vec![0, current]
                        } else {
                            data = Some(((version, Some(text.clone())), w.now + 2001));
                            vec![1, version]
                        }
                    };
                    prop_assert_eq!(w.ints("cache.fill", &keys, &[&owner, &version, &text, &2001]), want);
                }
                _ => {
                    let dead = b >= 128;
                    let want = match version.cmp(&current) {
                        std::cmp::Ordering::Less => vec![0, current],
                        std::cmp::Ordering::Equal => vec![2, current],
                        std::cmp::Ordering::Greater => {
                            data = Some(((version, (!dead).then(|| text.clone())), w.now + 2001));
                            vec![1, version]
                        }
                    };
                    let kind = if dead { "tombstone" } else { "data" };
                    prop_assert_eq!(w.ints("cache.put_if_newer", &keys[..1], &[&version, &kind, &text, &2001]), want);
                }
            }
        }
    }

    #[test]
    fn compared_values(ops in ops(120)) {
        let mut w = World::new();
        let names = ["cas:{g}:a", "cas:{g}:b", "cas:{g}:c"];
        // A value, and its end if it has one.
        let mut held: [Option<(u8, Option<u64>)>; 3] = [None; 3];
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait) / 2);
            for h in &mut held {
                if h.is_some_and(|(_, end)| end.is_some_and(|end| end <= w.now)) {
                    *h = None;
                }
            }
            let (i, old, new) = (usize::from(b % 3), a % 2, a / 2 % 2);
            match what % 4 {
                0 => {
                    let _ = w.ints("cas.set", &[names[i]], &[&old, &new, &0, &"create"]);
                    if held[i].is_none_or(|(v, _)| v == old) {
                        held[i] = Some((new, held[i].and_then(|(_, end)| end)));
                    }
                }
                1 => {
                    let want = match held[i] {
                        None => -3,
                        Some((v, _)) if v != old => 0,
                        Some((v, _)) => {
                            held[i] = Some((v, Some(w.now + 1501)));
                            1
                        }
                    };
                    prop_assert_eq!(w.ints("cas.expire", &[names[i]], &[&old, &1501]), vec![want]);
                }
                _ => {
                    let set: &[usize] = [&[0usize, 1][..], &[1, 2], &[2, 0, 1], &[2]][usize::from(b / 3 % 4)];
                    let ttl = if b >= 128 { 2001u64 } else { 0 };
                    let pairs: Vec<(u8, u8)> = set.iter().map(|i| (a >> i & 1, a >> (i + 3) & 1)).collect();
                    let stops = (1..).zip(set.iter().zip(&pairs)).find_map(|(at, (i, (old, _)))| match held[*i] {
                        None => Some(vec![-3, at]),
                        Some((v, _)) if v != *old => Some(vec![0, at]),
                        Some(_) => None,
                    });
                    let want = stops.unwrap_or_else(|| {
                        for (i, (_, new)) in set.iter().zip(&pairs) {
                            let end = if ttl > 0 { Some(w.now + ttl) } else { held[*i].and_then(|(_, end)| end) };
                            held[*i] = Some((*new, end));
                        }
                        vec![1, set.len() as i64]
                    });
                    let keys: Vec<&str> = set.iter().map(|i| names[*i]).collect();
                    let mut args: Vec<&dyn ToString> = vec![&ttl];
                    pairs.iter().for_each(|(old, new)| args.extend([old as &dyn ToString, new]));
                    prop_assert_eq!(w.ints("cas.multi", &keys, &args), want);
                }
            }
            for (name, held) in names.iter().zip(held) {
                let got: Option<String> = w.runner.target().session().query(&["GET", name]).unwrap();
                prop_assert_eq!(got, held.map(|(v, _)| v.to_string()));
            }
        }
    }

    #[test]
    fn leaderboards(ops in ops(120)) {
        let mut w = World::new();
        let keys = ["lb:{b}:w", "lb:{b}:archive:w"];
        // Of a member: score, and the second of it.
        let mut board: Timed<BTreeMap<&str, (i64, u64)>> = None;
        let mut archive: Timed<i64> = None;
        for (what, a, b, wait) in ops {
            w.wait(u64::from(wait));
            forget(&mut board, w.now);
            forget(&mut archive, w.now);
            // Best first: high scores, then early ones, then names from the end.
            let ranked = |m: &BTreeMap<&'static str, (i64, u64)>| {
                let mut all: Vec<_> = m.iter().map(|(name, (s, t))| (Reverse(*s), *t, Reverse(*name))).collect();
                all.sort_unstable();
                all.into_iter().map(|(_, _, name)| name.0).collect::<Vec<_>>()
            };
            let rank = |m: &BTreeMap<&'static str, (i64, u64)>, who: &str| {
                1 + ranked(m).iter().position(|n| *n == who).unwrap() as i64
            };
            match what % 8 {
                0 => {
                    let (keep, batch) = (1 + usize::from(a % 3), 1 + usize::from(b % 2));
                    let count = board.as_ref().map_or(0, |(m, _)| m.len());
                    let removed = count.saturating_sub(keep).min(batch);
                    if let Some((m, _)) = &mut board {
                        for who in ranked(m).into_iter().rev().take(removed) {
                            m.remove(who);
                        }
                    }
                    let want = vec![1, removed as i64, (count - removed) as i64];
                    prop_assert_eq!(w.ints("lb.trim", &keys[..1], &[&keep, &batch]), want);
                }
                1 => {
                    let count = board.as_ref().map_or(0, |(m, _)| m.len() as i64);
                    let want = match archive {
                        Some((n, _)) if count == 0 => vec![2, n],
                        Some((n, _)) => vec![-2, n],
                        None if count == 0 => vec![0, 0],
                        None => {
                            (board, archive) = (None, Some((count, w.now + 3001)));
                            vec![1, count]
                        }
                    };
                    prop_assert_eq!(w.ints("lb.rotate", &keys, &[&3001]), want);
                }
                _ => {
                    let (who, given, mode) = (name(a), i64::from(b % 6), ["best", "sum", "last"][usize::from(b / 6 % 3)]);
                    let (m, _) = board.get_or_insert_with(|| (BTreeMap::new(), w.now + 9001));
                    let had = m.get(who).map(|(s, _)| *s);
                    let score = if mode == "sum" { had.unwrap_or(0) + given } else { given };
                    let second = w.now / 1000;
                    let lowest = ranked(m).pop();
                    let full = had.is_none() && m.len() >= 3;
                    let want = if mode == "best" && had.is_some_and(|had| had >= given) {
                        vec![0, had.unwrap(), rank(m, who)]
                    } else if full && (m[lowest.unwrap()].0, Reverse(m[lowest.unwrap()].1)) >= (score, Reverse(second)) {
                        vec![-8, 0, 0]
                    } else {
                        if full {
                            m.remove(lowest.unwrap());
                        }
                        m.insert(who, (score, second));
                        vec![1, score, rank(m, who)]
                    };
                    if m.is_empty() {
                        board = None;
                    }
                    let args: [&dyn ToString; 7] = [&who, &given, &mode, &(START / 1000), &9001, &3, &0];
                    prop_assert_eq!(w.ints("lb.submit", &keys[..1], &args), want);
                }
            }
        }
    }

    /// Jobs for one thing, leases that are prolonged, and dead jobs that are dropped.
    #[test]
    fn queues(ops in ops(150)) {
        let mut w = World::new();
        let key = |name: &str| format!("queue:{{q}}:{name}");
        let (ready, active, delayed, dlq) = (key("ready"), key("active"), key("delayed"), key("dlq"));
        let (jobs, meta, unique) = (key("jobs"), key("meta"), key("unique"));
        let mut all: BTreeMap<String, Work> = BTreeMap::new();
        // Who takes a key, until when.
        let mut taken: BTreeMap<&str, (String, u64)> = BTreeMap::new();
        let mut leases: BTreeMap<String, u64> = BTreeMap::new();
        for (step, (what, a, b, wait)) in (1u64..).zip(ops) {
            w.wait(u64::from(wait) / 3);
            let length = all.values().filter(|j| j.at == At::Ready).count() as i64;
            let busy: Vec<(String, i64)> = all.iter().filter_map(|(id, j)| match j.at {
                At::Active { token } => Some((id.clone(), token)),
                _ => None,
            }).collect();
            let picked = busy.get(usize::from(a) % busy.len().max(1)).cloned();
            match what % 8 {
                0..=2 => {
                    let (id, thing, body) = (format!("j{}", a % 12), name(b % 3), step.to_string());
                    let mode = ["keep", "replace", "extend"][usize::from(b / 4 % 3)];
                    let other = taken.get(thing).filter(|(who, end)| *end > w.now && *who != id).cloned();
                    let want = match other {
                        Some((who, _)) if mode == "replace" && all[&who].at == At::Ready => {
                            all.get_mut(&who).unwrap().body = body.clone();
                            vec![3, length]
                        }
                        Some((who, _)) if mode == "extend" => {
                            taken.insert(thing, (who, w.now + 2001));
                            vec![4, length]
                        }
                        Some(_) => vec![2, length],
                        None if all.contains_key(&id) => vec![2, length],
                        None if length >= 3 => vec![-8, length],
                        None => {
                            taken.insert(thing, (id.clone(), w.now + 2001));
                            let order = (a % 2, step);
                            all.insert(id.clone(), Work { at: At::Ready, body: body.clone(), order, attempts: 0 });
                            vec![1, length + 1]
                        }
                    };
                    let keys = [&*ready, &jobs, &meta, &unique];
                    let args: [&dyn ToString; 8] = [&id, &body, &(a % 2), &3, &thing, &2001, &mode, &0];
                    prop_assert_eq!(w.ints("queue.push_unique", &keys, &args), want);
                }
                3 => {
                    let keys = [&*ready, &active, &jobs, &meta];
                    let (ints, packed) = w.mixed("queue.claim", &keys, &[&"w", &1001, &2, &0]);
                    let mut due: Vec<(String, (u8, u64))> =
                        all.iter().filter(|(_, j)| j.at == At::Ready).map(|(id, j)| (id.clone(), j.order)).collect();
                    due.sort_by_key(|(_, order)| *order);
                    due.truncate(2);
                    prop_assert_eq!(ints, vec![i64::from(!due.is_empty()), due.len() as i64]);
                    let got = Job::unpack(&packed).unwrap();
                    prop_assert_eq!(got.len(), due.len());
                    for (job, (id, _)) in got.into_iter().zip(due) {
                        let model = all.get_mut(&id).unwrap();
                        model.attempts += 1;
                        model.at = At::Active { token: job.token as i64 };
                        prop_assert_eq!((&*job.id, &*job.body), (id.as_bytes(), model.body.as_bytes()));
                        prop_assert_eq!(job.attempt as i64, model.attempts);
                        leases.insert(id, w.now + 1001);
                    }
                }
                4 => {
                    let Some((id, token)) = picked else { continue };
                    let keys = [&*active, &meta];
                    prop_assert_eq!(w.ints("queue.extend", &keys, &[&id, &(token + 1), &1501, &0]), vec![-7, 0]);
                    prop_assert_eq!(w.ints("queue.extend", &keys, &[&"none", &token, &1501, &0]), vec![-7, 0]);
                    prop_assert_eq!(w.ints("queue.extend", &keys, &[&id, &token, &1501, &0]), vec![1, 1501]);
                    leases.insert(id, w.now + 1501);
                }
                5 => {
                    let Some((id, token)) = picked else { continue };
                    if b % 3 == 0 {
                        let keys = [&*active, &jobs, &meta, &unique];
                        prop_assert_eq!(w.ints("queue.ack", &keys, &[&id, &token]), vec![1]);
                        prop_assert_eq!(w.ints("queue.ack", &keys, &[&id, &token]), vec![-3]);
                        all.remove(&id);
                        taken.retain(|_, (who, _)| *who != id);
                    } else if b % 3 == 1 {
                        let keys = [&*active, &delayed, &dlq, &meta];
                        let job = all.get_mut(&id).unwrap();
                        let dead = job.attempts >= 2;
                        job.at = if dead { At::Dead { since: w.now } } else { At::Delayed { due: w.now + 501 } };
                        let want = vec![if dead { 3 } else { 1 }, job.attempts];
                        prop_assert_eq!(w.ints("queue.retry", &keys, &[&id, &token, &501, &2, &0]), want);
                    } else {
                        let job = all.get_mut(&id).unwrap();
                        job.at = At::Dead { since: w.now };
                        let want = vec![1, job.attempts];
                        prop_assert_eq!(w.ints("queue.dead", &[&active, &dlq, &meta], &[&id, &token, &0]), want);
                    }
                }
                6 => {
                    let late: Vec<&String> = leases
                        .iter()
                        .filter(|(id, end)| **end <= w.now && all.get(*id).is_some_and(|j| matches!(j.at, At::Active { .. })))
                        .map(|(id, _)| id)
                        .collect();
                    let mut dead = 0;
                    for id in &late {
                        let job = all.get_mut(*id).unwrap();
                        let over = job.attempts >= 2;
                        dead += i64::from(over);
                        job.at = if over { At::Dead { since: w.now } } else { At::Ready };
                    }
                    let keys = [&*active, &ready, &dlq, &meta];
                    let want = vec![1, late.len() as i64 - dead, dead, 0];
                    prop_assert_eq!(w.ints("queue.reap", &keys, &[&100, &2, &0]), want);
                    let due: Vec<String> = all
                        .iter()
                        .filter(|(_, j)| matches!(j.at, At::Delayed { due } if due <= w.now))
                        .map(|(id, _)| id.clone())
                        .collect();
                    due.iter().for_each(|id| all.get_mut(id).unwrap().at = At::Ready);
                    let next = all.values().filter_map(|j| match j.at { At::Delayed { due } => Some(left(due, w.now)), _ => None });
                    let want = vec![1, due.len() as i64, next.min().unwrap_or(-1)];
                    prop_assert_eq!(w.ints("delayed.promote", &[&delayed, &ready, &meta], &[&100, &0]), want);
                }
                _ => {
                    let (batch, age) = (1 + usize::from(a % 3), u64::from(b % 4) * 500);
                    let mut old: Vec<(u64, String)> = all
                        .iter()
                        .filter_map(|(id, j)| match j.at {
                            At::Dead { since } if since + age <= w.now => Some((since, id.clone())),
                            _ => None,
                        })
                        .collect();
                    old.sort();
                    let want = vec![1, old.len().min(batch) as i64, i64::from(old.len() > batch)];
                    for (_, id) in old.into_iter().take(batch) {
                        all.remove(&id);
                        taken.retain(|_, (who, _)| *who != id);
                    }
                    prop_assert_eq!(w.ints("dlq.drop", &[&dlq, &jobs, &meta, &unique], &[&batch, &age, &0]), want);
                }
            }
            // Nothing is left behind of jobs that are gone.
            let mut stored: Vec<String> = w.runner.target().session().query(&["HKEYS", &jobs]).unwrap();
            stored.sort();
            prop_assert_eq!(stored, all.keys().cloned().collect::<Vec<_>>());
            let fields: Vec<String> = w.runner.target().session().query(&["HKEYS", &meta]).unwrap();
            let lost = fields.iter().find(|f| f.split_once(':').is_some_and(|(_, id)| !all.contains_key(id)));
            prop_assert!(lost.is_none(), "{:?}", lost);
        }
    }
}
