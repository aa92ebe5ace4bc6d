//! The facade as its users see it.

use std::collections::HashMap;
use totality::{Db, Error, Frame, ManualClock, Options, Script};

fn open() -> Db {
    Db::open(Options::default()).unwrap()
}

#[test]
fn two_data_sets_in_one_process_share_nothing() {
    let (a, b) = (open(), open());
    let (mut one, mut two) = (a.session().unwrap(), b.session().unwrap());
    one.call(&["SET", "k", "a"]).unwrap();
    assert_eq!(two.query::<Option<String>>(&["GET", "k"]), Ok(None));
    let script = Script::new("return 1");
    script.run::<i64>(&mut one, &[""; 0], &[""; 0]).unwrap();
    assert_eq!(two.call(&["EVALSHA", script.sha(), "0"]).unwrap_err().code(), Some("NOSCRIPT"));
}

#[test]
fn sessions_of_one_data_set_see_each_other() {
    let db = open();
    let (mut one, mut two) = (db.session().unwrap(), db.session().unwrap());
    one.call(&["SELECT", "3"]).unwrap();
    one.call(&["SET", "k", "v"]).unwrap();
    assert_eq!(two.query::<Option<String>>(&["GET", "k"]), Ok(None));
    two.call(&["SELECT", "3"]).unwrap();
    assert_eq!(two.query::<String>(&["GET", "k"]), Ok("v".into()));
}

#[test]
fn a_watched_key_stops_a_transaction() {
    let db = open();
    let (mut one, mut two) = (db.session().unwrap(), db.session().unwrap());
    one.watch(&["k"]).unwrap();
    two.call(&["SET", "k", "2"]).unwrap();
    assert_eq!(one.transaction().call(&["SET", "k", "1"]).commit(), Ok(None));
    let done = one.transaction().call(&["INCR", "k"]).call(&["GET", "k"]).commit().unwrap();
    assert_eq!(done, Some(vec![Frame::Int(3), Frame::Bulk(b"3".to_vec())]));
    let refused = one.transaction().call(&["GET"]).commit().unwrap_err();
    assert_eq!(refused, Error::Command("ERR wrong number of arguments for 'get' command".into()));
    assert_eq!(one.query::<i64>(&["GET", "k"]), Ok(3), "the session is not left in MULTI");
}

#[test]
fn a_pipeline_has_a_result_for_each_command() {
    let db = open();
    let mut session = db.session().unwrap();
    let replies =
        session.pipeline().call(&["SET", "k", "x"]).call(&["INCR", "k"]).call(&["GET", "k"]).run().unwrap();
    assert_eq!(replies[0], Ok(Frame::Simple("OK".into())));
    assert!(matches!(&replies[1], Err(Error::Command(e)) if e.starts_with("ERR value is not an integer")));
    assert_eq!(replies[2], Ok(Frame::Bulk(b"x".to_vec())));
}

#[test]
fn time_is_the_clock_that_was_handed_in() {
    let clock = ManualClock::new(1_700_000_000_000_000);
    let db = Db::open(Options::default().clock(clock.clone())).unwrap();
    let mut session = db.session().unwrap();
    session.call(&["SET", "k", "v", "PX", "100"]).unwrap();
    clock.advance_ms(99);
    assert_eq!(session.query::<i64>(&["PTTL", "k"]), Ok(1));
    clock.advance_ms(2);
    assert_eq!(session.query::<Option<String>>(&["GET", "k"]), Ok(None));
    session.call(&["SET", "k", "v", "PX", "100"]).unwrap();
    clock.advance_ms(1_000);
    db.tick().unwrap();
    assert_eq!(db.with_engine(|e| e.ks.db().len()), Ok(0));
}

