//! What was acknowledged is there after a restart, whatever ended the server, and Redis reads the same files.

use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};
use totality_testkit::client::Client;
use totality_testkit::samples;
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::value::Value;

fn start(dir: &Path, extra: &[&str]) -> Server {
    let dir = dir.to_string_lossy().into_owned();
    let mut args = vec!["--dir", &dir, "--enable-debug-command", "yes"];
    args.extend(extra);
    Server::totality(&args).expect("our server starts")
}

fn line(client: &mut Client, line: &str) -> Value {
    client.line(line).expect("the server answers")
}

fn digest(client: &mut Client) -> String {
    line(client, "DEBUG DIGEST").text()
}

/// One key of each kind.
fn fill(client: &mut Client) {
    let own = [
        "SET long aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('f', function() return 'yes' end)\"",
    ];
    for command in samples::ONE_OF_EACH.into_iter().chain(own) {
        let reply = line(client, command);
        assert!(!matches!(reply, Value::Error(_)), "{command}: {reply:?}");
    }
}

fn wait_for(client: &mut Client, field: &str) {
    let began = Instant::now();
    while !line(client, "INFO persistence").text().contains(field) {
        assert!(began.elapsed() < Duration::from_secs(20), "{field} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_snapshot_is_loaded_at_start() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path(), &[]);
    let mut client = server.client();
    fill(&mut client);
    line(&mut client, "HPEXPIRE hash 9999999 FIELDS 1 f");
    let before = digest(&mut client);
    assert_eq!(line(&mut client, "SAVE").text(), "OK");
    drop(server);
    let server = start(dir.path(), &[]);
    let mut client = server.client();
    assert_eq!(digest(&mut client), before);
    assert_eq!(line(&mut client, "FCALL f 0").text(), "yes");
    assert!(matches!(line(&mut client, "PTTL timed"), Value::Int(1..)));
    line(&mut client, "SET more 1");
    let before = digest(&mut client);
    assert_eq!(line(&mut client, "BGSAVE").text(), "Background saving started");
    wait_for(&mut client, "rdb_bgsave_in_progress:0");
    line(&mut client, "SET lost 1");
    drop(server);
    let server = start(dir.path(), &[]);
    assert_eq!(digest(&mut server.client()), before);
}

#[test]
fn an_append_only_file_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut digests = Vec::new();
    for round in 0..4 {
        let server = start(dir.path(), &options);
        let mut client = server.client();
        if let Some(before) = digests.last() {
            assert_eq!(&digest(&mut client), before, "round {round}");
        }
        fill_if_empty(&mut client);
        for command in [
            "INCR counter",
            "MULTI",
            "RPUSH list x",
            "LPOP list",
            "EXEC",
            "EVAL \"redis.call('INCR','a') redis.call('INCR','b') return 1\" 0",
            "EXPIRE counter 1000",
            "SPOP words",
            "HINCRBYFLOAT hash n 1.5",
            "XADD stream * f x",
            "HPEXPIRE hash 1000000 FIELDS 1 g",
        ] {
            line(&mut client, command);
        }
        if round == 1 {
            assert_eq!(
                line(&mut client, "BGREWRITEAOF").text(),
                "Background append only file rewriting started"
            );
            line(&mut client, "INCR during");
            wait_for(&mut client, "aof_rewrite_in_progress:0");
        }
        digests.push(digest(&mut client));
        // Dropping it kills it.
        drop(server);
    }
    let files = std::fs::read_dir(dir.path().join("appendonlydir")).unwrap().count();
    assert_eq!(files, 3, "a base, commands, and the manifest");
}

#[test]
fn a_log_that_was_rewritten_while_it_was_off_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path(), &["--appendonly", "yes"]);
    let mut client = server.client();
    for round in 0..3 {
        line(&mut client, "CONFIG SET appendonly no");
        line(&mut client, "BGREWRITEAOF");
        wait_for(&mut client, "aof_rewrite_in_progress:0");
        line(&mut client, "CONFIG SET appendonly yes");
        wait_for(&mut client, "aof_rewrite_scheduled:0");
        wait_for(&mut client, "aof_rewrite_in_progress:0");
        line(&mut client, &format!("SET key:{round} v"));
    }
    let before = digest(&mut client);
    drop(server);
    let server = start(dir.path(), &["--appendonly", "yes"]);
    assert_eq!(digest(&mut server.client()), before);
}

