//! Cluster mode with one node: slots of commands, transactions and scripts, and what the node tells of itself.

mod support;

use support::Bench;
use totality_engine::engine::NoTicker;
use totality_engine::{Config, ConnInfo};

const CROSS_SLOT: &str = "-CROSSSLOT Keys in request don't hash to the same slot\r\n";

fn cluster() -> Bench {
    Bench::with(Config { cluster_enabled: true, ..Config::default() })
}

#[test]
fn keys_of_one_command_are_in_one_slot() {
    let mut b = cluster();
    for line in [
        "MGET a b",
        "MSET a 1 b 2",
        "EVAL x 2 a b",
        "FCALL f 2 a b",
        "XREAD STREAMS a b 0 0",
        "SSUBSCRIBE a b",
    ] {
        assert_eq!(b.line(line), CROSS_SLOT, "{line}");
    }
    assert_eq!(b.line("MSET {x}a 1 {x}b 2"), "+OK\r\n");
    assert_eq!(
        b.run(&["EVAL", "return 1", "9", "a", "b"]),
        "-ERR Number of keys can't be greater than number of args\r\n"
    );
    assert!(b.line("SORT {x}a BY w_*").starts_with("-ERR BY option of SORT denied in Cluster mode"));
    assert!(b.line("SORT {x}a GET w_*").starts_with("-ERR GET option of SORT denied in Cluster mode"));
}

#[test]
fn a_transaction_stays_in_one_slot() {
    let mut b = cluster();
    b.line("MULTI");
    assert_eq!(b.line("MGET a b"), CROSS_SLOT);
    assert!(b.line("EXEC").starts_with("-EXECABORT"));
    b.line("MULTI");
    b.line("SET a 1");
    b.line("SET b 1");
    assert_eq!(b.line("EXEC"), CROSS_SLOT);
    assert_eq!(b.line("EXEC"), "-ERR EXEC without MULTI\r\n");
    b.line("MULTI");
    b.line("SET {a}1 1");
    b.line("SET {a}2 1");
    assert_eq!(b.line("EXEC"), "*2\r\n+OK\r\n+OK\r\n");
}

#[test]
fn a_script_stays_in_the_slot_of_its_first_key() {
    const OTHER: &str = "-ERR Script attempted to access keys that do not hash to the same slot";
    let mut b = cluster();
    let get = |b: &mut Bench, head: &str, key: &str, keys: &[&str]| {
        let script = format!("{head}return redis.call('GET','{key}')");
        let numkeys = keys.len().to_string();
        b.run(&[&["EVAL", &script, &numkeys], keys].concat())
    };
    assert!(get(&mut b, "#!lua\n", "other", &["a"]).starts_with(OTHER));
    assert_eq!(get(&mut b, "#!lua\n", "{a}x", &["a"]), "$-1\r\n");
    assert_eq!(get(&mut b, "#!lua\n", "other", &[]), "$-1\r\n");
    assert_eq!(get(&mut b, "#!lua flags=allow-cross-slot-keys\n", "other", &["a"]), "$-1\r\n");
    assert_eq!(get(&mut b, "", "other", &["a"]), "$-1\r\n");
    let two = "#!lua\nredis.call('GET','x') return redis.call('GET','y')";
    assert!(b.run(&["EVAL", two, "0"]).starts_with(OTHER));
    let pair = "return redis.pcall('MGET','x','y').err";
    assert!(
        b.run(&["EVAL", pair, "0"])
            .contains("Command 'mget' in script attempted to access keys that don't hash to the same slot")
    );
    assert!(
        b.run(&["EVAL", "#!lua flags=no-cluster\nreturn 1", "0"])
            .starts_with("-ERR Can not run script on cluster")
    );
}

