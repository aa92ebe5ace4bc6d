//! Files of Redis and Valkey: the same keys with the same DUMP and deadline as there.

use std::path::{Path, PathBuf};
use totality_testkit::server::Server;
use totality_testkit::value::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/files")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// `version`: what their DUMP writes. `differ`: keys that have another encoding here.
fn check(name: &str, version: &str, differ: &[&str]) {
    let expected = std::fs::read_to_string(fixtures().join(name).join("expected")).unwrap();
    for appendonly in ["no", "yes"] {
        let dir = tempfile::tempdir().unwrap();
        copy(&fixtures().join(name), dir.path());
        let path = dir.path().to_string_lossy().into_owned();
        let server =
            Server::totality(&["--dir", &path, "--appendonly", appendonly, "--rdb-version-compat", version])
                .expect("our server starts");
        let mut client = server.client();
        let mut keys = 0;
        for line in expected.lines() {
            let [key, dump, at] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            keys += 1;
            let Value::Bulk(ours) = client.call(&["DUMP", key]).unwrap() else { panic!("{name}: no {key}") };
            let ours: String = ours.iter().map(|b| format!("{b:02x}")).collect();
            if !differ.contains(&key) {
                assert_eq!(ours, dump, "{name}: DUMP of {key}, appendonly {appendonly}");
            }
            let ours = client.call(&["PEXPIRETIME", key]).unwrap();
            assert_eq!(ours, Value::Int(at.parse().unwrap()), "{name}: deadline of {key}");
        }
        assert_eq!(client.line("DBSIZE").unwrap(), Value::Int(keys), "{name}");
        assert_eq!(client.line("FCALL f 0").unwrap(), Value::Int(1), "{name}");
    }
}

#[test]
fn of_redis_7_0() {
    // The skiplist and quicklist there had other limits than here when they are made again of commands.
    check("redis7", "10", &["quicklist", "skiplist"]);
}

#[test]
fn of_redis_8() {
    check("redis8", "12", &["quicklist", "skiplist", "fields"]);
}

#[test]
fn of_valkey_9() {
    check("valkey9", "80", &["quicklist", "skiplist"]);
}