fn fill_if_empty(client: &mut Client) {
    if line(client, "DBSIZE") == Value::Int(0) {
        fill(client);
    }
}

#[test]
fn a_cut_log_loses_no_half_unit() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path(), &["--appendonly", "yes", "--appendfsync", "always"]);
    let mut client = server.client();
    line(&mut client, "SET a 1");
    line(&mut client, "EVAL \"redis.call('INCR','a') redis.call('INCR','a')\" 0");
    drop(server);
    let log = dir.path().join("appendonlydir/appendonly.aof.1.incr.aof");
    let whole = std::fs::read(&log).unwrap();
    for cut in (1..60).chain([whole.len() - 40]) {
        std::fs::write(&log, &whole[..whole.len() - cut]).unwrap();
        let server = start(dir.path(), &["--appendonly", "yes"]);
        let mut client = server.client();
        assert_eq!(line(&mut client, "GET a").text(), "1", "{cut} bytes cut");
        assert_eq!(line(&mut client, "INCR b"), Value::Int(1));
        drop(server);
        if cut > 8 {
            break;
        }
    }
    std::fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    let path = dir.path().to_string_lossy().into_owned();
    let refused = Server::totality(&["--dir", &path, "--appendonly", "yes", "--aof-load-truncated", "no"]);
    let why = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(why.contains("Unexpected end of file reading the append only file"), "{why}");
}

#[test]
fn a_damaged_file_and_a_directory_in_use_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path(), &[]);
    let mut client = server.client();
    fill(&mut client);
    line(&mut client, "SAVE");
    let path = dir.path().to_string_lossy().into_owned();
    let second = Server::totality(&["--dir", &path, "--save", "1 1"]).err().map(|e| e.to_string());
    assert!(second.unwrap_or_default().contains("another process keeps its data in this directory"));
    drop(server);
    let file = dir.path().join("dump.rdb");
    let good = std::fs::read(&file).unwrap();
    let mut bad = good.clone();
    let middle = good.len() / 2;
    bad[middle] ^= 0x10;
    std::fs::write(&file, &bad).unwrap();
    let refused = Server::totality(&["--dir", &path]).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.contains("Fatal error loading the DB") && refused.contains("at byte"), "{refused}");
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(&file, &good).unwrap();
    let server = start(dir.path(), &[]);
    line(&mut server.client(), "SAVE");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn redis_reads_our_files_and_we_read_its() {
    let Some(theirs) = oracle_or_skip("files") else { return };
    let dir = tempfile::tempdir().unwrap();
    let options = ["--rdb-version-compat", "10", "--appendonly", "yes"];
    let ours = start(dir.path(), &options);
    let mut client = ours.client();
    fill(&mut client);
    line(&mut client, "BGREWRITEAOF");
    wait_for(&mut client, "aof_rewrite_in_progress:0");
    fill_more(&mut client);
    line(&mut client, "SAVE");
    let keys = dumps(&mut client);
    drop(ours);
    let path = dir.path();
    for (tool, file) in
        [("redis-check-rdb", "dump.rdb"), ("redis-check-aof", "appendonlydir/appendonly.aof.manifest")]
    {
        let out = Process::new(tool).arg(path.join(file)).output().expect("the tool runs");
        assert!(out.status.success(), "{tool}: {}", String::from_utf8_lossy(&out.stdout));
    }
    drop(theirs);
    let dir_word = path.to_string_lossy().into_owned();
    for appendonly in ["no", "yes"] {
        let redis = Server::redis(&["--dir", &dir_word, "--appendonly", appendonly]).expect("Redis starts");
        let mut client = redis.client();
        assert_eq!(dumps(&mut client), keys, "appendonly {appendonly}");
        if appendonly == "yes" {
            line(&mut client, "BGREWRITEAOF");
            wait_for(&mut client, "aof_rewrite_in_progress:0");
            line(&mut client, "SET by redis");
        }
        line(&mut client, "SAVE");
    }
    for appendonly in ["no", "yes"] {
        let ours = start(path, &["--rdb-version-compat", "10", "--appendonly", appendonly]);
        let mut client = ours.client();
        assert_eq!(line(&mut client, "GET by").text(), "redis");
        line(&mut client, "DEL by");
        assert_eq!(dumps(&mut client), keys, "appendonly {appendonly}");
        line(&mut client, "SET by redis");
    }
}