#[test]
fn there_is_one_database_unless_more_are_asked_for() {
    let mut b = cluster();
    assert_eq!(b.line("SELECT 0"), "+OK\r\n");
    assert_eq!(b.line("SELECT 1"), "-ERR DB index is out of range\r\n");
    assert_eq!(b.line("SWAPDB 0 1"), "-ERR SWAPDB is not allowed in cluster mode\r\n");
    assert_eq!(b.line("MOVE a 1"), "-ERR DB index is out of range\r\n");
    assert_eq!(b.line("COPY {a}1 {a}2 DB 1"), "-ERR DB index is out of range\r\n");

    let mut b = Bench::with(Config { cluster_enabled: true, cluster_databases: 3, ..Config::default() });
    b.line("SET a x");
    b.line("SET {a}1 x");
    assert_eq!(b.line("COPY a {a}2 DB 2"), ":1\r\n");
    assert_eq!(b.line("MOVE {a}1 2"), ":1\r\n");
    assert_eq!(b.line("SELECT 3"), "-ERR DB index is out of range\r\n");
    // Keys are counted and listed by database, statistics are of all.
    assert_eq!(b.line("CLUSTER COUNTKEYSINSLOT 15495"), ":1\r\n");
    assert_eq!(b.line("SELECT 2"), "+OK\r\n");
    assert_eq!(b.line("CLUSTER COUNTKEYSINSLOT 15495"), ":2\r\n");
    assert!(b.line("CLUSTER GETKEYSINSLOT 15495 9").starts_with("*2\r\n"));
    let stats = b.line("CLUSTER SLOT-STATS SLOTSRANGE 15495 15495");
    assert_eq!(stats, "*1\r\n*2\r\n:15495\r\n*2\r\n$9\r\nkey-count\r\n:3\r\n");
    b.line("SELECT 1");
    assert!(b.line("CLUSTER FLUSHSLOTS").starts_with("-ERR DB must be empty"));
}

#[test]
fn costs_are_counted_by_slot() {
    let mut b = cluster();
    b.line("SET a before");
    b.line("CONFIG SET cluster-slot-stats-enabled yes");
    let of_a = |b: &mut Bench| {
        let text = b.line("CLUSTER SLOT-STATS SLOTSRANGE 15495 15495");
        let numbers: Vec<u64> =
            text.lines().filter_map(|line| line.strip_prefix(':')).map(|n| n.parse().unwrap()).collect();
        (numbers[1], numbers[3], numbers[4])
    };
    assert_eq!(of_a(&mut b), (1, 0, 0));
    // *3 $3 SET $1 a $1 x, and +OK
    b.line("SET a x");
    assert_eq!(of_a(&mut b), (1, 27, 5));
    b.line("SET b xyz");
    b.line("PING");
    assert_eq!(of_a(&mut b), (1, 27, 5));
    // A script is counted as a whole.
    b.line("CONFIG RESETSTAT");
    let script = "redis.call('SET', KEYS[1], 'y') return 7";
    assert_eq!(b.run(&["EVAL", script, "1", "a"]), ":7\r\n");
    assert_eq!(of_a(&mut b), (1, 4 + 10 + 5 + script.len() as u64 + 2 + 7 + 7, 4));
    // So is a transaction, with MULTI.
    b.line("CONFIG RESETSTAT");
    for line in ["MULTI", "SET a x", "EXEC"] {
        b.line(line);
    }
    assert_eq!(of_a(&mut b), (1, 15 + 27 + 14, 4 + 5));
    // The busiest first; of the same value the lowest slot.
    let order = |b: &mut Bench, line: &str| {
        let text = b.line(line);
        let slots = text.split("*2\r\n:").skip(1).map(|part| part.split("\r\n").next().unwrap().to_owned());
        slots.collect::<Vec<String>>()
    };
    assert_eq!(order(&mut b, "CLUSTER SLOT-STATS ORDERBY network-bytes-in LIMIT 2"), ["15495", "0"]);
    assert_eq!(order(&mut b, "CLUSTER SLOT-STATS ORDERBY key-count LIMIT 3 DESC"), ["3300", "15495", "0"]);
    assert_eq!(order(&mut b, "CLUSTER SLOT-STATS ORDERBY network-bytes-out ASC LIMIT 1"), ["0"]);
    assert_eq!(
        b.line("CLUSTER SLOT-STATS ORDERBY key-count ASC DESC"),
        "-ERR Multiple filters of the same type are disallowed.\r\n"
    );
    b.line("CONFIG SET cluster-slot-stats-enabled no");
    assert_eq!(
        b.line("CLUSTER SLOT-STATS ORDERBY cpu-usec"),
        "-ERR Unrecognized sort metric for ORDERBY.\r\n"
    );
}

