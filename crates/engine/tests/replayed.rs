//! What is replayed elsewhere is what every server of the family reads: numbers in decimal digits, effects of commands that
//! not all of them have.

mod support;

use support::Bench;
use totality_engine::{ConnInfo, Outgoing};

/// A stream of which two groups have read a part.
const STREAM: &[&str] = &[
    "XADD s 1-1 f v",
    "XADD s 1-2 f v",
    "XADD s 1-3 f v",
    "XADD s 1-4 f v",
    "XGROUP CREATE s g 0",
    "XGROUP CREATE s h 0",
    "XREADGROUP GROUP g ann COUNT 3 STREAMS s >",
    "XREADGROUP GROUP h bob COUNT 2 STREAMS s >",
];

/// What replicas get of some lines, without the SELECT at the beginning.
fn replayed(lines: &[&str]) -> Vec<String> {
    let mut b = Bench::new();
    let replica = b.engine.connect(ConnInfo::default());
    for setup in ["ZADD z 1 a 2 b", "GEOADD g 13.36 38.11 0x1"].iter().chain(STREAM) {
        b.line(setup);
    }
    totality_engine::replication::follow(&mut b.engine.ks, &mut b.engine.sv, replica);
    for line in lines {
        let reply = b.line(line);
        assert!(!reply.starts_with('-'), "{line}: {reply}");
    }
    let mut stream = Vec::new();
    while let Some(out) = b.engine.next_outgoing() {
        if let Outgoing::Reply { client, bytes } = out
            && client == replica
        {
            stream.extend_from_slice(&bytes);
        }
    }
    let text = String::from_utf8(stream).unwrap();
    // Each command begins with `*`, and none of these arguments holds one.
    let words = |command: &str| {
        let lines: Vec<&str> = command.split("\r\n").skip(1).filter(|l| !l.is_empty()).collect();
        lines.chunks(2).map(|pair| pair[1]).collect::<Vec<_>>().join(" ")
    };
    let commands = text.split('*').skip(1).map(words);
    commands.filter(|command| !command.starts_with("SELECT")).collect()
}

#[test]
fn scores_and_weights_are_replayed_in_decimal_digits() {
    assert_eq!(
        replayed(&["ZADD z 0x10 m 2 0x11", "ZINCRBY z -0X1p-1 m", "ZADD z CH GT 0x20 m"]),
        ["ZADD z 16 m 2 0x11", "ZINCRBY z -0.5 m", "ZADD z CH GT 32 m"]
    );
    assert_eq!(
        replayed(&["ZUNIONSTORE u 2 z 0x1 WEIGHTS 0x2 +0x3", "ZINTERSTORE u 1 z WEIGHTS 1 AGGREGATE MAX"]),
        ["ZUNIONSTORE u 2 z 0x1 WEIGHTS 2 3", "ZINTERSTORE u 1 z WEIGHTS 1 AGGREGATE MAX"]
    );
}

#[test]
fn positions_are_replayed_in_decimal_digits() {
    assert_eq!(
        replayed(&[
            "GEORADIUS g 0xd 0x26 0x80 km STORE 0x1",
            "GEORADIUSBYMEMBER g 0x1 0x80 km STOREDIST 0x2",
            "GEOSEARCHSTORE 0x3 g FROMMEMBER 0x1 BYBOX 0x80 0x81 km",
            "GEOSEARCHSTORE 0x3 g FROMLONLAT 0xd 0x26 BYRADIUS 128 km COUNT 1",
        ]),
        [
            "GEORADIUS g 13 38 128 km STORE 0x1",
            "GEORADIUSBYMEMBER g 0x1 128 km STOREDIST 0x2",
            "GEOSEARCHSTORE 0x3 g FROMMEMBER 0x1 BYBOX 128 129 km",
            "GEOSEARCHSTORE 0x3 g FROMLONLAT 13 38 BYRADIUS 128 km COUNT 1",
        ]
    );
}

#[test]
fn what_changes_nothing_and_what_is_decimal_is_left_alone() {
    assert_eq!(replayed(&["ZADD z 0x1 a", "ZADD z XX 0x5 nobody"]), Vec::<String>::new());
    assert_eq!(replayed(&["ZADD z +1e1 c", "ZADD z inf d"]), ["ZADD z +1e1 c", "ZADD z inf d"]);
}

#[test]
fn deleted_and_acknowledged_messages_are_replayed_by_commands_that_all_know() {
    assert_eq!(replayed(&["XDELEX s IDS 2 1-1 9-9", "XDELEX s ACKED IDS 1 1-2"]), ["XDEL s 1-1"]);
    assert_eq!(
        replayed(&["XDELEX s DELREF IDS 3 1-1 1-3 1-4"]),
        ["MULTI", "XACK s g 1-1 1-3", "XACK s h 1-1", "XDEL s 1-1 1-3 1-4", "EXEC"]
    );
    assert_eq!(
        replayed(&["XACKDEL s g IDS 2 1-1 1-4", "XACKDEL s g ACKED IDS 2 1-2 1-3"]),
        ["MULTI", "XACK s g 1-1", "XDEL s 1-1", "EXEC", "XACK s g 1-2 1-3"]
    );
    assert_eq!(
        replayed(&["XACKDEL s g DELREF IDS 2 1-1 1-3", "XACKDEL s none IDS 1 1-2", "XACKDEL s g IDS 1 7-7"]),
        ["MULTI", "XACK s g 1-1 1-3", "XACK s h 1-1", "XDEL s 1-1 1-3", "EXEC"]
    );
}