fn fill_more(client: &mut Client) {
    for command in ["SET later 1", "RPUSH list z", "ZADD zset 7 z", "HSET hash h x", "SADD ints 9"] {
        line(client, command);
    }
}

/// DUMP and deadline of all keys, in order. Sets of words are told by their members: their order is nobody's business.
fn dumps(client: &mut Client) -> Vec<(String, String, i64)> {
    let Value::Array(keys) = line(client, "KEYS *") else { panic!("KEYS") };
    let mut out = Vec::new();
    for key in keys {
        let key = key.text();
        let (value, at) =
            (client.call(&["DUMP", &key]).unwrap(), client.call(&["PEXPIRETIME", &key]).unwrap());
        let Value::Int(at) = at else { panic!("{at:?}") };
        let shown = match (key.as_str(), value) {
            ("words", _) => {
                let Value::Array(mut members) = line(client, "SMEMBERS words") else { panic!("words") };
                members.sort_by_key(Value::text);
                format!("{members:?}")
            }
            (_, value) => format!("{value:?}"),
        };
        out.push((key, shown, at));
    }
    out.sort();
    out
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    let rounds = std::env::var("TOTALITY_CRASH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    let dir = tempfile::tempdir().unwrap();
    let options = ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-min-size", "1kb"];
    let script =
        "local n = redis.call('INCR', 'n') redis.call('SET', 'm', n) redis.call('RPUSH', 'l', n) return n";
    let mut acknowledged = 0;
    for round in 0..rounds {
        let server = start(dir.path(), &options);
        let mut client = server.client();
        let Value::Int(n) = line(&mut client, "INCRBY n 0") else { panic!("no number") };
        assert!(n >= acknowledged, "round {round}: {n} of {acknowledged}");
        if n > 0 {
            assert_eq!(line(&mut client, "GET m").text(), n.to_string(), "half a script");
            assert_eq!(line(&mut client, "LLEN l"), Value::Int(n), "half a script");
        }
        let pid = server.pid().to_string();
        let after = Duration::from_millis(5 + (round * 7919) % 90);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            Process::new("kill").args(["-9", &pid]).status().expect("kill runs");
        });
        while let Ok(Value::Int(n)) = client.call(&["EVAL", script, "0"]) {
            acknowledged = n;
        }
        killer.join().unwrap();
    }
    assert!(acknowledged > rounds as i64, "too few writes to mean anything: {acknowledged}");
}

#[test]
fn a_base_of_commands_is_loaded_by_us_and_by_redis() {
    let Some(theirs) = oracle_or_skip("a base of commands") else { return };
    drop(theirs);
    let dir = tempfile::tempdir().unwrap();
    let options = ["--rdb-version-compat", "10", "--appendonly", "yes", "--aof-use-rdb-preamble", "no"];
    let ours = start(dir.path(), &options);
    let mut client = ours.client();
    fill(&mut client);
    // Larger than what one command holds, and than what is written in one go.
    for i in 0..5000 {
        line(&mut client, &format!("SADD many member:{i}"));
        line(&mut client, &format!("HSET wide field:{i} {i}"));
        line(&mut client, &format!("ZADD high {i}.25 member:{i}"));
        line(&mut client, &format!("RPUSH far {i}"));
    }
    line(&mut client, "BGREWRITEAOF");
    wait_for(&mut client, "aof_rewrite_in_progress:0");
    let base = std::fs::read(dir.path().join("appendonlydir/appendonly.aof.2.base.aof")).expect("a base");
    assert!(base.starts_with(b"*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n"), "{}", base[..60].escape_ascii());
    let largest = base.split(|b| *b == b'*').filter_map(|part| {
        let end = part.iter().position(|b| *b == b'\r')?;
        std::str::from_utf8(&part[..end]).ok()?.parse::<usize>().ok()
    });
    assert_eq!(largest.max(), Some(2 + 2 * 64), "64 pairs to a command at most");
    fill_more(&mut client);
    let known = contents(&mut client);
    drop(ours);
    for round in ["ours", "redis", "ours again"] {
        let dir = dir.path().to_string_lossy().into_owned();
        let server = match round {
            "redis" => Server::redis(&["--dir", &dir, "--appendonly", "yes"]).expect("Redis starts"),
            _ => start(Path::new(&dir), &options),
        };
        assert_eq!(contents(&mut server.client()), known, "{round}");
    }
}