#[test]
fn clients_are_told_what_is_announced_to_them() {
    let mut b = cluster();
    (b.engine.sv.process.tcp_port, b.engine.sv.process.tls_port) = (7000, 7001);
    let ask = |b: &mut Bench, addr: &str, laddr: &str, line: &[&[u8]]| {
        let info = ConnInfo { addr: addr.to_owned(), laddr: laddr.to_owned(), ..ConnInfo::default() };
        let client = b.engine.connect(info);
        let mut out = Vec::new();
        b.engine.execute(client, line, &mut out, &mut NoTicker);
        String::from_utf8(out).unwrap()
    };
    let nodes: &[&[u8]] = &[b"CLUSTER", b"NODES"];
    for line in [
        "CONFIG SET cluster-announce-ip 10.0.0.9 cluster-announce-client-ipv4 10.1.1.1",
        "CONFIG SET cluster-announce-client-ipv6 fd00::7 cluster-announce-client-tls-port 9001",
        "CONFIG SET cluster-announce-port 8000 cluster-announce-bus-port 8100 availability-zone north",
    ] {
        assert_eq!(b.line(line), "+OK\r\n");
    }
    let text = ask(&mut b, "10.2.2.2:50", "10.0.0.1:7000", nodes);
    assert!(text.contains(" 10.1.1.1:8000@8100 myself"), "{text}");
    let text = ask(&mut b, "[fd00::2]:50", "[fd00::1]:7001", nodes);
    assert!(text.contains(" fd00::7:9001@8100 myself"), "{text}");
    let text = ask(&mut b, "10.2.2.2:50", "10.0.0.1:7000", &[b"CLUSTER", b"SHARDS"]);
    for part in ["$4\r\nport\r\n:8000\r\n", "$8\r\ntls-port\r\n:9001\r\n", "$5\r\nnorth\r\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (line, why) in [
        ("cluster-announce-client-ipv4 ::1", "Invalid IPv4 address"),
        ("cluster-announce-client-ipv6 127.0.0.1", "Invalid IPv6 address"),
        ("cluster-announce-ip a,b", "cluster-announce-ip contains invalid character"),
        ("cluster-announce-human-nodename a=b", "Announced human node name contained invalid character"),
    ] {
        let name = line.split(' ').next().unwrap();
        let want = format!("-ERR CONFIG SET failed (possibly related to argument '{name}') - {why}\r\n");
        assert_eq!(b.line(&format!("CONFIG SET {line}")), want);
    }
}

#[test]
fn keys_are_counted_by_slot_whatever_happened_to_them() {
    let mut b = cluster();
    let count = |b: &mut Bench| b.line("CLUSTER COUNTKEYSINSLOT 15495");
    b.line("SET {a}1 x");
    b.line("SET a x");
    b.line("SET b x");
    assert_eq!(count(&mut b), ":2\r\n");
    b.line("RENAME {a}1 {a}2");
    assert_eq!(b.line("CLUSTER GETKEYSINSLOT 15495 0"), "*0\r\n");
    let both = b.line("CLUSTER GETKEYSINSLOT 15495 9");
    assert!(both.starts_with("*2\r\n") && both.contains("{a}2"), "{both}");
    b.line("PEXPIRE a 1");
    b.clock.advance_ms(2);
    b.line("GET a");
    assert_eq!(count(&mut b), ":1\r\n");
    b.line("FLUSHALL");
    assert_eq!(count(&mut b), ":0\r\n");
    assert_eq!(b.line("CLUSTER COUNTKEYSINSLOT 16384"), "-ERR Invalid slot\r\n");
}

#[test]
fn the_node_tells_of_itself_and_keeps_its_slots() {
    let mut b = cluster();
    let id = b.engine.sv.cluster.node.id.clone();
    assert_eq!(b.line("CLUSTER MYID"), format!("$40\r\n{id}\r\n"));
    assert!(b.line("CLUSTER SLOTS").starts_with("*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n"));
    assert!(b.line("CLUSTER NODES").contains(" myself,master - 0 0 0 connected 0-16383\n"));
    assert_eq!(b.line("CLUSTER ADDSLOTS 5"), "-ERR Slot 5 is already busy\r\n");
    for refused in [
        "CLUSTER DELSLOTS 5",
        "CLUSTER DELSLOTSRANGE 5 6",
        "CLUSTER FLUSHSLOTS",
        "CLUSTER MEET 127.0.0.1 7000",
    ] {
        assert!(b.line(refused).starts_with("-ERR This server is a cluster of one node"), "{refused}");
    }
    assert_eq!(b.line("CLUSTER RESET SOFT"), "+OK\r\n");
    assert_eq!(b.engine.sv.cluster.node.id, id);
    assert_eq!(b.line("CLUSTER RESET HARD"), "+OK\r\n");
    assert_ne!(b.engine.sv.cluster.node.id, id);
    b.line("SET a 1");
    assert!(b.line("CLUSTER RESET HARD").contains("can't be called with master nodes containing keys"));
}

