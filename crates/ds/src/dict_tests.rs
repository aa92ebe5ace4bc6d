use super::*;
use crate::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

#[derive(Clone)]
struct Entry {
    key: Bytes,
    hash: u32,
    value: u64,
}

impl Keyed for Entry {
    fn key(&self) -> &[u8] {
        &self.key
    }
    fn hash32(&self, _: &Seed) -> u32 {
        self.hash
    }
    fn set_hash32(&mut self, hash: u32) {
        self.hash = hash;
    }
}

fn insert(d: &mut Dict<Entry>, key: &[u8], value: u64) {
    let h = d.hash(key);
    match d.find(h, key) {
        Some(p) => d.get_mut(p).value = value,
        None => {
            let p = d.insert_new(h, Entry { key: key.into(), hash: 0, value });
            assert_eq!(d.get(p).value, value);
        }
    }
}

fn filled(n: u64) -> Dict<Entry> {
    let mut d = Dict::new([3; 16]);
    for i in 0..n {
        insert(&mut d, format!("key:{i}").as_bytes(), i);
    }
    d
}

#[test]
fn siphash_reference() {
    use std::hash::Hasher;
    // The first vector of the SipHash-1-3 reference, and the standard library's hasher, which has key zero.
    let seed = Seed::new(std::array::from_fn(|i| i as u8));
    assert_eq!(seed.hash(&[]), 0xabac_0158_050f_c4dc);
    let data: Vec<u8> = (0..100).collect();
    for n in 0..100 {
        let mut std = std::hash::DefaultHasher::new();
        std.write(&data[..n]);
        assert_eq!(Seed::new([0; 16]).hash(&data[..n]), std.finish());
    }
}

#[test]
fn grows_and_shrinks() {
    let mut d = filled(100_000);
    d.check();
    assert_eq!(d.len(), 100_000);
    let big = d.mem_bytes();
    for i in 0..100_000u64 {
        let k = format!("key:{i}");
        assert_eq!(d.get_key(k.as_bytes()).unwrap().value, i);
    }
    assert!(d.find_key(b"none").is_none());
    for i in 0..99_990u64 {
        assert_eq!(d.remove_key(format!("key:{i}").as_bytes()).unwrap().value, i);
        if i % 10_000 == 0 {
            d.check();
        }
    }
    d.check();
    assert_eq!(d.len(), 10);
    assert!(d.segments.len() <= 2, "{} segments", d.segments.len());
    assert!(d.mem_bytes() * 100 < big, "{} of {big}", d.mem_bytes());
    for i in 99_990..100_000u64 {
        assert_eq!(d.get_key(format!("key:{i}").as_bytes()).unwrap().value, i);
    }
}

#[test]
fn churn_does_not_grow() {
    let mut d = filled(20_000);
    for i in 20_000..200_000u64 {
        insert(&mut d, format!("key:{i}").as_bytes(), i);
        d.remove_key(format!("key:{}", i - 20_000).as_bytes()).unwrap();
    }
    d.check();
    assert_eq!(d.len(), 20_000);
    assert!(d.mem_bytes() < 20_000 * size_of::<Entry>() * 4);
}

#[test]
fn equal_hashes_do_not_explode() {
    let mut d: Dict<Entry> = Dict::new([0; 16]);
    for i in 0..5_000u64 {
        d.insert_new(0xdead_beef, Entry { key: Bytes::from(i.to_string()), hash: 0, value: i });
    }
    assert!(d.dir.len() < 1000);
    for i in 0..5_000u64 {
        let k = i.to_string();
        let p = d.find(0xdead_beef, k.as_bytes()).unwrap();
        assert_eq!(d.remove(p).value, i);
    }
    assert!(d.is_empty());
}

#[test]
fn scan_keeps_count_roughly() {
    for n in [10u64, 1_000, 50_000] {
        let d = filled(n);
        for count in [1usize, 10, 100, 5_000] {
            let (mut cursor, mut steps, mut seen) = (0, 0usize, HashSet::new());
            loop {
                let mut got = 0;
                cursor = d.scan(cursor, count, &mut |t| {
                    got += 1;
                    seen.insert(t.value);
                });
                steps += 1;
                assert!(got <= 4 * count + 1000, "{got} for {count}");
                assert!(count > 100 || got <= 6 * count + 30, "{got} for {count}");
                if cursor == 0 {
                    break;
                }
            }
            assert_eq!(seen.len() as u64, n);
            assert!(steps as u64 <= 2 * n / count as u64 + 40, "{steps} steps for {n}/{count}");
        }
    }
}

#[test]
fn random_is_fair() {
    for n in [3u64, 700, 1_500, 5_000] {
        let d = filled(n);
        let mut hits = vec![0u32; n as usize];
        let per = 200;
        for r in 0..n * per {
            hits[d.get(d.random(r).unwrap()).value as usize] += 1;
        }
        let (min, max) = (*hits.iter().min().unwrap(), *hits.iter().max().unwrap());
        assert!(min > 100 && max < 320, "{n}: {min}..{max}");
    }
    assert!(filled(0).random(1).is_none());
}

#[test]
fn sample_gives_what_is_there() {
    let mut r = 1u64;
    let mut rng = || splitmix(&mut r);
    for n in [0u64, 1, 5, 300, 10_000] {
        let d = filled(n);
        for want in [1usize, 5, 16] {
            let mut seen = Vec::new();
            let got = d.sample(want, &mut rng, &mut |t| seen.push(t.value));
            assert_eq!(got, seen.len());
            assert_eq!(got, want.min(n as usize));
        }
    }
}

#[test]
fn frees_in_slices() {
    let mut all = HashSet::new();
    for part in filled(30_000).into_slices() {
        assert!(part.len() <= SEGMENT_ENTRIES);
        all.extend(part.into_iter().map(|e| e.value));
    }
    assert_eq!(all.len(), 30_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn behaves_as_map(ops in prop::collection::vec((0u8..8, 0u64..4000), 1..6000)) {
        let mut d: Dict<Entry> = Dict::new([9; 16]);
        let mut model = BTreeMap::new();
        for (op, k) in ops {
            let key = k.to_string();
            if op < 5 {
                insert(&mut d, key.as_bytes(), k * 7);
                model.insert(key, k * 7);
            } else {
                prop_assert_eq!(d.remove_key(key.as_bytes()).map(|e| e.value), model.remove(&key));
            }
        }
        d.check();
        prop_assert_eq!(d.len(), model.len());
        let mut all: Vec<_> = d.iter().map(|e| (String::from_utf8(e.key.to_vec()).unwrap(), e.value)).collect();
        all.sort();
        prop_assert_eq!(all, model.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn scan_misses_nothing(n in 1u64..6000, count in 1usize..300, grow in any::<bool>(), per_step in 1u64..400) {
        let mut d = filled(n);
        let kept: HashSet<u64> = (0..n).filter(|v| grow || v % 10 == 0).collect();
        let (mut cursor, mut seen, mut next) = (0, HashSet::new(), 0);
        loop {
            cursor = d.scan(cursor, count, &mut |t| { seen.insert(t.value); });
            if cursor == 0 { break; }
            for _ in 0..per_step {
                next += 1;
                if grow {
                    if d.len() < 40_000 { insert(&mut d, format!("new:{next}").as_bytes(), n + next); }
                } else if !kept.contains(&next) {
                    d.remove_key(format!("key:{next}").as_bytes());
                }
            }
        }
        d.check();
        prop_assert!(kept.is_subset(&seen));
    }
}
