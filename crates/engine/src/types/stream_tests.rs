use super::*;

const LIMITS: BlockLimits = BlockLimits { bytes: 4096, entries: 100 };

fn id(ms: u64) -> StreamId {
    StreamId { ms, seq: 0 }
}

fn stream(n: u64) -> Stream {
    let mut s = Stream::new();
    for ms in 1..=n {
        s.log_mut().append(id(ms), [(&b"f"[..], &b"v"[..])].into_iter(), LIMITS).unwrap();
    }
    s
}

#[test]
fn memory_of_groups_comes_back() {
    let mut s = stream(3);
    let before = s.mem();
    assert!(s.add_group(b"g", Group::new(StreamId::MIN, None)));
    assert!(!s.add_group(b"g", Group::new(StreamId::MIN, None)));
    s.with_group(b"g", |group, _| {
        let (slot, created) = group.ensure_consumer(b"alice", 5);
        assert!(created);
        (1..=3).for_each(|ms| group.assign(id(ms), slot, 5, 1, Some(5)));
    });
    assert!(s.mem() > before + 100);
    s.with_group(b"g", |group, _| assert_eq!(group.delete_consumer(b"alice"), Some(3)));
    assert!(s.group(b"g").unwrap().pending().is_empty());
    assert!(s.remove_group(b"g"));
    assert_eq!(s.mem(), before);
}

#[test]
fn an_entry_has_one_owner() {
    let mut group = Group::new(StreamId::MIN, None);
    let (a, _) = group.ensure_consumer(b"a", 0);
    let (b, _) = group.ensure_consumer(b"b", 0);
    group.assign(id(1), a, 1, 1, Some(1));
    group.assign(id(1), b, 2, 2, None);
    assert!(group.consumer(a).unwrap().pending().is_empty());
    assert_eq!(group.consumer(b).unwrap().active, -1);
    assert_eq!(&*group.owner(&group.pending()[&id(1)]).unwrap().name, b"b");
    assert!(group.acknowledge(id(1)) && !group.acknowledge(id(1)));
    assert!(group.consumer(b).unwrap().pending().is_empty());
    assert_eq!(group.delete_consumer(b"a"), Some(0));
    assert_eq!(group.ensure_consumer(b"c", 0), (a, true), "slots are used again");
}

#[test]
fn the_lag_is_known_unless_deletions_hide_it() {
    let mut s = stream(5);
    s.add_group(b"g", Group::new(StreamId::MIN, None));
    assert_eq!(s.group(b"g").unwrap().lag(s.log()), Some(5));
    s.with_group(b"g", |group, log| {
        group.advance(id(1), log, log.first_id());
        group.advance(id(2), log, log.first_id());
        assert_eq!((group.entries_read, group.lag(log)), (Some(2), Some(3)));
    });
    s.log_mut().delete(id(4));
    assert_eq!(s.group(b"g").unwrap().lag(s.log()), None);
    s.with_group(b"g", |group, log| group.advance(id(5), log, log.first_id()));
    assert_eq!(s.group(b"g").unwrap().lag(s.log()), Some(0));
}
