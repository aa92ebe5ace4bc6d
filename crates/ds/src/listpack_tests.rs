use super::*;
use proptest::prelude::*;

fn lp(items: &[&str]) -> Listpack {
    let mut l = Listpack::new();
    for i in items {
        l.push_back(i.as_bytes());
    }
    l
}

#[test]
fn bytes_as_redis() {
    // What DUMP of a redis-server gives for these lists.
    assert_eq!(lp(&["1", "a"]).as_bytes(), [12, 0, 0, 0, 2, 0, 1, 1, 0x81, b'a', 2, 0xFF]);
    let l = lp(&["-1", "4095", "-4096", "4096", "-32768", "8388607", "2147483647", "-9223372036854775808"]);
    let mut want = vec![0, 0, 0, 0, 8, 0];
    want.extend([0xDF, 0xFF, 2, 0xCF, 0xFF, 2, 0xD0, 0x00, 2, 0xF1, 0x00, 0x10, 3, 0xF1, 0x00, 0x80, 3]);
    want.extend([0xF2, 0xFF, 0xFF, 0x7F, 4, 0xF3, 0xFF, 0xFF, 0xFF, 0x7F, 5]);
    want.extend([0xF4, 0, 0, 0, 0, 0, 0, 0, 0x80, 9, 0xFF]);
    want[0] = want.len() as u8;
    assert_eq!(l.as_bytes(), want);
}

#[test]
fn long_strings_and_backward_lengths() {
    for n in
        [0usize, 1, 63, 64, 125, 126, 127, 4095, 4096, 16_377, 16_378, 16_379, 70_000, 2_097_146, 2_097_147]
    {
        let mut l = lp(&["x"]);
        l.push_back(&vec![b'y'; n]);
        l.push_back(b"z");
        assert!(validate(l.as_bytes()), "{n}");
        let p = l.last().unwrap();
        let p = l.prev(p).unwrap();
        assert_eq!(l.get(p).byte_len(), n);
        assert_eq!(l.prev(p), l.first());
    }
}

#[test]
fn more_elements_than_the_header_counts() {
    let mut l = Listpack::new();
    for i in 0..70_000i64 {
        l.push_back_int(i % 100);
    }
    assert_eq!(l.header_len(), LEN_UNKNOWN);
    assert_eq!(l.len(), 70_000);
    assert!(validate(l.as_bytes()));
    assert_eq!(l.get_index(-1), Some(Item::Int(99)));
    assert_eq!(l.get_index(69_998), Some(Item::Int(98)));
    l.delete_range(-60_000, 60_000);
    assert_eq!(l.len(), 10_000);
}

#[test]
fn find_skips_values() {
    let l = lp(&["a", "b", "b", "1", "2", "2"]);
    let p = l.find(None, b"b", 1).unwrap();
    assert_eq!(Some(p), l.seek(2));
    assert_eq!(l.find(None, b"1", 1), None);
    assert_eq!(l.find(None, b"2", 1), l.seek(4));
    assert_eq!(l.find(None, b"02", 0), None);
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<i64>().prop_map(|i| i.to_string().into_bytes()),
        (-5000i64..5000).prop_map(|i| i.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..8),
        prop::collection::vec(Just(b'q'), 0..400),
    ]
}

proptest! {
    #[test]
    fn behaves_as_list(ops in prop::collection::vec((0u8..9, any::<u16>(), text()), 0..80)) {
        let (mut l, mut model) = (Listpack::new(), Vec::<Vec<u8>>::new());
        for (op, at, s) in ops {
            let n = model.len();
            let i = if n == 0 { 0 } else { at as usize % n };
            match op {
                0 => { l.push_back(&s); model.push(s); }
                1 => { l.push_front(&s); model.insert(0, s); }
                2 if n > 0 => { l.insert_before(l.seek(i as i64).unwrap(), &s); model.insert(i, s); }
                3 if n > 0 => {
                    let p = l.insert_after(l.seek(i as i64).unwrap(), &s);
                    prop_assert!(l.get(p).eq_bytes(&s));
                    model.insert(i + 1, s);
                }
                4 if n > 0 => { l.replace(l.seek(i as i64 - n as i64).unwrap(), &s); model[i] = s; }
                5 if n > 0 => {
                    let next = l.delete(l.seek(i as i64).unwrap());
                    prop_assert_eq!(next.is_some(), i + 1 < n);
                    model.remove(i);
                }
                6 => { let k = at as usize % 4; l.delete_range(i as i64, k); model.drain(i..(i + k).min(n)); }
                7 => { let other = l.clone(); if n < 100 { l.append(&other); let m = model.clone(); model.extend(m); } }
                _ => {
                    let found = l.find(None, &s, 0);
                    prop_assert_eq!(found, model.iter().position(|m| *m == s).and_then(|i| l.seek(i as i64)));
                }
            }
            prop_assert!(validate(l.as_bytes()));
        }
        prop_assert_eq!(l.len(), model.len());
        let all: Vec<_> = l.iter().map(|i| i.to_bytes().into_vec()).collect();
        prop_assert_eq!(&all, &model);
        let mut back: Vec<_> = l.iter_rev().map(|i| i.to_bytes().into_vec()).collect();
        back.reverse();
        prop_assert_eq!(&back, &model);
        prop_assert_eq!(l.byte_len(), 7 + model.iter().map(|m| entry_size(m)).sum::<usize>());
    }

    #[test]
    fn survives_garbage(mut b in prop::collection::vec(any::<u8>(), 0..60), flips in prop::collection::vec((any::<u8>(), any::<u8>()), 0..4)) {
        prop_assert!(!validate(&b) || b.len() >= 7);
        // Without the check on entry, every method must still return.
        if b.len() >= 7 {
            let mut l = Listpack { buf: b.clone().into() };
            l.iter().count();
            l.iter_rev().take(100).count();
            l.seek(3); l.seek(-3); l.len(); l.find(None, b"x", 1); l.last();
            l.delete_range(0, 2);
            l.insert_after(6, b"x");
            l.replace(6, b"yy");
        }
        let mut good = lp(&["12", "abc", "70000", "x"]);
        for (at, v) in flips { let n = good.buf.len(); good.buf[at as usize % n] = v; }
        b = good.into_vec();
        if let Ok(l) = Listpack::from_vec(b) { prop_assert_eq!(l.iter().count(), l.len()); }
    }
}
