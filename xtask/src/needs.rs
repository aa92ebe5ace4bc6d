//! What the tests need from outside, installed where that is possible and plainly missing where it is not.

use crate::run::{self, Job};
use std::path::Path;

/// Debian packages by a program that each brings.
const DEBIAN: [(&str, &str); 3] =
    [("redis-server", "redis-server"), ("redis-cli", "redis-tools"), ("lua5.1", "lua5.1")];

fn have(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(program).is_file())
}

/// Installs missing Debian packages when we may; the tests that need them tell what is missing.
pub fn debian() {
    let missing: Vec<&str> = DEBIAN.iter().filter(|(program, _)| !have(program)).map(|(_, p)| *p).collect();
    if missing.is_empty() || !have("apt-get") {
        return;
    }
    println!("== installing {}", missing.join(" "));
    let install = Job::new("apt-get", &["install", "-y", "--no-install-recommends"])
        .with(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive");
    let ok = install.quiet() || (Job::new("apt-get", &["update"]).quiet() && install.quiet());
    if !ok {
        println!("== could not install {} (not root, or no network)", missing.join(" "));
    }
}

/// Lays client libraries, and what is built on them, under the build directory: the versions that stand beside the
/// smoke tests.
pub fn clients() {
    let (dir, from) = (run::target().join("clients"), run::root().join("tests/clients"));
    let (python, wanted) = (dir.join("python"), from.join("requirements.txt"));
    if have("python3") && !same(&wanted, &python.join("requirements.txt")) {
        let (target, list) = (python.to_string_lossy().into_owned(), wanted.to_string_lossy().into_owned());
        // The list names all that is needed: nothing else may come along.
        let args = [
            "-m",
            "pip",
            "install",
            "-q",
            "--no-input",
            "--no-deps",
            "--upgrade",
            "--target",
            &target,
            "-r",
            &list,
        ];
        report("libraries for Python", Job::new("python3", &args).quiet() && put(&wanted, &python));
    }
    let (node, wanted) = (dir.join("node"), from.join("package-lock.json"));
    if have("npm") && !same(&wanted, &node.join("installed.json")) {
        let prefix = node.to_string_lossy().into_owned();
        let args = ["ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix];
        let laid = put(&from.join("package.json"), &node) && put(&wanted, &node);
        let done = laid && Job::new("npm", &args).quiet();
        report("libraries for Node", done && std::fs::copy(&wanted, node.join("installed.json")).is_ok());
    }
}

/// True when both files are there and say the same.
fn same(a: &Path, b: &Path) -> bool {
    matches!((std::fs::read(a), std::fs::read(b)), (Ok(a), Ok(b)) if a == b)
}

/// Copies a file into a directory, which is made if it is missing.
fn put(file: &Path, dir: &Path) -> bool {
    let Some(name) = file.file_name() else { return false };
    std::fs::create_dir_all(dir).is_ok() && std::fs::copy(file, dir.join(name)).is_ok()
}

fn report(what: &str, ok: bool) {
    println!("== {what}: {}", if ok { "installed" } else { "not to be had, their tests will be skipped" });
}
