//! While a data set is loaded, clients are served as Redis serves them then.

use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};
use totality_testkit::client::Client;
use totality_testkit::server::Server;
use totality_testkit::value::Value;

const KEYS: usize = 3000;
const LOADING: &str = "LOADING Redis is loading the dataset in memory";

fn line(client: &mut Client, line: &str) -> Value {
    client.line(line).expect("the server answers")
}

/// A directory with a snapshot and an append-only file of [`KEYS`] keys.
fn data() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_string_lossy().into_owned();
    let server = Server::totality(&["--dir", &path, "--appendonly", "yes"]).unwrap();
    let mut client = server.client();
    for i in 0..KEYS {
        client.call(&["SET", &format!("key:{i}"), "value"]).unwrap();
    }
    assert_eq!(line(&mut client, "SAVE").text(), "OK");
    drop(server);
    dir
}

/// A server whose loading takes until it is told to go on.
fn slow(dir: &Path, extra: &[&str]) -> Server {
    let path = dir.to_string_lossy().into_owned();
    let mut args = vec!["--dir", &path, "--key-load-delay", "20000"];
    args.extend(["--enable-debug-command", "yes", "--enable-protected-configs", "yes"]);
    args.extend(extra);
    Server::start_loading(&args).expect("our server starts")
}

fn info(client: &mut Client, field: &str) -> f64 {
    let text = line(client, "INFO persistence").text();
    let found = text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':')?.trim().parse().ok());
    found.unwrap_or_else(|| panic!("no {field} in {text}"))
}