#[test]
fn without_cluster_mode_nothing_of_it_is_there() {
    let mut b = Bench::new();
    for line in ["CLUSTER SLOTS", "CLUSTER NODES", "CLUSTER COUNTKEYSINSLOT 1", "ASKING", "CLUSTERSCAN x y"] {
        assert_eq!(b.line(line), "-ERR This instance has cluster support disabled\r\n", "{line}");
    }
    assert_eq!(b.line("MSET a 1 b 2"), "+OK\r\n");
}

/// The cursor and the names of a CLUSTERSCAN.
fn scan(b: &mut Bench, line: &str) -> (String, Vec<String>) {
    let reply = b.line(line);
    let mut lines = reply.split("\r\n");
    assert_eq!(lines.next(), Some("*2"), "{line}: {reply}");
    let texts: Vec<&str> = lines.filter(|line| !line.starts_with(['$', '*']) && !line.is_empty()).collect();
    (texts[0].to_owned(), texts[1..].iter().map(|name| (*name).to_owned()).collect())
}

/// All names of a whole scan, sorted, and the number of its calls.
fn scan_all(b: &mut Bench, options: &str) -> (Vec<String>, usize) {
    let (mut cursor, mut names, mut calls) = ("0".to_owned(), Vec::new(), 0);
    loop {
        let (next, found) = scan(b, &format!("CLUSTERSCAN {cursor} {options}"));
        names.extend(found);
        calls += 1;
        if next == "0" {
            names.sort();
            return (names, calls);
        }
        cursor = next;
    }
}

#[test]
fn a_scan_of_the_cluster_gives_each_key_once() {
    let mut b = cluster();
    let mut keys: Vec<String> = (0..3000).map(|n| format!("key:{n}")).collect();
    keys.sort();
    for key in &keys {
        b.line(&format!("SET {key} v"));
    }
    b.line("RPUSH list a");
    assert_eq!(scan(&mut b, "CLUSTERSCAN 0"), ("0-{06S}-0".to_owned(), vec![]));
    let (names, calls) = scan_all(&mut b, "TYPE string");
    assert_eq!(names, keys);
    assert!((100..=400).contains(&calls), "about ten by call: {calls}");
    assert_eq!(scan_all(&mut b, "TYPE list COUNT 1000").0, ["list"]);
    let some = scan_all(&mut b, "MATCH key:1* COUNT 500").0;
    assert_eq!(some, keys.iter().filter(|key| key.starts_with("key:1")).cloned().collect::<Vec<_>>());
    // From a slot on, as when this node has been given what another one scanned the beginning of.
    let (cursor, late) = scan(&mut b, "CLUSTERSCAN 0-{8YG}-0 COUNT 100000");
    assert_eq!(cursor, "0");
    let slot = |key: &String| totality_ds::crc::key_slot(key.as_bytes());
    let expected = keys.iter().filter(|key| slot(key) >= slot(&"8YG".to_owned())).count();
    assert!(late.iter().all(|key| slot(key) >= slot(&"8YG".to_owned())));
    assert_eq!(late.iter().filter(|key| key.starts_with("key:")).count(), expected);
}

