//! Replicas: what Redis's own server makes of our stream and snapshots, and what a replica that is only a socket sees.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use totality_testkit::client::Client;
use totality_testkit::oracle::groups::FAMILIES;
use totality_testkit::oracle::template;
use totality_testkit::rng::Rng;
use totality_testkit::server::Server;
use totality_testkit::value::Value;
use totality_testkit::{Need, samples, skip};

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(30);

fn primary(extra: &[&str]) -> Server {
    let mut args = vec!["--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"];
    args.extend(extra);
    Server::totality(&args).expect("our server starts")
}

/// Redis's server as a replica of ours; `None` when it is not installed.
fn redis_replica(test: &str, of: &Server) -> Option<Server> {
    match Server::redis(&["--replicaof", &format!("127.0.0.1 {}", of.port())]) {
        Ok(server) => Some(server),
        Err(e) => {
            skip(test, &format!("no redis-server to be a replica ({e})"), Need::InCi);
            None
        }
    }
}

fn line(client: &mut Client, line: &str) -> Value {
    client.line(line).expect("the server answers")
}

fn ok(client: &mut Client, words: &[&str]) -> Value {
    let reply = client.call(words).expect("the server answers");
    assert!(!reply.is_error(), "{words:?}: {reply:?}");
    reply
}

