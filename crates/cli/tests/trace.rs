//! `totality trace` as a user calls it.

use std::process::{Command, Output};

fn trace(dir: &std::path::Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_totality")).arg("trace").args(args).current_dir(dir).output().unwrap()
}

#[test]
fn a_script_is_shown_command_by_command() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data.txt"), "# stock\nSET stock:1 5\nSET stock:2 \"2\"\n").unwrap();
    let script = "redis.call('DECRBY', KEYS[1], ARGV[1])\nreturn redis.call('GET', 'stock:2')\n";
    std::fs::write(dir.path().join("take.lua"), script).unwrap();
    let out = trace(dir.path(), &["--setup", "data.txt", "take.lua", "stock:1", ",", "3"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
    for part in [
        "DECRBY stock:1 3  (integer) 2",
        "stock:1  \"5\" -> \"2\"",
        "GET stock:2  \"2\"",
        "stock:2 was not declared in KEYS",
        "result  \"2\"   2 commands",
        "would change, and was taken back:\n  stock:1  \"5\" -> \"2\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains('\x1b'));
    let out =
        trace(dir.path(), &["--color", "always", "--setup", "data.txt", "take.lua", "stock:1", ",", "3"]);
    assert!(String::from_utf8(out.stdout).unwrap().contains("\x1b[36mstock:1\x1b[0m"));
}

#[test]
fn a_failure_is_shown_and_gives_code_1() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.lua"), "redis.call('SET', KEYS[1], 1) redis.call('LPOP', KEYS[1])")
        .unwrap();
    let out = trace(dir.path(), &["bad.lua", "k"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text.contains("LPOP k  (error) WRONGTYPE") && text.contains("result  (error) WRONGTYPE"),
        "{text}"
    );
    assert!(text.contains("k  absent -> \"1\""), "{text}");
    let out = trace(dir.path(), &["no-such.lua"]);
    assert_eq!(out.status.code(), Some(1));
    std::fs::write(dir.path().join("data.txt"), "SET k\n").unwrap();
    let out = trace(dir.path(), &["--setup", "data.txt", "bad.lua", "k"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("setup line 1: ERR wrong number of arguments"));
}

/// Starts a server in a directory, gives it commands, and ends it: what it leaves there are its files.
fn files_of(dir: &std::path::Path, options: &[(&str, &str)], lines: &[&str]) {
    let mut db = totality::Options::default().dir(dir);
    for (name, value) in options {
        db = db.set(name, value);
    }
    let db = totality::Db::open(db).unwrap();
    let mut session = db.session().unwrap();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        session.call(&words).unwrap();
    }
}

/// Names, lengths and times of all files.
fn listing(dir: &std::path::Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = std::fs::metadata(&path).unwrap();
        if meta.is_dir() {
            all.extend(listing(&path));
        } else {
            all.push(format!("{} {} {:?}", path.display(), meta.len(), meta.modified().unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_script_is_tried_on_the_data_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::write(dir.path().join("take.lua"), "return redis.call('DECRBY', KEYS[1], ARGV[1])\n").unwrap();
    let lines = ["SET stock 5", "RPUSH list a b", "SELECT 3", "SET stock 50"];
    files_of(&dir.path().join("log"), &[], &lines);
    files_of(&dir.path().join("snap"), &[("appendonly", "no"), ("save", "1 1")], &lines);
    let manifest = "log/appendonlydir/appendonly.aof.manifest";
    for data in ["log", "log/appendonlydir", manifest, "snap", "snap/dump.rdb"] {
        let before = listing(dir.path());
        for (db, change) in [("0", "stock  \"5\" -> \"2\""), ("3", "stock (database 3)  \"50\" -> \"47\"")] {
            let out = trace(dir.path(), &["--data", &path(data), "--db", db, "take.lua", "stock", ",", "3"]);
            let text = String::from_utf8(out.stdout).unwrap();
            assert!(text.contains(change), "{data} {db}: {text}{}", String::from_utf8_lossy(&out.stderr));
        }
        assert_eq!(listing(dir.path()), before, "{data} was changed");
    }
    // A tail that was cut off is left out, and the file stays as it is.
    let part = dir.path().join("log/appendonlydir/appendonly.aof.1.incr.aof");
    let whole = std::fs::read(&part).unwrap();
    std::fs::write(&part, &whole[..whole.len() - 3]).unwrap();
    let before = listing(dir.path());
    let out = trace(dir.path(), &["--data", "log", "--db", "3", "take.lua", "stock", ",", "3"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("absent -> \"-3\""), "{text}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("was cut off at byte"));
    assert_eq!(listing(dir.path()), before);
    // What is no data set is told.
    for (data, why) in [
        ("none", "No such file or directory"),
        ("take.lua", "Bad file format"),
        (".", "neither a manifest nor a snapshot"),
    ] {
        let out = trace(dir.path(), &["--data", data, "take.lua", "stock", ",", "3"]);
        let error = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && error.contains(why), "{data}: {error}");
    }
    let out = trace(dir.path(), &["--db", "99", "take.lua", "stock", ",", "3"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("DB index is out of range"));
}

#[test]
fn a_script_is_tried_on_a_live_server_in_colour() {
    let server = totality_testkit::server::Server::totality(&[]).unwrap();
    let mut client = server.client();
    client.line("SET stock 5").unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("take.lua"),
        "redis.call('GET', KEYS[1])\nreturn redis.call('DECRBY', KEYS[1], ARGV[1])\n",
    )
    .unwrap();
    let url = format!("redis://127.0.0.1:{}", server.port());
    for option in ["--url", "--server"] {
        let out = trace(dir.path(), &[option, &url, "--color", "always", "take.lua", "stock", ",", "3"]);
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
        // Room for a bar at each of the two commands; the slowest fills it, unless it took no microsecond.
        assert_eq!(text.lines().filter(|line| line.contains("\x1b[33m")).count(), 2, "{text}");
        assert!(text.contains(&"█".repeat(20)) || !text.contains('█'), "{text}");
        assert!(text.contains("\x1b[36mstock\x1b[0m  \"5\" -> \"2\""), "{text}");
    }
    assert_eq!(client.line("GET stock").unwrap().text(), "5");
}
