//! Full syncs over two connections, ours on both sides and beside Valkey where `TOTALITY_VALKEY` names it: the same data
//! whatever is written, cut or limited meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use totality_testkit::client::Client;
use totality_testkit::replicas::{Kind, follow, info, link_up, same, wait_until};
use totality_testkit::server::Server;
use totality_testkit::{Need, skip};

const LONG: Duration = Duration::from_secs(60);

/// Keys of the data set before anything is written.
const KEYS: usize = 3000;

fn line(client: &mut Client, words: &[&str]) -> String {
    let reply = client.call(words).expect("the server answers");
    assert!(!reply.is_error(), "{words:?}: {reply:?}");
    reply.text()
}

fn set(server: &Server, name: &str, value: &str) {
    line(&mut server.client(), &["CONFIG", "SET", name, value]);
}

/// A server with two connections switched on; each key of a snapshot takes it so many microseconds.
fn start(kind: Kind, delay: &str, extra: &[&str]) -> Server {
    let mut args = vec!["--dual-channel-replication-enabled", "yes", "--repl-diskless-sync", "yes"];
    args.extend(["--rdb-key-save-delay", delay, "--repl-timeout", "20"]);
    if kind == Kind::Valkey {
        // It looks after its other connections only after so much of a snapshot.
        args.extend(["--loading-process-events-interval-bytes", "1024"]);
    }
    args.extend(extra);
    kind.start(&args).expect("the server starts")
}

fn filled(kind: Kind, delay: &str, extra: &[&str]) -> Server {
    let server = start(kind, delay, extra);
    line(&mut server.client(), &["DEBUG", "POPULATE", &KEYS.to_string(), "key", "100"]);
    server
}

/// Pairs of primary and replica.
fn pairs(test: &str) -> Vec<(Kind, Kind)> {
    let mut pairs = vec![(Kind::Totality, Kind::Totality)];
    if std::env::var_os("TOTALITY_VALKEY").is_some() {
        pairs.extend([(Kind::Totality, Kind::Valkey), (Kind::Valkey, Kind::Totality)]);
    } else {
        skip(test, "TOTALITY_VALKEY names no program: only our own servers are paired", Need::Optional);
    }
    pairs
}