fn info(client: &mut Client, section: &str, field: &str) -> String {
    let text = ok(client, &["INFO", section]).text();
    let found = text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'));
    found.unwrap_or_default().to_owned()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the replica has all that the primary wrote.
fn caught_up(primary: &mut Client, replica: &mut Client) {
    until("the link", || info(replica, "replication", "master_link_status") == "up");
    let mut offsets = (String::new(), String::new());
    until("the stream", || {
        offsets.0 = info(primary, "replication", "master_repl_offset");
        offsets.1 = info(replica, "replication", "slave_repl_offset");
        offsets.0 == offsets.1
    });
}

type Contents = BTreeMap<(i64, Vec<u8>), (String, Value, Value)>;

/// Type, deadline and content of every key.
fn contents(client: &mut Client, databases: i64) -> Contents {
    let mut out = BTreeMap::new();
    for db in 0..databases {
        ok(client, &["SELECT", &db.to_string()]);
        for key in ok(client, &["KEYS", "*"]).items() {
            let key = key.bytes().unwrap_or_default().to_vec();
            let ask = |client: &mut Client, words: &[&[u8]]| client.call(words).expect("the server answers");
            let kind = ask(client, &[b"TYPE", &key]).text();
            let deadline = ask(client, &[b"PEXPIRETIME", &key]);
            let mut value = match kind.as_str() {
                "none" => continue,
                "string" => ask(client, &[b"GET", &key]),
                "list" => ask(client, &[b"LRANGE", &key, b"0", b"-1"]),
                "set" => ask(client, &[b"SMEMBERS", &key]),
                "hash" => ask(client, &[b"HGETALL", &key]),
                "zset" => ask(client, &[b"ZRANGE", &key, b"0", b"-1"]),
                _ => ask(client, &[b"XINFO", b"STREAM", &key, b"FULL", b"COUNT", b"0"]),
            };
            if kind == "stream" {
                value = Value::Array(stream_facts(&value));
            }
            if let ("set" | "hash", Value::Array(items)) = (kind.as_str(), &mut value) {
                let width = if kind == "hash" { 2 } else { 1 };
                let mut groups: Vec<Vec<Value>> = items.chunks(width).map(<[Value]>::to_vec).collect();
                groups.sort_by_key(|group| group[0].bytes().map(<[u8]>::to_vec));
                *items = groups.concat();
            }
            out.insert((db, key), (kind, deadline, value));
        }
    }
    ok(client, &["SELECT", "0"]);
    out
}

/// Of a stream what does not depend on how it is laid out.
fn stream_facts(full: &Value) -> Vec<Value> {
    let items = full.items();
    let wanted = ["length", "last-generated-id", "max-deleted-entry-id", "entries-added", "entries"];
    let pairs = items.chunks(2).filter(|pair| wanted.contains(&pair[0].text().as_str()));
    pairs.flat_map(<[Value]>::to_vec).collect()
}

fn same(primary: &mut Client, replica: &mut Client, when: &str) {
    caught_up(primary, replica);
    let (ours, theirs) = (contents(primary, 16), contents(replica, 16));
    for (key, value) in &ours {
        assert_eq!(theirs.get(key), Some(value), "{when}: {key:?}");
    }
    assert_eq!(ours.len(), theirs.len(), "{when}");
}

/// One key of each kind, in two databases, and a function.
fn fill(client: &mut Client) {
    let own = [
        "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('f', function(k, a) return redis.call('SET', k[1], a[1]) end)\"",
    ];
    for command in samples::ONE_OF_EACH.into_iter().chain(own) {
        let reply = line(client, command);
        assert!(!reply.is_error(), "{command}: {reply:?}");
    }
}

fn some_writes(client: &mut Client) {
    for command in [
        "EVAL \"redis.call('SET', KEYS[1], 1) redis.call('INCR', KEYS[1])\" 1 by-script",
        "EVAL \"redis.call('SELECT', 2) redis.call('SET', 'k', 'v')\" 0",
        "MULTI",
        "INCR in-multi",
        "SELECT 4",
        "RPUSH in-multi a b",
        "EXEC",
        "SELECT 0",
        "FCALL f 1 by-function v",
        "SPOP words 1",
        "INCRBYFLOAT float 1.1",
        "GETEX str PX 5000000",
        "SET soon x PX 1",
        "DEBUG SLEEP 0.01",
        "GET soon",
        "LMOVE list other LEFT RIGHT",
        "EVAL \"--- @rollback on\\nredis.call('SET', KEYS[1], 'no') error('x')\" 1 rolled-back",
        "XREADGROUP GROUP group bob COUNT 1 STREAMS stream >",
        "XACK stream group 1-1",
        "FUNCTION LOAD REPLACE \"#!lua name=lib\\nredis.register_function('f', function(k, a) return 2 end)\"",
    ] {
        client.line(command).unwrap_or_else(|e| panic!("{command}: {e}"));
    }
}

fn syncs(client: &mut Client) -> [String; 3] {
    ["sync_full", "sync_partial_ok", "sync_partial_err"].map(|field| info(client, "stats", field))
}

#[test]
fn redis_follows_by_snapshot_stream_and_backlog() {
    let server = primary(&[]);
    let mut client = server.client();
    fill(&mut client);
    let Some(redis) = redis_replica("redis_follows_by_snapshot_stream_and_backlog", &server) else { return };
    let mut replica = redis.client();
    same(&mut client, &mut replica, "after the snapshot");
    assert_eq!(line(&mut client, "FUNCTION LIST"), line(&mut replica, "FUNCTION LIST"));
    some_writes(&mut client);
    same(&mut client, &mut replica, "after writes");
    assert_eq!(line(&mut client, "FUNCTION LIST"), line(&mut replica, "FUNCTION LIST"));
    assert_eq!(line(&mut client, "WAIT 1 0"), Value::Int(1));
    assert_eq!(syncs(&mut client), ["1", "0", "0"]);
    assert_eq!(line(&mut client, "CLIENT KILL TYPE replica"), Value::Int(1));
    for i in 0..500 {
        ok(&mut client, &["SET", &format!("after:{i}"), &"x".repeat(i)]);
    }
    same(&mut client, &mut replica, "after a cut");
    assert_eq!(syncs(&mut client), ["1", "1", "0"]);
    // What the backlog does not reach needs another snapshot.
    line(&mut client, "CONFIG SET repl-backlog-size 16384");
    let pid = redis.pid().to_string();
    std::process::Command::new("kill").args(["-STOP", &pid]).status().expect("kill");
    line(&mut client, "CLIENT KILL TYPE replica");
    for i in 0..200 {
        ok(&mut client, &["SET", &format!("lost:{i}"), &"x".repeat(1000)]);
    }
    std::process::Command::new("kill").args(["-CONT", &pid]).status().expect("kill");
    same(&mut client, &mut replica, "after a long cut");
    assert_eq!(syncs(&mut client), ["2", "1", "1"]);
}

#[test]
fn replicas_join_one_snapshot_and_writes_go_on() {
    let server = primary(&["--repl-diskless-sync-delay", "1", "--rdb-key-save-delay", "100"]);
    let mut client = server.client();
    line(&mut client, "DEBUG POPULATE 3000 key 3000");
    let test = "replicas_join_one_snapshot_and_writes_go_on";
    let Some(first) = redis_replica(test, &server) else { return };
    let Some(second) = redis_replica(test, &server) else { return };
    let (mut a, mut b) = (first.client(), second.client());
    let mut i = 0;
    until("both links", || {
        for _ in 0..20 {
            ok(&mut client, &["SET", &format!("key:{}", i % 3000), &i.to_string()]);
            ok(&mut client, &["RPUSH", "list", &i.to_string()]);
            i += 37;
        }
        [&mut a, &mut b].into_iter().all(|c| info(c, "replication", "master_link_status") == "up")
    });
    for replica in [&mut a, &mut b] {
        same(&mut client, replica, "after writes during the snapshot");
    }
    assert_eq!(server.log().matches("Starting BGSAVE for SYNC").count(), 1);
    assert_eq!(line(&mut client, "WAIT 2 0"), Value::Int(2));
}

#[test]
fn redis_follows_from_disk() {
    let server = primary(&["--repl-diskless-sync", "no", "--rdb-version-compat", "10"]);
    let mut client = server.client();
    fill(&mut client);
    let Some(redis) = redis_replica("redis_follows_from_disk", &server) else { return };
    let mut replica = redis.client();
    some_writes(&mut client);
    same(&mut client, &mut replica, "after the snapshot");
    assert!(server.log().contains("target: disk"));
    assert!(server.dir().join("dump.rdb").is_file());
}

#[test]
fn a_snapshot_that_begins_right_after_a_flush_is_made() {
    for diskless in ["yes", "no"] {
        let slow = ["--rdb-key-save-delay", "300000"];
        let server = primary(&[&["--repl-diskless-sync", diskless], slow.as_slice()].concat());
        let mut socket = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // Nothing may be waiting to be sent when the snapshot is asked for.
        let flush = "EVAL \"redis.call('FLUSHALL') redis.call('SET', 'key', 1)\" 0";
        let commands = format!("CLIENT REPLY SKIP\r\n{flush}\r\nSYNC\r\n");
        socket.write_all(commands.as_bytes()).expect("sent");
        let (mut got, mut piece) = (Vec::new(), [0; 4096]);
        while !got.windows(3).any(|w| w == b"key") {
            let n = socket.read(&mut piece).unwrap_or(0);
            assert!(n > 0, "{:?}, then nothing: {}", String::from_utf8_lossy(&got), server.log());
            got.extend_from_slice(&piece[..n]);
        }
    }
}

/// Random commands of all kinds, with cuts in between.
#[test]
fn redis_has_the_same_after_random_commands() {
    let server = primary(&[]);
    let mut client = server.client();
    let Some(redis) = redis_replica("redis_has_the_same_after_random_commands", &server) else { return };
    let mut replica = redis.client();
    caught_up(&mut client, &mut replica);
    let mut rng = Rng::new(11);
    let mut unknown = BTreeMap::new();
    let rounds = std::env::var("TOTALITY_REPLICATION_ROUNDS").ok().and_then(|n| n.parse().ok());
    for round in 0..rounds.unwrap_or(40) {
        let family = &FAMILIES[round % FAMILIES.len()];
        for _ in 0..60 {
            let command = template::expand(rng.pick(family.commands), &mut rng);
            let name = command[0].to_ascii_uppercase();
            let blocks = name.starts_with(b"B") && !name.starts_with(b"BIT");
            let known = *unknown.entry(name.clone()).or_insert_with(|| {
                let words: [&[u8]; 3] = [b"COMMAND", b"INFO", &name];
                let reply = replica.call(&words).expect("the replica answers");
                reply.items().first().is_some_and(|item| !item.items().is_empty())
            });
            if known && !blocks && !matches!(name.as_slice(), b"XREAD" | b"XREADGROUP") {
                client.call(&command).expect("the server answers");
            }
        }
        line(&mut client, "DISCARD");
        if round % 8 == 3 {
            line(&mut client, "CLIENT KILL TYPE replica");
        }
    }
    same(&mut client, &mut replica, "after random commands");
}

/// A replica that is nothing but a socket.
struct Raw(Client, Vec<u8>);

impl Raw {
    fn connect(server: &Server, capabilities: &[&str]) -> Raw {
        let mut client = server.client();
        for capability in capabilities {
            ok(&mut client, &["REPLCONF", "capa", capability]);
        }
        Raw(client, Vec::new())
    }

    fn fill(&mut self) {
        let bytes = self.0.read_some().expect("the server sends");
        self.1.extend_from_slice(&bytes);
    }

    fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.1.windows(2).position(|w| w == b"\r\n") {
                let line: Vec<u8> = self.1.drain(..end + 2).collect();
                return String::from_utf8_lossy(&line).trim().to_owned();
            }
            self.fill();
        }
    }

    /// Asks for the stream and reads a snapshot; gives the stream's name and offset.
    fn full_sync(&mut self) -> (String, u64) {
        self.0.send(&["PSYNC", "?", "-1"]).unwrap();
        let greeting = self.line();
        let words: Vec<&str> = greeting.split(' ').collect();
        assert_eq!((words[0], words.len()), ("+FULLRESYNC", 3), "{greeting}");
        let head = self.line();
        if let Some(mark) = head.strip_prefix("$EOF:") {
            assert_eq!(mark.len(), 40);
            while !self.1.ends_with(mark.as_bytes()) {
                self.fill();
            }
            assert!(self.1.starts_with(b"REDIS00"));
            self.1.clear();
        } else {
            let len: usize = head[1..].parse().unwrap();
            while self.1.len() < len {
                self.fill();
            }
            self.1.drain(..len);
        }
        (words[1].to_owned(), words[2].parse().unwrap())
    }

    fn ack(&mut self, offset: u64) {
        self.0.send(&["REPLCONF", "ACK", &offset.to_string()]).unwrap();
    }

    /// The stream up to a command that holds `last`, words of a command joined by blanks; the pings aside.
    fn commands(&mut self, last: &str) -> Vec<String> {
        let mut out = Vec::new();
        while out.last().is_none_or(|line: &String| !line.contains(last)) {
            let count: usize = self.line()[1..].parse().unwrap();
            let mut words = Vec::new();
            for _ in 0..count {
                let len: usize = self.line()[1..].parse().unwrap();
                while self.1.len() < len + 2 {
                    self.fill();
                }
                let word: Vec<u8> = self.1.drain(..len + 2).take(len).collect();
                words.push(String::from_utf8_lossy(&word).into_owned());
            }
            if words[0] != "PING" && words[0] != "REPLCONF" {
                out.push(words.join(" "));
            }
        }
        out
    }
}

