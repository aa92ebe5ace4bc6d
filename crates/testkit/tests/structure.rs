//! Rules of the architecture that a compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use totality::{Db, Error, Options};
use totality_engine::commands::{TABLE, all};
use totality_engine::config::params;
use totality_testkit::sources::{files, read, root, short};

/// The layers, lowest first. A crate may use those before it.
const LAYERS: [&[&str]; 9] = [
    &["totality-ds", "totality-lua", "totality-resp"],
    &["totality-rdb"],
    &["totality-engine"],
    &["totality-persist"],
    &["totality", "totality-server"],
    &["totality-script"],
    &["totality-cli"],
    &["totality-testkit"],
    &["xtask"],
];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|l| l.contains(&name))
}

/// Names of the workspace's crates with the workspace crates that each one's library or binary uses.
fn edges() -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for manifest in files("crates", "toml").into_iter().chain(files("xtask", "toml")) {
        let text = read(&manifest);
        let Some(name) = text.lines().find_map(|l| l.strip_prefix("name = \"")?.strip_suffix('"')) else {
            continue;
        };
        let mut section = "";
        let mut uses = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                section = line.trim();
            }
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if section == "[dependencies]" && layer(dependency).is_some() {
                uses.push(dependency.to_string());
            }
        }
        out.insert(name.to_string(), uses);
    }
    out
}

#[test]
fn arrows_between_crates_point_down() {
    let edges = edges();
    assert!(edges.len() >= 8, "the manifests were not read: {edges:?}");
    for (name, uses) in &edges {
        let own = layer(name).unwrap_or_else(|| panic!("{name} has no layer in this test"));
        for used in uses {
            assert!(layer(used) < Some(own), "{name} may not use {used}");
        }
    }
}

