//! Totality as a replica: of a real `redis-server`, through cut links, and in all that a replica answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use totality_testkit::client::Client;
use totality_testkit::count;
use totality_testkit::replicas::{
    Kind, Plan, follow, in_step, info, link_up, run, run_chain, same, wait_until,
};
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::value::Value;

const LONG: Duration = Duration::from_secs(30);

fn line(client: &mut Client, line: &str) -> String {
    shown(&client.line(line).expect("the server answers"))
}

/// The elements of a reply, one after the other.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        other => other.text(),
    }
}

fn ours(extra: &[&str]) -> Server {
    Kind::Totality.start(extra).expect("our server starts")
}

/// A replica of ours with its primary, a real `redis-server`.
fn pair(test: &str, extra: &[&str]) -> Option<(Server, Server)> {
    oracle_or_skip(test)?;
    let primary = Kind::Redis.start(&[]).expect("the primary starts");
    let replica = ours(extra);
    Some((primary, replica))
}

#[test]
fn random_commands_arrive_through_cut_links() {
    if oracle_or_skip("replica of redis-server").is_none() {
        return;
    }
    let report = run(Kind::Redis, Kind::Totality, Plan { commands: 6000, cuts: 8, seed: 11 });
    println!("{report:?}");
    assert!(report.syncs.0 >= 3 && report.syncs.1 >= 4, "full and partial synchronizations: {report:?}");
    count("replica of redis-server", report.keys);
}

#[test]
fn a_replica_answers_as_a_replica() {
    let Some((primary, replica)) = pair("answers of a replica", &[]) else { return };
    let mut p = primary.client();
    line(&mut p, "SET k v");
    follow(&replica, &primary);
    in_step(&primary, &replica);
    let mut r = replica.client();
    assert_eq!(line(&mut r, "GET k"), "v");
    let refused = "READONLY You can't write against a read only replica.";
    assert_eq!(line(&mut r, "SET k w"), refused);
    assert_eq!(line(&mut r, "MULTI"), "OK");
    assert_eq!(line(&mut r, "SET k w"), refused);
    assert!(line(&mut r, "EXEC").starts_with("EXECABORT"));
    let script = "EVAL \"return redis.call('SET',KEYS[1],'w')\" 1 k";
    assert!(line(&mut r, script).starts_with(refused), "{}", line(&mut r, script));
    let flagged = "EVAL \"#!lua\nreturn redis.call('SET',KEYS[1],'w')\" 1 k";
    assert_eq!(line(&mut r, flagged), "READONLY You can't write against a read only replica.");
    assert_eq!(line(&mut r, "EVAL \"return redis.call('GET',KEYS[1])\" 1 k"), "v");
    assert!(line(&mut r, "WAIT 0 0").starts_with("ERR WAIT cannot be used with replica instances."));
    let role = r.line("ROLE").expect("ROLE").items();
    let role: Vec<String> = role.iter().map(shown).collect();
    assert_eq!(role[..4], ["slave", "127.0.0.1", &primary.port().to_string(), "connected"]);
    let info_text = line(&mut r, "INFO replication");
    for field in [
        "role:slave",
        "master_link_status:up",
        "master_sync_in_progress:0",
        "slave_read_only:1",
        "slave_priority:100",
    ] {
        assert!(info_text.contains(field), "{field}: {info_text}");
    }
    let list = line(&mut r, "CLIENT LIST TYPE master");
    assert!(list.contains("flags=M") && list.lines().count() == 1, "{list}");
    assert_eq!(
        line(&mut r, &format!("REPLICAOF 127.0.0.1 {}", primary.port())),
        "OK Already connected to specified master"
    );
    assert_eq!(
        line(&mut r, "CONFIG GET replicaof"),
        line(&mut r, "CONFIG GET slaveof").replace("slaveof", "replicaof")
    );
    // Published messages travel.
    let mut s = replica.client();
    line(&mut s, "SUBSCRIBE news");
    line(&mut p, "PUBLISH news hello");
    assert!(s.read().expect("a message").value.items()[2].text() == "hello");
    // A primary again, it takes writes and keeps what it has.
    assert_eq!(line(&mut r, "REPLICAOF NO ONE"), "OK");
    assert_eq!(line(&mut r, "SET k w"), "OK");
    assert!(line(&mut r, "INFO replication").contains("role:master"));
    assert_eq!(line(&mut p, "GET k"), "v");
}