#[test]
fn the_stream_has_units_and_nothing_that_was_taken_back() {
    let server = primary(&[]);
    let mut client = server.client();
    let mut raw = Raw::connect(&server, &["eof", "psync2"]);
    let (_, offset) = raw.full_sync();
    raw.ack(offset);
    line(&mut client, "SET a 1");
    line(&mut client, "EVAL \"redis.call('SET', 'b', 1) redis.call('INCR', 'b') redis.call('GET', 'b')\" 0");
    line(&mut client, "EVAL \"--- @rollback on\\nredis.call('SET', 'c', 1) error('no')\" 0");
    line(&mut client, "EVAL \"redis.set_repl(redis.REPL_NONE) redis.call('SET', 'd', 1)\" 0");
    line(&mut client, "EVAL \"redis.set_repl(redis.REPL_AOF) redis.call('SET', 'd', 2)\" 0");
    line(&mut client, "SELECT 5");
    for command in ["MULTI", "SET e 1", "GET e", "SADD s x", "EXEC", "MULTI", "GET e", "EXEC"] {
        line(&mut client, command);
    }
    line(&mut client, "PUBLISH ch message");
    line(&mut client, "SET last 1");
    assert_eq!(
        raw.commands("last"),
        [
            "SELECT 0",
            "SET a 1",
            "MULTI",
            "SET b 1",
            "INCR b",
            "EXEC",
            "MULTI",
            "SELECT 5",
            "SET e 1",
            "SADD s x",
            "EXEC",
            "PUBLISH ch message",
            "SET last 1"
        ]
    );
}