fn ask(replica: &Server, primary: &Server) {
    line(&mut replica.client(), &["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
}

/// Waits until both connections have begun to do their part.
fn under_way(primary: &Server, replica: &Server) {
    let mut p = primary.client();
    wait_until(
        "two connections",
        LONG,
        || {
            let text = line(&mut p, &["INFO", "replication"]);
            let has = |words: [&str; 2]| text.lines().any(|l| words.iter().all(|word| l.contains(word)));
            has(["state=wait_bgsave", "type=rdb-channel"]) && has(["state=bg_transfer", "type=main-channel"])
        },
        || format!("{}\n--- replica:\n{}", primary.log(), replica.log()),
    );
}

fn number(server: &Server, section: &str, field: &str) -> u64 {
    info(&mut server.client(), section, field).parse().unwrap_or_else(|_| panic!("{field} is no number"))
}

/// Full syncs and partial ones that a primary counted.
fn syncs(server: &Server) -> (u64, u64) {
    (number(server, "stats", "sync_full"), number(server, "stats", "sync_partial_ok"))
}

/// Ends the connection on which `command` was the last thing that was said.
fn kill(server: &Server, command: &str) {
    let mut client = server.client();
    let list = line(&mut client, &["CLIENT", "LIST"]);
    let of = |l: &&str| l.split(' ').any(|word| word == format!("cmd={command}"));
    let found = list.lines().find(of).unwrap_or_else(|| panic!("no {command} in {list}"));
    let id = found.split(' ').next().and_then(|word| word.strip_prefix("id=")).expect("an id");
    line(&mut client, &["CLIENT", "KILL", "ID", id]);
}

/// Writes until it is told to stop; gives how often.
fn write_on(server: &Server, stop: &AtomicBool) -> usize {
    let mut client = server.client();
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        n += 1;
        let (text, key) = (n.to_string(), format!("key:{}", n * 7 % KEYS));
        line(&mut client, &["SELECT", if n % 50 < 25 { "0" } else { "1" }]);
        line(&mut client, &["INCR", "counter"]);
        line(&mut client, &["RPUSH", "list", &text]);
        line(&mut client, &["SET", &key, &text]);
        line(&mut client, &["EVAL", "redis.call('INCR','a') return redis.call('INCR','b')", "0"]);
    }
    n
}

#[test]
fn what_is_written_meanwhile_arrives() {
    for (p, r) in pairs("what_is_written_meanwhile_arrives") {
        for load in ["disabled", "swapdb", "flush-before-load"] {
            let primary = filled(p, "300", &[]);
            let replica = start(r, "0", &["--repl-diskless-load", load]);
            let stop = AtomicBool::new(false);
            let written = std::thread::scope(|scope| {
                let writer = scope.spawn(|| write_on(&primary, &stop));
                follow(&replica, &primary);
                stop.store(true, Ordering::Relaxed);
                writer.join().expect("the writer ends")
            });
            assert!(written > 10, "{p:?} {r:?} {load}: {written}");
            assert!(same(&primary, &replica, load) > KEYS);
            assert_eq!(syncs(&primary), (1, 1), "{p:?} {r:?} {load}: {}", primary.log());
            let mut client = primary.client();
            wait_until(
                "one connection",
                LONG,
                || info(&mut client, "replication", "connected_slaves") == "1",
                || primary.log(),
            );
            let state = info(&mut client, "replication", "slave0");
            assert!(state.contains("state=online") && state.contains("type=replica"), "{state}");
            assert_eq!(number(&primary, "replication", "replicas_waiting_psync"), 0);
            assert_eq!(number(&replica, "replication", "replicas_repl_buffer_size"), 0);
            // From now on it is as ever.
            line(&mut client, &["SET", "later", "1"]);
            kill(&primary, "replconf");
            same(&primary, &replica, "after a cut");
            assert_eq!(syncs(&primary), (1, 2), "{p:?} {r:?} {load}");
        }
    }
}

#[test]
fn one_side_alone_makes_it_one_connection() {
    for (on_primary, on_replica) in [("no", "yes"), ("yes", "no")] {
        let primary = filled(Kind::Totality, "0", &[]);
        let replica = start(Kind::Totality, "0", &[]);
        set(&primary, "dual-channel-replication-enabled", on_primary);
        set(&replica, "dual-channel-replication-enabled", on_replica);
        follow(&replica, &primary);
        assert_eq!(same(&primary, &replica, on_primary), KEYS);
        assert_eq!(syncs(&primary), (1, 0));
    }
    // Nor can a snapshot by way of the disk go over two.
    let primary = filled(Kind::Totality, "0", &["--repl-diskless-sync", "no"]);
    let replica = start(Kind::Totality, "0", &[]);
    follow(&replica, &primary);
    assert_eq!(same(&primary, &replica, "disk"), KEYS);
    assert_eq!(syncs(&primary), (1, 0));
}

#[test]
fn a_cut_of_either_connection_begins_anew() {
    for (p, r) in pairs("a_cut_of_either_connection_begins_anew") {
        for (load, command) in
            [("disabled", "psync"), ("disabled", "sync"), ("swapdb", "psync"), ("swapdb", "sync")]
        {
            let primary = filled(p, "20000", &[]);
            let replica = start(r, "0", &["--repl-diskless-load", load]);
            ask(&replica, &primary);
            under_way(&primary, &replica);
            line(&mut primary.client(), &["SET", "meanwhile", "1"]);
            kill(&primary, command);
            set(&primary, "rdb-key-save-delay", "0");
            link_up(&replica);
            assert_eq!(same(&primary, &replica, command), KEYS + 1, "{p:?} {r:?} {load} {command}");
            // Valkey may have got the whole snapshot before it sees that the other connection is gone.
            let (full, partial) = syncs(&primary);
            assert!(full >= 2 || (r == Kind::Valkey && partial >= 2), "{p:?} {r:?} {load} {command}");
            assert_eq!(number(&primary, "replication", "replicas_waiting_psync"), 0);
        }
    }
}

#[test]
fn a_replica_that_turns_away_leaves_nothing_behind() {
    for (p, r) in pairs("a_replica_that_turns_away_leaves_nothing_behind") {
        let primary = filled(p, "20000", &[]);
        // While it loads a replica cannot be told so.
        let replica = start(r, "0", &["--repl-diskless-load", "disabled"]);
        ask(&replica, &primary);
        under_way(&primary, &replica);
        line(&mut replica.client(), &["REPLICAOF", "NO", "ONE"]);
        let mut client = primary.client();
        wait_until(
            "the end of the snapshot",
            LONG,
            || {
                info(&mut client, "persistence", "rdb_bgsave_in_progress") == "0"
                    && info(&mut client, "replication", "connected_slaves") == "0"
                    && info(&mut client, "replication", "replicas_waiting_psync") == "0"
            },
            || primary.log(),
        );
        line(&mut replica.client(), &["SET", "own", "1"]);
    }
}

#[test]
fn no_more_is_kept_than_the_limit_says() {
    let primary = filled(Kind::Totality, "3000", &[]);
    let limit = 100_000;
    let replica = start(Kind::Totality, "0", &["--replica-full-sync-buffer-limit", &limit.to_string()]);
    ask(&replica, &primary);
    under_way(&primary, &replica);
    let (mut client, big) = (primary.client(), "x".repeat(50_000));
    for n in 0..400 {
        line(&mut client, &["SET", &format!("big:{n}"), &big]);
    }
    wait_until(
        "the limit",
        LONG,
        || replica.log().contains("Replication buffer limit reached (100000 bytes), stopping buffering"),
        || replica.log(),
    );
    let kept = number(&replica, "replication", "replicas_repl_buffer_size");
    let peak = number(&replica, "replication", "replicas_repl_buffer_peak");
    assert!(kept > limit && peak >= kept && peak <= limit + (64 << 10), "{kept} {peak}");
    assert_eq!(number(&replica, "memory", "mem_replicas_repl_buffer"), kept);
    set(&primary, "rdb-key-save-delay", "0");
    link_up(&replica);
    assert_eq!(same(&primary, &replica, "limit"), KEYS + 400);
    assert_eq!(syncs(&primary), (1, 1));
}

/// A replica's connection for the snapshot, by hand; gives what comes after the replies.
fn by_hand(primary: &Server) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", primary.port())).expect("the primary listens");
    socket.set_read_timeout(Some(LONG)).expect("a timeout");
    socket.write_all(b"REPLCONF capa eof rdb-only 1 rdb-channel 1 version 9.0.0\r\n").expect("sent");
    let mut reader = BufReader::new(socket);
    let mut answer = String::new();
    reader.read_line(&mut answer).expect("an answer");
    assert_eq!(answer, "+OK\r\n");
    reader.get_mut().write_all(b"SYNC\r\n").expect("sent");
    reader
}