/// What the keys hold, however it is kept: when a consumer was seen last no command says.
fn contents(client: &mut Client) -> Vec<String> {
    let mut all: Vec<String> = dumps(client)
        .into_iter()
        .filter(|(key, ..)| !["stream", "many", "wide", "high", "far"].contains(&key.as_str()))
        .map(|dump| format!("{dump:?}"))
        .collect();
    for ask in [
        "XRANGE stream - +",
        "XPENDING stream group",
        "LRANGE far 0 -1",
        "ZRANGE high 0 -1 WITHSCORES",
        "FCALL f 0",
    ] {
        all.push(format!("{:?}", line(client, ask)));
    }
    for ask in ["SMEMBERS many", "HGETALL wide"] {
        let (Value::Array(elements) | Value::Set(elements)) = line(client, ask) else { panic!("{ask}") };
        let mut words: Vec<String> = elements.iter().map(Value::text).collect();
        words.sort();
        all.push(words.join(" "));
    }
    all
}

#[test]
fn a_log_is_cut_to_a_second_as_redis_does_it() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--appendonly", "yes", "--aof-timestamp-enabled", "yes", "--rdb-version-compat", "10"];
    let server = start(dir.path(), &options);
    let mut client = server.client();
    let second = |client: &mut Client| match line(client, "TIME") {
        Value::Array(parts) => parts[0].text().parse::<i64>().unwrap(),
        other => panic!("{other:?}"),
    };
    line(&mut client, "SET a 1");
    let then = second(&mut client);
    while second(&mut client) <= then {
        std::thread::sleep(Duration::from_millis(20));
    }
    line(&mut client, "SET a 2");
    line(&mut client, "EVAL \"redis.call('INCR','a') redis.call('INCR','b')\" 0");
    assert!(line(&mut client, "CONFIG SET appendfsync always").text() == "OK");
    line(&mut client, "SET c 3");
    drop(server);
    let files = dir.path().join("appendonlydir");
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(&files).unwrap().flatten() {
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    let program = totality_testkit::server::totality_binary().unwrap();
    let check = |second: i64| {
        let manifest = files.join("appendonly.aof.manifest");
        let second = second.to_string();
        let mut check = Process::new(&program);
        check.args(["check", "--truncate-to-timestamp", &second]).arg(manifest);
        let out = check.output().unwrap();
        (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let (_, early) = check(1000);
    assert!(early.contains("has nothing before timestamp 1000, aborting..."), "{early}");
    let (done, text) = check(then);
    assert!(done && text.contains("Successfully truncated AOF"), "{text}");
    let (done, text) = check(then);
    assert!(done && text.contains("Truncate nothing in AOF"), "{text}");
    let mut theirs = Process::new("redis-check-aof");
    theirs
        .args(["--truncate-to-timestamp", &then.to_string()])
        .arg(copy.path().join("appendonly.aof.manifest"));
    if let Ok(theirs) = theirs.output() {
        assert!(theirs.status.success(), "{}", String::from_utf8_lossy(&theirs.stdout));
        let read = |dir: &Path| std::fs::read(dir.join("appendonly.aof.1.incr.aof")).unwrap();
        assert_eq!(read(copy.path()).escape_ascii().to_string(), read(&files).escape_ascii().to_string());
    }
    let server = start(dir.path(), &["--appendonly", "yes"]);
    let mut client = server.client();
    assert_eq!(line(&mut client, "GET a").text(), "1");
    assert_eq!(line(&mut client, "EXISTS b c"), Value::Int(0));
}
