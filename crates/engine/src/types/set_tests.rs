use super::*;
use std::collections::BTreeSet;

fn cfg(ints: usize, entries: usize, value: usize) -> SetCfg {
    SetCfg { ints, entries, value, seed: Seed::new([3; 16]) }
}

fn owned(item: Item<'_>) -> Vec<u8> {
    item.to_bytes().into_vec()
}

fn recount(set: &Set) -> usize {
    match &set.0 {
        Repr::Ints(ints) => ints.heap_bytes(),
        Repr::Pack(pack) => pack.heap_bytes(),
        Repr::Table(table) => {
            size_of::<Table>()
                + table.dict.mem_bytes()
                + table.dict.iter().map(Bytes::heap_bytes).sum::<usize>()
        }
    }
}

#[test]
fn encodings_follow_the_first_member_and_the_hint() {
    let cfg = cfg(4, 2, 8);
    assert_eq!(Set::for_member(b"1", 4, &cfg).encoding(), "intset");
    assert_eq!(Set::for_member(b"1", 5, &cfg).encoding(), "hashtable");
    assert_eq!(Set::for_member(b"a", 2, &cfg).encoding(), "listpack");
    assert_eq!(Set::for_member(b"a", 3, &cfg).encoding(), "hashtable");
    let mut set = Set::for_member(b"1", 1, &cfg);
    set.prepare(5, &cfg);
    assert_eq!(set.encoding(), "hashtable");
}

#[test]
fn conversions() {
    let cfg = cfg(4, 3, 8);
    let mut set = Set::ints();
    for n in 0..4i32 {
        assert!(set.add(n.to_string().as_bytes(), &cfg));
    }
    assert!(!set.add(b"3", &cfg));
    assert_eq!(set.encoding(), "intset");
    let mut grown = set.clone();
    grown.add(b"4", &cfg);
    assert_eq!((grown.encoding(), grown.len()), ("hashtable", 5));
    set.remove(b"3");
    set.remove(b"2");
    let mut pack = set.clone();
    pack.add(b"x", &cfg);
    assert_eq!((pack.encoding(), pack.len()), ("listpack", 3));
    pack.add(b"y", &cfg);
    assert_eq!((pack.encoding(), pack.len()), ("hashtable", 4));
    let mut long = set.clone();
    long.add(b"123456789x", &cfg);
    assert_eq!(long.encoding(), "hashtable");
    let mut wide = Set::ints();
    wide.add(b"1234567890", &cfg);
    wide.add(b"x", &cfg);
    assert_eq!(wide.encoding(), "hashtable");
    let mut digits = Set::table(&cfg);
    digits.add(b"5", &cfg);
    digits.add(b"-1", &cfg);
    digits.shrink_to_ints(&cfg);
    assert_eq!(digits.iter().map(owned).collect::<Vec<_>>(), [b"-1".to_vec(), b"5".to_vec()]);
    digits.add(b"x", &cfg);
    digits.shrink_to_ints(&cfg);
    assert_eq!(digits.encoding(), "listpack");
}

#[test]
fn behaves_as_a_set_in_every_encoding() {
    for (ints, entries, letters) in [(1000, 0, false), (0, 1000, true), (0, 0, true), (0, 0, false)] {
        let cfg = cfg(ints, entries, 64);
        let mut set = if ints == 0 { Set::pack() } else { Set::ints() };
        let mut model = BTreeSet::new();
        let mut rng = Rng::new(5);
        for _ in 0..3000 {
            let n = rng.below(400);
            let member = if letters { "m".repeat(n / 10 + 1) + &n.to_string() } else { n.to_string() };
            let member = member.into_bytes();
            assert_eq!(set.contains(&member), model.contains(&member));
            if rng.below(3) == 0 {
                assert_eq!(set.remove(&member), model.remove(&member));
            } else {
                assert_eq!(set.add(&member, &cfg), model.insert(member));
            }
            assert_eq!((set.len(), set.mem()), (model.len(), recount(&set)));
        }
        assert_eq!(set.iter().map(owned).collect::<BTreeSet<_>>(), model);
        let mut scanned = BTreeSet::new();
        let mut cursor = 0;
        loop {
            cursor = set.scan(cursor, 10, &mut |member| {
                scanned.insert(owned(member));
            });
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(scanned, model);
        for count in [1, 10, model.len() / 2, model.len(), model.len() + 1] {
            let chosen: BTreeSet<_> = set.random_distinct(count, &mut rng).into_iter().map(owned).collect();
            assert_eq!(chosen.len(), count.min(model.len()));
            assert!(chosen.is_subset(&model));
        }
        for count in [1, 20] {
            for member in set.pop_many(count, &mut rng) {
                assert!(model.remove(&member[..]));
            }
            assert_eq!(set.iter().map(owned).collect::<BTreeSet<_>>(), model);
        }
        let kept = set.split_random(7, &mut rng, &cfg);
        assert_eq!((kept.len(), set.len()), (7, model.len() - 7));
        assert!(kept.iter().all(|member| !set.contains_item(member)));
        assert_eq!(set.mem(), recount(&set));
        while set.pop(&mut rng).is_some() {}
        assert_eq!((set.len(), set.mem()), (0, recount(&set)));
    }
}

#[test]
fn foreign_encodings_are_checked_and_grown() {
    let cfg = cfg(2, 2, 64);
    let mut pack = Listpack::new();
    pack.push_back(b"a");
    pack.push_back(b"b");
    assert_eq!(Set::from_listpack(pack.clone(), &cfg).unwrap().encoding(), "listpack");
    pack.push_back(b"a");
    assert!(Set::from_listpack(pack, &cfg).is_none());
    let mut ints = IntSet::new();
    (0..3).for_each(|n| {
        ints.insert(n);
    });
    assert_eq!(Set::from_intset(ints, &cfg).encoding(), "hashtable");
}