#[test]
fn the_engine_does_no_io_and_reads_no_clock() {
    let banned = [
        "std::net",
        "std::fs",
        "std::io::stdin",
        "std::process",
        "std::thread",
        "SystemTime::now",
        "Instant::now",
        "std::env::",
        "RandomState",
        "getrandom",
        "rand::",
    ];
    let mut found = Vec::new();
    for dir in ["crates/engine/src", "crates/ds/src", "crates/lua/src", "crates/resp/src"] {
        for file in files(dir, "rs") {
            let text = read(&file);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (i, line) in code.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
                if let Some(word) = banned.iter().find(|b| line.contains(**b)) {
                    found.push(format!("{}:{}: {word}", short(&file), i + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_crate_forbids_unsafe_code() {
    for lib in
        files("crates", "rs").iter().filter(|f| f.ends_with("src/lib.rs") || f.ends_with("src/main.rs"))
    {
        let text = read(lib);
        let workspace_denies = read(&root().join("Cargo.toml")).contains("unsafe_code = \"deny\"");
        assert!(text.contains("#![forbid(unsafe_code)]") || workspace_denies, "{}", short(lib));
        assert!(!text.contains("allow(unsafe_code)"), "{}", short(lib));
    }
}

#[test]
fn no_file_is_too_long_and_none_is_unfinished() {
    let mut bad = Vec::new();
    for file in files("crates", "rs").into_iter().chain(files("xtask", "rs")) {
        let text = read(&file);
        if text.lines().count() > 1000 {
            bad.push(format!("{} has {} lines", short(&file), text.lines().count()));
        }
        for word in ["todo!(", "unimplemented!(", "FIXME"] {
            if text.contains(word) && !file.ends_with("tests/structure.rs") {
                bad.push(format!("{} has {word}", short(&file)));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn each_file_under_commands_is_in_the_table() {
    let table = read(&root().join("crates/engine/src/commands/mod.rs"));
    let macro_call = table.split("table! {").nth(1).and_then(|t| t.split("\n}").next()).expect("the table");
    let words: BTreeSet<&str> = macro_call.split_whitespace().collect();
    for file in files("crates/engine/src/commands", "rs") {
        if read(&file).contains("pub const SPEC") {
            let named = if file.ends_with("mod.rs") { file.parent() } else { Some(file.as_path()) };
            let word = named.and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned();
            assert!(
                words.contains(word.as_str()) || words.contains(format!("r#{word}").as_str()),
                "{} is not in the table",
                short(&file)
            );
        }
    }
}

#[test]
fn each_row_is_documented_and_named_once() {
    let mut names = BTreeSet::new();
    for spec in TABLE {
        assert!(names.insert(spec.name), "{} is there twice", spec.name);
        assert!(!spec.summary.is_empty(), "{} has no summary", spec.name);
        assert!(
            spec.since.split('.').all(|p| p.parse::<u32>().is_ok()),
            "{}: since {}",
            spec.name,
            spec.since
        );
        for sub in spec.subs {
            assert!(!sub.summary.is_empty(), "{} {} has no summary", spec.name, sub.name);
        }
    }
    assert_eq!(all().len(), TABLE.iter().map(|s| 1 + s.subs.len()).sum::<usize>());
}

/// Each row answers in each way it can be called: nothing panics, and a wrong number of arguments says so.
#[test]
fn each_row_is_reachable_from_each_origin() {
    let db = Db::open(Options::default()).unwrap();
    for spec in TABLE {
        let mut session = db.session().unwrap();
        let argc = spec.arity.unsigned_abs() as usize;
        let words: Vec<&str> =
            std::iter::once(spec.name).chain(std::iter::repeat("1")).take(argc.max(1)).collect();
        let _ = session.call(&words);
        for ways in [["MULTI"].as_slice(), &[]] {
            let mut session = db.session().unwrap();
            ways.iter().for_each(|w| drop(session.call(&[w])));
            let _ = session.call(&words);
            let _ = session.call(&["EXEC"]);
        }
        let mut session = db.session().unwrap();
        let script = ["EVAL", "return redis.pcall(unpack(ARGV))", "0"];
        let _ = session.call(&[&script[..], &words].concat());
        if spec.arity > 1 && spec.subs.is_empty() {
            let mut session = db.session().unwrap();
            let error = session.call(&[spec.name]).unwrap_err();
            let text = format!("ERR wrong number of arguments for '{}' command", spec.name);
            assert_eq!(error, Error::Command(text), "{}", spec.name);
        }
    }
}

#[test]
fn each_parameter_is_settable_or_immutable() {
    let db = Db::open(Options::default()).unwrap();
    let mut session = db.session().unwrap();
    for param in params() {
        let reply: Vec<String> = session.query(&["CONFIG", "GET", param.name]).unwrap();
        assert_eq!(reply.len(), 2, "CONFIG GET {}", param.name);
        let set = session.call(&["CONFIG", "SET", param.name, &reply[1]]);
        match (param.mutable, set) {
            (true, Err(Error::Command(e))) => {
                assert!(param.protected, "{} = {:?}: {e}", param.name, reply[1])
            }
            (false, Ok(_)) => panic!("{} is immutable but was set", param.name),
            (false, Err(Error::Command(e))) => assert!(e.contains("immutable"), "{}: {e}", param.name),
            _ => {}
        }
    }
}

#[test]
fn the_repository_names_no_machine() {
    let out = Command::new("git")
        .args(["grep", "-nIE", r"(^|[^A-Za-z0-9_.])/(w[o]rk|r[o]ot)/"])
        .current_dir(root())
        .output();
    let Ok(out) = out else { return };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let hits: Vec<&str> = text.lines().filter(|l| !Path::new(l).starts_with("Cargo.lock")).collect();
    assert!(hits.is_empty(), "{}", hits.join("\n"));
}

#[test]
fn the_generated_parts_of_documents_are_current() {
    let text = read(&root().join("COMPAT.md"));
    assert!(totality_testkit::generate::renew(&text).unwrap() == text, "run cargo xtask gen");
}