/// The line that says where the snapshot begins: offset, id and the connection's id.
fn end_offset(reader: &mut BufReader<TcpStream>) -> (String, String, String) {
    let mut text = String::new();
    while text.trim().is_empty() {
        text.clear();
        reader.read_line(&mut text).expect("a line");
    }
    let words: Vec<&str> = text.trim_end().split(' ').collect();
    let offset = words[0].strip_prefix("$ENDOFF:").unwrap_or_else(|| panic!("{text}"));
    assert_eq!((words.len(), words[1].len()), (4, 40), "{text}");
    (offset.to_owned(), words[1].to_owned(), words[3].to_owned())
}

#[test]
fn the_stream_is_kept_for_who_comes_in_time() {
    let primary = filled(Kind::Totality, "0", &["--repl-backlog-size", "1000"]);
    let mut client = primary.client();
    let mut reader = by_hand(&primary);
    let (offset, id, channel) = end_offset(&mut reader);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).expect("the snapshot, and the end");
    assert!(rest.starts_with(b"$EOF:"), "{}", rest[..40].escape_ascii());
    // Much more than the backlog holds.
    for n in 0..100 {
        line(&mut client, &["SET", "k", &format!("{n}{}", "y".repeat(500))]);
    }
    assert_eq!(number(&primary, "replication", "replicas_waiting_psync"), 1);
    let mut main = primary.client();
    assert_eq!(line(&mut main, &["REPLCONF", "capa", "psync2", "set-rdb-client-id", &channel]), "OK");
    let next = (offset.parse::<u64>().expect("an offset") + 1).to_string();
    assert_eq!(line(&mut main, &["PSYNC", &id, &next]), format!("CONTINUE {id}"));
    assert_eq!(number(&primary, "replication", "replicas_waiting_psync"), 0);
    main.set_timeout(Some(LONG)).expect("a timeout");
    let mut seen = 0;
    while seen < 100 {
        let command = main.read().expect("the stream").value;
        seen += usize::from(command.items().first().is_some_and(|name| name.text() == "SET"));
    }
    let again = client.call(&["REPLCONF", "set-rdb-client-id", &channel]).expect("an answer");
    assert_eq!(again.text(), format!("ERR Unrecognized RDB client id {channel}"));
    assert!(again.is_error());
}

