//! The generated files are those that the scripts' headers and cases make. `TOTALITY_WRITE=1` writes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The text as rustfmt leaves it.
fn formatted(path: &Path, text: String) -> String {
    use std::io::Write as _;
    if path.extension().is_none_or(|e| e != "rs") {
        return text;
    }
    let config = root().join("rustfmt.toml");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "rustfmt refuses {}", path.display());
    String::from_utf8(out.stdout).unwrap()
}

fn pages(dir: &Path, out: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, out);
        } else {
            out.insert(path);
        }
    }
}

#[test]
fn generated_files_are_up_to_date() {
    let root = root();
    let write = std::env::var_os("TOTALITY_WRITE").is_some();
    let all = totality_script::generate::all(&root).unwrap();
    let mut stale = Vec::new();
    let mut wanted = BTreeSet::new();
    for (path, text) in all {
        let text = formatted(&path, text);
        let path = root.join(path);
        wanted.insert(path.clone());
        if std::fs::read_to_string(&path).unwrap_or_default() == text {
            continue;
        }
        if write {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        } else {
            stale.push(path);
        }
    }
    let mut present = BTreeSet::new();
    pages(&root.join("docs/scripts"), &mut present);
    pages(&root.join("crates/script/src/catalogue"), &mut present);
    for path in present.difference(&wanted) {
        if write {
            std::fs::remove_file(path).unwrap();
        } else {
            stale.push(path.clone());
        }
    }
    assert!(stale.is_empty(), "run `cargo xtask gen`: {stale:?}");
}
