use super::*;
use std::collections::BTreeMap;

fn cfg(entries: usize, value: usize) -> HashCfg {
    HashCfg { entries, value, seed: Seed::new([3; 16]) }
}

fn owned(item: Item<'_>) -> Vec<u8> {
    item.to_bytes().into_vec()
}

fn set(hash: &mut Hash, name: &[u8], value: &[u8], cfg: &HashCfg) -> bool {
    matches!(hash.put(name, value, FieldTtl::Clear, 0, cfg), Put::Added)
}

/// The bytes that `mem` should tell, counted anew.
fn recount(hash: &Hash) -> usize {
    match &hash.0 {
        Repr::Pack(pack) => pack.heap_bytes(),
        Repr::Table(table) => {
            let heap: usize = table.dict.iter().map(Field::heap).sum();
            let ttl = table.ttl.as_ref().map_or(0, |ttl| ttl.mem());
            size_of::<Table>() + table.dict.mem_bytes() + heap + ttl
        }
    }
}

#[test]
fn a_compact_hash_is_small() {
    assert_eq!(size_of::<Hash>(), 16);
}

#[test]
fn grows_out_of_the_listpack_at_the_thresholds() {
    let cfg = cfg(3, 8);
    let mut hash = Hash::new();
    for i in 0..3 {
        assert!(set(&mut hash, format!("f{i}").as_bytes(), b"v", &cfg));
    }
    assert_eq!(hash.encoding(), "listpack");
    assert!(!set(&mut hash, b"f0", b"w", &cfg));
    assert!(set(&mut hash, b"f3", b"v", &cfg));
    assert_eq!((hash.encoding(), hash.len()), ("hashtable", 4));
    assert_eq!(hash.get(b"f0", 0).map(owned), Some(b"w".to_vec()));
    let mut long = Hash::new();
    set(&mut long, b"f", b"123456789", &cfg);
    assert_eq!(long.encoding(), "hashtable");
    let mut prepared = Hash::new();
    prepared.prepare(&[b"a", b"1", b"b", b"1", b"c", b"1", b"d", b"1"], &cfg);
    assert_eq!(prepared.encoding(), "hashtable");
}

#[test]
fn behaves_as_a_map_in_both_encodings() {
    for entries in [0, 1000] {
        let cfg = cfg(entries, 64);
        let (mut hash, mut model) = (Hash::new(), BTreeMap::new());
        let mut rng = Rng::new(7);
        for _ in 0..4000 {
            let name = rng.below(300).to_string().into_bytes();
            match rng.below(3) {
                0 => {
                    assert_eq!(hash.remove(&name, 0).is_some(), model.remove(&name).is_some());
                }
                n => {
                    let value = vec![b'x'; rng.below(60) * (n - 1)];
                    assert_eq!(
                        set(&mut hash, &name, &value, &cfg),
                        model.insert(name.clone(), value).is_none()
                    );
                }
            }
            assert_eq!(hash.len(), model.len());
            assert_eq!(hash.mem(), recount(&hash));
        }
        let all: BTreeMap<_, _> = hash.iter(0).map(|(n, v)| (owned(n), owned(v))).collect();
        assert_eq!(all, model);
        let mut scanned = BTreeMap::new();
        let mut cursor = 0;
        loop {
            cursor = hash.scan(cursor, 10, 0, &mut |n, v| {
                scanned.insert(owned(n), owned(v));
            });
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(scanned, model);
        for count in [1, 10, model.len() / 2, model.len(), model.len() + 5] {
            let chosen: BTreeMap<_, _> = hash
                .random_distinct(count, &mut rng, 0)
                .into_iter()
                .map(|(n, v)| (owned(n), owned(v)))
                .collect();
            assert_eq!(chosen.len(), count.min(model.len()));
            assert!(chosen.iter().all(|(n, v)| model.get(n) == Some(v)));
        }
    }
}

#[test]
fn a_field_past_its_deadline_is_not_seen() {
    let cfg = cfg(100, 64);
    let mut hash = Hash::new();
    set(&mut hash, b"a", b"1", &cfg);
    set(&mut hash, b"b", b"2", &cfg);
    assert_eq!(hash.set_deadline(b"x", Some(10), 0, &cfg), Timing::NoField);
    assert_eq!(hash.set_deadline(b"a", None, 0, &cfg), Timing::Was(None));
    assert_eq!(hash.encoding(), "listpack");
    assert_eq!(hash.set_deadline(b"a", Some(10), 0, &cfg), Timing::Was(None));
    assert_eq!((hash.encoding(), hash.has_deadlines(), hash.next_deadline()), ("hashtable", true, Some(10)));
    assert_eq!(hash.deadline(b"a", 9), Some(Some(10)));
    assert_eq!(hash.deadline(b"b", 9), Some(None));
    assert!(hash.contains(b"a", 9) && !hash.contains(b"a", 10));
    assert_eq!((hash.len(), hash.live_len(10), hash.iter(10).count()), (2, 1, 1));
    assert!(hash.remove(b"a", 10).is_none());
    assert!(matches!(hash.put(b"a", b"3", FieldTtl::Keep, 10, &cfg), Put::Revived(_)));
    assert!(!hash.has_deadlines());
    hash.set_deadline(b"a", Some(20), 10, &cfg);
    assert!(matches!(hash.put(b"a", b"4", FieldTtl::Keep, 11, &cfg), Put::Updated(_)));
    assert_eq!(hash.deadline(b"a", 11), Some(Some(20)));
    assert!(matches!(hash.put(b"a", b"5", FieldTtl::Clear, 11, &cfg), Put::Updated(_)));
    assert!(!hash.has_deadlines());
    assert_eq!(hash.mem(), recount(&hash));
}

#[test]
fn expired_fields_are_taken_in_the_order_of_their_deadlines() {
    let cfg = cfg(0, 64);
    let mut hash = Hash::new();
    for i in 0..20i64 {
        let name = format!("field number {i} with a long name");
        hash.put(name.as_bytes(), b"v", FieldTtl::At(100 - i), 0, &cfg);
    }
    assert_eq!(hash.mem(), recount(&hash));
    let gone: Vec<i64> = hash.take_expired(85, 3).into_iter().map(|(_, at)| at).collect();
    assert_eq!(gone, [81, 82, 83]);
    assert_eq!(hash.take_expired(85, 100).len(), 2);
    assert_eq!((hash.len(), hash.deadlines()), (15, 15));
    assert!(hash.random(&mut Rng::new(1), 100).is_none());
    assert!(hash.random(&mut Rng::new(1), 99).is_some());
    assert_eq!(hash.take_expired(1000, 100).len(), 15);
    assert_eq!((hash.len(), hash.has_deadlines()), (0, false));
    assert_eq!(hash.mem(), recount(&hash));
}

#[test]
fn foreign_listpacks_are_checked() {
    let cfg = cfg(2, 64);
    let pack = |items: &[&str]| {
        let mut pack = Listpack::new();
        items.iter().for_each(|item| pack.push_back(item.as_bytes()));
        pack
    };
    assert!(Hash::from_listpack(pack(&["a", "1", "b"]), &cfg).is_none());
    assert!(Hash::from_listpack(pack(&["a", "1", "a", "2"]), &cfg).is_none());
    assert_eq!(Hash::from_listpack(pack(&["a", "1", "b", "2"]), &cfg).unwrap().encoding(), "listpack");
    let grown = Hash::from_listpack(pack(&["a", "1", "b", "2", "c", "3"]), &cfg).unwrap();
    assert_eq!((grown.encoding(), grown.len()), ("hashtable", 3));
}