#[test]
fn the_stream_is_not_kept_for_ever() {
    let primary = filled(Kind::Totality, "0", &["--repl-backlog-size", "1000"]);
    let mut client = primary.client();
    line(&mut client, &["DEBUG", "DELAY-RDB-CLIENT-FREE-SECONDS", "0"]);
    let mut reader = by_hand(&primary);
    let (_, _, channel) = end_offset(&mut reader);
    reader.read_to_end(&mut Vec::new()).expect("the snapshot, and the end");
    drop(reader);
    let waits = |primary: &Server| number(primary, "replication", "replicas_waiting_psync") > 0;
    wait_until("the end of the time", LONG, || !waits(&primary), || primary.log());
    let log = primary.log();
    assert!(log.contains("Replica main channel failed to establish PSYNC within the grace period"), "{log}");
    let late = client.call(&["REPLCONF", "set-rdb-client-id", &channel]).expect("an answer");
    assert!(late.is_error(), "{late:?}");

    // Nor beyond what may wait for a replica.
    line(&mut client, &["DEBUG", "DELAY-RDB-CLIENT-FREE-SECONDS", "60"]);
    set(&primary, "client-output-buffer-limit", "replica 100kb 0 0");
    set(&primary, "rdb-key-save-delay", "20000");
    let mut reader = by_hand(&primary);
    end_offset(&mut reader);
    assert!(waits(&primary));
    for _ in 0..10 {
        line(&mut client, &["SET", "k", &"z".repeat(50_000)]);
    }
    wait_until("the limit", LONG, || !waits(&primary), || primary.log());
    // The connection goes with it; what is in between does not matter.
    let _ = reader.read_to_end(&mut Vec::new());
    wait_until(
        "the end",
        LONG,
        || info(&mut client, "replication", "connected_slaves") == "0",
        || primary.log(),
    );
}

/// The next command of a replica that comes to a primary played by hand.
fn words(reader: &mut BufReader<TcpStream>) -> Vec<String> {
    let mut text = String::new();
    reader.read_line(&mut text).expect("a line");
    let Some(n) = text.trim_end().strip_prefix('*') else { return vec![text.trim_end().to_owned()] };
    let count: usize = n.parse().expect("a number");
    (0..count)
        .map(|_| {
            let mut pair = [String::new(), String::new()];
            pair.iter_mut().for_each(|part| {
                reader.read_line(part).expect("a line");
            });
            pair[1].trim_end().to_owned()
        })
        .collect()
}

fn say(reader: &mut BufReader<TcpStream>, text: &str) {
    reader.get_mut().write_all(text.as_bytes()).expect("sent");
}

fn accept(listener: &TcpListener) -> BufReader<TcpStream> {
    let (socket, _) = listener.accept().expect("the replica comes");
    socket.set_read_timeout(Some(LONG)).expect("a timeout");
    BufReader::new(socket)
}

/// Answers until the replica asks for the stream, and sends it to another connection; both are given back.
fn to_two_connections(listener: &TcpListener) -> (BufReader<TcpStream>, BufReader<TcpStream>) {
    let mut main = accept(listener);
    loop {
        let words = words(&mut main);
        match words[0].as_str() {
            "PSYNC" => break,
            "PING" => say(&mut main, "+PONG\r\n"),
            _ => {
                let told = words.iter().any(|word| word == "capa");
                assert!(!told || words.iter().any(|word| word == "dual-channel"), "{words:?}");
                say(&mut main, "+OK\r\n");
            }
        }
    }
    say(&mut main, "+DUALCHANNELSYNC\r\n");
    let mut other = accept(listener);
    let told = words(&mut other);
    assert!(told.iter().any(|word| word == "rdb-channel"), "{told:?}");
    say(&mut other, "+OK\r\n");
    assert_eq!(words(&mut other), ["SYNC"]);
    (main, other)
}

/// A replica with a key of its own, that looks for its primary at a socket of ours.
fn replica_of_a_socket() -> (TcpListener, Server) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let replica = start(Kind::Totality, "0", &[]);
    let mut client = replica.client();
    line(&mut client, &["SET", "own", "1"]);
    line(&mut client, &["REPLICAOF", "127.0.0.1", &port]);
    (listener, replica)
}

