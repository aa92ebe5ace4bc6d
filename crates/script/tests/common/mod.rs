//! What the tests share.
#![allow(dead_code, unreachable_pub)]

pub mod chaos;
pub mod invariants;
pub mod races;
pub mod recorder;
pub mod world;

use std::path::{Path, PathBuf};
use totality_script::cases::{self, Case};
use totality_script::{Script, Single, catalogue as built_in};
use totality_testkit::server::{Server, oracle_or_skip};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The scripts with their cases, the seeds' left out: they are run by the testkit.
pub fn catalogue() -> Vec<(&'static Script, Vec<Case>)> {
    let mine = built_in::all().filter(|s| !s.name().starts_with("seed."));
    mine.map(|script| {
        let path = root().join("scripts").join(script.name().replace('.', "/")).with_extension("cases");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let cases = cases::parse(script, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (script, cases)
    })
    .collect()
}

/// Adds to the counts on the last line of `cargo xtask test`.
pub fn count(n: usize, what: &str) {
    totality_testkit::count(what, n);
}

/// A server with a way to it.
pub struct Place {
    pub server: Server,
}

impl Place {
    pub fn of(server: Server) -> Place {
        Place { server }
    }

    pub fn totality(extra: &[&str]) -> Place {
        Place::of(Server::totality(extra).unwrap())
    }

    pub fn redis(test: &str, extra: &[&str]) -> Option<Place> {
        if extra.is_empty() {
            return oracle_or_skip(test).map(Place::of);
        }
        oracle_or_skip(test).map(|_| Place::of(Server::redis(extra).unwrap()))
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.server.port())
    }

    pub fn single(&self) -> Single {
        Single::open(&self.url()).unwrap()
    }
}