#[test]
fn typed_replies_and_scripts() {
    let db = open();
    let mut session = db.session().unwrap();
    session.call(&["HSET", "h", "a", "1", "b", "2"]).unwrap();
    let map: HashMap<String, i64> = session.query(&["HGETALL", "h"]).unwrap();
    assert_eq!(map, HashMap::from([("a".into(), 1), ("b".into(), 2)]));
    session.call(&["HELLO", "3"]).unwrap();
    let map: HashMap<String, i64> = session.query(&["HGETALL", "h"]).unwrap();
    assert_eq!(map.len(), 2);
    let (code, text): (i64, String) = session.eval("return {1, KEYS[1]..ARGV[1]}", &["a"], &["b"]).unwrap();
    assert_eq!((code, text.as_str()), (1, "ab"));
    let error = session.eval::<()>("return {err='STOCK is short'}", &[""; 0], &[""; 0]).unwrap_err();
    assert_eq!(error.code(), Some("STOCK"));
}

#[test]
fn options_are_checked() {
    assert!(matches!(Db::open(Options::default().set("no-such-option", "1")), Err(Error::Option(_))));
    assert!(matches!(Db::open(Options::default().set("maxmemory", "much")), Err(Error::Option(_))));
    assert!(Db::open(Options::default().set("maxmemory", "100mb")).is_ok());
}

#[test]
fn the_log_of_scripts_reaches_the_embedder() {
    let (send, receive) = std::sync::mpsc::channel();
    let options = Options::default().log(move |_, line| send.send(line.to_string()).unwrap());
    let db = Db::open(options).unwrap();
    let mut session = db.session().unwrap();
    session.eval::<()>("redis.log(redis.LOG_WARNING, 'hello')", &[""; 0], &[""; 0]).unwrap();
    assert!(receive.try_iter().any(|line| line.contains("hello")));
}

#[test]
fn threads_share_a_data_set() {
    let db = open();
    let count = |db: Db| {
        let mut session = db.session().unwrap();
        (0..500).for_each(|_| drop(session.call(&["INCR", "n"]).unwrap()));
    };
    std::thread::scope(|s| (0..4).for_each(|_| drop(s.spawn(|| count(db.clone())))));
    assert_eq!(db.session().unwrap().query::<i64>(&["GET", "n"]), Ok(2000));
}

#[test]
fn a_directory_keeps_the_data_set() {
    let dir = tempfile::tempdir().unwrap();
    let open = |policy: &str| Db::open(Options::default().dir(dir.path()).set("appendfsync", policy));
    for round in 1..=3_i64 {
        let db = open("always").unwrap();
        let mut s = db.session().unwrap();
        assert_eq!(s.query::<i64>(&["INCR", "counter"]).unwrap(), round);
        s.eval::<i64>("redis.call('RPUSH', KEYS[1], 'a', 'b') return 1", &["list"], &[] as &[&str]).unwrap();
        assert_eq!(s.query::<i64>(&["LLEN", "list"]).unwrap(), 2 * round);
        // One process, one data set, one owner of the directory.
        assert!(matches!(open("no"), Err(Error::Storage(why)) if why.contains("another process")));
        if round == 2 {
            s.call(&["BGREWRITEAOF"]).unwrap();
            while s.query::<String>(&["INFO", "persistence"]).unwrap().contains("aof_rewrite_in_progress:1") {
                db.tick().unwrap();
            }
        }
        if round == 3 {
            // No clean end: the data set is never closed.
            std::mem::forget(s);
            std::mem::forget(db);
        }
    }
    let log = std::fs::read(dir.path().join("appendonlydir/appendonly.aof.2.incr.aof")).unwrap();
    assert!(log.ends_with(b"EXEC\r\n") || log.windows(5).any(|w| w == b"RPUSH"));
}

#[test]
fn snapshots_only() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options::default().dir(dir.path()).set("appendonly", "no").set("save", "100 1");
    let mut s = Db::open(options()).unwrap().session().unwrap();
    s.call(&["SET", "k", "v"]).unwrap();
    // The last handle writes the snapshot.
    drop(s);
    let mut s = Db::open(options()).unwrap().session().unwrap();
    assert_eq!(s.query::<String>(&["GET", "k"]).unwrap(), "v");
    assert_eq!(s.query::<String>(&["SAVE"]).unwrap(), "OK");
}