#[test]
fn a_primary_that_says_nonsense_is_asked_again() {
    let (listener, replica) = replica_of_a_socket();
    let mut client = replica.client();
    let id = "e".repeat(40);
    for answer in ["$ENDOFF:1 short 0 1\r\n", "$ENDOFF:-1 ID 0 1\r\n", "-ERR no\r\n", "$100\r\n"] {
        let (_main, mut other) = to_two_connections(&listener);
        say(&mut other, &answer.replace("ID", &id));
    }
    // A main connection that does not get the stream.
    for answer in [
        "-ERR Unrecognized RDB client id 7\r\n",
        "+OK\r\n+FULLRESYNC ID 1\r\n",
        "+OK\r\n+DUALCHANNELSYNC\r\n",
        "",
    ] {
        let (mut main, mut other) = to_two_connections(&listener);
        say(&mut other, &format!("$ENDOFF:1 {id} 0 7\r\n$EOF:{id}\r\nREDIS00"));
        assert_eq!(words(&mut main), ["REPLCONF", "set-rdb-client-id", "7"]);
        if answer.is_empty() {
            drop(main);
        } else {
            say(&mut main, &answer.replace("ID", &id));
        }
    }
    // It still has what it had, and is well.
    let (_main, _other) = to_two_connections(&listener);
    assert_eq!(line(&mut client, &["GET", "own"]), "1");
    line(&mut client, &["REPLICAOF", "NO", "ONE"]);
    assert_eq!(line(&mut client, &["GET", "own"]), "1");
}

#[test]
fn an_emptied_data_set_is_sent_anew() {
    for dual in ["yes", "no"] {
        for diskless in ["yes", "no"] {
            let primary = filled(Kind::Totality, "20000", &["--repl-diskless-sync", diskless]);
            let replica = start(Kind::Totality, "0", &[]);
            set(&replica, "dual-channel-replication-enabled", dual);
            ask(&replica, &primary);
            let mut client = primary.client();
            wait_until(
                "the snapshot",
                LONG,
                || info(&mut client, "persistence", "rdb_bgsave_in_progress") == "1",
                || primary.log(),
            );
            line(&mut client, &["FLUSHALL"]);
            line(&mut client, &["SET", "new", "1"]);
            link_up(&replica);
            assert_eq!(same(&primary, &replica, "flushed"), 1, "{dual} {diskless}");
            assert_eq!(syncs(&primary).0, 2, "{dual} {diskless}");
        }
    }
}

#[test]
fn a_loaded_snapshot_stays_when_the_stream_does_not_come() {
    let (listener, replica) = replica_of_a_socket();
    let mut client = replica.client();
    let id = "f".repeat(40);
    {
        let (mut main, mut other) = to_two_connections(&listener);
        say(&mut other, &format!("$ENDOFF:1 {id} 0 7\r\n$EOF:{id}\r\n"));
        // A snapshot without keys and without a checksum.
        other.get_mut().write_all(b"REDIS0011\xff\0\0\0\0\0\0\0\0").expect("sent");
        say(&mut other, &id);
        assert_eq!(words(&mut main), ["REPLCONF", "set-rdb-client-id", "7"]);
        say(&mut main, "+OK\r\n");
        assert_eq!(words(&mut main), ["PSYNC", &id, "2"]);
        wait_until(
            "the snapshot",
            LONG,
            || client.call(&["DBSIZE"]).is_ok_and(|reply| reply == totality_testkit::value::Value::Int(0)),
            || replica.log(),
        );
        assert_eq!(info(&mut client, "replication", "master_link_status"), "down");
    }
    // Where it has the data of, it can ask for the rest.
    let mut main = accept(&listener);
    loop {
        let words = words(&mut main);
        match words[0].as_str() {
            "PSYNC" => {
                assert_eq!(words, ["PSYNC", &id, "2"]);
                break;
            }
            "PING" => say(&mut main, "+PONG\r\n"),
            _ => say(&mut main, "+OK\r\n"),
        }
    }
    say(&mut main, "+CONTINUE\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n");
    wait_until(
        "the stream",
        LONG,
        || client.call(&["GET", "k"]).is_ok_and(|reply| reply.text() == "v"),
        || replica.log(),
    );
}
