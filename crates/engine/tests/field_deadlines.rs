//! Deadlines of fields through the engine: the cycle that removes them, and what is counted.

use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

struct Bench {
    engine: Engine,
    client: ClientId,
    clock: ManualClock,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, clock }
    }

    fn run(&mut self, line: &str) -> String {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(self.client, &argv, &mut out, &mut NoTicker);
        String::from_utf8(out).unwrap()
    }

    fn timed(&self) -> usize {
        self.engine.ks.dbs().iter().map(|db| db.timed_hashes()).sum()
    }
}

#[test]
fn the_cycle_removes_fields_and_then_the_key() {
    let mut b = Bench::new();
    let empty = b.engine.ks.used_memory();
    b.run("HSET h a 1 b 2");
    b.run("HSETEX h PX 100 FIELDS 1 c 3");
    b.run("HPEXPIRE h 50 FIELDS 1 a");
    assert_eq!(b.timed(), 1);
    b.clock.advance_ms(60);
    assert_eq!(b.run("HGET h a"), "$-1\r\n");
    assert_eq!(b.run("HLEN h"), ":3\r\n");
    b.engine.cron();
    assert_eq!(b.run("HLEN h"), ":2\r\n");
    b.clock.advance_ms(60);
    b.engine.cron();
    assert_eq!((b.run("HLEN h"), b.timed()), (":1\r\n".to_owned(), 0));
    assert_eq!(b.engine.ks.stats.expired_fields, 2);
    b.run("HPEXPIRE h 50 FIELDS 1 b");
    b.clock.advance_ms(60);
    b.engine.cron();
    assert_eq!((b.run("EXISTS h"), b.timed()), (":0\r\n".to_owned(), 0));
    b.run("SET k 1");
    b.run("DEL k");
    assert!(b.engine.ks.used_memory() <= empty + 1024, "the account goes back");
}

#[test]
fn hashes_with_deadlines_are_counted_wherever_they_go() {
    let mut b = Bench::new();
    b.run("HSET h a 1 b 2");
    b.run("HEXPIRE h 100 FIELDS 1 a");
    b.run("COPY h g");
    assert_eq!(b.timed(), 2);
    b.run("RENAME h i");
    assert_eq!(b.timed(), 2);
    b.run("MOVE i 3");
    assert_eq!((b.timed(), b.engine.ks.dbs()[3].timed_hashes()), (2, 1));
    b.run("SWAPDB 3 4");
    assert_eq!(b.engine.ks.dbs()[4].timed_hashes(), 1);
    b.run("HPERSIST g FIELDS 1 a");
    assert_eq!(b.timed(), 1);
    b.run("SELECT 4");
    b.run("SET i x");
    assert_eq!(b.timed(), 0);
    b.run("HSETEX t EX 10 FIELDS 1 f v");
    b.run("PEXPIRE t 5");
    assert_eq!(b.timed(), 1);
    b.clock.advance_ms(10);
    b.run("GET t");
    assert_eq!(b.timed(), 0);
    b.run("HSETEX t EX 10 FIELDS 1 f v");
    b.run("FLUSHALL");
    assert_eq!(b.timed(), 0);
}

#[test]
fn imported_fields_stay_until_the_import_is_over() {
    let mut b = Bench::new();
    assert_eq!(b.run("CONFIG SET import-mode yes"), "+OK\r\n");
    b.run("HSETEX h EXAT 1 FIELDS 1 f v");
    b.engine.cron();
    assert_eq!((b.run("HLEN h"), b.run("HGET h f")), (":1\r\n".to_owned(), "$-1\r\n".to_owned()));
    b.run("SET k v PXAT 1");
    assert_eq!(b.run("RANDOMKEY").len(), 7);
    b.run("CONFIG SET import-mode no");
    b.engine.cron();
    assert_eq!(b.run("DBSIZE"), ":0\r\n");
}
