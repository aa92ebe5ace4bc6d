use super::*;
use proptest::prelude::*;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;
type Model = BTreeMap<StreamId, Fields>;

const LIMITS: BlockLimits = BlockLimits { bytes: 300, entries: 6 };

fn id(ms: u64, seq: u64) -> StreamId {
    StreamId { ms, seq }
}

fn content(e: Entry<'_>) -> (StreamId, Fields) {
    (e.id, e.fields().map(|(f, v)| (f.to_bytes().into_vec(), v.to_bytes().into_vec())).collect())
}

fn check(s: &Stream, model: &Model) {
    assert_eq!(s.len(), model.len() as u64);
    let all: Vec<_> = s.range(StreamId::MIN, StreamId::MAX).map(content).collect();
    let want: Vec<_> = model.iter().map(|(i, f)| (*i, f.clone())).collect();
    assert_eq!(all, want);
    let mut back: Vec<_> = s.range_rev(StreamId::MIN, StreamId::MAX).map(content).collect();
    back.reverse();
    assert_eq!(back, want);
    assert_eq!(s.first_id(), model.keys().next().copied());
    assert_eq!(s.last_id(), model.keys().next_back().copied());
    assert_eq!(s.heap, s.blocks.values().map(Listpack::heap_bytes).sum::<usize>());
    let mut again = Stream::new();
    for (i, lp) in s.blocks() {
        again.push_block(i, Listpack::from_vec(lp.as_bytes().to_vec()).unwrap()).unwrap();
    }
    assert_eq!(again.len(), s.len());
}

#[test]
fn ids_in_order() {
    assert_eq!(id(1, 5).next(), Some(id(1, 6)));
    assert_eq!(id(1, u64::MAX).next(), Some(id(2, 0)));
    assert_eq!(StreamId::MAX.next(), None);
    assert_eq!(id(2, 0).prev(), Some(id(1, u64::MAX)));
    assert_eq!(StreamId::MIN.prev(), None);
    assert_eq!(StreamId::from_be_bytes(id(7, 8).to_be_bytes()), id(7, 8));
    let mut s = Stream::new();
    let pair = [(&b"f"[..], &b"v"[..])];
    s.append(id(5, 0), pair.into_iter(), LIMITS).unwrap();
    assert_eq!(s.append(id(5, 0), pair.into_iter(), LIMITS), Err(StreamError::NotGreater));
    assert_eq!(s.append(id(4, 9), pair.into_iter(), LIMITS), Err(StreamError::NotGreater));
}

#[test]
fn refuses_bad_blocks() {
    let mut s = Stream::new();
    for n in 0..5u64 {
        s.append(id(10 + n, n), [(&b"f"[..], &b"12"[..])].into_iter(), LIMITS).unwrap();
    }
    let good = s.blocks().next().unwrap().1.as_bytes().to_vec();
    let mut accepted = 0;
    for at in 0..good.len() {
        for v in [0u8, 1, 2, 3, 5, 0x7F, 0x81, 0xC0, 0xFF] {
            let mut bad = good.clone();
            bad[at] = v;
            if let Ok(lp) = Listpack::from_vec(bad) {
                let mut t = Stream::new();
                if t.push_block(id(10, 0), lp).is_ok() {
                    accepted += 1;
                    assert_eq!(t.range(StreamId::MIN, StreamId::MAX).count() as u64, t.len());
                }
            }
        }
    }
    assert!(accepted > 0);
    assert_eq!(s.push_block(id(3, 0), Listpack::new()), Err(StreamError::NotGreater));
    assert_eq!(s.push_block(id(99, 0), Listpack::new()), Err(StreamError::Malformed));
}

proptest! {
    #[test]
    fn behaves_as_map(ops in prop::collection::vec((0u8..12, 0u64..5, 0u64..60, prop::collection::vec(("[ab]{1,2}|[0-9]{1,3}", "[a-z0-9]{0,30}"), 0..4)), 1..150)) {
        let (mut s, mut model, mut last) = (Stream::new(), Model::new(), StreamId::MIN);
        for (op, step, n, pairs) in ops {
            match op {
                0..=7 => {
                    last = if step == 0 { id(last.ms, last.seq + 1) } else { id(last.ms + step, n) };
                    let iter = pairs.iter().map(|(f, v)| (f.as_bytes(), v.as_bytes()));
                    s.append(last, iter.clone(), LIMITS).unwrap();
                    model.insert(last, iter.map(|(f, v)| (f.to_vec(), v.to_vec())).collect());
                }
                8 | 9 => {
                    let key = model.keys().nth(n as usize % model.len().max(1)).copied().unwrap_or(id(n, 0));
                    prop_assert_eq!(s.remove(key), model.remove(&key).is_some());
                    prop_assert!(!s.remove(key));
                    prop_assert!(s.get(key).is_none());
                }
                10 => {
                    let approx = step > 2;
                    let gone = s.trim(Keep::Len(n), approx, 0);
                    for _ in 0..gone { model.pop_first(); }
                    prop_assert!(approx || s.len() <= n);
                    prop_assert!(gone == 0 || s.len() >= n);
                }
                _ => {
                    let from = id(n, 3);
                    let gone = s.trim(Keep::From(from), step > 2, 0);
                    for _ in 0..gone {
                        let (key, _) = model.pop_first().unwrap();
                        prop_assert!(key < from);
                    }
                    prop_assert!(step > 2 || s.first_id().is_none_or(|f| f >= from));
                }
            }
            check(&s, &model);
            let (a, b) = (id(n, 0), id(n + step * 3, 2));
            let want: Vec<_> = model.range(a..=b).map(|(i, _)| *i).collect();
            prop_assert!(s.range(a, b).map(|e| e.id).eq(want.iter().copied()));
            prop_assert!(s.range_rev(a, b).map(|e| e.id).eq(want.iter().rev().copied()));
        }
    }
}
