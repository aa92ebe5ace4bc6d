//! Models of what stands beside the limiters: several windows at once, looks, refunds and resets. As in `models.rs`, here with
//! every number of the reply.

mod common;

use common::world::{START, Timed, World, forget, left, ops};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_windows(ops in ops(80), limits in [(3i64..8, 1001u64..3000), (5i64..15, 4001u64..9000), (5i64..30, 9001u64..20000)]) {
        let mut w = World::new();
        // No window ends at a step of the clock.
        let windows = limits.map(|(limit, ms)| (limit, ms / 10 * 10 + 1));
        let names = ["rl:{s}:m:a", "rl:{s}:m:b", "rl:{s}:m:c"];
        let mut used: [Timed<i64>; 3] = [None; 3];
        for (a, b, _, wait) in ops {
            w.wait(wait.into());
            used.iter_mut().for_each(|u| forget(u, w.now));
            let cost = 1 + i64::from(a % 6);
            let set: &[usize] = [&[0usize, 1, 2][..], &[0, 1], &[2, 1], &[0]][usize::from(b % 4)];
            let mut states = Vec::new();
            for i in set {
                let (limit, ms) = windows[*i];
                let (n, rest) = used[*i].map_or((0, ms as i64), |(n, end)| (n, left(end, w.now)));
                // How long to wait: not at all, until the window ends, for ever.
                let wait = if n + cost <= limit { 0 } else if cost > limit { i64::MAX } else { rest };
                states.push((limit - n, rest, wait));
            }
            let remaining = states.iter().map(|(free, ..)| (*free).max(0)).min().unwrap();
            let reset = states.iter().map(|(_, rest, _)| *rest).max().unwrap();
            let worst = states.iter().map(|(.., wait)| *wait).max().unwrap();
            let want = if worst == 0 {
                for i in set {
                    let end = w.now + windows[*i].1;
                    used[*i].get_or_insert((0, end)).0 += cost;
                }
                vec![1, remaining - cost, 0, reset, 0]
            } else {
                let at = 1 + states.iter().position(|(.., wait)| *wait == worst).unwrap() as i64;
                vec![0, remaining, if worst == i64::MAX { -1 } else { worst }, reset, at]
            };
            let keys: Vec<&str> = set.iter().map(|i| names[*i]).collect();
            let mut args: Vec<&dyn ToString> = vec![&cost];
            set.iter().for_each(|i| args.extend([&windows[*i].0 as &dyn ToString, &windows[*i].1]));
            prop_assert_eq!(w.ints("rl.multi", &keys, &args), want);
        }
    }

    /// A counter that begins anew: what is given back is not above what was taken.
    #[test]
    fn fixed_window(ops in ops(100)) {
        let (mut w, mut used): (World, Timed<i64>) = (World::new(), None);
        let key = ["rl:{s}:fixed_window"];
        for (what, a, _, wait) in ops {
            w.wait(wait.into());
            forget(&mut used, w.now);
            let (n, rest) = used.map_or((0, 0), |(n, end)| (n, left(end, w.now)));
            let want = if n < 5 { vec![1, 5 - n, 0, rest] } else { vec![0, 0, rest, rest] };
            prop_assert_eq!(w.ints("rl.peek", &key, &[&"fixed_window", &5, &3001, &1, &0]), want);
            match what % 4 {
                0 => {
                    let amount = 1 + i64::from(a % 4);
                    let back = n.min(amount);
                    used = used.map(|(n, end)| (n - back, end));
                    let got = w.ints("rl.refund", &key, &[&"fixed_window", &5, &3001, &1, &amount, &0]);
                    prop_assert_eq!(got, vec![i64::from(back > 0), back]);
                }
                1 if a % 4 == 0 => {
                    prop_assert_eq!(w.ints("rl.reset", &key, &[]), vec![i64::from(used.take().is_some())]);
                }
                _ => {
                    let cost = 1 + i64::from(a % 3);
                    let got = w.ints("rl.fixed_window", &key, &[&5, &3001, &cost, &0]);
                    prop_assert_eq!(got[0], i64::from(n + cost <= 5));
                    if n + cost <= 5 {
                        let end = w.now + 3001;
                        used.get_or_insert((0, end)).0 += cost;
                    }
                }
            }
        }
    }

    /// Ten tokens a second, in thousandths of a token.
    #[test]
    fn token_bucket(ops in ops(100), capacity in 1i64..12) {
        let (mut w, key) = (World::new(), ["rl:{s}:token_bucket"]);
        let full = capacity * 1000;
        let (mut level, mut at, mut kept) = (full, 0u64, None::<u64>);
        for (what, a, _, wait) in ops {
            w.wait(u64::from(wait) / 8);
            level = (level + (w.now - at) as i64 * 10).min(full);
            at = w.now;
            if kept.is_some_and(|end| end <= w.now) {
                kept = None;
            }
            let missing = |n: i64| (n * 1000 - level + 9) / 10;
            let want = if level >= 1000 {
                vec![1, level / 1000, 0, missing(capacity)]
            } else {
                vec![0, 0, missing(1), missing(capacity)]
            };
            prop_assert_eq!(w.ints("rl.peek", &key, &[&"token_bucket", &10, &1000, &capacity, &0]), want.clone());
            match what % 4 {
                0 => {
                    let amount = 1 + i64::from(a % 4);
                    let back = (full - level).min(amount * 1000);
                    let got = w.ints("rl.refund", &key, &[&"token_bucket", &10, &1000, &capacity, &amount, &0]);
                    prop_assert_eq!(got, vec![i64::from(back > 0), back / 1000]);
                    level += back;
                }
                1 if a % 8 == 0 => {
                    prop_assert_eq!(w.ints("rl.reset", &key, &[]), vec![i64::from(kept.take().is_some())]);
                    level = full;
                }
                1 => {
                    // What it says of the wait is so, and not a moment sooner.
                    w.wait_ms(want[2].saturating_sub(1).max(0) as u64);
                    if want[2] > 0 {
                        let early = w.ints("rl.peek", &key, &[&"token_bucket", &10, &1000, &capacity, &0]);
                        prop_assert_eq!(early[0], 0);
                        w.wait_ms(1);
                    }
                    let late = w.ints("rl.peek", &key, &[&"token_bucket", &10, &1000, &capacity, &0]);
                    prop_assert_eq!(late[0], 1);
                    // Back to a step of the clock.
                    w.wait_ms((10 - w.now % 10) % 10);
                }
                _ => {
                    let cost = 1 + i64::from(a) % capacity;
                    let got = w.ints("rl.token_bucket", &key, &[&capacity, &10, &1000, &cost, &0]);
                    prop_assert_eq!(got[0], i64::from(level >= cost * 1000));
                    if level >= cost * 1000 {
                        level -= cost * 1000;
                        kept = Some(w.now + ((full - level + 9) / 10) as u64 + 1000);
                    }
                }
            }
        }
    }

    /// One call each 50 ms; the state is the time at which everything has come back.
    #[test]
    fn gcra(ops in ops(100), burst in 1i64..10) {
        let (mut w, key) = (World::new(), ["rl:{s}:gcra"]);
        let (mut back_at, mut kept) = (0i64, None::<u64>);
        for (what, a, _, wait) in ops {
            w.wait(u64::from(wait) / 8);
            if kept.is_some_and(|end| end < w.now) {
                kept = None;
            }
            let debt = (back_at - w.now as i64).max(0);
            let free = (burst * 50 - debt) / 50;
            let want = if free > 0 { vec![1, free, 0, debt] } else { vec![0, 0, debt + 50 - burst * 50, debt] };
            let peek: [&dyn ToString; 5] = [&"gcra", &20, &1000, &burst, &0];
            prop_assert_eq!(w.ints("rl.peek", &key, &peek), want.clone());
            match what % 4 {
                0 => {
                    let amount = 1 + i64::from(a % 4);
                    let given = debt.min(amount * 50);
                    let got = w.ints("rl.refund", &key, &[&"gcra", &20, &1000, &burst, &amount, &0]);
                    prop_assert_eq!(got, vec![i64::from(given > 0), given / 50]);
                    if given > 0 {
                        back_at = w.now as i64 + debt - given;
                        kept = Some((back_at + 1000) as u64);
                    }
                }
                1 if a % 8 == 0 && kept != Some(w.now) => {
                    prop_assert_eq!(w.ints("rl.reset", &key, &[]), vec![i64::from(kept.take().is_some())]);
                    back_at = 0;
                }
                1 => {
                    let ms = want[2] as u64;
                    if ms > 0 {
                        w.wait_ms(ms - 1);
                        prop_assert_eq!(w.ints("rl.peek", &key, &peek)[0], 0);
                        w.wait_ms(1);
                        prop_assert_eq!(w.ints("rl.peek", &key, &peek)[0], 1);
                    }
                }
                _ => {
                    let cost = 1 + i64::from(a) % burst;
                    let fits = debt + cost * 50 <= burst * 50;
                    let got = w.ints("rl.gcra", &key, &[&20, &1000, &burst, &cost, &0]);
                    prop_assert_eq!(got[0], i64::from(fits));
                    if fits {
                        back_at = w.now as i64 + debt + cost * 50;
                        kept = Some((back_at + 1000) as u64);
                    }
                }
            }
        }
    }

    #[test]
    fn sliding_counter(ops in ops(100)) {
        let (mut w, key) = (World::new(), ["rl:{s}:sliding_counter"]);
        let (window, limit) = (2000u64, 6i64);
        // Calls of the window with this number, and of the one before it; when the state is forgotten.
        let (mut at, mut current, mut previous, mut kept) = (0u64, 0i64, 0i64, None::<u64>);
        let args: [&dyn ToString; 5] = [&"sliding_counter", &limit, &window, &1, &0];
        for (what, a, _, wait) in ops {
            w.wait(wait.into());
            let now = START + w.now;
            if kept.is_some_and(|end| end < w.now) {
                kept = None;
            }
            let index = now / window;
            if index != at {
                (previous, current) = (if index == at + 1 { current } else { 0 }, 0);
                at = index;
            }
            let rest = (window - now % window) as i64;
            let used = current + (previous * rest + window as i64 - 1) / window as i64;
            let got = w.ints("rl.peek", &key, &args);
            prop_assert_eq!(got[..2].to_vec(), vec![i64::from(used < limit), (limit - used).max(0)]);
            let full = if current > 0 { rest + window as i64 } else if previous > 0 { rest } else { 0 };
            prop_assert_eq!(got[3], full);
            match what % 4 {
                0 => {
                    let amount = 1 + i64::from(a % 4);
                    let back = current.min(amount);
                    let got = w.ints("rl.refund", &key, &[&"sliding_counter", &limit, &window, &1, &amount, &0]);
                    prop_assert_eq!(got, vec![i64::from(back > 0), back]);
                    current -= back;
                }
                1 if a % 8 == 0 => {
                    prop_assert_eq!(w.ints("rl.reset", &key, &[]), vec![i64::from(kept.take().is_some())]);
                    (current, previous) = (0, 0);
                }
                1 if got[0] == 0 => {
                    // The limiter says the same, and after that time a call passes.
                    let same = w.ints("rl.sliding_counter", &key, &[&limit, &window, &1, &0]);
                    prop_assert_eq!(&same[..4], &got[..4]);
                    w.wait_ms(got[2] as u64);
                    prop_assert_eq!(w.ints("rl.peek", &key, &args)[0], 1);
                }
                _ => {
                    let cost = 1 + i64::from(a % 3);
                    let got = w.ints("rl.sliding_counter", &key, &[&limit, &window, &cost, &0]);
                    prop_assert_eq!(got[0], i64::from(used + cost <= limit));
                    if used + cost <= limit {
                        current += cost;
                        kept = Some(w.now + 2 * window + 1000);
                    }
                }
            }
        }
    }
}