#[test]
fn a_replica_goes_on_where_it_stopped() {
    let server = primary(&[]);
    let mut client = server.client();
    let mut raw = Raw::connect(&server, &["eof", "psync2"]);
    let (id, offset) = raw.full_sync();
    raw.ack(offset);
    line(&mut client, "SET a 1");
    assert_eq!(raw.commands("a 1"), ["SELECT 0", "SET a 1"]);
    drop(raw);
    until("the end", || info(&mut client, "replication", "connected_slaves") == "0");
    line(&mut client, "SET b 2");
    let next = (offset + 1).to_string();
    let mut again = Raw::connect(&server, &["eof", "psync2"]);
    again.0.send(&["PSYNC", &id, &next]).unwrap();
    assert_eq!(again.line(), format!("+CONTINUE {id}"));
    assert_eq!(again.commands("b 2"), ["SELECT 0", "SET a 1", "SET b 2"]);
    // Without psync2 the name is not told.
    let mut old = Raw::connect(&server, &["eof"]);
    old.0.send(&["PSYNC", &id, &next]).unwrap();
    assert_eq!(old.line(), "+CONTINUE");
    // A name that is not ours, and an offset that is not there.
    for (id, offset) in [("0123456789012345678901234567890123456789", next.as_str()), (&id, "999999999")] {
        let mut other = Raw::connect(&server, &["eof", "psync2"]);
        other.0.send(&["PSYNC", id, offset]).unwrap();
        assert!(other.line().starts_with("+FULLRESYNC"));
    }
    assert_eq!(info(&mut client, "stats", "sync_partial_err"), "2");
    // Who cannot find the end mark gets the length.
    let mut disk = Raw::connect(&server, &["psync2"]);
    disk.full_sync();
}

