//! Random calls of the smaller families beside models of a few lines, on the embedded engine with a clock that stands
//! still. The larger families are in `models.rs`.

mod common;

use common::world::World;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A step: what, with what, and how long before it.
fn ops() -> impl Strategy<Value = Vec<(u8, u8, u8, u16)>> {
    prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), 0u16..400), 1..80)
}

/// A value with a deadline.
type Timed<T> = Option<(T, Option<u64>)>;

fn drop_expired<T>(value: &mut Timed<T>, now: u64) {
    if value.as_ref().is_some_and(|(_, end)| end.is_some_and(|end| end <= now)) {
        *value = None;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compare_and_set(ops in ops()) {
        let (mut w, mut held): (World, Timed<u8>) = (World::new(), None);
        for (what, a, b, wait) in ops {
            w.wait_ms(wait.into());
            drop_expired(&mut held, w.now);
            let (old, new) = (a % 3, b % 3);
            let ttl = if a >= 128 { 1000u64 } else { 0 };
            if what % 3 == 0 {
                let want = match held {
                    None => -3,
                    Some((value, _)) if value != old => 0,
                    Some(_) => {
                        held = None;
                        1
                    }
                };
                prop_assert_eq!(w.ints("cas.delete", &["cas:{x}"], &[&old]), vec![want]);
            } else {
                let create = what % 3 == 1;
                let want = match held {
                    None if !create => -3,
                    Some((value, _)) if value != old => 0,
                    before => {
                        let end = if ttl > 0 { Some(w.now + ttl) } else { before.and_then(|(_, end)| end) };
                        held = Some((new, end));
                        1
                    }
                };
                let missing = if create { "create" } else { "refuse" };
                prop_assert_eq!(w.ints("cas.set", &["cas:{x}"], &[&old, &new, &ttl, &missing]), vec![want]);
            }
        }
    }

    #[test]
    fn counters(ops in ops()) {
        let (mut w, mut plain): (World, Timed<i64>) = (World::new(), None);
        let (mut bounded, mut once): (i64, Timed<(i64, BTreeSet<u8>)>) = (0, None);
        for (what, a, b, wait) in ops {
            w.wait_ms(wait.into());
            drop_expired(&mut plain, w.now);
            drop_expired(&mut once, w.now);
            match what % 3 {
                0 => {
                    let by = i64::from(a) + 1;
                    let (value, end) = plain.unwrap_or((0, Some(w.now + 2000)));
                    plain = Some((value + by, end));
                    let left = end.map_or(0, |end| end - w.now) as i64;
                    let got = w.ints("counter.incr_ttl", &["counter:{p}"], &[&by, &2000]);
                    prop_assert_eq!(got, vec![1, value + by, left]);
                }
                1 => {
                    let (by, lo, hi) = (i64::from(a % 9) - 4, -i64::from(b % 5), i64::from(b % 7));
                    let fits = (lo..=hi).contains(&(bounded + by));
                    bounded += if fits { by } else { 0 };
                    let got = w.ints("counter.bounded", &["counter:{b}"], &[&by, &lo, &hi, &0]);
                    prop_assert_eq!(got, vec![i64::from(fits), bounded]);
                }
                _ => {
                    let (id, by, end) = (a % 8, i64::from(b) + 1, w.now + 2000);
                    let ((value, ids), _) = once.get_or_insert_with(|| ((0, BTreeSet::new()), Some(end)));
                    let code = match () {
                        () if ids.contains(&id) => 2,
                        () if ids.len() >= 5 => -8,
                        () => {
                            ids.insert(id);
                            *value += by;
                            1
                        }
                    };
                    let want = vec![code, *value];
                    let keys = ["counter:{o}", "counter:{o}:seen"];
                    prop_assert_eq!(w.ints("counter.once", &keys, &[&by, &id, &2000, &5]), want);
                }
            }
        }
    }

    #[test]
    fn stocks(ops in ops()) {
        let mut w = World::new();
        let names = ["stock:{g}:a", "stock:{g}:b", "stock:{g}:c"];
        let mut stocks: [Option<i64>; 3] = [None; 3];
        for (what, a, b, _) in ops {
            let (i, j, n, m) = (usize::from(a % 3), usize::from(b % 3), i64::from(a % 5) + 1, i64::from(b % 5) + 1);
            match what % 4 {
                0 => {
                    stocks[i] = Some(i64::from(b % 20));
                    w.command(&["SET", names[i], &(b % 20).to_string()]);
                }
                1 | 2 => {
                    let want = match stocks[i] {
                        None => vec![-3, 0],
                        Some(left) if left < n => vec![-4, left],
                        Some(left) => {
                            stocks[i] = Some(left - n);
                            vec![1, left - n]
                        }
                    };
                    prop_assert_eq!(w.ints("stock.deduct", &[names[i]], &[&n]), want);
                }
                _ if i != j => {
                    let short = [(1, i, n), (2, j, m)].into_iter().find_map(|(at, of, wanted)| match stocks[of] {
                        None => Some(vec![-3, at, 0]),
                        Some(left) if left < wanted => Some(vec![-4, at, left]),
                        Some(_) => None,
                    });
                    let want = short.unwrap_or_else(|| {
                        stocks[i] = stocks[i].map(|left| left - n);
                        stocks[j] = stocks[j].map(|left| left - m);
                        vec![1, 2, 0]
                    });
                    prop_assert_eq!(w.ints("stock.deduct_multi", &[names[i], names[j]], &[&n, &m]), want);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn transfers(ops in ops()) {
        let mut w = World::new();
        let names = ["account:{g}:a:balance", "account:{g}:b:balance"];
        let mut balances: [Option<i64>; 2] = [Some(50), None];
        let mut seen = BTreeMap::new();
        w.command(&["SET", names[0], "50"]);
        for (what, a, _, wait) in ops {
            w.wait_ms(wait.into());
            let (from, amount, id) = (usize::from(what % 2), i64::from(a % 20) + 1, a % 16);
            let (there, other) = (balances[from], balances[1 - from].unwrap_or(0));
            let want = match there {
                None => vec![-3, 0, other],
                Some(mine) if seen.get(&id).is_some_and(|end| *end > w.now) => vec![2, mine, other],
                Some(mine) if mine < amount => vec![-4, mine, other],
                Some(mine) => {
                    seen.insert(id, w.now + 1500);
                    balances[from] = Some(mine - amount);
                    balances[1 - from] = Some(other + amount);
                    vec![1, mine - amount, other + amount]
                }
            };
            let keys = [names[from], names[1 - from], "account:{g}:seen", "account:{g}:journal"];
            prop_assert_eq!(w.ints("account.transfer", &keys, &[&amount, &id, &1500, &10, &0]), want);
            let sum: i64 = balances.iter().flatten().sum();
            prop_assert_eq!(sum, 50, "money was made or lost");
        }
    }

    #[test]
    fn fences_latches_and_numbers(ops in ops()) {
        let mut w = World::new();
        let (mut max, mut latch): (Timed<i64>, Timed<(i64, BTreeSet<u8>)>) = (None, None);
        let mut given = 0;
        for (what, a, b, wait) in ops {
            w.wait_ms(wait.into());
            drop_expired(&mut max, w.now);
            drop_expired(&mut latch, w.now);
            match what % 4 {
                0 => {
                    let token = i64::from(a % 10) + 1;
                    let newest = max.map_or(0, |(max, _)| max);
                    let want = if token < newest {
                        vec![-6, newest]
                    } else {
                        max = Some((token, Some(w.now + 3000)));
                        vec![1, token]
                    };
                    let keys = ["fence:{r}:max", "fence:{r}:value"];
                    prop_assert_eq!(w.ints("fence.set", &keys, &[&token, &"v", &1000, &3000]), want);
                }
                1 => {
                    let count = i64::from(a % 4) + 1;
                    let want = match &latch {
                        Some(((left, _), _)) => vec![0, *left],
                        None => {
                            latch = Some(((count, BTreeSet::new()), Some(w.now + 2500)));
                            vec![1, count]
                        }
                    };
                    prop_assert_eq!(w.ints("latch.init", &["latch:{l}"], &[&count, &2500]), want);
                }
                2 => {
                    let id = b % 6;
                    let want = match &mut latch {
                        None => vec![-3, 0],
                        Some(((left, ids), _)) if *left == 0 || ids.contains(&id) => vec![2, *left],
                        Some(((left, ids), _)) => {
                            ids.insert(id);
                            *left -= 1;
                            vec![if *left == 0 { 3 } else { 1 }, *left]
                        }
                    };
                    prop_assert_eq!(w.ints("latch.down", &["latch:{l}"], &[&id]), want);
                }
                _ => {
                    let size = i64::from(a) + 1;
                    let want = vec![1, given + 1, given + size];
                    given += size;
                    prop_assert_eq!(w.ints("id.block", &["id:{n}"], &[&size]), want);
                }
            }
        }
    }
}