fn wait_until_loaded(client: &mut Client) {
    let began = Instant::now();
    while line(client, "PING").text() != "PONG" {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn what_is_refused_and_what_is_not(appendonly: &str) {
    let dir = data();
    let server = slow(dir.path(), &["--appendonly", appendonly]);
    let mut client = server.client();
    for refused in [
        "PING",
        "GET key:1",
        "SET a b",
        "SAVE",
        "EVAL \"return 1\" 0",
        "DEBUG POPULATE 1",
        "DEBUG RELOAD",
        "CONFIG SET dir /",
    ] {
        assert_eq!(line(&mut client, refused).text(), LOADING, "{refused}");
    }
    assert_eq!(info(&mut client, "loading"), 1.0);
    assert_eq!(info(&mut client, "async_loading"), 0.0);
    assert!(info(&mut client, "loading_start_time") > 1e9);
    let total = info(&mut client, "loading_total_bytes");
    assert!(total > 1000.0, "{total}");
    assert!(info(&mut client, "loading_rdb_used_mem") > 0.0);
    let before = info(&mut client, "loading_loaded_bytes");
    assert!((0.0..100.0).contains(&info(&mut client, "loading_loaded_perc")));
    assert!(info(&mut client, "loading_eta_seconds") >= 0.0);
    // A transaction of what may run runs; another is given up.
    assert_eq!(line(&mut client, "MULTI").text(), "OK");
    assert_eq!(line(&mut client, "ECHO hello").text(), "QUEUED");
    assert!(matches!(line(&mut client, "EXEC"), Value::Array(replies) if replies.len() == 1));
    assert_eq!(line(&mut client, "MULTI").text(), "OK");
    assert_eq!(line(&mut client, "GET key:1").text(), LOADING);
    assert_eq!(
        line(&mut client, "EXEC").text(),
        "EXECABORT Transaction discarded because of previous errors."
    );
    // Connections come and go, and are gone when they are killed.
    for _ in 0..50 {
        let mut other = server.client();
        assert_eq!(line(&mut other, "CLIENT SETNAME passing").text(), "OK");
    }
    let mut other = server.client();
    let Value::Int(id) = line(&mut other, "CLIENT ID") else { panic!("no id") };
    assert_eq!(line(&mut client, &format!("CLIENT KILL ID {id}")), Value::Int(1));
    assert!(other.line("PING").is_err(), "it was killed");
    let began = Instant::now();
    while line(&mut client, "CLIENT LIST").text().contains("passing") {
        assert!(began.elapsed() < Duration::from_secs(20), "those that are gone are not forgotten");
        std::thread::sleep(Duration::from_millis(5));
    }
    while info(&mut client, "loading_loaded_bytes") <= before {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not go on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(line(&mut client, "CONFIG SET key-load-delay 0").text(), "OK");
    wait_until_loaded(&mut client);
    assert_eq!(info(&mut client, "loading"), 0.0);
    assert_eq!(line(&mut client, "DBSIZE"), Value::Int(KEYS as i64));
    assert_eq!(line(&mut client, "SET a b").text(), "OK");
}

#[test]
fn while_a_snapshot_is_loaded() {
    what_is_refused_and_what_is_not("no");
}

#[test]
fn while_an_append_only_file_is_loaded() {
    let dir = data();
    let server = slow(dir.path(), &["--appendonly", "yes"]);
    let mut client = server.client();
    assert_eq!(line(&mut client, "GET key:1").text(), LOADING);
    assert_eq!(info(&mut client, "loading"), 1.0);
    assert!(info(&mut client, "loading_total_bytes") > KEYS as f64 * 30.0);
    line(&mut client, "CONFIG SET key-load-delay 0");
    wait_until_loaded(&mut client);
    assert_eq!(line(&mut client, "DBSIZE"), Value::Int(KEYS as i64));
}

#[test]
fn while_a_base_of_an_append_only_file_is_loaded() {
    let dir = data();
    let path = dir.path().to_string_lossy().into_owned();
    let server = Server::totality(&["--dir", &path, "--appendonly", "yes"]).unwrap();
    let mut client = server.client();
    line(&mut client, "BGREWRITEAOF");
    while info(&mut client, "aof_rewrite_in_progress") > 0.0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(server);
    std::fs::remove_file(dir.path().join("dump.rdb")).unwrap();
    let server = slow(dir.path(), &["--appendonly", "yes"]);
    let mut client = server.client();
    assert_eq!(line(&mut client, "GET key:1").text(), LOADING);
    line(&mut client, "CONFIG SET key-load-delay 0");
    wait_until_loaded(&mut client);
    assert_eq!(line(&mut client, "DBSIZE"), Value::Int(KEYS as i64));
}

#[test]
fn a_server_that_loads_can_be_ended() {
    let dir = data();
    let file = dir.path().join("dump.rdb");
    let before = std::fs::read(&file).unwrap();
    let mut server = slow(dir.path(), &["--save", "1 1"]);
    assert!(server.terminate(), "{}", server.log());
    assert!(server.log().contains("Received shutdown signal during loading"), "{}", server.log());
    assert_eq!(std::fs::read(&file).unwrap(), before, "half a data set was saved");
    for command in ["SHUTDOWN", "SHUTDOWN SAVE"] {
        let mut server = slow(dir.path(), &["--save", "1 1"]);
        let gone = server.client().line(command);
        assert!(gone.is_err(), "{command}: {gone:?}");
        let began = Instant::now();
        while server.alive() {
            assert!(began.elapsed() < Duration::from_secs(20), "{command} does not end it");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(std::fs::read(&file).unwrap(), before, "{command}: half a data set was saved");
    }
}

#[test]
fn others_are_answered_during_a_reload() {
    let dir = data();
    let path = dir.path().to_string_lossy().into_owned();
    for (appendonly, command) in [("no", "DEBUG RELOAD"), ("yes", "DEBUG LOADAOF")] {
        let args = ["--dir", &path, "--appendonly", appendonly, "--enable-debug-command", "yes"];
        let mut server = Server::totality(&args).unwrap();
        let (mut one, mut other) = (server.client(), server.client());
        line(&mut one, "CONFIG SET key-load-delay 20000");
        let reload = std::thread::spawn(move || one.line(command).map(|reply| reply.text()));
        let began = Instant::now();
        while line(&mut other, "PING").text() != LOADING {
            assert!(began.elapsed() < Duration::from_secs(20), "{command} is over at once");
        }
        assert_eq!(line(&mut other, "SET a b").text(), LOADING);
        line(&mut other, "CONFIG SET key-load-delay 0");
        assert_eq!(reload.join().unwrap().unwrap(), "OK");
        wait_until_loaded(&mut other);
        assert_eq!(line(&mut other, "DBSIZE"), Value::Int(KEYS as i64));
        // The same, ended in the middle: the file stays what it was.
        let before = std::fs::read(dir.path().join("dump.rdb")).unwrap();
        line(&mut other, "CONFIG SET key-load-delay 20000 save '1 1'");
        let mut one = server.client();
        let reload = std::thread::spawn(move || one.line("DEBUG RELOAD NOSAVE"));
        while line(&mut other, "PING").text() != LOADING {}
        assert!(Process::new("kill").args(["-TERM", &server.pid().to_string()]).status().unwrap().success());
        drop(reload.join().unwrap());
        assert!(server.terminate() || !server.alive(), "{}", server.log());
        assert_eq!(std::fs::read(dir.path().join("dump.rdb")).unwrap(), before);
    }
}