#[test]
fn a_scan_of_one_slot_ends_with_it() {
    let mut b = cluster();
    for n in 0..20_000 {
        b.line(&format!("SET other:{n} v"));
    }
    for n in 0..300 {
        b.line(&format!("SET {{06S}}:{n} v"));
        b.line(&format!("SET {{Qi}}:{n} v"));
    }
    let before = b.line("CLUSTER COUNTKEYSINSLOT 0");
    let (names, calls) = scan_all(&mut b, "SLOT 0");
    assert_eq!(format!(":{}\r\n", names.len()), before);
    assert_eq!(names.iter().filter(|name| name.starts_with("{06S}:")).count(), 300);
    assert!(calls < 60, "{calls}");
    // A pattern whose tag is fixed names its slot.
    assert_eq!(scan(&mut b, "CLUSTERSCAN 0 MATCH {Qi}:*").0, "0-{Qi}-0");
    assert_eq!(scan_all(&mut b, "MATCH {Qi}:* COUNT 50").0.len(), 300);
    // The cursor goes on to the slot of the pattern, and never back.
    assert_eq!(scan(&mut b, "CLUSTERSCAN 0-{06S}-0 MATCH {Qi}-*"), ("0-{Qi}-0".to_owned(), vec![]));
    assert_eq!(scan(&mut b, "CLUSTERSCAN 0-{Qi}-0 MATCH {06S}-*"), ("0".to_owned(), vec![]));
    for cursor in ["0", "0-{06S}-0"] {
        let line = format!("CLUSTERSCAN {cursor} SLOT 0 MATCH {{Qi}}-*");
        assert_eq!(scan(&mut b, &line), ("0".to_owned(), vec![]));
    }
    // What another node said of its own order is begun anew.
    let (cursor, first) = scan(&mut b, "CLUSTERSCAN 0-{06S}-0 SLOT 0");
    let (fingerprint, rest) = cursor.split_once('-').unwrap();
    assert!(fingerprint.len() == 6 && rest.starts_with("{06S}-"), "{cursor}");
    let foreign = format!("CLUSTERSCAN zzzzzz-{rest} SLOT 0");
    assert_eq!(scan(&mut b, &foreign), (cursor.clone(), first.clone()));
    assert_ne!(scan(&mut b, &format!("CLUSTERSCAN {cursor} SLOT 0")).1, first);
    // Keys whose time is over are not given.
    b.line("SET {Qi}:gone v PX 5");
    b.clock.advance_ms(10);
    assert_eq!(scan_all(&mut b, "SLOT 1").0.iter().filter(|name| name.ends_with("gone")).count(), 0);
}

#[test]
fn mistakes_of_a_scan_of_the_cluster() {
    let mut b = cluster();
    for (line, error) in [
        ("CLUSTERSCAN invalid", "Invalid cursor"),
        ("CLUSTERSCAN abc-def-ghi", "Invalid cursor"),
        ("CLUSTERSCAN 0-", "Invalid cursor"),
        ("CLUSTERSCAN 0-{06S}", "Invalid cursor"),
        ("CLUSTERSCAN 0-{06S}-", "Invalid cursor"),
        ("CLUSTERSCAN 00", "Invalid cursor"),
        ("CLUSTERSCAN 0-{06S}-0 UNKNOWNOPTION", "syntax error"),
        ("CLUSTERSCAN 0 COUNT 0", "syntax error"),
        ("CLUSTERSCAN 0 COUNT x", "value is not an integer or out of range"),
        ("CLUSTERSCAN 0 TYPE notatype", "unknown type name 'notatype'"),
        ("CLUSTERSCAN 0 NOVALUES", "NOVALUES option can only be used in HSCAN"),
        ("CLUSTERSCAN 0 SLOT 16384", "Invalid or out of range slot"),
        ("CLUSTERSCAN 0 SLOT -1", "Invalid or out of range slot"),
        ("CLUSTERSCAN 0 SLOT 0 SLOT 0", "SLOT option can only be specified once"),
        ("CLUSTERSCAN 0-{06S}-0 SLOT 1", "Cursor slot mismatch with SLOT argument"),
        ("SCAN 0 SLOT 0", "syntax error"),
        ("COMMAND GETKEYS CLUSTERSCAN 0", "The command has no key arguments"),
    ] {
        assert_eq!(b.line(line), format!("-ERR {error}\r\n"), "{line}");
    }
    for line in ["HSCAN h 0 SLOT 0", "SSCAN s 0 SLOT 0", "ZSCAN z 0 SLOT 0"] {
        b.line("HSET h f v");
        b.line("SADD s m");
        b.line("ZADD z 1 m");
        assert_eq!(b.line(line), "-ERR syntax error\r\n", "{line}");
    }
    // It is routed by its cursor like a key, and reads keys that nobody named.
    b.line("MULTI");
    b.line("SET {06S}a 1");
    b.line("CLUSTERSCAN 0-{Qi}-0");
    assert_eq!(b.line("EXEC"), CROSS_SLOT);
    b.line("CONFIG SET script-undeclared-keys deny");
    let reply = b.run(&["EVAL", "return redis.call('CLUSTERSCAN','0-{06S}-0')", "0"]);
    assert!(reply.contains("accessed keys that it did not declare by 'clusterscan'"), "{reply}");
}
