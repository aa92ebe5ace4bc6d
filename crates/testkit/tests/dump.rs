//! DUMP and RESTORE between our server and a real `redis-server`, for every type and encoding, in both directions.

use totality_testkit::client::{Client, Command};
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::value::Value;

fn words(parts: &[&str]) -> Command {
    parts.iter().map(|p| p.as_bytes().to_vec()).collect()
}

/// A command with generated words behind the first ones.
fn many(head: &[&str], n: usize, mut each: impl FnMut(usize) -> Vec<String>) -> Command {
    let mut out = words(head);
    (0..n).for_each(|i| out.extend(each(i).into_iter().map(String::into_bytes)));
    out
}

/// Keys with the commands that make them. `same`: the bytes of DUMP must be Redis's own.
fn samples() -> Vec<(&'static str, bool, Vec<Command>)> {
    let long = |i: usize| format!("member-that-is-longer-than-any-limit-of-a-compact-encoding-{i:020}");
    let text = "abcdefghijklmnopqrstuvwxyz".repeat(40);
    let mut all = vec![
        ("str", true, vec![words(&["SET", "str", "hello"])]),
        ("str:int8", true, vec![words(&["SET", "str:int8", "-100"])]),
        ("str:int16", true, vec![words(&["SET", "str:int16", "30000"])]),
        ("str:int32", true, vec![words(&["SET", "str:int32", "-2000000000"])]),
        ("str:int64", true, vec![words(&["SET", "str:int64", "9223372036854775807"])]),
        ("str:long", true, vec![words(&["SET", "str:long", &text])]),
        (
            "str:mixed",
            true,
            vec![words(&[
                "SET",
                "str:mixed",
                &(0..400).map(|i| format!("{},", i * i % 97)).collect::<String>(),
            ])],
        ),
        ("str:random", true, vec![words(&["SET", "str:random", "q8Zk2nVx0LpRt7Ws4Yb1Gd6Hj3Mf9Ac5"])]),
        ("str:empty", true, vec![words(&["SET", "str:empty", ""])]),
        ("list", false, vec![words(&["RPUSH", "list", "a", "1", "-70000", "b"])]),
        ("list:quick", true, vec![many(&["RPUSH", "list:quick"], 3000, |i| vec![format!("element {i}")])]),
        ("list:plain", false, vec![words(&["RPUSH", "list:plain", "x", &text.repeat(20), "y"])]),
        ("set:ints", true, vec![words(&["SADD", "set:ints", "1", "70000", "-5"])]),
        ("set:ints64", true, vec![words(&["SADD", "set:ints64", "1", "-9223372036854775808"])]),
        ("set:small", false, vec![words(&["SADD", "set:small", "a", "b", "3"])]),
        ("set:table", false, vec![many(&["SADD", "set:table"], 500, |i| vec![format!("member {i}")])]),
        ("zset", true, vec![words(&["ZADD", "zset", "1", "a", "2.5", "b", "-inf", "c", "3", "17"])]),
        (
            "zset:tree",
            true,
            vec![many(&["ZADD", "zset:tree"], 300, |i| vec![format!("{}.5", i % 50), long(i)])],
        ),
        ("hash", true, vec![words(&["HSET", "hash", "f", "v", "n", "12", "1", "x"])]),
        ("hash:table", false, vec![many(&["HSET", "hash:table"], 300, |i| vec![format!("f{i}"), long(i)])]),
        (
            "stream",
            true,
            vec![many(&["XADD", "stream", "5-1"], 3, |i| vec![format!("f{i}"), format!("{i}")])],
        ),
    ];
    let mut log: Vec<Command> = (1..250)
        .map(|i| words(&["XADD", "stream:big", &format!("{i}-0"), "temp", &i.to_string(), "unit", "C"]))
        .collect();
    log.push(words(&["XDEL", "stream:big", "7-0", "200-0"]));
    all.push(("stream:big", true, log));
    let mut groups: Vec<Command> =
        (1..20).map(|i| words(&["XADD", "stream:groups", &format!("{i}-0"), "f", "v"])).collect();
    groups.push(words(&["XGROUP", "CREATE", "stream:groups", "g", "0"]));
    groups.push(words(&["XGROUP", "CREATE", "stream:groups", "late", "15-0"]));
    groups.push(words(&["XREADGROUP", "GROUP", "g", "alice", "COUNT", "5", "STREAMS", "stream:groups", ">"]));
    groups.push(words(&["XREADGROUP", "GROUP", "g", "bob", "COUNT", "3", "STREAMS", "stream:groups", ">"]));
    groups.push(words(&["XACK", "stream:groups", "g", "2-0"]));
    all.push(("stream:groups", false, groups));
    all.push(("hll", true, vec![words(&["SETRANGE", "hll", "5", "x"])]));
    all
}

fn call(client: &mut Client, command: &[Vec<u8>]) -> Value {
    client.call(command).expect("the server answers")
}

fn dump(client: &mut Client, key: &str) -> Vec<u8> {
    match call(client, &words(&["DUMP", key])) {
        Value::Bulk(bytes) => bytes,
        other => panic!("DUMP {key}: {other:?}"),
    }
}

/// A server's own fingerprint of a value, whatever its encoding.
fn digest(client: &mut Client, key: &str) -> Value {
    call(client, &words(&["DEBUG", "DIGEST-VALUE", key]))
}

fn restore(client: &mut Client, key: &str, payload: Vec<u8>) {
    let mut command = words(&["RESTORE", key, "0"]);
    command.push(payload);
    command.push(b"REPLACE".to_vec());
    assert_eq!(call(client, &command), Value::Status(b"OK".to_vec()), "RESTORE {key}");
}

