//! What the tests need from outside, installed where that is possible and plainly missing where it is not.

use crate::run::{self, Job};

/// Debian packages by a program that each brings.
const DEBIAN: [(&str, &str); 3] =
    [("redis-server", "redis-server"), ("redis-cli", "redis-tools"), ("lua5.1", "lua5.1")];

/// Version of `redis` for Python that the smoke test was written against.
const REDIS_PY: &str = "redis==5.2.1";
/// The two client libraries for Node.
const NODE: [&str; 2] = ["ioredis@5.4.2", "redis@4.7.0"];

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

/// Lays the client libraries for the smoke tests under the build directory.
pub fn clients() {
    let dir = run::target().join("clients");
    let python = dir.join("python");
    if !python.join("redis").is_dir() && have("python3") {
        let target = python.to_string_lossy().into_owned();
        let args = ["-m", "pip", "install", "-q", "--no-input", "--target", &target, REDIS_PY];
        report("redis-py", Job::new("python3", &args).quiet());
    }
    let node = dir.join("node");
    if !node.join("node_modules/redis").is_dir() && have("npm") {
        let prefix = node.to_string_lossy().into_owned();
        let args = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix];
        report("ioredis and node-redis", Job::new("npm", &args).with(&NODE).quiet());
    }
}

fn report(what: &str, ok: bool) {
    println!("== {what}: {}", if ok { "installed" } else { "not to be had, its test will be skipped" });
}
