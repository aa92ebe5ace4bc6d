use super::*;

fn cfg(entries: usize) -> ZSetCfg {
    ZSetCfg { entries, value: 64, seed: Seed::new([3; 16]) }
}

fn all(set: &ZSet) -> Vec<(Vec<u8>, f64)> {
    set.iter().map(|(m, s)| (m.to_bytes().into_vec(), s)).collect()
}

#[test]
fn scores_are_stored_as_redis_stores_them() {
    let mut set = ZSet::default();
    let cfg = cfg(128);
    for (member, score) in [("a", 3.0), ("b", 1.5), ("5", -2.0), ("c", f64::INFINITY)] {
        assert_eq!(set.add(member.as_bytes(), score, ZAdd::default(), &cfg), Added::New(score));
    }
    let items: Vec<Item<'_>> = set.listpack().unwrap().iter().collect();
    let want = [
        Item::Int(5),
        Item::Int(-2),
        Item::Str(b"b"),
        Item::Str(b"1.5"),
        Item::Str(b"a"),
        Item::Int(3),
        Item::Str(b"c"),
        Item::Str(b"inf"),
    ];
    assert_eq!(items, want);
    assert_eq!(set.score(b"c"), Some(f64::INFINITY));
}

#[test]
fn both_encodings_behave_alike() {
    let (small, large) = (cfg(1000), cfg(0));
    let (mut pack, mut tree) = (ZSet::default(), ZSet::default());
    let mut rng = Rng::new(7);
    for _ in 0..2000 {
        let member = format!("m{}", rng.below(60)).into_bytes();
        let score = rng.below(9) as f64 / 2.0 - 1.0;
        let how =
            ZAdd { incr: rng.below(3) == 0, gt: rng.below(4) == 0, nx: rng.below(9) == 0, ..ZAdd::default() };
        match rng.below(10) {
            0..=5 => {
                assert_eq!(pack.add(&member, score, how, &small), tree.add(&member, score, how, &large));
            }
            6..=8 => assert_eq!(pack.remove(&member), tree.remove(&member)),
            _ => {
                let (start, len) = (rng.below(60), rng.below(4));
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let n = pack.remove_ranks(start, start + len, &mut |m, s| a.push((m.to_bytes(), s)));
                assert_eq!(tree.remove_ranks(start, start + len, &mut |m, s| b.push((m.to_bytes(), s))), n);
                assert_eq!(a, b);
            }
        }
        assert_eq!(pack.rank(&member), tree.rank(&member));
        let range = ScoreRange { min: score, max: score + 1.0, min_open: how.gt, max_open: how.incr };
        assert_eq!(pack.score_ranks(&range).1 - pack.score_ranks(&range).0, {
            let (start, end) = tree.score_ranks(&range);
            end - start
        });
        assert_eq!(all(&pack), all(&tree));
    }
    assert_eq!((pack.encoding(), tree.encoding()), ("listpack", "skiplist"));
}

#[test]
fn ranges_of_members_of_equal_score() {
    for cfg in [cfg(128), cfg(0)] {
        let mut set = ZSet::for_members(7, 1, &cfg);
        for member in ["a", "b", "c", "d", "e"] {
            set.add(member.as_bytes(), 0.0, ZAdd::default(), &cfg);
        }
        let ranks = |min, max| {
            let range = LexRange { min, max };
            assert_eq!(set.lex_ranks(&range, false), set.lex_ranks(&range, true));
            set.lex_ranks(&range, false)
        };
        use LexBound::{Closed, Max, Min, Open};
        assert_eq!(ranks(Min, Max), (0, 5));
        assert_eq!(ranks(Closed(b"b"), Open(b"d")), (1, 3));
        assert_eq!(ranks(Open(b"b"), Closed(b"d")), (2, 4));
        assert_eq!(ranks(Min, Closed(b"bb")), (0, 2));
        for (min, max) in [(Max, Min), (Open(b"c"), Closed(b"c")), (Closed(b"d"), Closed(b"b"))] {
            let (start, end) = ranks(min, max);
            assert_eq!(start, end);
        }
    }
}

#[test]
fn grows_by_number_and_by_length() {
    let cfg = cfg(4);
    let mut set = ZSet::default();
    for i in 0..5u8 {
        assert_eq!(set.encoding(), "listpack");
        set.add(&[i], 0.0, ZAdd::default(), &cfg);
    }
    assert_eq!((set.encoding(), set.len()), ("skiplist", 5));
    let mut set = ZSet::default();
    set.add(&[b'x'; 65], 0.0, ZAdd::default(), &cfg);
    assert_eq!(set.encoding(), "skiplist");
}

#[test]
fn loaded_listpacks_are_checked() {
    let lp = |items: &[&str]| {
        let mut lp = Listpack::new();
        items.iter().for_each(|i| lp.push_back(i.as_bytes()));
        lp
    };
    assert!(ZSet::from_listpack(lp(&["a", "1", "b", "1.5"]), &cfg(9)).is_some());
    assert_eq!(ZSet::from_listpack(lp(&["a", "1", "b", "1.5"]), &cfg(1)).unwrap().encoding(), "skiplist");
    for bad in [
        &["a"][..],
        &["a", "x"],
        &["a", "2", "b", "1"],
        &["b", "1", "a", "1"],
        &["a", "1", "a", "2"],
        &["a", "nan"],
    ] {
        assert!(ZSet::from_listpack(lp(bad), &cfg(9)).is_none(), "{bad:?}");
    }
}

#[test]
fn random_choices_are_distinct() {
    let cfg = cfg(0);
    let mut set = ZSet::default();
    for i in 0..100 {
        set.add(format!("{i}").as_bytes(), 0.0, ZAdd::default(), &cfg);
    }
    let mut rng = Rng::new(1);
    for count in [1, 10, 50, 100, 200] {
        let mut seen = std::collections::HashSet::new();
        set.random_distinct(count, &mut rng, |m, _| assert!(seen.insert(m.to_bytes().into_vec())));
        assert_eq!(seen.len(), count.min(100));
    }
}