#[test]
fn keys_expire_when_the_primary_says_so() {
    let Some((primary, replica)) = pair("expiry on a replica", &[]) else { return };
    follow(&replica, &primary);
    let (mut p, mut r) = (primary.client(), replica.client());
    line(&mut p, "DEBUG SET-ACTIVE-EXPIRE 0");
    line(&mut p, "SET k v PX 50");
    line(&mut p, "SET other v");
    in_step(&primary, &replica);
    wait_until("the end of k", LONG, || line(&mut r, "EXISTS k") == "0", String::new);
    assert_eq!(line(&mut r, "GET k"), "");
    // It is there still, for the primary has not deleted it.
    assert_eq!(line(&mut r, "DBSIZE"), "2");
    assert_eq!(line(&mut r, "KEYS *"), "other");
    assert_eq!(line(&mut p, "GET k"), "");
    in_step(&primary, &replica);
    assert_eq!(line(&mut r, "DBSIZE"), "1");
}

#[test]
fn old_data_is_served_or_not() {
    let Some((mut primary, replica)) = pair("stale data", &["--repl-timeout", "60"]) else { return };
    line(&mut primary.client(), "SET k v");
    follow(&replica, &primary);
    in_step(&primary, &replica);
    let mut r = replica.client();
    assert!(primary.terminate());
    wait_until(
        "the loss of the link",
        LONG,
        || info(&mut r, "replication", "master_link_status") == "down",
        String::new,
    );
    assert_eq!(line(&mut r, "GET k"), "v");
    line(&mut r, "CONFIG SET replica-serve-stale-data no");
    let down = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    assert_eq!(line(&mut r, "GET k"), down);
    assert_eq!(line(&mut r, "EVAL \"return 1\" 0"), down);
    assert_eq!(line(&mut r, "PING"), down);
    assert!(line(&mut r, "INFO replication").contains("master_link_down_since_seconds:"));
    assert_eq!(line(&mut r, "REPLICAOF NO ONE"), "OK");
    assert_eq!(line(&mut r, "GET k"), "v");
}

#[test]
fn those_who_wait_are_sent_away() {
    let Some((primary, replica)) = pair("blocked clients", &[]) else { return };
    let mut waiting = replica.client();
    waiting.send(&["BLPOP", "list", "0"]).expect("BLPOP");
    let mut r = replica.client();
    wait_until("a waiting client", LONG, || info(&mut r, "clients", "blocked_clients") == "1", String::new);
    follow(&replica, &primary);
    let text = waiting.read().expect("an answer").value.text();
    assert_eq!(
        text,
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
    );
}

#[test]
fn a_password_and_a_configuration_file_make_a_replica() {
    if oracle_or_skip("replica with a password").is_none() {
        return;
    }
    let primary = Kind::Redis.start(&["--requirepass", "secret"]).expect("the primary starts");
    let mut p = primary.client();
    line(&mut p, "AUTH secret");
    line(&mut p, "SET k v");
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("r.conf");
    std::fs::write(&file, format!("masterauth secret\nslaveof 127.0.0.1 {}\n", primary.port()))
        .expect("a file");
    let program = totality_testkit::server::totality_binary().expect("the program");
    let start = || {
        Server::start(&[&program.to_string_lossy(), "serve", &file.to_string_lossy()], &[])
            .expect("it starts")
    };
    let replica = start();
    link_up(&replica);
    let mut r = replica.client();
    wait_until("the data", LONG, || line(&mut r, "GET k") == "v", String::new);
    assert_eq!(line(&mut r, "REPLICAOF NO ONE"), "OK");
    assert_eq!(line(&mut r, "CONFIG REWRITE"), "OK");
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(!text.contains("slaveof") && !text.contains("replicaof"), "{text}");
    assert_eq!(line(&mut r, &format!("SLAVEOF 127.0.0.1 {}", primary.port())), "OK");
    assert_eq!(line(&mut r, "CONFIG REWRITE"), "OK");
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(text.contains(&format!("replicaof 127.0.0.1 {}", primary.port())), "{text}");
    // A wrong password keeps the link down, and the log says why.
    line(&mut r, "CONFIG SET masterauth wrong");
    wait_until(
        "the refusal",
        LONG,
        || {
            // Again and again: a link that is being made is not yet a replica's.
            line(&mut p, "CLIENT KILL TYPE replica");
            replica.log().contains("Unable to AUTH to PRIMARY: -WRONGPASS")
        },
        || replica.log(),
    );
}