fn pair(test: &str) -> Option<(Server, Server)> {
    let theirs = oracle_or_skip(test)?;
    let ours = Server::totality(&["--enable-debug-command", "yes", "--rdb-version-compat", "10"]);
    Some((ours.expect("our server starts"), theirs))
}

#[test]
fn every_value_travels_both_ways() {
    let Some((ours, theirs)) = pair("dump") else { return };
    let (mut a, mut b) = (ours.client(), theirs.client());
    for (key, same, commands) in samples() {
        for command in &commands {
            for client in [&mut a, &mut b] {
                let reply = call(client, command);
                assert!(!matches!(reply, Value::Error(_)), "{key}: {reply:?}");
            }
        }
        let (mine, other) = (dump(&mut a, key), dump(&mut b, key));
        if same {
            assert_eq!(mine, other, "DUMP of {key} has Redis's bytes");
        }
        let (at_ours, at_theirs) = (digest(&mut a, key), digest(&mut b, key));
        restore(&mut b, key, mine.clone());
        assert_eq!(at_theirs, digest(&mut b, key), "{key}: ours restored by Redis");
        restore(&mut a, key, other);
        assert_eq!(at_ours, digest(&mut a, key), "{key}: theirs restored by us");
        restore(&mut a, key, mine.clone());
        assert_eq!(dump(&mut a, key).len(), mine.len(), "{key}: ours restored by us");
        assert_eq!(at_ours, digest(&mut a, key), "{key}: ours restored by us");
    }
}

#[test]
fn no_byte_of_a_payload_may_be_changed() {
    let Some((ours, _)) = pair("dump of changed bytes") else { return };
    let mut client = ours.client();
    for (key, _, commands) in samples() {
        commands.iter().for_each(|command| drop(call(&mut client, command)));
        let payload = dump(&mut client, key);
        let step = (payload.len() / 40).max(1);
        for at in (0..payload.len()).step_by(step) {
            let mut bad = payload.clone();
            bad[at] ^= 0x55;
            let mut command = words(&["RESTORE", "bad", "0"]);
            command.push(bad);
            match call(&mut client, &command) {
                Value::Error(text) => assert_eq!(
                    String::from_utf8_lossy(&text),
                    "ERR DUMP payload version or checksum are wrong",
                    "{key}"
                ),
                other => panic!("{key}: byte {at} changed: {other:?}"),
            }
        }
    }
}

#[test]
fn functions_travel_both_ways() {
    let Some((ours, theirs)) = pair("dump of functions") else { return };
    let code = "#!lua name=lib\nredis.register_function('f', function() return 'yes' end)";
    for (from, to) in [(&ours, &theirs), (&theirs, &ours)] {
        let (mut from, mut to) = (from.client(), to.client());
        for client in [&mut from, &mut to] {
            call(client, &words(&["FUNCTION", "FLUSH"]));
        }
        call(&mut from, &words(&["FUNCTION", "LOAD", code]));
        let Value::Bulk(payload) = call(&mut from, &words(&["FUNCTION", "DUMP"])) else { panic!() };
        let with = |policy: &[&str]| {
            let mut command = words(&["FUNCTION", "RESTORE"]);
            command.push(payload.clone());
            command.extend(words(policy));
            command
        };
        let ok = Value::Status(b"OK".to_vec());
        assert_eq!(call(&mut to, &with(&[])), ok);
        assert_eq!(call(&mut to, &words(&["FCALL", "f", "0"])), Value::Bulk(b"yes".to_vec()));
        let taken = Value::Error(b"ERR Library lib already exists".to_vec());
        assert_eq!(call(&mut to, &with(&["APPEND"])), taken);
        assert_eq!(call(&mut to, &with(&["REPLACE"])), ok);
        assert_eq!(call(&mut to, &with(&["FLUSH"])), ok);
        assert_eq!(call(&mut to, &words(&["FCALL", "f", "0"])), Value::Bulk(b"yes".to_vec()));
    }
}

/// MIGRATE of one key between two servers.
fn migrate(from: &mut Client, to: &Server, key: &str) -> Value {
    let port = to.port().to_string();
    call(from, &words(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000", "REPLACE"]))
}

#[test]
fn keys_move_to_redis_and_back() {
    let Some(theirs) = oracle_or_skip("MIGRATE") else { return };
    let ours = Server::totality(&["--enable-debug-command", "yes"]).expect("our server starts");
    let (mut a, mut b) = (ours.client(), theirs.client());
    let ok = Value::Status(b"OK".to_vec());
    for (key, _, commands) in samples() {
        commands.iter().for_each(|command| drop(call(&mut a, command)));
        commands.iter().for_each(|command| drop(call(&mut b, command)));
        let (before, at_theirs) = (digest(&mut a, key), digest(&mut b, key));
        if key.starts_with("stream") {
            // The format of 7.2 says when a consumer was last active: 7.0 does not read it, and the key stays.
            let refused =
                "ERR Target instance replied with error: ERR DUMP payload version or checksum are wrong";
            assert_eq!(migrate(&mut a, &theirs, key), Value::Error(refused.into()), "{key}");
            assert_eq!(before, digest(&mut a, key), "{key} stays");
            call(&mut a, &words(&["CONFIG", "SET", "rdb-version-compat", "10"]));
        }
        assert_eq!(migrate(&mut a, &theirs, key), ok, "{key} to Redis");
        call(&mut a, &words(&["CONFIG", "SET", "rdb-version-compat", "11"]));
        assert_eq!(call(&mut a, &words(&["EXISTS", key])), Value::Int(0), "{key} is gone");
        assert_eq!(at_theirs, digest(&mut b, key), "{key} at Redis");
        assert_eq!(migrate(&mut b, &ours, key), ok, "{key} back");
        assert_eq!(before, digest(&mut a, key), "{key} is back");
    }
}
