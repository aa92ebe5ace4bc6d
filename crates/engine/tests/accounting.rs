//! The running account of memory is what a recount from scratch gives, after any commands and after scopes that were
//! taken back.

use proptest::prelude::*;
use totality_engine::clock::Clock;
use totality_engine::engine::NoTicker;
use totality_engine::{Config, ConnInfo, Engine};

/// Each time that it is read, 3 ms have passed.
struct Steps(std::cell::Cell<u64>);
impl Clock for Steps {
    fn now_us(&self) -> u64 {
        self.0.set(self.0.get() + 3000);
        self.0.get()
    }
}

/// What is run: `K` and `L` are keys, `M` is a member, `V` a value, `N` a small number.
const COMMANDS: &[&str] = &[
    "SET K V",
    "SET K N",
    "SET K V PX 20",
    "APPEND K V",
    "SETRANGE K N V",
    "GETDEL K",
    "GETEX K PX 30",
    "INCR K",
    "RPUSH K M V M",
    "LPUSH K V",
    "LPOP K N",
    "RPOP K",
    "LTRIM K 0 N",
    "LSET K 0 V",
    "LINSERT K BEFORE M V",
    "LREM K 0 M",
    "LMOVE K L LEFT RIGHT",
    "SADD K M N M",
    "SADD K N",
    "SREM K M",
    "SPOP K",
    "SPOP K N",
    "SMOVE K L M",
    "SUNIONSTORE K L K",
    "SDIFFSTORE K L K",
    "HSET K M V N V",
    "HSETNX K M N",
    "HDEL K M",
    "HINCRBY K N 3",
    "HPEXPIRE K 20 FIELDS 1 M",
    "HPERSIST K FIELDS 1 M",
    "HGETDEL K FIELDS 1 M",
    "ZADD K N M N V",
    "ZINCRBY K 1.5 M",
    "ZREM K M",
    "ZPOPMIN K N",
    "ZREMRANGEBYRANK K 0 N",
    "ZUNIONSTORE K 2 K L",
    "ZRANGESTORE K L 0 -1",
    "XADD K * M V",
    "XTRIM K MAXLEN N",
    "XGROUP CREATE K M $ MKSTREAM",
    "XREADGROUP GROUP M c COUNT 3 STREAMS K >",
    "PFADD K M V",
    "SETBIT K 3000 1",
    "BITOP OR K K L",
    "DEL K",
    "UNLINK K L",
    "RENAME K L",
    "COPY K L REPLACE",
    "MOVE K 1",
    "SELECT 0",
    "SELECT 1",
    "PEXPIRE K 15",
    "PERSIST K",
    "SWAPDB 0 1",
    "FLUSHDB",
    "GET K",
    "SORT K STORE L ALPHA",
];

fn word(pattern: &str, key: u8, n: u16) -> Vec<u8> {
    let long = n.is_multiple_of(7);
    match pattern {
        "K" if n.is_multiple_of(5) => {
            format!("a-key-with-a-name-that-is-not-inline:{}", key % 6).into_bytes()
        }
        "K" => format!("k{}", key % 6).into_bytes(),
        "L" => format!("k{}", key.wrapping_add(1) % 6).into_bytes(),
        "M" if long => format!("{:050}", n % 40).into_bytes(),
        "M" => format!("m{}", n % 300).into_bytes(),
        "V" if long => vec![b'v'; 70 + n as usize % 300],
        "V" => format!("v{n}").into_bytes(),
        "N" => (n % 40).to_string().into_bytes(),
        _ => pattern.as_bytes().to_vec(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 200 }))]
    #[test]
    fn account_equals_recount(
        steps in prop::collection::vec((0..COMMANDS.len(), any::<u8>(), any::<u16>(), 0u8..60), 1..400)
    ) {
        let mut config = Config::default();
        // Small limits, so that encodings change often.
        for name in ["hash-max-listpack-entries", "set-max-listpack-entries", "zset-max-listpack-entries"] {
            config.set(name, &[b"8"]).unwrap();
        }
        config.set("list-max-listpack-size", &[b"4"]).unwrap();
        let clock = Box::new(Steps(std::cell::Cell::new(1_700_000_000_000_000)));
        let mut engine = Engine::new(config, clock, [3; 16]);
        let client = engine.connect(ConnInfo::default());
        let mut open = 0;
        let mut out = Vec::new();
        for (which, key, n, other) in steps {
            let words: Vec<Vec<u8>> = COMMANDS[which].split(' ').map(|word_| word(word_, key, n)).collect();
            let argv: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            out.clear();
            engine.execute(client, &argv, &mut out, &mut NoTicker);
            match other {
                0..=2 if open < 3 => {
                    engine.ks.open_scope();
                    open += 1;
                }
                3 | 4 if open > 0 => {
                    engine.ks.commit_scope();
                    open -= 1;
                }
                5 | 6 if open > 0 => {
                    engine.ks.take_back();
                    open -= 1;
                }
                7 if open == 0 => engine.cron(),
                _ => {}
            }
            if other % 8 == 0 {
                prop_assert_eq!(engine.ks.used_memory(), engine.ks.recount_memory(), "after {}", COMMANDS[which]);
            }
        }
        for _ in 0..open {
            engine.ks.take_back();
        }
        prop_assert_eq!(engine.ks.used_memory(), engine.ks.recount_memory());
        let deadlines: usize = engine.ks.dbs().iter().map(|db| db.dict().iter().filter(|e| e.expire != 0).count()).sum();
        prop_assert_eq!(engine.ks.dbs().iter().map(|db| db.expires()).sum::<usize>(), deadlines);
    }
}