#[test]
fn the_data_set_arrives_however_it_is_sent_and_kept() {
    if oracle_or_skip("ways of a full synchronization").is_none() {
        return;
    }
    for diskless in ["yes", "no"] {
        let primary = Kind::Redis.start(&["--repl-diskless-sync", diskless]).expect("the primary starts");
        let mut p = primary.client();
        line(&mut p, "DEBUG POPULATE 20000 key 100");
        line(
            &mut p,
            "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function{function_name='f', callback=function() return 'yes' end, flags={'no-writes'}}\"",
        );
        line(&mut p, "SELECT 2");
        line(&mut p, "RPUSH list a b c");
        for load in ["disabled", "on-empty-db", "swapdb", "flush-before-load"] {
            let replica = ours(&["--repl-diskless-load", load]);
            let mut r = replica.client();
            line(&mut r, "SET old data");
            follow(&replica, &primary);
            assert_eq!(same(&primary, &replica, load), 20_001, "{diskless} {load}");
            assert_eq!(line(&mut r, "FCALL f 0"), "yes");
            let left = std::fs::read_dir(replica.dir()).expect("the directory");
            let left = left.flatten().filter(|e| e.file_name().to_string_lossy().ends_with(".rdb")).count();
            // What came by way of a file is the server's own snapshot now, as with Redis; nothing else is left.
            let kept = matches!(load, "disabled" | "on-empty-db");
            assert_eq!((left, replica.dir().join("dump.rdb").exists()), (usize::from(kept), kept), "{load}");
        }
    }
}

#[test]
fn a_replica_that_logs_has_the_new_data_in_its_log() {
    let Some((primary, replica)) = pair("append-only file of a replica", &["--appendonly", "yes"]) else {
        return;
    };
    let (mut p, mut r) = (primary.client(), replica.client());
    line(&mut r, "SET old data");
    line(&mut p, "RPUSH list a b c");
    follow(&replica, &primary);
    line(&mut p, "MULTI");
    line(&mut p, "INCR n");
    line(&mut p, "RPUSH list d");
    line(&mut p, "EXEC");
    in_step(&primary, &replica);
    wait_until(
        "the new base",
        LONG,
        || {
            info(&mut r, "persistence", "aof_rewrite_in_progress") == "0"
                && info(&mut r, "persistence", "aof_rewrite_scheduled") == "0"
        },
        || replica.log(),
    );
    line(&mut p, "INCR n");
    in_step(&primary, &replica);
    assert_eq!(line(&mut r, "DEBUG LOADAOF"), "OK");
    assert_eq!(line(&mut r, "EXISTS old"), "0");
    assert_eq!(line(&mut r, "GET n"), "2");
    assert_eq!(line(&mut r, "LLEN list"), "4");
}

#[test]
fn a_chain_stays_one_data_set_whoever_leads() {
    if oracle_or_skip("chain with redis-server").is_none() {
        return;
    }
    let plan = Plan { commands: 2400, cuts: 4, seed: 5 };
    let report = run_chain([Kind::Redis, Kind::Totality, Kind::Redis], plan);
    println!("{report:?}");
    // Each began with a snapshot; what was cut went on.
    assert!(report.syncs.1 >= 4, "partial synchronizations: {report:?}");
    count("chain with redis-server", report.keys);
}

/// Plays a primary up to the answer to PSYNC.
fn play_primary(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("the replica comes");
    stream.set_nodelay(true).expect("no delay");
    let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    let mut word = move || lines.next().expect("more of the handshake").expect("a line");
    loop {
        let count: usize = word()[1..].parse().expect("a number of words");
        let words: Vec<String> = (0..count).map(|_| (word(), word()).1).collect();
        let reply = match words[0].to_lowercase().as_str() {
            "psync" => format!("+FULLRESYNC {} 1\r\n", "a".repeat(40)),
            _ => "+OK\r\n".to_owned(),
        };
        (&stream).write_all(reply.as_bytes()).expect("an answer");
        if words[0].eq_ignore_ascii_case("psync") {
            return stream;
        }
    }
}