#[test]
fn a_replica_that_does_not_read_is_dropped() {
    let server = primary(&["--repl-backlog-size", "16kb"]);
    let mut client = server.client();
    let mut raw = Raw::connect(&server, &["eof", "psync2"]);
    let (_, offset) = raw.full_sync();
    raw.ack(offset);
    line(&mut client, "CONFIG SET client-output-buffer-limit \"replica 1mb 0 0\"");
    let value = "x".repeat(100_000);
    until("the end", || {
        ok(&mut client, &["SET", "k", &value]);
        info(&mut client, "replication", "connected_slaves") == "0"
    });
    assert!(server.log().contains("overcoming of output buffer limits"));
    assert_ne!(info(&mut client, "stats", "client_output_buffer_limit_disconnections"), "0");
}

#[test]
fn an_end_waits_for_replicas() {
    let mut server = primary(&["--shutdown-timeout", "1000"]);
    let mut client = server.client();
    let mut raw = Raw::connect(&server, &["eof", "psync2"]);
    let (_, offset) = raw.full_sync();
    raw.ack(offset);
    line(&mut client, "SET a 1");
    raw.commands("a 1");
    let mut asks = server.client();
    asks.send(&["SHUTDOWN"]).unwrap();
    until("the wait", || info(&mut client, "clients", "paused_reason") == "shutdown_in_progress");
    ok(&mut client, &["SHUTDOWN", "ABORT"]);
    assert_eq!(asks.read().unwrap().value.text(), "ERR Errors trying to SHUTDOWN. Check logs.");
    assert_eq!(line(&mut client, "SHUTDOWN ABORT").text(), "ERR No shutdown in progress.");
    line(&mut client, "SET b 2");
    asks.send(&["SHUTDOWN"]).unwrap();
    until("the wait", || info(&mut client, "clients", "paused_reason") == "shutdown_in_progress");
    assert!(server.alive());
    raw.ack(1 << 40);
    let offset: u64 = info(&mut client, "replication", "master_repl_offset").parse().unwrap();
    assert!(offset < 1 << 40);
    raw.commands("b 2");
    // More than there is was acknowledged: only the very offset counts.
    assert!(server.alive());
    drop(raw);
    until("the end", || !server.alive());
}

#[test]
fn writes_need_replicas_that_acknowledge() {
    let server = primary(&[]);
    let mut client = server.client();
    ok(&mut client, &["CONFIG", "SET", "min-replicas-to-write", "1"]);
    const REFUSED: &str = "NOREPLICAS Not enough good replicas to write.";
    assert_eq!(line(&mut client, "SET k v").text(), REFUSED);
    let mut raw = Raw::connect(&server, &["eof", "psync2"]);
    let (_, offset) = raw.full_sync();
    raw.ack(offset);
    until("the replica", || line(&mut client, "SET k v").text() == "OK");
    assert_eq!(info(&mut client, "replication", "min_slaves_good_slaves"), "1");
    assert_eq!(line(&mut client, "WAIT 1 1"), Value::Int(0));
    raw.ack(1 << 40);
    assert_eq!(line(&mut client, "WAIT 1 0"), Value::Int(1));
    assert_eq!(line(&mut client, "WAITAOF 0 1 1").items(), [Value::Int(0), Value::Int(0)]);
    raw.0.send(&["REPLCONF", "ACK", "1", "FACK", "1099511627776"]).unwrap();
    assert_eq!(line(&mut client, "WAITAOF 0 1 0").items(), [Value::Int(0), Value::Int(1)]);
    drop(raw);
    until("the end", || line(&mut client, "SET k v").text() == REFUSED);
}
