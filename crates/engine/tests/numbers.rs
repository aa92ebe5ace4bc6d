//! Numbers in hexadecimal digits: what is replayed elsewhere has them in decimal ones.

mod support;

use support::Bench;
use totality_engine::{ConnInfo, Outgoing};

/// What replicas get of some lines, without the SELECT at the beginning.
fn replayed(lines: &[&str]) -> Vec<String> {
    let mut b = Bench::new();
    let replica = b.engine.connect(ConnInfo::default());
    for setup in ["ZADD z 1 a 2 b", "GEOADD g 13.36 38.11 0x1"] {
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