#[test]
fn a_data_set_is_taken_in_while_it_comes_and_refused_when_it_is_damaged() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let server = ours(&["--repl-diskless-load", "swapdb", "--save", ""]);
    let mut client = server.client();
    line(&mut client, "SET old data");
    let good = b"REDIS0011\xfe\x00\x00\x04seed\x05value\xff\0\0\0\0\0\0\0\0";
    let mark = "m".repeat(40);
    let marked = |body: &[u8]| [format!("$EOF:{mark}\r\n").as_bytes(), body, mark.as_bytes()].concat();
    let sized = |n: usize, body: &[u8]| [format!("${n}\r\n").as_bytes(), body].concat();
    let damaged = [
        marked(&[&good[..], b"junk"].concat()),
        marked(&good[..20]),
        marked(b"no snapshot at all"),
        marked(&[&good[..9], b"\xfa\x81", &[0x7f; 8], &[b'x'; 5000]].concat()),
        sized(good.len() + 5, &[&good[..], b"12345"].concat()),
        sized(3, b"abc"),
    ];
    assert_eq!(line(&mut client, &format!("REPLICAOF 127.0.0.1 {port}")), "OK");
    for bytes in &damaged {
        let mut primary = play_primary(&listener);
        primary.write_all(bytes).expect("a data set");
        // The replica hangs up; what it had is there.
        let gone = primary.read(&mut [0; 64]);
        assert!(matches!(gone, Ok(0) | Err(_)), "{}: {gone:?}", bytes.escape_ascii());
        assert_eq!(line(&mut client, "GET old"), "data", "{}", bytes.escape_ascii());
    }
    let mut primary = play_primary(&listener);
    let bytes = sized(good.len(), good);
    let (first, rest) = bytes.split_at(20);
    primary.write_all(first).expect("the head");
    wait_until(
        "the state of loading",
        Duration::from_secs(10),
        || info(&mut client, "persistence", "loading") == "1",
        || server.log(),
    );
    for byte in rest {
        primary.write_all(&[*byte]).expect("a byte");
    }
    wait_until(
        "the new data set",
        Duration::from_secs(10),
        || line(&mut client, "GET seed") == "value",
        || server.log(),
    );
    assert_eq!(line(&mut client, "DBSIZE"), "1");
}

#[test]
fn a_replica_comes_from_the_address_that_it_is_told() {
    let primary = ours(&[]);
    let to = format!("127.0.0.1 {}", primary.port());
    let replica = ours(&["--bind-source-addr", "127.0.0.2", "--replicaof", &to]);
    let mut client = primary.client();
    wait_until(
        "the replica",
        Duration::from_secs(30),
        || line(&mut client, "INFO replication").contains("slave0:ip=127.0.0.2,"),
        || replica.log(),
    );
}

#[test]
fn what_comes_from_the_primary_is_counted() {
    let primary = ours(&["--rdbcompression", "no"]);
    let mut client = primary.client();
    line(&mut client, &format!("SET before {}", "x".repeat(50_000)));
    for load in ["disabled", "swapdb"] {
        let to = format!("127.0.0.1 {}", primary.port());
        let replica = ours(&["--repl-diskless-load", load, "--replicaof", &to]);
        let mut follower = replica.client();
        let counted = |follower: &mut Client| -> u64 {
            info(follower, "stats", "total_net_repl_input_bytes").parse().expect("a number")
        };
        wait_until(
            "the link",
            Duration::from_secs(30),
            || info(&mut follower, "replication", "master_link_status") == "up",
            || replica.log(),
        );
        let snapshot = counted(&mut follower);
        assert!(snapshot > 50_000, "{load}: {snapshot}");
        line(&mut client, &format!("SET after {}", "y".repeat(100_000)));
        line(&mut client, "WAIT 1 0");
        let stream = counted(&mut follower) - snapshot;
        assert!(stream > 100_000, "{load}: {stream}");
    }
}
